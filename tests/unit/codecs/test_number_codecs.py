"""Codecs that compute with numbers: bitround, cast_value, scale_offset, packbits; and reshape."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor, isfinite, trunc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import blizzarr
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, MetadataError
from blizzarr.stores import MemoryStore
from support.one_chunk import decoded, encoded


def codec(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "configuration": options}


def chain(dtype: Any, shape: tuple[int, ...], *codecs: Any) -> CodecChain:
    return CodecChain.from_list(list(codecs), dtype, shape)


def stored(data: npt.NDArray[Any], *codecs: Any, dtype: Any = None) -> bytes:
    kind = DataType.parse(dtype or data.dtype)
    return encoded(chain(kind, data.shape, *codecs), data, kind)


@pytest.mark.parametrize(
    ("dtype", "values", "rounded"),
    [
        # The tables of the registry's sample data.
        ("float32", [0, 0.1, 1.2, 12.3, 123.4, 1234.5], [0, 0.1015625, 1.25, 12, 120, 1280]),
        ("float32", [np.inf, -np.inf, -0.1], [np.inf, -np.inf, -0.1015625]),
        ("uint8", [0, 1, 10, 11, 100, 123, 200, 208, 209, 255], [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]),
        ("bfloat16", [1.2, 12.3], [1.25, 12]),
        ("complex64", [1.2 + 12.3j], [1.25 + 12j]),
        ("complex_float16", [(1.2, 12.3)], [(1.25, 12)]),
        ("uint64", [11, 2**64 - 1], [12, 7 << 61]),
    ],
)
def test_bitround_rounds_as_the_registry_shows(dtype: str, values: list[Any], rounded: list[Any]) -> None:
    kind = DataType.parse(dtype)
    data = np.array(values, kind.numpy)
    made = decoded(
        chain(kind, data.shape, codec("bitround", keepbits=3), "bytes"),
        stored(data, codec("bitround", keepbits=3), "bytes", dtype=kind),
        kind,
        data.shape,
    )
    assert made.tolist() == np.array(rounded, kind.numpy).tolist()


@pytest.mark.parametrize("name", ["float8_e5m2", "complex_float8_e5m2", "float8_e4m3", "bool", "int4"])
def test_bitround_refuses_other_types(name: str) -> None:
    with pytest.raises(MetadataError, match="this one is for integers, float16 to float64"):
        chain(name, (4,), codec("bitround", keepbits=1), "bytes")


def test_bitround_leaves_every_nan_a_nan() -> None:
    bits = np.array([0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7FFFFFFF], "u4")
    assert stored(bits.view("f4"), codec("bitround", keepbits=3), codec("bytes", endian="little")) == bits.tobytes()


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 10), ("float32", 23), ("float64", 52)])
def test_bitround_agrees_with_numcodecs(dtype: str, bits: int) -> None:
    import numcodecs

    data = np.random.default_rng(0).normal(size=100).astype(dtype)
    for keepbits in (1, bits - 1, bits):
        expected = numcodecs.BitRound(keepbits).encode(data.copy()).view(dtype)
        assert stored(data, codec("bitround", keepbits=keepbits), "bytes") == expected.tobytes()


ROUND = {
    "nearest-even": round,
    "towards-zero": trunc,
    "towards-positive": ceil,
    "towards-negative": floor,
    "nearest-away": lambda x: floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1),
}


@pytest.mark.parametrize("rounding", ROUND)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5), wraps=st.booleans())
@example(values=[0.5, 1.5, -0.5, -2.5, 127.5, -128.5, 255.5, 1e300, -(2.0**63), 2.0**64], wraps=True)
def test_cast_value_to_integers(rounding: str, values: list[float], wraps: bool) -> None:
    """Rounded first, then wrapped or clamped, in exact arithmetic."""
    data = np.array(values, "f8")
    out_of_range = "wrap" if wraps else "clamp"
    for target in ("int8", "uint8", "uint32", "int64", "uint64"):
        least, most = int(np.iinfo(target).min), int(np.iinfo(target).max)
        whole = [ROUND[rounding](Fraction(value)) for value in values]
        expected = [(v - least) % (most - least + 1) + least if wraps else min(max(v, least), most) for v in whole]
        cast = codec("cast_value", data_type=target, rounding=rounding, out_of_range=out_of_range)
        made = np.frombuffer(stored(data, cast, codec("bytes", endian="little")), target)
        assert made.tolist() == expected, target


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
@example(values=[2**60 + 2**36 + 1, -(2**53) - 1, 2**63 - 1])
def test_cast_value_between_integers_and_floats(values: list[int]) -> None:
    """NumPy rounds to the nearest even number, too; integers that another type does not have are refused."""
    data = np.array(values, "i8")
    for target in ("float32", "float64", "int32", "uint64"):
        cast = codec("cast_value", data_type=target)
        fits = "float" in target or all(np.iinfo(target).min <= v <= np.iinfo(target).max for v in values)
        if fits:
            assert stored(data, cast, codec("bytes", endian="little")) == data.astype(target).tobytes()
        else:
            with pytest.raises(CodecError, match="expected numbers that the other data type has") as caught:
                stored(data, cast, codec("bytes", endian="little"))
            assert (caught.value.codec, caught.value.direction) == ("cast_value", "encode")


@pytest.mark.parametrize(
    "name", ["float8_e4m3", "float8_e5m2fnuz", "float8_e4m3fn", "float4_e2m1fn", "bfloat16", "float16"]
)
def test_cast_value_to_narrow_floats(name: str) -> None:
    """The package ml_dtypes rounds float32 to the nearest even number, too."""
    kind = DataType.parse(name)
    every = np.arange(2 ** min(16, 8 * kind.itemsize)).astype(f"u{kind.itemsize}").view(kind.numpy)
    with np.errstate(invalid="ignore"):  # on arm64, signalling NaN is invalid
        finite = every.astype("f4")
    finite = finite[np.isfinite(finite)]
    data = np.concatenate([finite, finite * np.float32(0.99), finite * np.float32(0.51)])
    made = stored(data, codec("cast_value", data_type=name), codec("bytes", endian="little"))
    assert np.frombuffer(made, kind.numpy).astype("f4").tolist() == data.astype(kind.numpy).astype("f4").tolist()
    values = decoded(
        chain(kind, finite.shape, codec("cast_value", data_type="float64"), "bytes"),
        finite.astype("f8").tobytes(),
        kind,
        finite.shape,
    )
    assert values.astype("f4").tolist() == finite.tolist()


def test_cast_value_maps_scalars_before_all_else() -> None:
    """The registry's example of NaN as 0, there and back."""
    nan = {"encode": [["NaN", 0], [7, 9]], "decode": [[0, "NaN"]]}
    cast = codec("cast_value", data_type="uint8", scalar_map=nan)
    data = np.array([np.nan, 1, 7, 255], "f8")
    made = chain("float64", (4,), cast, "bytes")
    assert encoded(made, data) == bytes([0, 1, 9, 255])
    assert np.array_equal(decoded(made, bytes([0, 1, 9, 255]), "float64", (4,)), [np.nan, 1, 9, 255], equal_nan=True)
    assert made.to_json()[0] == cast
    for value in (np.inf, np.nan, 255.6, -1):
        with pytest.raises(CodecError, match="element 0 of a chunk") as caught:
            stored(np.array([value]), codec("cast_value", data_type="uint8"), "bytes")
        assert str(int(value) if value == -1 else value).removesuffix("f") in str(caught.value).lower()


