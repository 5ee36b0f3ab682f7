"""The interface of TensorStore's Python module, on the engine of blizzarr: ``import blizzarr.tensorstore as ts``.

The public names of its classes are those of TensorStore (tests/unit/tensorstore/test_face_names.py). Members that other
modules of this package use, but that are not part of the interface, begin with an underscore.
"""

from builtins import bool as _bool
from contextlib import suppress as _suppress
from typing import Any as _Any
from typing import Literal as _Literal
from typing import TypeAlias as _TypeAlias
from typing import Union as _Union

from blizzarr.futures import Batch, Future, FutureLike, Promise, WriteFutures
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import Context
from blizzarr.spec.dtype import DTYPES as _DTYPES
from blizzarr.spec.dtype import DType as dtype  # noqa: N813
from blizzarr.spec.dtype import DTypeLike
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.metrics import (
    experimental_collect_matching_metrics,
    experimental_collect_prometheus_format_metrics,
    experimental_push_metrics_to_prometheus,
    experimental_update_verbose_logging,
    parse_tensorstore_flags,
)
from blizzarr.tensorstore.opening import open
from blizzarr.tensorstore.stacking import array, cast, concat, downsample, overlay, stack
from blizzarr.tensorstore.store import Indexable, TensorStore
from blizzarr.tensorstore.virtual_chunked import (
    VirtualChunkedReadParameters,
    VirtualChunkedWriteParameters,
    virtual_chunked,
)
from blizzarr.transactions import Transaction
from blizzarr.views import INF as inf  # noqa: N811
from blizzarr.views import (
    Dim,
    DimExpression,
    DimSelection,
    IndexDomain,
    IndexTransform,
    OutputIndexMap,
    OutputIndexMaps,
    OutputIndexMethod,
    d,
)

RecheckCacheOption: _TypeAlias = _Union["_bool", str, float]
"""When a cached value is checked: True before each use, False never, ``"open"`` when it is opened, a number if it is
older than that moment.
"""

NumpyIndexTerm: _TypeAlias = _Any
"""An integer, a slice, `...`, `newaxis`, or an array of indices or booleans."""

NumpyIndexingSpec: _TypeAlias = _Any
"""One term, or a tuple of them."""

DimSelectionLike: _TypeAlias = _Any
"""Dimensions: numbers, labels, slices, sequences of these, or a `DimSelection`."""

with _suppress(ImportError):
    # With this package, NumPy knows further data types by name.
    import ml_dtypes as _ml_dtypes

newaxis = None
"""Adds a dimension of length 1 to a view."""

bool = _DTYPES["bool"]
char = _DTYPES["char"]
byte = _DTYPES["byte"]
int2 = _DTYPES["int2"]
int4 = _DTYPES["int4"]
int8 = _DTYPES["int8"]
uint8 = _DTYPES["uint8"]
int16 = _DTYPES["int16"]
uint16 = _DTYPES["uint16"]
int32 = _DTYPES["int32"]
uint32 = _DTYPES["uint32"]
int64 = _DTYPES["int64"]
uint64 = _DTYPES["uint64"]
float4_e2m1fn = _DTYPES["float4_e2m1fn"]
float8_e3m4 = _DTYPES["float8_e3m4"]
float8_e4m3fn = _DTYPES["float8_e4m3fn"]
float8_e4m3fnuz = _DTYPES["float8_e4m3fnuz"]
float8_e4m3b11fnuz = _DTYPES["float8_e4m3b11fnuz"]
float8_e5m2 = _DTYPES["float8_e5m2"]
float8_e5m2fnuz = _DTYPES["float8_e5m2fnuz"]
float8_e8m0fnu = _DTYPES["float8_e8m0fnu"]
bfloat16 = _DTYPES["bfloat16"]
float16 = _DTYPES["float16"]
float32 = _DTYPES["float32"]
float64 = _DTYPES["float64"]
complex64 = _DTYPES["complex64"]
complex128 = _DTYPES["complex128"]
string = _DTYPES["string"]
ustring = _DTYPES["ustring"]
json = _DTYPES["json"]

DownsampleMethod: _TypeAlias = _Literal["stride", "mean", "min", "max", "median", "mode"]
"""How downsampling makes one element from a block."""

__all__ = ["Batch", "Future", "FutureLike", "Promise", "Transaction", "WriteFutures"]
__all__ += ["CodecSpec", "Context", "KvStore", "OpenMode", "RecheckCacheOption", "Spec"]
__all__ += ["ChunkLayout", "DTypeLike", "Schema", "Unit", "dtype"]
__all__ += ["Dim", "DimExpression", "DimSelection", "DimSelectionLike", "IndexDomain", "IndexTransform", "Indexable"]
__all__ += ["NumpyIndexTerm", "NumpyIndexingSpec", "d", "inf", "newaxis"]
__all__ += ["OutputIndexMap", "OutputIndexMaps", "OutputIndexMethod"]
__all__ += ["DownsampleMethod", "TensorStore", "array", "cast", "concat", "downsample", "open", "overlay", "stack"]
__all__ += ["VirtualChunkedReadParameters", "VirtualChunkedWriteParameters", "virtual_chunked"]
__all__ += ["experimental_collect_matching_metrics", "experimental_collect_prometheus_format_metrics"]
__all__ += ["experimental_push_metrics_to_prometheus", "experimental_update_verbose_logging", "parse_tensorstore_flags"]
__all__ += _DTYPES


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
