"""``zfp`` (array -> bytes): numbers with a bounded loss, or without any, by the package ``zfpy``.

The stream has no header: what it says follows from the options, and from the shape of the chunk. zfpy has no arguments
for the mode ``"expert"``: a header in front of the stream tells it when it reads, and zfp itself, which it contains, is
called when it writes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer, one_of
from blizzarr.codecs.in_numpy import Layout
from blizzarr.errors import CodecError
from blizzarr.problems import Problems, describe

_TYPES: Final = {
    **dict.fromkeys(("int8", "uint8", "int16", "uint16", "int32", "uint32"), "int32"),
    **dict.fromkeys(("int64", "uint64", "numpy.datetime64", "numpy.timedelta64"), "int64"),
    **dict.fromkeys(("float16", "bfloat16", "float32"), "float32"),
    "float64": "float64",
}
"""What zfp compresses in the place of each data type."""
_MAX_RANK: Final = 4
_SIDE: Final = 4
"""The length of a block along each axis."""
_EXTRA_BITS: Final = 64
"""More than the bits of a block that are not those of its values, such as the exponent."""
_MAX_BITS: Final = 1 << 15
"""More bits than a block ever has."""
_HEADS: Final = {"int32": (1, 5), "int64": (1, 6), "float32": (9, 15), "float64": (12, 19)}
"""The bits at the beginning of a block that zfp reads and writes whatever `maxbits` says, which has to have room for
them: zfp counts down from it, and would run on behind zero. The second number is that of blocks that keep everything.
"""
_LEAST_EXPONENT: Final = -1074
"""Blocks keep everything if `minexp` is below."""
_SHAPE_BITS: Final = 48
_HEADER_BITS: Final = 32 + 4 + _SHAPE_BITS + 64
"""Those of zfp's header: magic, type and rank, shape, parameters."""
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "reversible": (),
    "fixed_accuracy": ("tolerance",),
    "fixed_rate": ("rate",),
    "fixed_precision": ("precision",),
    "expert": ("minbits", "maxbits", "maxprec", "minexp"),
}
"""The options of each mode."""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value > 0


@dataclass(frozen=True, slots=True)
class ZfpCodec(Codec):
    """The codec ``zfp`` (array -> bytes): compresses integers and floating-point numbers.

    Integers of 8 and 16 bits are compressed as int32, float16 and bfloat16 as float32, times as int64. Of uint32 and
    uint64, zfp takes what int32 and int64 have; a greater number is an error. Chunks have up to four axes. The package
    zfpy does the work: ``pip install 'blizzarr[zfp]'``.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp

    Parameters
    ----------
    mode
        ``"reversible"``, without loss; ``"fixed_accuracy"`` with `tolerance`;
        ``"fixed_rate"`` with `rate`; ``"fixed_precision"`` with `precision`; or ``"expert"`` with the other four.
    tolerance
        The greatest difference.
    rate
        The bits of a number on average.
    precision
        The bits of each number that are kept.
    minbits
        The least bits of a block of up to ``4 ** ndim`` numbers.
    maxbits
        The most bits of a block.
    maxprec
        The most bits of each number that are kept.
    minexp
        The exponent of the least bit that is kept.

    Examples
    --------
    >>> ZfpCodec("fixed_accuracy", tolerance=0.05).to_json()
    {'name': 'zfp', 'configuration': {'mode': 'fixed_accuracy', 'tolerance': 0.05}}
    """

    name: ClassVar[str] = "zfp"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    needs: ClassVar[tuple[str, str] | None] = ("zfpy", "blizzarr[zfp]")
    options: ClassVar[tuple[Option, ...]] = (
        one_of("mode", tuple(_OPTIONS)),
        Option("tolerance", "a positive number", _is_number, required=False),
        Option("rate", "a positive number", _is_number, required=False),
        integer("precision", 1, 128, required=False),
        integer("minbits", 0, _MAX_BITS, required=False),
        integer("maxbits", 1, 2**32 - 1, required=False),
        integer("maxprec", 1, 64, required=False),
        integer("minexp", -(2**31), 2**31 - 1, required=False),
    )

    mode: str = "reversible"
    tolerance: float | None = None
    rate: float | None = None
    precision: int | None = None
    minbits: int | None = None
    maxbits: int | None = None
    maxprec: int | None = None
    minexp: int | None = None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        before = len(problems.items)
        for option in (option for options in _OPTIONS.values() for option in options):
            value = getattr(self, option)
            if (value is not None) != (option in _OPTIONS.get(self.mode, ())):
                expected = f"{'no ' if value is not None else ''}{option} for the mode {describe(self.mode)}"
                problems.add(f"{path}.configuration.{option}", expected, value)
        if self.minbits is not None and self.maxbits is not None and self.minbits > self.maxbits:
            problems.add(f"{path}.configuration.minbits", f"at most maxbits, {self.maxbits}", self.minbits)
        if chunk.dtype is not None and chunk.dtype.name not in _TYPES:
            expected = f"a codec for such elements; this one is for {', '.join(_TYPES)}"
            problems.add(path, expected, str(chunk.dtype))
        elif chunk.dtype is not None and self.maxbits is not None and self.minexp is not None:
            least = _HEADS[_TYPES[chunk.dtype.name]][self.minexp < _LEAST_EXPONENT]
            if self.maxbits < least:
                expected = f"at least {least} bits for a block of {chunk.dtype} with this minexp"
                problems.add(f"{path}.configuration.maxbits", expected, self.maxbits)
        if chunk.shape is not None and len(chunk.shape) > _MAX_RANK:
            problems.add(path, f"a codec for such chunks; this one is for at most {_MAX_RANK} axes", len(chunk.shape))
        elif self.mode == "expert" and chunk.shape:
            most = 1 << _SHAPE_BITS // len(chunk.shape)
            if max(chunk.shape) > most:
                expected = f"a codec for such chunks; in this mode, it is for at most {most:,} elements along each axis"
                problems.add(path, expected, list(chunk.shape))
        return len(problems.items) == before

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        taken = np.dtype(_TYPES[chunk.dtype.name])
        return [("bytes", 0), ("python", _Zfp(self, Layout.of(chunk), taken, import_module("zfpy")))]