def test_cast_value_looks_scalars_up() -> None:
    """In a map of all numbers, comparing one after the other took 35 microseconds for each element."""
    data = np.random.default_rng(0).integers(-(2**15), 2**15, 200_000).astype("i2")
    pairs = [[value, value % 251] for value in range(-(2**15), 2**15)]
    cast = codec("cast_value", data_type="uint8", scalar_map={"encode": pairs})
    assert stored(data, cast, "bytes") == (data.astype("i4") % 251).astype("u1").tobytes()
    numbers = {"encode": [["NaN", 1], [0.0, 2], [-0.0, 3], [-1.5, 4], ["-Infinity", 5], [-1.5, 6]]}
    data = np.array([-np.nan, 0.0, -0.0, -1.5, -np.inf, 7], "f4")
    cast = codec("cast_value", data_type="uint8", scalar_map=numbers)
    assert list(stored(data, cast, "bytes")) == [1, 2, 2, 4, 5, 7]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"data_type": "string"}, "data_type"),
        ({"data_type": "float32", "out_of_range": "wrap"}, "out_of_range"),
        ({"data_type": "uint8", "scalar_map": {"encode": [["NaN", 256]]}}, "scalar_map.encode[0][1]"),
        ({"data_type": "uint8", "scalar_map": {"decode": [[-1, 0]]}}, "scalar_map.decode[0][0]"),
        ({"data_type": "complex64"}, "data_type"),
    ],
)
def test_cast_value_refuses_what_makes_no_sense(options: dict[str, Any], place: str) -> None:
    with pytest.raises(MetadataError) as caught:
        chain("float64", (4,), codec("cast_value", **options), codec("bytes", endian="little"))
    assert [problem.path for problem in caught.value.problems] == [f"codecs[0].configuration.{place}"]


