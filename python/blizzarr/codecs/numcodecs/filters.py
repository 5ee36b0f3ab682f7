"""Filters of numcodecs (array -> array), which make the same bytes as numcodecs.

https://numcodecs.readthedocs.io/en/stable/filter/
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, log2
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Option, Step, integer, texts
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, memory_type
from blizzarr.codecs.numcodecs.element_type import type_option
from blizzarr.errors import CodecError
from blizzarr.problems import Problems

Elements = npt.NDArray[Any]

_TYPES: Final = (type_option("dtype", required=False), type_option("astype", required=False))


@dataclass(frozen=True, slots=True)
class AsTypeCodec(ArrayFilter):
    """Elements as another type: those of `decode_dtype`, the array's own unless it is given, stored as `encode_dtype`.

    >>> AsTypeCodec(encode_dtype="<f4", decode_dtype="<f8").config()
    {'id': 'astype', 'encode_dtype': '<f4', 'decode_dtype': '<f8'}
    """

    name: ClassVar[str] = "numcodecs.astype"
    options: ClassVar[tuple[Option, ...]] = (type_option("encode_dtype"), type_option("decode_dtype", required=False))
    type_options: ClassVar[tuple[str, ...]] = ("decode_dtype", "encode_dtype")
    elementwise: ClassVar[bool] = True
    decodes_to_type: ClassVar[bool] = True

    encode_dtype: str
    decode_dtype: str | None = None

    def resolve(self, chunk: Chunk) -> AsTypeCodec:
        codec = super(AsTypeCodec, self).resolve(chunk)
        if chunk.dtype is None or codec.decoded_type(given := memory_type(chunk.dtype)).itemsize == given.itemsize:
            return codec
        return AsTypeOfMemoryCodec(codec.encode_dtype, codec.decode_dtype)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        return super(AsTypeCodec, self.resolve(chunk)).fits(chunk, path, problems)

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        return given.astype(made)

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return stored.astype(taken)


@dataclass(frozen=True, slots=True)
class AsTypeOfMemoryCodec(AsTypeCodec):
    """The same where `decode_dtype` has another size than an element, as which numcodecs then takes the chunk's memory.

    What is stored need not be near the elements then, so that writing any that would come back as others is refused.

    >>> import numpy as np
    >>> codec = AsTypeOfMemoryCodec(encode_dtype="<f4", decode_dtype="<i2")
    >>> codec.encode(np.array([65537, 3], "<i4")).tolist()
    [1.0, 1.0, 3.0, 0.0]
    """

    elementwise: ClassVar[bool] = False

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        with np.errstate(invalid="ignore"):
            stored = given.astype(made)
            same = stored.astype(given.dtype).tobytes() == given.tobytes()
        if not same:
            expected = f"elements whose memory, as {given.dtype}, comes back from {made}"
            raise CodecError(f"expected {expected}, found others; choose a decode_dtype of the elements' own size")
        return stored


_MANTISSA: Final = {"float16": 10, "float32": 23, "float64": 52}


@dataclass(frozen=True, slots=True)
class BitRoundCodec(ArrayFilter):
    """Floating-point numbers rounded to `keepbits` bits of mantissa; the other bits become zero.

    >>> BitRoundCodec(keepbits=7).config()
    {'id': 'bitround', 'keepbits': 7}
    """

    name: ClassVar[str] = "numcodecs.bitround"
    options: ClassVar[tuple[Option, ...]] = (integer("keepbits", 0, 52),)
    elementwise: ClassVar[bool] = True

    keepbits: int

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        lost = _MANTISSA[given.dtype.name] - self.keepbits
        if not lost:
            return given
        bits = given.copy().view(given.dtype.str.replace("f", "i"))
        bits += (bits >> lost & 1) + ((1 << (lost - 1)) - 1)
        bits &= -1 << lost
        # numcodecs makes zeros of some.
        np.copyto(bits, given.view(bits.dtype), where=np.isnan(given))
        # A codec that a user registered gets integers from numcodecs, too.
        return bits

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return stored.view(stored.dtype.str.replace("i", "f"))

    def native(self, taken: str, made: str) -> Step | None:
        return ("bitround", np.dtype(taken).itemsize, _MANTISSA[taken], self.keepbits)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        bits = _MANTISSA.get(memory_type(chunk.dtype).name)
        if bits is None:
            problems.add(
                path, "a filter for such elements; this one is for float16, float32, float64", str(chunk.dtype)
            )
            return False
        if self.keepbits > bits:
            problems.add(f"{path}.configuration.keepbits", f"at most {bits}, as {chunk.dtype} has", self.keepbits)
            return False
        return True


@dataclass(frozen=True, slots=True)
class CategorizeCodec(ArrayFilter):
    """Text of a few kinds as numbers: the position of each text in `labels`, counted from 1.

    0 is the empty text. numcodecs stores 0 for any other text, too, which is then lost; here it is refused. `dtype` is
    a type of text of fixed length, and `astype` the type of the numbers.

    >>> CategorizeCodec(labels=("female", "male"), dtype="<U6").config()
    {'id': 'categorize', 'labels': ['female', 'male'], 'dtype': '<U6', 'astype': '|u1'}
    """

    name: ClassVar[str] = "numcodecs.categorize"
    options: ClassVar[tuple[Option, ...]] = (texts("labels"), *_TYPES)
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    labels: tuple[str, ...]
    dtype: str | None = None
    astype: str = "|u1"

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        taken = self.decoded_type(memory_type(chunk.dtype))
        if taken.kind != "U":
            problems.add(f"{path}.configuration.dtype", "a type of text of fixed length", taken.str)
            return False
        return super(CategorizeCodec, self).fits(chunk, path, problems)

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        numbers = np.zeros(given.shape, made)
        for number, label in enumerate(self.labels, 1):
            numbers[given == label] = number
        lost = np.flatnonzero((numbers == 0) & (given != ""))
        if lost.size:
            expected = f"one of the {len(self.labels)} labels of the codec, or an empty text"
            raise CodecError(f"expected {expected}, found another text as element {int(lost[0])}")
        return numbers

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        # numcodecs takes them for no text at all.
        wrong = np.flatnonzero((stored < 0) | (stored > len(self.labels)))
        if wrong.size:
            first = int(wrong[0])
            expected = f"a number in [0, {len(self.labels)}] for element {first}"
            raise CodecError(f"expected {expected}, found {stored[first]}")
        texts = np.zeros(stored.shape, taken)
        for number, label in enumerate(self.labels, 1):
            texts[stored == number] = label
        return texts


@dataclass(frozen=True, slots=True)
class DeltaCodec(ArrayFilter):
    """The first element, then the difference of each element from the one before.

    The elements have the type `dtype`, the differences `astype`; both are the array's own unless they are given.

    >>> DeltaCodec(dtype="<i4", astype="<i2").config()
    {'id': 'delta', 'dtype': '<i4', 'astype': '<i2'}
    """

    name: ClassVar[str] = "numcodecs.delta"
    options: ClassVar[tuple[Option, ...]] = _TYPES
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    dtype: str | None = None
    astype: str | None = None

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        if given.dtype.kind in "bM":
            # numcodecs stores them: then the sums are other flags, and times have none.
            raise CodecError(f"expected numbers or differences of times, found {given.dtype}")
        differences = np.empty(given.shape, made)
        if given.size:
            # Not a slice: NumPy refuses an element that the type lacks, and would change those of a slice.
            differences[0] = given[0]
        differences[1:] = np.diff(given)
        return differences

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return np.cumsum(stored, out=np.empty(stored.shape, taken))

    def native(self, taken: str, made: str) -> Step | None:
        is_native = taken == made != "float16" or "float" not in taken + made
        return ("delta", taken, made) if is_native else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number; an integer must not be beyond the range of floating point."""
    try:
        return type(value) in (int, float) and isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True, slots=True)