@dataclass(frozen=True, slots=True)
class _Zfp:
    """The step of the engine."""

    codec: ZfpCodec
    layout: Layout
    taken: np.dtype[Any]
    """The data type that zfp compresses."""
    zfpy: Any
    name: str = "zfp"
    fixed_size: bool = False

    @property
    def _options(self) -> dict[str, Any]:
        return {option: getattr(self.codec, option) for option in _OPTIONS[self.codec.mode]}

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.layout.shape or (1,)

    def encoded_size(self, decoded: int) -> int:
        """Return the most bytes that zfp makes, or reads, of a chunk."""
        blocks: int = prod(-(-length // _SIDE) for length in self._shape)
        bits: int = _SIDE ** len(self._shape) * (8 * self.taken.itemsize + 1) + _EXTRA_BITS
        # A rate beyond the bits of a number fills up each block.
        least = max(int(_SIDE ** len(self._shape) * (self.codec.rate or 0)), self.codec.minbits or 0)
        return blocks * max(bits, least + _EXTRA_BITS) // 8 + _EXTRA_BITS

    def encode(self, decoded: bytes) -> Any:
        numbers = _promoted(self.layout.array(decoded), self.taken).reshape(self._shape)
        if self.codec.mode == "expert":
            return self._encode_as_expert(np.ascontiguousarray(numbers))
        return self.zfpy.compress_numpy(numbers, write_header=False, **self._options)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        most = self.encoded_size(max_size)
        if not 0 < len(encoded) <= most:
            raise CodecError(f"expected 1 to {most:,} bytes, found {len(encoded):,}")
        # zfp reads on behind the end of what was cut off, where zeros are zeros to it, and does not say how far. Other
        # bytes there change the elements, unless the stream is whole, or lacks but a few bits.
        behind = most - len(encoded)
        made = self._decompressed(encoded + bytes(behind))
        if made.tobytes() != self._decompressed(encoded + b"\xff" * behind).tobytes():
            raise CodecError(f"data ended after {len(encoded):,} encoded bytes")
        return self.layout.stored(_demoted(made, self.layout.dtype).reshape(self.layout.shape))

    def _decompressed(self, encoded: bytes) -> np.ndarray[Any, Any]:
        made: np.ndarray[Any, Any]
        if self.codec.mode == "expert":
            made = self.zfpy.decompress_numpy(self._with_header(encoded))
        else:
            made = self.zfpy._decompress(encoded, self._type, self._shape, **self._options)
        return made

    @property
    def _type(self) -> int:
        return self.zfpy.dtype_to_ztype(self.taken)

    def _with_header(self, encoded: bytes) -> bytes:
        """Return the stream behind a header, as `zfp_write_header` makes it."""
        rank = len(self._shape)
        field = _SHAPE_BITS // rank
        meta, width = 0, 0
        for value, bits in [(self._type - 1, 2), (rank - 1, 2), *((n - 1, field) for n in reversed(self._shape))]:
            meta |= value << width
            width += bits
        mode, width = 0xFFF, 12
        minbits, maxbits, maxprec, minexp = self._options.values()
        for value, bits in (
            (max(minbits, 1) - 1, 15),
            (min(maxbits, _MAX_BITS) - 1, 15),
            (maxprec - 1, 7),
            (min(max(minexp + 16495, 0), _MAX_BITS - 1), 15),
        ):
            mode |= value << width
            width += bits
        header = int.from_bytes(b"zfp\x05", "little") | meta << 32 | mode << (36 + _SHAPE_BITS)
        behind = int.from_bytes(encoded, "little") << _HEADER_BITS | header
        # zfp reads words of 64 bits.
        return behind.to_bytes(len(encoded) + _HEADER_BITS // 8 + 8, "little")

    def _encode_as_expert(self, numbers: np.ndarray[Any, Any]) -> bytes:
        try:
            zfp = ctypes.CDLL(self.zfpy.__file__)
            field_of = getattr(zfp, f"zfp_field_{numbers.ndim}d")
        except (OSError, AttributeError) as missing:
            raise CodecError('this zfpy reads the mode "expert" and cannot write it: it exports no zfp') from missing
        for function in (field_of, zfp.zfp_stream_open, zfp.stream_open):
            function.restype = ctypes.c_void_p
        for function in (zfp.zfp_stream_maximum_size, zfp.zfp_compress):
            function.restype = ctypes.c_size_t
        pointer = ctypes.c_void_p
        field = pointer(field_of(pointer(numbers.ctypes.data), self._type, *map(ctypes.c_size_t, numbers.shape[::-1])))
        stream = pointer(zfp.zfp_stream_open(None))
        zfp.zfp_stream_set_params(stream, *map(ctypes.c_int, self._options.values()))
        made = ctypes.create_string_buffer(zfp.zfp_stream_maximum_size(stream, field))
        bits = pointer(zfp.stream_open(made, ctypes.c_size_t(len(made))))
        zfp.zfp_stream_set_bit_stream(stream, bits)
        zfp.zfp_stream_rewind(stream)
        size: int = zfp.zfp_compress(stream, field)
        zfp.stream_close(bits)
        zfp.zfp_stream_close(stream)
        zfp.zfp_field_free(field)
        if not size:
            raise CodecError(f"zfp refuses to compress {numbers.dtype} with these options")
        return made.raw[:size]


def _promoted(numbers: np.ndarray[Any, Any], taken: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return numbers as the data type that zfp compresses, integers in its highest bits, as `zfp_promote_*` do.

    >>> _promoted(np.array([0, 128, 255], "u1"), np.dtype("i4")).tolist()
    [-1073741824, 0, 1065353216]
    """
    bits = 8 * numbers.dtype.itemsize
    if numbers.dtype.kind in "mM":
        return numbers.view(taken)
    if numbers.dtype.kind == "u" and bits == 8 * taken.itemsize and numbers.size and numbers.max() >> (bits - 1):
        raise CodecError(f"expected numbers that {taken} has, which is what zfp compresses, found {numbers.max()}")
    made = numbers.astype(taken, copy=False)
    if taken.kind == "f" or bits == 8 * taken.itemsize:
        return made
    return (made - _lowest(numbers.dtype)) << (31 - bits)


def _demoted(made: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return what zfp has decompressed as this data type; beyond it are its limits, or infinity if it has one."""
    bits = 8 * dtype.itemsize
    if dtype.kind in "mM":
        return made.view(dtype)
    if dtype.kind in "iu" and bits < 32:
        limits = np.iinfo(dtype)
        made = (made >> (31 - bits)) + _lowest(dtype)
        return made.clip(limits.min, limits.max).astype(dtype)
    with np.errstate(over="ignore"):
        return (made.clip(0) if dtype.kind == "u" else made).astype(dtype, copy=False)


def _lowest(dtype: np.dtype[Any]) -> int:
    """Return what is taken from an unsigned integer, so that half of them are below zero."""
    return 1 << (8 * dtype.itemsize - 1) if dtype.kind == "u" else 0
