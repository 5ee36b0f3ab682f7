"""The data type of a new array, for data and types that NumPy does not describe well enough.

NumPy has one type for all objects, and text of fixed length only. So the types of the objects are looked at, lists of
text become text of any length, and a codec for objects determines the data type.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from numbers import Number, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.array.lazy import LazyArray
from blizzarr.codecs import BytesCodec, Codec, CodecChain, ObjectCodec, ShardingCodec
from blizzarr.codecs.codec import Chunk
from blizzarr.dtypes import DataType, Kind, optional
from blizzarr.dtypes.elements import as_elements, check_array, in_memory, is_missing, null_count, texts_of, with_nat
from blizzarr.errors import CodecError, MetadataError, Problem
from blizzarr.formats.document import stored_value
from blizzarr.lazy_imports import is_instance
from blizzarr.problems import warn
from blizzarr.transfer import as_source

_ADVICE = "dtype='string', dtype='bytes', or a codec for the objects, like filters=[numcodecs.JSON()] of format 2"


def as_data(data: Any, dtype: Any = None, shape: tuple[int, ...] | None = None) -> Array | npt.NDArray[Any]:
    """Return data as a blizzarr or NumPy array; lists have the data type, if it is given, else text becomes objects.

    >>> as_data(["a", "bcd"]), as_data(np.array(["a", "bcd"]))
    (array(['a', 'bcd'], dtype=object), array(['a', 'bcd'], dtype='<U3'))
    >>> as_data([(1, 2)], [("a", "int8"), ("b", "int8")]).shape
    (1,)
    """
    if isinstance(data, Array):
        return data
    data = in_memory(data)
    if dtype is None and (count := null_count(data)):
        return with_nat(data, count)
    if dtype is not None and is_instance(data, "numpy.ma:MaskedArray"):
        return as_elements(data, DataType.parse(dtype).numpy)
    if (texts := texts_of(data)) is not None:
        return texts
    check_array(data)
    if hasattr(data, "dtype") and (dtype is None or isinstance(data, np.ndarray | np.generic | LazyArray)):
        return np.asarray(data)
    if dtype is not None:
        wanted = DataType.parse(dtype)
        if wanted.kind is Kind.OBJECT and shape is not None:
            # Only the shape says whether lists in it are elements or axes.
            return as_source(data, shape, wanted.numpy)
        # At once: NumPy's choice of a data type may round large integers, and takes records for an axis.
        return as_elements(data, wanted.numpy)
    if isinstance(data, str) and os.path.exists(data):
        warn(f"{data!r} is stored as text, though it is also a path; blizzarr.copy(path, ...) copies what is there")
    array = np.asarray(data)
    if array.dtype.kind in "SU":
        # NumPy would strip NULs at their ends, and turn numbers among them into text.
        return np.asarray(data, np.object_)
    return array


def type_of(data: Array | LazyArray | npt.NDArray[Any]) -> DataType:
    """Return the data type of an array with these elements."""
    if isinstance(data, Array | LazyArray):
        return (data if isinstance(data, Array) else data.array).metadata.dtype
    if data.dtype.kind != "O":
        return DataType.parse(data.dtype)
    kinds = set(map(type, data.ravel().tolist()))
    for name, kind in (("string", str), ("bytes", bytes)):
        if kinds and all(issubclass(kind_of_one, kind) for kind_of_one in kinds):
            return DataType.parse(name)
    return DataType.parse("object")


def check_told(data: Array | npt.NDArray[Any], dtype: DataType, *codecs: Any) -> None:
    """Raise `MetadataError` if data are objects of which neither their types nor a codec say what they are."""
    if dtype.name != "object" or isinstance(data, Array) or given_object_codec(*codecs) is not None:
        return
    elements = data.ravel().tolist()
    kinds = {type(element) for element in elements}
    found = "objects of the types " + ", ".join(sorted({kind.__name__ for kind in kinds})[:6])
    if not elements:
        found = "an array of objects that has none"
    elif any(issubclass(kind, str) for kind in kinds) and all(
        isinstance(one, str) or is_missing(one) for one in elements
    ):
        found += "; put a text in the place of what is missing"
    elif type(None) in kinds and len(kinds) > 1 and all(one is None or isinstance(one, Real) for one in elements):
        found += f"; put a number in the place of what is missing, or {optional.ADVICE}"
    elif all(issubclass(kind, date) for kind in kinds):
        found += "; pass numpy.asarray(data, 'datetime64[us]')"
    elif all(issubclass(kind, Number) for kind in kinds):
        like = "int64" if all(issubclass(kind, int) for kind in kinds) else "float64"
        found += f"; pass the data type of the numbers, like dtype={like!r}"
    elif all(issubclass(kind, np.ndarray | list) for kind in kinds):
        found += "; arrays of several lengths take filters=[numcodecs.VLenArray('float64')] of format 2"
    raise _refuse_objects(found)


def _refuse_objects(found: str) -> MetadataError:
    return MetadataError(problems=[Problem("dtype", f"what the elements are: {_ADVICE}", found)])


def decide_type(dtype: DataType, *codecs: Any) -> DataType:
    """Return the data type; for objects, that of the codec for objects among the user's codecs.

    Raise `MetadataError` if the elements are objects, and no codec for them is given.
    """
    if dtype.kind is not Kind.OBJECT:
        return dtype
    codec = given_object_codec(*codecs)
    if codec is not None and "object" in (dtype.name, codec.element_type):
        return DataType.parse(codec.element_type)
    if codec is None and dtype.name == "object":
        raise _refuse_objects("objects")
    return dtype


def given_object_codec(*codecs: Any) -> ObjectCodec | None:
    """Return the codec for objects among those that a user gives for an array; None if there is none."""
    given = (item for item in codecs if not (isinstance(item, str) and item == "auto"))
    return _object_codec(codec for item in given for codec in _listed(item))


def can_hold(dtype: DataType, wanted: DataType, exact: bool = False) -> bool:
    """Return whether elements of type `wanted` can be cast safely to those of an array; if `exact`, are the same.

    >>> short, long = DataType.parse("int16"), DataType.parse("int32")
    >>> can_hold(long, short), can_hold(long, short, exact=True), can_hold(short, long)
    (True, False, False)
    """
    if dtype == wanted:
        return True
    if dtype.kind is Kind.OBJECT:
        if wanted.kind is Kind.OBJECT:
            return wanted.name == "object"
        return not exact and wanted.numpy.kind == {"string": "U", "bytes": "S"}.get(dtype.name)
    return not exact and wanted.kind is not Kind.OBJECT and np.can_cast(wanted.numpy, dtype.numpy)


def check_convertible(given: DataType, wanted: DataType) -> None:
    """Raise an error if no elements of one data type can be converted to the other.

    Whether text and objects can become something of a fixed size, only the elements say.

    Raise `TypeError` if text would have to become bytes, or numbers either of them, or the reverse.
    """
    if given == wanted or (given.kind in (Kind.TEXT, Kind.BYTES, Kind.OBJECT) and wanted.kind is not Kind.OBJECT):
        return
    made = as_elements(np.zeros(1, given.numpy), wanted.numpy)
    if wanted.kind is Kind.OBJECT and given.kind is not Kind.OBJECT and wanted.name != "object":
        kinds = {"string": Kind.TEXT, "bytes": Kind.BYTES}
        if kinds[wanted.name] is not given.kind:
            raise TypeError(f"expected data whose elements can become {wanted}, found {given}, like {made[0]!r}")


def check_fill(fill_value: Any, chain: CodecChain, dtype: DataType) -> Any:
    """Return the fill value as its document will give it back, if the codecs can encode it.

    It must, in chunks with other elements. Documents have any objects as JSON: an array becomes a list.

    Raise `MetadataError` if it cannot, or the document would give back what the codec stores as another element.
    """
    codec = _object_codec(chain.all)
    if codec is None:
        _check_filters(fill_value, chain, dtype)
        return fill_value
    refusal = codec.refuses_fill(fill_value)
    if refusal is None and codec.element_type == "object":
        stored = stored_value(DataType.parse("object").fill_to_json(fill_value), "fill_value")
        if codec.same_fill(fill_value, stored):
            return stored
        refusal = "an object that JSON gives back, as documents have it", repr(fill_value)
    if refusal is not None:
        raise MetadataError(problems=[Problem("fill_value", *refusal)])
    return fill_value


def _check_filters(fill_value: Any, chain: CodecChain, dtype: DataType) -> None:
    """Check that filters that refuse or change values take the fill value, like ``scale_offset``."""
    inner = chain.innermost
    filters = chain.filters if inner is chain else (*chain.filters, *inner.filters)
    strict = [codec for codec in filters if codec.refuses_values or codec.changes_values]
    if not strict:
        return
    changing = next((codec.name for codec in strict if codec.changes_values), None)
    # Others may need the shape of a chunk, which a single element does not have.
    elementwise: list[Codec] = []
    chunk = Chunk(dtype, None)
    for codec in filters:
        after = codec.after(chunk)
        if codec.elementwise:
            elementwise.append(codec)
        elif after.dtype != chunk.dtype:
            break  # like packbits, whose bytes are no elements any more
        chunk = after
    alone = CodecChain(tuple(elementwise), BytesCodec("little"), ())
    stored = dtype.fill_bytes(fill_value)
    engine = _native.Chain((1,), dtype.itemsize, stored, dtype.boolean, alone.steps(dtype, (1,)))
    try:
        encoded = engine.encode(stored)
        # What scale_offset rounds may differ in the last bit.
        survives = changing is None or engine.decode(encoded) == stored
    except CodecError:
        survives = False
    if not survives:
        expected = f"a value that the codec {strict[0].name} can encode"
        if changing is not None:
            expected = f"a value that comes back from the codec {changing} (scalar_map can say how)"
        raise MetadataError(problems=[Problem("fill_value", expected, repr(fill_value))])


def _listed(given: Any) -> Iterable[Codec]:
    if isinstance(given, CodecChain):
        return given.all
    from blizzarr.codecs.user import codecs_of

    return codecs_of(given)


def _object_codec(codecs: Iterable[Codec]) -> ObjectCodec | None:
    """Return the codec for objects among these codecs, or among those of inner chunks; None if there is none."""
    for codec in codecs:
        if isinstance(codec, ObjectCodec):
            return codec
        if isinstance(codec, ShardingCodec) and codec.codecs is not None:
            return _object_codec(_listed(codec.codecs))
    return None
