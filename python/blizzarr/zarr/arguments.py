"""From the keywords of zarr-python to those of blizzarr, and the shapes that it chooses by default."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Final, NamedTuple

import numpy as np

from blizzarr.creation.json_values import AsZarrPython
from blizzarr.dtypes import DataType
from blizzarr.errors import UnknownExtensionError
from blizzarr.formats import format_named
from blizzarr.zarr.config import check_array_setting, config
from blizzarr.zarr.dtype import ZDType, parse_dtype
from blizzarr.zarr.errors import (
    MetadataValidationError,
    ZarrDeprecationWarning,
    ZarrRuntimeWarning,
    ZarrUserWarning,
    translated,
)


class _DefaultFillValue:
    """Stands for the fill value that the data type has."""

    def __repr__(self) -> str:
        return "<DefaultFillValue>"


DEFAULT_FILL_VALUE: Final = _DefaultFillValue()

IGNORED: Final = ("synchronizer", "chunk_store", "cache_attrs", "cache_metadata", "meta_array")
"""Keywords of zarr-python 2 that have no effect in zarr-python 3 either."""

ZSTD: Final[Mapping[str, Any]] = {"id": "zstd", "level": 0}
"""The default compressor of v2 in functions."""

BLOSC: Final[Mapping[str, Any]] = {"id": "blosc"}
"""The default compressor of v2 in the methods of groups that create one array."""


class ArrayConfig(NamedTuple):
    """How elements are read and written; nothing of it is stored."""

    order: str = "C"
    """The order in memory of arrays that are read."""
    write_empty_chunks: bool = False
    """Store chunks of nothing but the fill value."""
    read_missing_chunks: bool = True
    """It must be True: chunks that are not stored are read as the fill value."""
    sharding_coalesce_max_gap_bytes: int = 1 << 20
    """It has no effect: the engine decides which parts of a shard it reads at once."""
    sharding_coalesce_max_bytes: int = 1 << 24
    """It has no effect, either."""

    @classmethod
    def of(cls, given: Any = None) -> ArrayConfig:
        """Return the configuration for what a user passes; what is left open is that of `zarr.config`."""
        members = given.to_dict() if isinstance(given, ArrayConfig) else dict(given or {})
        unknown = set(members) - set(cls._fields)
        if unknown:
            raise TypeError(f"expected {', '.join(cls._fields)} as config=, found {', '.join(sorted(unknown))}")
        for name, value in members.items():
            check_array_setting(name, value)
        made = cls(**{name: config.get(f"array.{name}") for name in cls._fields} | members)
        return made._replace(write_empty_chunks=bool(made.write_empty_chunks))

    @classmethod
    def from_dict(cls, data: Any) -> ArrayConfig:
        """Return the configuration of this mapping."""
        return cls.of(data)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration by name."""
        return self._asdict()


class ArraySpec(NamedTuple):
    """What a codec is told about the chunks that it encodes."""

    shape: tuple[int, ...]
    dtype: Any
    fill_value: Any
    config: ArrayConfig
    prototype: Any

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def order(self) -> str:
        """The order in memory."""
        return self.config.order


def given_format(zarr_format: Any, zarr_version: Any = None) -> Any:
    """Return the format that is asked for under one of its two names; None if it is left open.

    Raise `ValueError` if two are given, or one that there is not.
    """
    if zarr_version is not None:
        if zarr_format not in (None, zarr_version):
            raise ValueError(
                f"zarr_format {zarr_format} does not match zarr_version {zarr_version}, please only set one"
            )
        _warn("zarr_version is deprecated, use zarr_format", ZarrDeprecationWarning)
        zarr_format = zarr_version
    try:
        format_named(zarr_format)
    except UnknownExtensionError as error:
        raise MetadataValidationError(
            f"Invalid value for 'zarr_format'. Expected 2, 3, or None. Got {zarr_format!r}."
        ) from error
    return zarr_format