def test_a_fill_value_must_survive() -> None:
    """A chunk that is missing, and one of fill values, must read alike."""

    def create(fill: float) -> blizzarr.Array:
        cast = codec("cast_value", data_type="uint8")
        return blizzarr.create_array({}, shape=4, dtype="f8", filters=cast, fill_value=fill)

    assert create(3)[:].tolist() == [3] * 4
    for fill in (float("nan"), 3.5, 300):
        with pytest.raises(MetadataError, match="fill_value"):
            create(fill)


@pytest.mark.parametrize("shape", [(), (4, 6)])
def test_a_fill_value_survives_whatever_the_shape_of_chunks(shape: tuple[int, ...]) -> None:
    """The blocks of N5 have the axes of the chunk; the fill value is tried without them."""
    cast = codec("cast_value", data_type="int32")
    array = blizzarr.create_array({}, shape=shape, dtype="i2", filters=cast, serializer=codec("n5_default"))
    array[...] = 7
    assert np.array_equal(array[...], np.full(shape, 7))


def test_a_fill_value_can_be_scaled() -> None:
    """Chunks at the edge of an array have it beyond the edge, so that no element of such a chunk could be written."""

    def create(dtype: str, fill: float, **options: Any) -> blizzarr.Array:
        scaled = codec("scale_offset", **options)
        return blizzarr.create_array({}, shape=5, chunks=4, dtype=dtype, filters=scaled, fill_value=fill)

    with pytest.raises(MetadataError, match="fill_value: expected a value that the codec scale_offset can encode"):
        create("uint16", 0, offset=1000)
    array = create("uint16", 1000, offset=1000)
    array[:] = 1001
    assert array[:].tolist() == [1001] * 5
    assert create("float32", 1.1, offset=5, scale=0.1)[:].tolist() == [np.float32(1.1)] * 5
    with pytest.raises(MetadataError, match="scale: expected a number other than 0, found 0"):
        create("int16", 0, scale=0)


@given(st.lists(st.integers(0, 65535), min_size=1, max_size=6), st.integers(0, 65535), st.integers(1, 300))
def test_scale_offset_of_integers_is_exact(values: list[int], offset: int, scale: int) -> None:
    """Every number that the data type lacks is an error, in either direction."""
    codecs = (codec("scale_offset", offset=offset, scale=scale), codec("bytes", endian="little"))
    steps = [part for value in values for part in (value - offset, (value - offset) * scale)]
    if all(0 <= part <= 65535 for part in steps):
        made = np.frombuffer(stored(np.array(values, "u2"), *codecs), "u2")
        assert made.tolist() == steps[1::2]
        assert decoded(chain("uint16", made.shape, *codecs), made.tobytes(), "uint16", made.shape).tolist() == values
    else:
        with pytest.raises(CodecError, match=r"\(x - offset\) \* scale"):
            stored(np.array(values, "u2"), *codecs)
    back = [Fraction(value, scale) for value in values]
    if all(part.denominator == 1 and part + offset <= 65535 for part in back):
        assert decoded(
            chain("uint16", (len(values),), *codecs), np.array(values, "u2").tobytes(), "uint16", (len(values),)
        ).tolist() == [int(part) + offset for part in back]
    else:
        with pytest.raises(CodecError, match=r"x / scale \+ offset"):
            decoded(
                chain("uint16", (len(values),), *codecs), np.array(values, "u2").tobytes(), "uint16", (len(values),)
            )


