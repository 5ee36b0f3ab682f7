"""Filters of numcodecs that the engine runs: the same bytes, and the same elements, as numcodecs."""

from __future__ import annotations

import sys
from typing import Any

import numcodecs
import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.numcodecs import AsTypeCodec, BitRoundCodec, FixedScaleOffsetCodec

INTEGERS = ("<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8")
FLOATS = ("<f4", "<f8")
DELTAS = [(one, other) for one in INTEGERS for other in INTEGERS]


def numbers(dtype: str, count: int = 301) -> Any:
    """Numbers of the whole range of a type of integers; else of moderate size, halves and negative zero among them."""
    random = np.random.default_rng(len(dtype) + ord(dtype[1]))
    if dtype[1] in "iu":
        return np.frombuffer(random.bytes(count * int(dtype[2:])), dtype)
    made = np.round(random.normal(scale=40, size=count), 2)
    made[:8] = [0.5, 1.5, -0.5, -1.5, 0, -0.0, 2.5, 64][:count]
    return made.astype(dtype)


def check(codec: Any, data: Any, expected: Any = None) -> None:
    """The bytes are those of numcodecs, and so are the elements, or those that are expected."""
    store: dict[str, bytes] = {}
    array = blizzarr.create_array(
        store, shape=data.shape, chunks=data.shape, dtype=data.dtype, filters=[codec], compressors=None, zarr_format=2
    )
    array[:] = data
    dtype = array.metadata.dtype
    (step,) = [step[0] for step in array.metadata.codecs.steps(dtype, data.shape) if step[0] != "bytes"]
    assert step == ("python" if sys.byteorder == "big" else codec.codec_id)
    encoded = np.asarray(codec.encode(data.copy()))
    assert bytes(store["0"]) == encoded.tobytes()
    if expected is None:
        expected = np.asarray(codec.decode(encoded)).view(data.dtype)
    assert array[:].tobytes() == expected.tobytes()


@pytest.mark.parametrize(("taken", "made"), DELTAS)
def test_delta(taken: str, made: str) -> None:
    """Differences wrap around, and keep their sign where they become wider; those that a type lacks are refused."""
    for count in (1, 301):
        data = numbers(taken, count)
        if int(made[2:]) < int(taken[2:]):
            # The type has the first one, and differences from -3 to 3, or from 0 to 6.
            data = (50 + np.cumsum(data % 7 - (3 if made[1] == "i" else 0))).astype(taken)
            data[0] = 50
            far = np.array([0, 2 ** (8 * int(made[2:])), 0], taken)
            with pytest.raises(
                blizzarr.errors.CodecError, match="delta: expected differences that the type astype has"
            ):
                blizzarr.create_array({}, data=far, filters=[numcodecs.Delta(taken, made)], zarr_format=2)
        if (taken, made) == ("<u8", "<i8"):
            # numcodecs cannot store a larger first element.
            data = data >> 1
        # numcodecs adds up some of these as floating point, and loses elements.
        check(numcodecs.Delta(taken, made), data, data)


@pytest.mark.parametrize("taken", FLOATS)
def test_delta_of_floats(taken: str) -> None:
    """Sums are those of NumPy, which begin with the first element, be it a negative zero."""
    data = numbers(taken)
    data[:3] = [-0.0, 0.0, np.inf]
    with np.errstate(invalid="ignore"):
        for part in (data, data[:1], data[3:]):
            check(numcodecs.Delta(taken), part)


@pytest.mark.parametrize("taken", FLOATS)
@pytest.mark.parametrize("made", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (3, 0.1), (-1000.25, 1.7)])
def test_fixed_scale_offset(taken: str, made: str, offset: float, scale: float) -> None:
    """Halves go to the even neighbour; numbers are computed in the type that numcodecs computes in."""
    data = numbers(taken)
    if made[1] in "iu":
        limits = np.iinfo(made)
        fits = (data - offset) * scale
        data = data[(fits > max(limits.min, -(2**24)) + 1) & (fits < min(limits.max, 2**24) - 1)]
        beyond = np.array([0, np.nan, 1e30], taken)
        codec = numcodecs.FixedScaleOffset(offset, scale, taken, made)
        with pytest.raises(blizzarr.errors.CodecError, match="fixedscaleoffset: expected"):
            blizzarr.create_array({}, data=beyond, filters=[codec], zarr_format=2)
    if data.size:
        check(numcodecs.FixedScaleOffset(offset, scale, taken, made), data)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("keepbits", [1, 5, 10])
def test_bitround(dtype: Any, keepbits: int) -> None:
    """As numcodecs rounds; but NaN stays NaN."""
    check(numcodecs.BitRound(keepbits), numbers("<f8").astype(dtype))
    array = blizzarr.create_array(
        {}, data=np.array([np.nan, np.inf, 1], dtype), filters=[numcodecs.BitRound(keepbits)], zarr_format=2
    )
    assert np.isnan(array[0])
    assert array[1:].tolist() == [np.inf, 1]


def test_behind_big_endian_elements() -> None:
    """What the engine promises holds for either byte order: NaN stays NaN, and numbers that do not fit are refused."""
    data = np.array([1.0, np.nan, np.inf])
    big = AsTypeCodec(">f4", "<f8")
    for keepbits in (0, 3):
        array = blizzarr.create_array({}, data=data, filters=[big, BitRoundCodec(keepbits)])
        np.testing.assert_array_equal(array[...], data)
    for made in ("<i2", ">i2"):
        with pytest.raises(blizzarr.errors.CodecError, match="fixedscaleoffset: expected"):
            blizzarr.create_array({}, data=data, filters=[big, FixedScaleOffsetCodec(0, 1, ">f4", made)])


def test_others_run_in_numcodecs() -> None:
    """Between filters of the engine too: other byte orders, and booleans, which only numcodecs writes."""
    data = np.arange(40, dtype=">i4")
    for codecs in (
        [numcodecs.Delta(">i4")],
        [numcodecs.Delta("<i4"), numcodecs.AsType("<i2", "<i4"), numcodecs.Delta("<i2")],
    ):
        array = blizzarr.create_array({}, data=data.astype(codecs[0].dtype), filters=codecs, zarr_format=2)
        assert array[:].tolist() == data.tolist()
    flags = np.array([True, False, False, True])
    codec = numcodecs.Delta("|b1")
    store: dict[str, bytes] = {}
    array = blizzarr.create_array(store, shape=4, dtype=bool, filters=[codec], compressors=None, zarr_format=2)
    store["0"] = bytes(codec.encode(flags))
    assert array[:].tolist() == codec.decode(codec.encode(flags)).tolist()


def test_chunks_of_a_wrong_length_are_refused() -> None:
    """By the engine, which names the codec; of elements that are stored each by itself, the one of their bytes."""
    for codec, name in ((numcodecs.Delta("<i4"), "delta"), (numcodecs.FixedScaleOffset(0, 10, "<f4", "<i2"), "bytes")):
        store: dict[str, bytes] = {}
        array = blizzarr.create_array(
            store, shape=4, dtype=codec.dtype, filters=[codec], compressors=None, zarr_format=2, fill_value=1
        )
        store["0"] = bytes(7)
        with pytest.raises(blizzarr.errors.CodecError, match=name):
            array[:]