def choose_format(options: dict[str, Any], usual: Callable[[], int | None]) -> int:
    """Take the format out of the options: the one that is asked for, that of the group, or that of `zarr.config`.

    That of the group is what `usual` returns, which is only called if no format is asked for.
    """
    number = given_format(options.pop("zarr_format", None), options.pop("zarr_version", None))
    number = usual() if number is None else number
    number = config.get("default_zarr_format") if number is None else number
    return int(number) if isinstance(number, int) else number


def array_options(
    given: Mapping[str, Any], zarr_format: int, compressor: Mapping[str, Any] = ZSTD, *, stores_order: bool = False
) -> tuple[dict[str, Any], ArrayConfig]:
    """Return the keywords of `blizzarr.create_array` for those of ``zarr.create`` and ``zarr.create_array``.

    - `given`: the keywords.
    - `zarr_format`: the format of the array.
    - `compressor`: the default compressor of v2.
    - `stores_order`: the order of ``config=``, that in memory, is also that in which v2 stores elements.

    Raise `ValueError` if keywords exclude each other, or are for another format.
    Raise `TypeError` if a length is no integer.
    """
    options = {name: value for name, value in given.items() if name not in IGNORED}
    warn_ignored(given)
    is_v2 = zarr_format == 2
    if options.pop("read_only", None):
        raise ValueError("read_only=True is no longer supported when creating new arrays")
    settings = _settings(options, is_v2, stores_order)
    _take_codecs(options, is_v2, compressor)
    shape = options.pop("chunk_shape", None)
    if shape is not None:
        if options.get("chunks") is not None:
            raise ValueError("Only one of chunk_shape or chunks can be provided.")
        options["chunks"] = shape
    separator = options.pop("dimension_separator", None)
    if separator is not None:
        if not is_v2:
            raise ValueError("dimension_separator is not supported for zarr format 3, use chunk_key_encoding instead")
        options["chunk_key_encoding"] = ("v2", separator)
    keys: Any = options.get("chunk_key_encoding")
    if hasattr(keys, "to_dict"):
        options["chunk_key_encoding"] = keys.to_dict()
    if not options.get("dimension_names"):
        options.pop("dimension_names", None)
    elif is_v2:
        raise ValueError("Zarr format 2 arrays do not support dimension names.")
    dtype = options.get("dtype")
    if dtype is not None:
        options["dtype"] = dtype = _element_type(dtype) if is_v2 else _little_endian(_element_type(dtype))
    fill = options.get("fill_value", DEFAULT_FILL_VALUE)
    if fill is DEFAULT_FILL_VALUE or (fill is None and not is_v2):
        options.pop("fill_value", None)
    elif isinstance(fill, bytes) and getattr(dtype, "kind", str(dtype).strip("|")[:1]) == "V":
        # As NumPy does with raw bytes.
        options["fill_value"] = fill.ljust(np.dtype(dtype).itemsize, b"\0")
    data = options.get("data")
    if data is not None:
        options["data"] = engine_data(data)
    for name in ("shape", "chunks", "shards"):
        _check_integers(name, options.get(name))
    choose_chunks(options)
    for name in ("attributes", "chunks", "shards"):
        if name in options and options[name] is None:
            del options[name]
    if "attributes" in options:
        options["attributes"] = AsZarrPython(options["attributes"])
    chunks = options.get("chunks")
    if not isinstance(chunks, bool | str | None):
        # Axes without elements have chunks of one; None stands for the whole axis.
        is_one = isinstance(chunks, int)
        options["chunks"] = (chunks or 1) if is_one else tuple(1 if length == 0 else length for length in chunks)
    return options, settings


def _check_integers(name: str, lengths: Any) -> None:
    if isinstance(lengths, bool | str | Mapping | None):
        return
    for length in lengths if np.iterable(lengths) else (lengths,):
        if not isinstance(length, Integral | list | tuple | None):
            raise TypeError(f"expected integers as {name}=, found {lengths!r:.80}")