@pytest.mark.parametrize("encodes", [True, False])
@pytest.mark.parametrize("name", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_scale_offset_of_integers_at_their_ends(name: str, encodes: bool) -> None:
    """A model with Python's integers: of each number what it becomes, or an error, though others come before it."""
    least, most = int(np.iinfo(name).min), int(np.iinfo(name).max)

    def becomes(value: int, offset: int, scale: int) -> int | None:
        between, remainder = (value - offset, 0) if encodes else divmod(value, scale)
        made = between * scale if encodes else between + offset
        return made if remainder == 0 and least <= between <= most and least <= made <= most else None

    def run(values: list[int], codecs: list[Any]) -> list[int]:
        data = np.array(values, name)
        if encodes:
            made: list[int] = np.frombuffer(stored(data, *codecs), name).tolist()
            return made
        return list(decoded(chain(name, data.shape, *codecs), data.tobytes(), name, data.shape).tolist())

    def has(number: int) -> bool:
        return least <= number <= most

    for offset, scale in product(filter(has, (0, 7, -7, least, most)), (1, -1, 3, -4, 1024, least, most)):
        if scale == 0 or not has(scale):
            continue
        bounds = [end // scale + near for end in (least, 0, most) for near in (-1, 0, 1)]
        values = {number + shift for number in bounds for shift in (0, offset)} | {number * scale for number in bounds}
        expected = {value: becomes(value, offset, scale) for value in filter(has, values | {least, most, scale + 1})}
        good = [value for value, made in expected.items() if made is not None]
        codecs = [codec("scale_offset", offset=offset, scale=scale), codec("bytes", endian="little")]
        assert run(good, codecs) == [expected[value] for value in good]
        for value in expected.keys() - set(good):
            with pytest.raises(CodecError, match=f"found {value} as element {len(good)} of"):
                run([*good, value], codecs)


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "bfloat16", "float8_e4m3"])
def test_scale_offset_of_floats_is_that_of_the_type(name: str) -> None:
    kind = DataType.parse(name)
    data = np.random.default_rng(1).normal(size=200).astype(kind.numpy)
    offset, scale = np.array([5, 0.125], kind.numpy)
    codecs = (codec("scale_offset", offset=5, scale=0.125), codec("bytes", endian="little"))
    made = stored(data, *codecs, dtype=kind)
    assert made == ((data - offset) * scale).tobytes()
    assert (
        decoded(chain(kind, data.shape, *codecs), made, kind, data.shape).tobytes()
        == ((data - offset) * scale / scale + offset).tobytes()
    )


def test_filters_one_after_the_other_in_shards_and_big_endian() -> None:
    """Filters of the engine, of numcodecs, transpositions and shards work together."""
    data = (np.arange(48).reshape(6, 8) * 4 + 1000).astype("u2")
    packed = [codec("scale_offset", offset=1000), {"name": "transpose", "configuration": {"order": [1, 0]}}]
    small = codec("cast_value", data_type="uint8")
    filters = [*packed, codec("numcodecs.astype", encode_dtype="<u2"), small]
    little, big = codec("bytes", endian="little"), codec("bytes", endian="big")
    assert stored(data, *filters, "bytes") == ((data.T - 1000).astype("u1")).tobytes()
    assert (
        stored(data, *packed, codec("cast_value", data_type="float32"), big) == (data.T - 1000).astype(">f4").tobytes()
    )
    inner = codec(
        "sharding_indexed",
        chunk_shape=[4, 3],
        codecs=[little, codec("zstd", level=1, checksum=False)],
        index_codecs=[little],
    )
    for codecs in (
        [*filters, "bytes"],
        [*packed, codec("sharding_indexed", chunk_shape=[4, 3], codecs=[little], index_codecs=[little])],
        [*packed, small, inner],
    ):
        array = blizzarr.create_array({}, shape=(6, 8), chunks=(6, 8), dtype="u2", codecs=codecs, fill_value=1000)
        array[...] = data
        assert np.array_equal(array[...], data)
        assert np.array_equal(array[2:5, 3], data[2:5, 3])
        array[1, 2] = 1004
        assert array[1, 1:4].tolist() == [data[1, 1], 1004, data[1, 3]]