class FixedScaleOffsetCodec(ArrayFilter):
    """``(x - offset) * scale``, rounded, as another type.

    The elements have the type `dtype`, the results `astype`; both are the array's own unless they are given.

    >>> FixedScaleOffsetCodec(offset=1000, scale=10, dtype="<f8", astype="|u1").config()
    {'id': 'fixedscaleoffset', 'offset': 1000, 'scale': 10, 'dtype': '<f8', 'astype': '|u1'}
    """

    name: ClassVar[str] = "numcodecs.fixedscaleoffset"
    options: ClassVar[tuple[Option, ...]] = (
        Option("offset", "a finite number", _is_number),
        Option("scale", "a finite number other than zero", lambda value: _is_number(value) and value != 0),
        *_TYPES,
    )
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    offset: float
    scale: float
    dtype: str | None = None
    astype: str | None = None

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        return np.around((given - self.offset) * self.scale).astype(made, copy=False)

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return (stored / self.scale + self.offset).astype(taken, copy=False)

    def native(self, taken: str, made: str) -> Step | None:
        numbers = float(self.offset), float(self.scale)
        floats = ("float32", "float64")
        is_native = taken in floats and (made in floats or "int" in made)
        if not is_native or numbers != (self.offset, self.scale):
            return None
        return ("fixedscaleoffset", taken, made, *map(repr, numbers))