def check_data(given: Mapping[str, Any]) -> None:
    """Check that either the data or what they would say is given, as zarr-python does.

    Raise `ValueError` if ``shape`` or ``dtype`` is given beside ``data``, or missing without.
    """
    for name in ("shape", "dtype"):
        if given.get("data") is not None and given.get(name) is not None:
            raise ValueError(
                f"The data parameter was used, but the {name} parameter was also used. This is an error. Either use "
                f"the data parameter, or the {name} parameter, but not both."
            )
        if given.get("data") is None and given.get(name) is None:
            raise ValueError(
                f"The data parameter was set to None, but {name} was not specified. Either provide an array-like value "
                f"for data, or specify {name}."
            )


def warn_ignored(given: Mapping[str, Any]) -> None:
    """Warn of keywords that have no effect, as zarr-python does."""
    for name in IGNORED:
        if given.get(name) is not None:
            _warn(f"{name} is not yet implemented, and has no effect", ZarrRuntimeWarning)


def _warn(text: str, kind: type[Warning]) -> None:
    warnings.warn(text, kind, stacklevel=6)


def engine_data(data: Any) -> Any:
    """Return elements as blizzarr takes them: its own array in the place of one of ours."""
    from blizzarr.zarr.array import Array

    return data.engine if isinstance(data, Array) else data


def _little_endian(dtype: Any) -> Any:
    """Return a data type in the byte order in which zarr-python stores v3, unless a codec names another one.

    >>> _little_endian(">u2"), _little_endian(np.dtype(">f4")), _little_endian("int8")
    ('<u2', dtype('<f4'), 'int8')
    """
    if isinstance(dtype, str):
        return f"<{dtype[1:]}" if dtype[:1] == ">" else dtype
    if isinstance(dtype, np.dtype) and (dtype.byteorder == ">" or dtype.names):
        return dtype.newbyteorder("<")
    return dtype


def _element_type(dtype: Any) -> Any:
    if isinstance(dtype, Mapping) and "object_codec_id" in dtype:
        dtype = parse_dtype(dtype)
    return dtype.engine if isinstance(dtype, ZDType) else dtype


def _settings(options: dict[str, Any], is_v2: bool, stores_order: bool) -> ArrayConfig:
    """Take what is not stored out of the options; in v2, an order is stored."""
    config_given: Any = options.pop("config", None) or {}
    given = dict(config_given.to_dict() if hasattr(config_given, "to_dict") else config_given)
    write_empty = options.pop("write_empty_chunks", None)
    if write_empty is not None:
        instead = "pass config={'write_empty_chunks': ...}"
        _warn(f"The `write_empty_chunks` keyword argument is deprecated; {instead}.", ZarrRuntimeWarning)
        if given:
            _warn(
                "Both write_empty_chunks and config keyword arguments are set. This is redundant. When both are set, "
                "write_empty_chunks will be used instead of the value in config.",
                ZarrUserWarning,
            )
        given["write_empty_chunks"] = write_empty
    order = options.pop("order", None)
    if order is not None:
        if not is_v2:
            _warn(
                "The `order` keyword argument has no effect for Zarr format 3 arrays. To control the memory layout of "
                "the array, either explicitly set it in the config dict or set zarr.config `array.order`.",
                ZarrRuntimeWarning,
            )
        elif stores_order:
            given["order"] = order
    settings = ArrayConfig.of(given)
    if is_v2:
        options["order"] = settings.order if stores_order else order or config.get("array.order")
    return settings