@pytest.mark.parametrize("endian", ["little", "big"])
def test_a_long_chunk_of_a_file_is_decoded_in_blocks(tmp_path: Path, endian: str) -> None:
    filters = [codec("cast_value", data_type="int32", out_of_range="clamp"), codec("scale_offset", offset=3, scale=2)]
    data = np.arange(-100_000, 107_003).astype("i8")
    options: dict[str, Any] = {"chunks": data.shape, "compressors": None}
    array = blizzarr.create_array(
        tmp_path / "plain", data=data, filters=filters, serializer=codec("bytes", endian=endian), **options
    )
    np.testing.assert_array_equal(array[:], data)
    np.testing.assert_array_equal(array[5:-3:7], data[5:-3:7])
    sharded = {**options, "shards": data.shape, "chunks": (data.size // 3,)}
    array = blizzarr.create_array(tmp_path / "sharded", data=data, filters=filters, **sharded)
    np.testing.assert_array_equal(array[:], data)


def test_an_error_in_a_long_chunk_tells_which_element_it_is(tmp_path: Path) -> None:
    data = np.arange(300_000).astype("f4")
    array = blizzarr.create_array(
        tmp_path,
        data=data,
        filters=[codec("cast_value", data_type="float64")],
        chunks=data.shape,
        compressors=None,
    )
    with open(tmp_path / "c" / "0", "r+b") as file:
        file.seek(8 * 250_000)
        file.write(np.float64(1e300).tobytes())
    with pytest.raises(CodecError, match="as element 250,000 of a chunk"):
        array[:]


@pytest.mark.parametrize("padding", ["none", "first_byte", "last_byte"])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 65])
def test_packbits_of_booleans(padding: str, count: int) -> None:
    """NumPy packs booleans in the same order."""
    data = np.random.default_rng(count).random(count) < 0.5
    packed, unused = np.packbits(data, bitorder="little").tobytes(), bytes([-count % 8])
    expected = {"none": packed, "first_byte": unused + packed, "last_byte": packed + unused}[padding]
    codecs = codec("packbits", padding_encoding=padding)
    assert stored(data, codecs) == expected
    assert decoded(chain(bool, data.shape, codecs), expected, bool, data.shape).tolist() == data.tolist()