@dataclass(frozen=True, slots=True)
class PackBitsCodec(ArrayFilter):
    """Eight booleans in a byte, behind a byte with the number of padding bits.

    Integers of one byte are taken, too, if all of them are 0 or 1; a `CodecError` says which one is not.

    >>> PackBitsCodec().encoded_count(20)
    4
    """

    name: ClassVar[str] = "numcodecs.packbits"

    def decoded_type(self, given: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(bool)

    def encoded_type(self, taken: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def encoded_count(self, count: int) -> int:
        return 1 + -(-count // 8)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        # Of wider elements, the filter would take each byte for one.
        if chunk.dtype is None or chunk.dtype.itemsize == 1:
            return True
        problems.add(path, "a filter for such elements; this one is for bool", str(chunk.dtype))
        return False

    def encode(self, given: Any) -> Elements:
        memory = self._memory(given)
        wrong = np.flatnonzero(memory.view(np.uint8) > 1)
        if memory.dtype != bool and wrong.size:
            first = int(wrong[0]) // memory.itemsize
            expected = "0 or 1, which is all that numcodecs.packbits keeps of an element"
            advice = "write booleans, or choose another codec"
            raise CodecError(f"expected {expected}, found {memory[first]} as element {first}; {advice}")
        return super(PackBitsCodec, self).encode(memory)

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        return np.append(np.uint8(-given.size % 8), np.packbits(given))

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return np.unpackbits(stored[1:])[: -int(stored[0]) or None].view(taken)


@dataclass(frozen=True, slots=True)
class QuantizeCodec(ArrayFilter):
    """Floating-point numbers rounded to `digits` decimal digits behind the point, or before it if `digits` is negative.

    The elements have the type `dtype`, and are stored as `astype`.

    >>> QuantizeCodec(digits=2, dtype="<f8").to_json()
    {'name': 'numcodecs.quantize', 'configuration': {'digits': 2, 'dtype': '<f8'}}
    """

    name: ClassVar[str] = "numcodecs.quantize"
    options: ClassVar[tuple[Option, ...]] = (integer("digits", -308, 308), *_TYPES)
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")
    elementwise: ClassVar[bool] = True
    decodes_to_type: ClassVar[bool] = True

    digits: int
    dtype: str | None = None
    astype: str | None = None

    def encoded(self, given: Elements, made: np.dtype[Any]) -> Elements:
        scale = 2.0 ** ceil(log2(10.0**self.digits))
        with np.errstate(all="ignore"):
            rounded = np.asarray(np.around(scale * given) / scale)
        # numcodecs makes these infinite, or NaN: they have no such digits, or the scale is zero in their type.
        lost = np.isfinite(given) & ~np.isfinite(rounded)
        nothing = np.isnan(rounded) & (self.digits < 0)
        np.copyto(rounded, np.where(nothing, given.dtype.type(0), given), where=lost)
        return rounded.astype(made, copy=False)

    def decoded(self, stored: Elements, taken: np.dtype[Any]) -> Elements:
        return stored.astype(taken, copy=False)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        taken = self.decoded_type(memory_type(chunk.dtype))
        for option, dtype in zip(self.type_options, (taken, self.encoded_type(taken)), strict=True):
            if not np.issubdtype(dtype, np.floating):
                problems.add(f"{path}.configuration.{option}", "a type of floating-point numbers", dtype.str)
                return False
        return super(QuantizeCodec, self).fits(chunk, path, problems)