def _take_codecs(options: dict[str, Any], is_v2: bool, usual: Mapping[str, Any]) -> None:
    """Bring the codecs under the keywords of `blizzarr.create_array`."""
    compressor = options.pop("compressor", "auto")
    if not _is_auto(compressor):
        if not _is_auto(options.get("compressors", "auto")):
            raise ValueError("Cannot specify both `compressor` and `compressors`.")
        if not is_v2 and compressor is not None:
            raise ValueError(
                "compressor cannot be used for arrays with zarr_format 3. Use bytes-to-bytes codecs instead."
            )
        options["compressors"] = compressor
    elif is_v2 and _is_auto(options.get("compressors", "auto")):
        options["compressors"] = dict(usual)
    if options.get("codecs") is None:
        options.pop("codecs", None)
    elif is_v2:
        raise ValueError("Zarr format 2 arrays cannot be created with `codecs`. Use filters and compressor instead.")
    serializer = options.get("serializer", "auto")
    if serializer is None:
        options.pop("serializer")
    elif is_v2 and not _is_auto(serializer):
        raise ValueError("Zarr format 2 arrays do not support `serializer`.")
    object_codec = options.pop("object_codec", None)
    if object_codec is not None:
        options["serializer"] = object_codec


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def choose_chunks(options: dict[str, Any]) -> None:
    """Put the shapes that are left to be chosen into the keywords of `blizzarr.create_array`."""
    shape, dtype, data = options.get("shape"), options.get("dtype"), options.get("data")
    shape = getattr(data, "shape", None) if shape is None else shape
    shards = options.get("shards")
    chunks: Any = options.get("chunks")
    is_left = _is_open(chunks)
    if shape is None or not (is_left if shards is None else _is_open(shards)):
        return
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(map(int, shape))
    if not is_left:
        chunks = tuple(chunks) if isinstance(chunks, Iterable) else (chunks,) * len(shape)
        if len(chunks) == len(shape):
            # None and -1 stand for the whole axis.
            if any(isinstance(chunk, list | tuple) for chunk in chunks):
                return  # Chunks of several lengths are in no shards, which `blizzarr.create_array` says.
            chunks = tuple(c if c and c > 0 else max(length, 1) for c, length in zip(chunks, shape, strict=True))
    if min(shape, default=0) < 0 or (not is_left and len(chunks) != len(shape)):
        return  # These are errors, of which `blizzarr.create_array` says what is wrong.
    with translated():
        native = DataType.parse(getattr(data, "dtype", dtype) if dtype is None else dtype).numpy
    itemsize = 1 if native.kind in "OT" else native.itemsize
    if is_left:
        chunks = usual_chunks(shape, itemsize, 2**26 if shards is None else 2**20)
    options["chunks"] = chunks
    if shards is not None:
        warnings.warn(
            "Automatic shard shape inference is experimental and may change without notice.",
            ZarrUserWarning,
            stacklevel=5,
        )
        options["shards"] = _usual_shards(shape, chunks, itemsize)


def _is_open(given: Any) -> bool:
    return given is None or given is True or _is_auto(given)


def usual_chunks(shape: Sequence[int], itemsize: int, most: int) -> tuple[int, ...]:
    """Return the chunks of h5py's rule, by which larger arrays have larger chunks, of at most `most` bytes.

    >>> usual_chunks((1000, 1000), 1, 2**26), usual_chunks((10**7,), 4, 2**26), usual_chunks((0, 5), 4, 2**26)
    ((500, 500), (156250,), (1, 5))
    """
    chunks = [max(length, 1) for length in shape]
    aim = min(max(2.0**18 * 2 ** math.log10(math.prod(chunks) * itemsize / 2**20), 2**17), most)
    axis = 0
    while math.prod(chunks) > 1:
        size = math.prod(chunks) * itemsize
        if size < most and size < 1.5 * aim:
            break
        chunks[axis % len(chunks)] = math.ceil(chunks[axis % len(chunks)] / 2)
        axis += 1
    return tuple(chunks)


def _usual_shards(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return shards of twice as many chunks along long axes, or of as many as the setting has room for."""
    most = config.get("array.target_shard_size_bytes", None)
    if most is None:
        return tuple(2 * chunk if length // chunk > 8 else chunk for length, chunk in zip(shape, chunks, strict=True))
    count = 1
    while (
        chunks
        and math.prod(chunks) * itemsize * (count + 1) ** len(chunks) <= most
        and all(chunk * (count + 1) <= length for chunk, length in zip(chunks, shape, strict=True))
    ):
        count += 1
    return tuple(chunk * count for chunk in chunks)