@given(
    name=st.sampled_from(["int2", "uint4", "int4", "float6_e2m3fn", "int8", "uint16", "int32", "uint64", "int64"]),
    bits=st.tuples(st.integers(0, 63), st.integers(0, 63)),
    numbers=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20),
)
def test_packbits_of_any_bits(name: str, bits: tuple[int, int], numbers: list[int]) -> None:
    """A model with Python's integers: bits of one after the other; those left out are zeros, or the sign."""
    kind = DataType.parse(name)
    width = {"int2": 2, "uint4": 4, "int4": 4, "float6_e2m3fn": 6}.get(name, kind.itemsize * 8)
    first, last = sorted(bit % width for bit in bits)
    kept = last - first + 1
    values = [number % 2**width for number in numbers]
    data = np.array(values, f"u{kind.itemsize}").view(kind.numpy)
    parts = [value >> first & (1 << kept) - 1 for value in values]
    joined = sum(part << kept * position for position, part in enumerate(parts))
    codecs = codec("packbits", first_bit=first, last_bit=last)
    made = stored(data, codecs, dtype=kind)
    assert made == joined.to_bytes(-(-kept * len(parts) // 8), "little")
    signed = name.startswith("int")
    back = [(part - (signed and part >> kept - 1 << kept) << first) % 2**width for part in parts]
    found = decoded(chain(kind, data.shape, codecs), made, kind, data.shape)
    assert found.view(f"u{kind.itemsize}").tolist() == back


def test_packbits_refuses_damaged_padding() -> None:
    codecs = codec("packbits", padding_encoding="first_byte")
    with pytest.raises(CodecError, match="expected 5 padding bits, found 4"):
        decoded(chain(bool, (3,), codecs), b"\x04\x07", bool, (3,))
    with pytest.raises(CodecError, match="expected 2 bytes, found 1"):
        decoded(chain(bool, (3,), codecs), b"\x07", bool, (3,))


@pytest.mark.parametrize(
    ("shape", "made"), [([[0, 1], [2], 3], (8, 9, 3)), ([[0, 1], -1], (8, 27)), ([-1], (216,)), ([6, -1, 4], (6, 9, 4))]
)
def test_reshape_and_transpose(shape: list[Any], made: tuple[int, ...]) -> None:
    data = np.arange(216, dtype="u2").reshape(2, 4, 9, 3)
    order = list(range(len(made)))[::-1]
    codecs = (codec("reshape", shape=shape), codec("transpose", order=order), codec("bytes", endian="big"))
    expected = data.reshape(made).transpose(order).astype(">u2").tobytes()
    assert stored(data, *codecs) == expected
    assert np.array_equal(decoded(chain("uint16", data.shape, *codecs), expected, "uint16", data.shape), data)
    first = (codec("transpose", order=[3, 2, 1, 0]), codec("reshape", shape=[-1, 8]), codec("bytes", endian="little"))
    assert stored(data, *first) == data.T.tobytes()


def test_reshape_is_a_value_however_its_axes_are_listed() -> None:
    one, other = blizzarr.codecs.ReshapeCodec(([0, 1], 3)), blizzarr.codecs.ReshapeCodec([(0, 1), 3])
    assert (one, hash(one)) == (other, hash(other))


@pytest.mark.parametrize(
    "shape", [[5, -1], [[0, 1, 2, 3, 4]], [[0, 1], [3], 9], [[2], -1], [[0, 2], 12], [217], [7, 31]]
)
def test_reshape_refuses_other_shapes(shape: list[Any]) -> None:
    with pytest.raises(MetadataError, match=r"codecs\[0\]\.configuration\.shape"):
        chain("uint16", (2, 4, 9, 3), codec("reshape", shape=shape), "bytes")


def test_reshape_to_very_many_axes_is_refused_at_once() -> None:
    """The product of the lengths is a number of 950,000 bits, for which multiplication takes half a minute."""
    with pytest.raises(MetadataError, match="a shape of the 4 elements"):
        chain("uint16", (4,), codec("reshape", shape=[9] * 300_000), "bytes")
    chain("uint16", (2**40,), codec("reshape", shape=[2] * 40 + [1] * 30), "bytes")


def test_ml_dtypes_are_those_of_the_registry() -> None:
    """The formats of the engine have the same least and greatest values."""
    for name in ("float8_e3m4", "float8_e4m3b11fnuz", "float8_e5m2", "float6_e3m2fn", "float16"):
        kind = DataType.parse(name)
        assert kind.limits is not None
        most = float(ml_dtypes.finfo(kind.numpy).max)
        assert isfinite(most)
        made = stored(np.array([most]), codec("cast_value", data_type=name), codec("bytes", endian="little"))
        assert float(np.frombuffer(made, kind.numpy)[0]) == most
        with pytest.raises(CodecError):
            stored(np.array([most * 1.5]), codec("cast_value", data_type=name), codec("bytes", endian="little"))


@pytest.mark.parametrize("compressors", [[], [codec("gzip", level=1)]])
def test_n5_default_stores_what_arrays_of_n5_do(compressors: list[Any]) -> None:
    """The same chunks, byte for byte, and those that N5 cuts off at the edge are read."""
    data = np.arange(70, dtype="u2").reshape(7, 10)
    inner = [codec("transpose", order=[1, 0]), codec("bytes", endian="big"), *compressors]
    store, old = MemoryStore(), MemoryStore()
    array = blizzarr.create_array(
        store,
        shape=(7, 10),
        chunks=(4, 6),
        dtype="u2",
        codecs=[codec("n5_default", codecs=inner)],
        chunk_key_encoding={"name": "v2", "separator": "/"},
    )
    array[...] = data
    n5 = blizzarr.create_array(
        old, shape=(7, 10), chunks=(4, 6), dtype="u2", zarr_format="n5", compressors=compressors or None
    )
    n5[...] = data
    chunks = [key for key in old.list() if key[0].isdigit()]
    assert len(chunks) == 4
    for key in chunks:
        store.set(key, old.get(key))
    assert np.array_equal(blizzarr.open_array(store)[...], data)
    assert blizzarr.open_array(store).metadata.codecs.to_json() == [codec("n5_default", codecs=inner)]


def test_n5_default_refuses_other_codecs() -> None:
    for inner in (["bytes"], [codec("transpose", order=[0, 1]), codec("bytes", endian="big")]):
        with pytest.raises(MetadataError, match="configuration.codecs"):  # noqa: RUF043
            chain("uint16", (4, 6), codec("n5_default", codecs=inner))


def test_n5_default_behind_filters() -> None:
    data = np.arange(70).reshape(7, 10)
    inner = codec("n5_default", codecs=[codec("transpose", order=[1, 0]), codec("bytes", endian="big")])
    array = blizzarr.create_array(
        {}, data=data, chunks=(4, 6), codecs=[codec("cast_value", data_type="uint16"), inner], fill_value=1
    )
    assert np.array_equal(array[...], data)
