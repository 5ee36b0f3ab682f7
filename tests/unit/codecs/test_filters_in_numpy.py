"""The filters of numcodecs in NumPy: byte for byte what numcodecs makes of any memory; and no need of the package."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import Any

import numcodecs
import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.numcodecs import (
    AsTypeCodec,
    BitRoundCodec,
    CategorizeCodec,
    DeltaCodec,
    FixedScaleOffsetCodec,
    PackBitsCodec,
    QuantizeCodec,
)
from blizzarr.errors import CodecError

INTEGERS = ("|i1", "|u1", "<i2", ">u2", "<i4", ">i8", "<u8")
FLOATS = ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8")
NUMBERS = (*INTEGERS, *FLOATS, "|b1", "<c8", ">c16")
CODECS: list[Any] = [
    *(AsTypeCodec(made, taken) for taken, made in product((*NUMBERS, "<M8[s]", ">m8[ms]"), NUMBERS)),
    *(DeltaCodec(taken, made) for taken, made in product((*NUMBERS, "<m8[s]", "<M8[s]", "<U2"), NUMBERS)),
    *(
        FixedScaleOffsetCodec(offset, scale, taken, made)
        for taken, made in product(NUMBERS, NUMBERS)
        for offset, scale in ((0, 1), (-7, 0.1), (1e300, 3))
    ),
    *(QuantizeCodec(digits, taken, made) for taken, made in product(FLOATS, FLOATS) for digits in (-308, -2, 0, 3)),
    *(CategorizeCodec(("a", "b", "", "a", "longer"), taken, made) for taken in ("<U1", ">U3") for made in NUMBERS),
    PackBitsCodec(),
]
SIZES = (0, 48, 240)


def outcome(act: Any, memory: Any) -> Any:
    try:
        return np.asarray(act(memory)).tobytes("A")
    except Exception as error:
        return error


def compare(ours: Any, theirs: Any, memory: Any) -> None:
    """What numcodecs refuses is refused, too, but for nothing at all; what is refused here alone is known."""
    # Along several axes, numcodecs reads some memory and refuses other; here it is read as one run.
    for verb in ("encode", "decode") if memory.ndim == 1 else ("encode",):
        with np.errstate(all="ignore"):
            found, expected = (outcome(getattr(codec, verb), memory.copy()) for codec in (ours, theirs))
        if isinstance(found, CodecError):
            known = ("0 or 1, which is all", "a number in [0, 5] for element", "numbers or", "one of the 5 labels")
            assert str(found).startswith(tuple(f"expected {what}" for what in known))
        elif isinstance(expected, Exception) and memory.size:
            assert type(found) is type(expected)
        elif not isinstance(expected, Exception):
            if isinstance(ours, QuantizeCodec) and verb == "encode":
                # What numcodecs makes infinite, or NaN, stays finite here.
                dtype = ours.encoded_type(ours.decoded_type(memory.dtype))
                here, there = np.frombuffer(found, dtype), np.frombuffer(expected, dtype).copy()
                np.copyto(there, here, where=np.isfinite(here) & ~np.isfinite(there))
                expected = there.tobytes()
            assert found == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted({type(codec) for codec in CODECS}, key=str), ids=lambda kind: kind.__name__)
def test_the_same_as_numcodecs(kind: type) -> None:
    """Of numbers, of noise, and of a size that is no multiple of theirs; along several axes in either order."""
    random = np.random.default_rng(7)
    for ours in (codec for codec in CODECS if type(codec) is kind):
        theirs = numcodecs.get_codec(ours.config())
        for size in (*SIZES, 7):
            compare(ours, theirs, np.frombuffer(random.bytes(size), "u1"))
            compare(ours, theirs, np.arange(size, dtype="u1") % 3)
        taken = ours.decoded_type(np.dtype(bool))
        numbers = np.arange(24) % 2 if taken.kind == "b" else (np.arange(24) - 12) * 1.5
        data = numbers.astype(taken) if taken.kind != "U" else np.array(["a", "b", "c", "a"] * 6, taken)
        for order in ("C", "F"):
            compare(ours, theirs, data.reshape(4, 6).copy(order))


@pytest.mark.parametrize("dtype", FLOATS[::2])
def test_bitround_of_any_byte_order(dtype: str) -> None:
    """As in numcodecs, which does not know big-endian ones; but NaN stays NaN."""
    memory = np.frombuffer(np.random.default_rng(3).bytes(800) + b"\x7f\xff\xff\xff" * 4, dtype)
    for keepbits in range({2: 10, 4: 23, 8: 52}[memory.itemsize] + 1):
        codec = BitRoundCodec(keepbits)
        compare(codec, numcodecs.BitRound(keepbits), memory[~np.isnan(memory)])
        made = codec.encode(memory).view(dtype)
        assert made[np.isnan(memory)].tobytes() == memory[np.isnan(memory)].tobytes()
        assert codec.encode(memory.astype(memory.dtype.newbyteorder())).byteswap().tobytes() == made.tobytes()


def test_categorize_of_texts_that_are_no_labels() -> None:
    """numcodecs stores them as the empty text."""
    filters = [{"id": "categorize", "labels": ["a", "b"], "dtype": "<U1"}]
    array = blizzarr.create_array({}, data=np.array(["a", ""]), filters=filters, zarr_format=2)
    with pytest.raises(CodecError, match="expected one of the 2 labels of the codec, or an empty text, found another"):
        array[1] = "c"
    assert array[:].tolist() == ["a", ""]


@pytest.mark.parametrize("dtype", ["|b1", "<M8[s]", ">M8[D]"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_delta_of_elements_that_it_cannot_restore(dtype: str, zarr_format: Any) -> None:
    """As with numcodecs, flags were read as other flags, and times could not be read at all."""
    filters = [{"id": "delta", "dtype": dtype}]
    array = blizzarr.create_array({}, shape=4, dtype=dtype, filters=filters, zarr_format=zarr_format)
    with pytest.raises(CodecError, match="expected numbers or differences of times, found"):
        array[...] = np.array([1, 0, 0, 1]).astype(dtype)
    assert list(array.store.list("c")) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("dtype", "digits", "given", "wanted"),
    [
        ("<f2", 3, [1.5, 65, -1000, np.inf, np.nan], [1.5, 65, -1000, np.inf, np.nan]),
        ("<f4", 39, [0, 1.5], [0, 1.5]),
        (">f8", 300, [1e10], [1e10]),
        ("<f4", -60, [1.5, -1e38], [0, 0]),
        ("<f2", -2, [65504, 65], [65504, 64]),
    ],
)
def test_quantize_makes_no_number_infinite(dtype: str, digits: int, given: list[float], wanted: list[float]) -> None:
    """As numcodecs does, where the number times 10 to the power of the digits is beyond the type."""
    made = QuantizeCodec(digits, dtype).encode(np.array(given, dtype))
    np.testing.assert_array_equal(made, np.array(wanted, dtype))


def test_packbits_of_wide_elements() -> None:
    """As a codec of a user may make them."""
    with pytest.raises(CodecError, match="found 300 as element 1"):
        PackBitsCodec().encode(np.array([1, 300], "<i4"))


WITHOUT = """
import sys
sys.modules["numcodecs"] = None
import numpy as np
import blizzarr.zarr
data = np.linspace(0, 3, 24)
for filters in (
    [{"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}, {"id": "bitround", "keepbits": 9}],
    [{"id": "quantize", "digits": 3, "dtype": "<f8"}, {"id": "delta", "dtype": "<f8"}],
    [{"id": "fixedscaleoffset", "offset": 0, "scale": 1000, "dtype": "<f8", "astype": "<i4"}],
):
    array = blizzarr.create_array({}, data=data, filters=filters, zarr_format=2)
    assert np.allclose(array[...], data, atol=0.01)
flags = data > 1
assert (blizzarr.create_array({}, data=flags, filters=[{"id": "packbits"}], zarr_format=2)[...] == flags).all()
words = np.array(["a", "b"])
filters = [{"id": "categorize", "labels": ["a", "b"], "dtype": "<U1"}]
assert blizzarr.create_array({}, data=words, filters=filters, zarr_format=2)[...].tolist() == ["a", "b"]
assert blizzarr.zarr.create_array({}, shape=4, dtype="f4", zarr_format=2).compressors[0]["id"] == "zstd"
try:
    blizzarr.create_array({}, data=data, compressors={"id": "jenkins_lookup3"}, zarr_format=2)
except blizzarr.errors.BlizzarrError as error:
    assert "pip install 'blizzarr[codecs]'" in str(error), error
else:
    raise AssertionError
"""


def test_without_numcodecs() -> None:
    """Its filters need no package; an error about what does need it names the extra."""
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


@pytest.mark.parametrize(
    ("codec", "calls"),
    [
        ({"id": "astype", "encode_dtype": "<f2", "decode_dtype": "<f4"}, True),
        ({"id": "quantize", "digits": 1, "dtype": "<f4", "astype": "<f2"}, True),
        ({"id": "quantize", "digits": 1, "dtype": "<f4"}, False),
    ],
    ids=lambda given: given["id"] if isinstance(given, dict) else None,
)
@pytest.mark.parametrize("compressor", [None, "zstd", "blosc"])
def test_of_what_each_element_is_stored_for_itself_only_a_part_is_decoded(
    codec: dict[str, Any], calls: bool, compressor: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter in NumPy gets the wanted rows of a chunk, and nothing where decoding changes no element."""
    data = np.linspace(-9, 9, 1 << 19, dtype="f4").reshape(2048, 256)
    array = blizzarr.create_array(
        {}, data=data, chunks=data.shape, filters=[codec], compressors=compressor, zarr_format=2
    )
    expected = numcodecs.get_codec(codec).decode(numcodecs.get_codec(codec).encode(data)).reshape(data.shape)
    np.testing.assert_array_equal(array[...], expected)
    sizes: list[int] = []
    for kind in (AsTypeCodec, QuantizeCodec):
        decoded = kind.decoded

        def counted(self: Any, stored: Any, taken: Any, decoded: Any = decoded) -> Any:
            sizes.append(stored.size)
            return decoded(self, stored, taken)

        monkeypatch.setattr(kind, "decoded", counted)
    np.testing.assert_array_equal(array[40:43, 5:20:3], expected[40:43, 5:20:3])
    assert sizes == ([2 * 256 + 13] if calls else [])
    np.testing.assert_array_equal(array[...], expected)
    assert sizes[1:] == ([data.size] if calls else [])
