"""The filters of numcodecs, and the step of the engine in which they run."""

from __future__ import annotations

import json
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import BytesCodec, CodecChain, ShardingCodec, TransposeCodec
from blizzarr.codecs.numcodecs import (
    AsTypeCodec,
    BitRoundCodec,
    CategorizeCodec,
    DeltaCodec,
    FixedScaleOffsetCodec,
    PackBitsCodec,
    QuantizeCodec,
    ZlibCodec,
)
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, MetadataError
from support.one_chunk import decoded, encoded, prepared

NUMBERS = np.array([[1, 2, 4], [7, 11, 16]], "int16")
REALS = np.array([0.1, 0.26, 3.14, -2.7, 1000])
WORDS = np.array(["b", "a", ""], "U2")
WIDE = "".join(f"{step:02x}{'00' * 7}" for step in (1, 1, 2, 3, 4, 5))

# Data, filter, byte order, what is stored, what is read when it is not the same.
CASES: list[tuple[Any, ...]] = [
    (NUMBERS, DeltaCodec(), "little", "010001000200030004000500"),
    (NUMBERS, DeltaCodec(), "big", "000100010002000300040005"),
    (NUMBERS, DeltaCodec("<i2", "|i1"), "big", "010102030405"),
    (NUMBERS, DeltaCodec("int16", "int64"), "little", WIDE),
    (NUMBERS, AsTypeCodec("<f4"), "big", "3f800000400000004080000040e000004130000041800000"),
    (np.array([[1, 0, 1], [1, 1, 0]], bool), PackBitsCodec(), None, "02b8"),
    (REALS, FixedScaleOffsetCodec(0, 10, None, "<i2"), "big", "00010003001fffe52710", [0.1, 0.3, 3.1, -2.7, 1000]),
    (REALS, QuantizeCodec(1, None, "<f4"), "little", "0000003e0000803e0000484000002cc000007a44",
     [0.125, 0.25, 3.125, -2.6875, 1000]),
    (np.array([1.0, 1.2, 1.3], "f4"), BitRoundCodec(2), "big", "3f8000003fa000003fa00000", [1, 1.25, 1.25]),
    (WORDS, CategorizeCodec(("a", "b"), None, "<i2"), "big", "000200010000"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].name)
def test_what_is_stored(case: tuple[Any, ...]) -> None:
    """Elements are filtered as numbers; the serializer has the last word on the byte order."""
    data, codec, endian, stored = case[:4]
    chain = CodecChain.from_list([codec, BytesCodec(endian)], data.dtype, data.shape)
    assert encoded(chain, data).hex() == stored
    found = decoded(chain, bytes.fromhex(stored), data.dtype, data.shape)
    assert np.array_equal(found, np.asarray(case[4] if len(case) > 4 else data, data.dtype))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].name)
def test_damaged(case: tuple[Any, ...]) -> None:
    """rows 1-9: the size of what a filter makes follows from that of the chunk; any other is an error that names it."""
    data, codec, endian, stored = case[:4]
    chain = CodecChain.from_list([codec, BytesCodec(endian)], data.dtype, data.shape)
    size = len(stored) // 2
    for damaged in (b"", bytes.fromhex(stored)[:-1], bytes.fromhex(stored) * 2, bytes(1 << 16)):
        with pytest.raises(CodecError, match=f" {size} bytes") as caught:
            decoded(chain, damaged, data.dtype, data.shape)
        # The engine has names of its own, and swaps bytes in a step of its own.
        assert caught.value.codec in (codec.name, codec.name.removeprefix("numcodecs."), "bytes")
        assert caught.value.direction == "decode"


def test_padding_that_is_wrong() -> None:
    """A count of padding bits that cannot be makes too few booleans, not those of a neighbour."""
    chain = CodecChain.from_list([PackBitsCodec(), "bytes"], "bool", (2, 3))
    for stored in (b"\xff\xb8", b"\x00\xb8", b"\x07\xb8"):
        with pytest.raises(CodecError, match=r"expected 6 bytes from numcodecs\.packbits, found"):
            decoded(chain, stored, "bool", (2, 3))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_packbits_loses_no_integer(zarr_format: Any, dtype: str) -> None:
    """numcodecs makes 1 of every integer that is not 0; what it made of them is read."""
    store: dict[str, Any] = {}
    filters = {"filters": [PackBitsCodec()], "zarr_format": zarr_format, "compressors": None}
    array = blizzarr.create_array(store, shape=5, dtype=dtype, **filters)
    array[:] = [0, 1, 1, 0, 1]
    assert array[:].tolist() == [0, 1, 1, 0, 1]
    before = dict(store)
    expected = r"expected 0 or 1, which is all that numcodecs\.packbits keeps .*, found 7 as element 3; write booleans"
    with pytest.raises(CodecError, match=expected):
        array[3] = 7
    assert dict(store) == before


def test_filters_behind_packbits_take_its_bytes() -> None:
    """A fill value was tried without packbits, so that the next filter refused booleans."""
    filters = ["numcodecs.packbits", {"name": "cast_value", "configuration": {"data_type": "float64"}}]
    data = np.array([True, False, True, True])
    array = blizzarr.create_array({}, data=data, chunks=(4,), filters=filters, compressors=None)
    assert array[...].tolist() == [True, False, True, True]
    assert np.frombuffer(array.store.get("c/0"), "f8").tolist() == [4, 0b10110000]


def test_packbits_behind_a_compressor_loses_no_byte() -> None:
    """Where filters of v2 follow a compressor, they get its bytes."""
    document = {
        "zarr_format": 2,
        "shape": [5],
        "chunks": [5],
        "dtype": "|b1",
        "order": "C",
        "fill_value": None,
        "filters": [{"id": "zlib", "level": 1}, {"id": "packbits"}],
        "compressor": None,
    }
    store = {".zarray": json.dumps(document).encode()}
    with pytest.raises(CodecError, match="expected 0 or 1"):
        blizzarr.open_array(store, mode="r+")[:] = True
    assert list(store) == [".zarray"]


def test_filters_run_in_order() -> None:
    """Each filter is a step of the engine, which is given what the one before it made."""
    filters = [
        QuantizeCodec(2),
        AsTypeCodec("<f4"),
        FixedScaleOffsetCodec(0, 100, None, "<i4"),
        DeltaCodec(None, "<i2"),
    ]
    data = np.linspace(0, 3, 24).reshape(4, 6)
    chain = CodecChain.from_list([*filters, "bytes", "numcodecs.zlib"], "float64", data.shape)
    assert [codec.configuration().get("dtype") for codec in chain.filters] == ["<f8", None, "<f4", "<i4"]
    steps = chain.steps(DataType.parse("float64"), data.shape)
    assert [step[0] for step in steps] == ["bytes", "python", "python", "fixedscaleoffset", "delta", "zlib"]
    assert [step[1].name for step in steps[1:3]] == ["numcodecs.quantize", "numcodecs.astype"]
    stored = encoded(chain, data)
    assert np.allclose(decoded(chain, stored, "float64", data.shape), data, atol=0.01)


def test_filters_of_the_other_byte_order() -> None:
    """A filter gets the memory that the one before it left, as in zarr-python; other codecs get it as elements."""
    swapped = NUMBERS.astype("i4").astype(">i4").view("<i4")
    differences = np.diff(swapped.ravel(), prepend=np.int32(0)).astype("<i4")
    chain = CodecChain.from_list([AsTypeCodec(">i4"), DeltaCodec("<i4"), "bytes"], "int16", (2, 3))
    assert encoded(chain, NUMBERS) == differences.tobytes()
    assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)
    for behind in ([TransposeCodec((1, 0))], [{"name": "cast_value", "configuration": {"data_type": "int64"}}], []):
        chain = CodecChain.from_list([AsTypeCodec(">i4"), *behind, "bytes"], "int16", (2, 3))
        stored = encoded(chain, NUMBERS)
        expected = NUMBERS.T if behind and isinstance(behind[0], TransposeCodec) else NUMBERS
        assert np.frombuffer(stored, "<i8" if len(stored) == 48 else "<i4").tolist() == expected.ravel().tolist()
        assert np.array_equal(decoded(chain, stored, "int16", (2, 3)), NUMBERS)


def test_transposed_before() -> None:
    """T-5: the engine turns the axes; what the filter sees lies in the order that is stored."""
    chain = CodecChain.from_list([TransposeCodec((1, 0)), DeltaCodec(), "bytes"], "int16", (2, 3))
    assert encoded(chain, NUMBERS).hex() == "01000600fbff0900f9ff0c00"
    assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)
    assert chain.order == "F"


def test_transposed_behind() -> None:
    """Filters of single elements keep the shape, so axes may be turned behind them; those of several leave but one."""
    chain = CodecChain.from_list([AsTypeCodec("<i4"), TransposeCodec((1, 0)), "bytes"], "int16", (2, 3))
    assert np.frombuffer(encoded(chain, NUMBERS), "<i4").tolist() == [1, 7, 2, 11, 4, 16]
    with pytest.raises(MetadataError, match=r"codecs\[1\].configuration.order: expected a permutation of \[0\]"):
        CodecChain.from_list([DeltaCodec(), TransposeCodec((1, 0)), "bytes"], "int16", (2, 3))
    chain = CodecChain.from_list([DeltaCodec(), TransposeCodec((0,)), "bytes"], "int16", (2, 3))
    assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)


def test_shards() -> None:
    """T-11: filters of single elements may stand before a shard; others belong to its inner chunks."""
    data = np.linspace(0, 1, 48, dtype="float32").reshape(6, 8)
    inner = ShardingCodec((3, 4), ["bytes", "numcodecs.zlib"])
    before = CodecChain.from_list([BitRoundCodec(3), AsTypeCodec("<f8"), inner], "float32", (6, 8))
    within = [BitRoundCodec(3), AsTypeCodec("<f8"), "bytes", "numcodecs.zlib"]
    inside = CodecChain.from_list([ShardingCodec((3, 4), within)], "float32", (6, 8))
    assert encoded(before, data) == encoded(inside, data)
    assert before.read_shape((6, 8)) == (3, 4)
    assert np.allclose(decoded(before, encoded(before, data), "float32", (6, 8)), data, rtol=0.1)
    with pytest.raises(MetadataError, match="filters of several elements among the codecs of the inner chunks"):
        CodecChain.from_list([DeltaCodec(), ShardingCodec((12,), ["bytes"])], "int16", (24,))
    chain = CodecChain.from_list([ShardingCodec((2, 2), [DeltaCodec(), "bytes"])], "int16", (4, 6))
    numbers = np.arange(24, dtype="int16").reshape(4, 6) ** 2
    assert np.array_equal(decoded(chain, encoded(chain, numbers), "int16", (4, 6)), numbers)


def test_scalars() -> None:
    """An array without dimensions has one element, which is filtered like any other."""
    chain = CodecChain.from_list([DeltaCodec(), "bytes"], "int16", ())
    assert encoded(chain, np.int16(5)) == b"\x05\x00"
    assert decoded(chain, b"\x05\x00", "int16", ()).item() == 5


def test_longer_than_anyone_would_guess() -> None:
    """Filters may make elements of eight bytes from one: the engine asks how long a chunk can get."""
    chain = CodecChain.from_list([AsTypeCodec("<f8"), "bytes"], "uint8", (1 << 16,))
    data = np.arange(1 << 16, dtype="uint8")
    stored = encoded(chain, data)
    assert len(stored) == 8 << 16
    assert np.array_equal(decoded(chain, stored, "uint8", data.shape), data)
    assert chain.steps(DataType.parse("uint8"), (8,))[1][1].encoded_size(8) == 64


def test_byte_order_left_out() -> None:
    """zarr-python looks at the array's elements only, so it leaves out the order of larger ones that filters make."""
    codecs = [{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i2"}}, "bytes"]
    chain = CodecChain.from_json(codecs, dtype=DataType.parse("uint8"), chunk_shape=(2,))
    assert chain is not None
    assert chain.serializer == BytesCodec(None)
    assert encoded(chain, np.array([1, 2], "u1")) == b"\x01\x00\x02\x00"
    with pytest.raises(MetadataError, match=r"codecs\[1\].configuration.endian: expected"):
        CodecChain.from_json(codecs, dtype=DataType.parse("int16"), chunk_shape=(2,))


@pytest.mark.parametrize(
    ("codec", "dtype", "text"),
    [
        (DeltaCodec("<i8"), "int16", "configuration.dtype: expected a type whose size divides the 12 bytes of a chunk"),
        (AsTypeCodec("<i8", "<i8"), "int16", "configuration.decode_dtype: expected a type whose size divides the 12"),
        (QuantizeCodec(5, "<f4"), "float16", "configuration.dtype: expected a type of 2 bytes, as float16 has"),
        (BitRoundCodec(5), "int16", "this one is for float16, float32, float64"),
        (BitRoundCodec(24), "float32", "configuration.keepbits: expected at most 23"),
        (QuantizeCodec(5), "int16", "configuration.dtype: expected a type of floating-point numbers"),
        (PackBitsCodec(), "int16", "this one is for bool"),
        (CategorizeCodec(("a",)), "int16", "configuration.dtype: expected a type of text of fixed length"),
        (AsTypeCodec("<c32"), "int16", "a filter that makes elements of a supported data type"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_elements_that_do_not_fit(codec: Any, dtype: str, text: str) -> None:
    """A filter that is not for such elements is refused when the array is made or opened, with its place."""
    with pytest.raises(MetadataError) as caught:
        CodecChain.from_list([codec, "bytes"], dtype, (2, 3))
    assert text in str(caught.value)
    assert caught.value.problems[0].path.startswith("codecs[0]")


@pytest.mark.parametrize("wide", [np.dtype("i4"), np.int32, "int32", "<i4"], ids=str)
def test_types_as_numpy_has_them(wide: Any) -> None:
    """In configurations of numcodecs, and as options of our own classes; they are stored as text."""
    assert DeltaCodec(np.int32, np.dtype("i2")) == DeltaCodec("<i4", "<i2")  # type: ignore[arg-type]  # NumPy's own
    config = {"id": "delta", "dtype": wide, "astype": np.dtype("i2")}
    values = {"id": "fixedscaleoffset", "offset": np.int64(1), "scale": 2, "dtype": wide, "astype": np.float32}
    for filters in ([config], [values], [config, {"id": "astype", "encode_dtype": float, "decode_dtype": np.int16}]):
        array = blizzarr.create_array(store := {}, data=np.array([1, 5, 3], "i4"), zarr_format=2, filters=filters)
        assert array[...].tolist() == [1, 5, 3]
        stored = json.loads(store[".zarray"])["filters"]
        for given, kept in zip(filters, stored, strict=True):
            assert given.keys() == kept.keys()
            for name in ("dtype", "astype", "encode_dtype", "decode_dtype"):
                assert name not in kept or np.dtype(kept[name]) == np.dtype(given[name])


@pytest.mark.parametrize("spelling", ["O", "i4,i4", "(2,)i4", "V3", "x", "<z9", "i4)", ""])
def test_types_that_are_none(spelling: str) -> None:
    """Only strings for elements of one plain type are taken; no other string gets as far as NumPy's parser."""
    with pytest.raises(MetadataError, match="a data type of NumPy"):
        DeltaCodec(spelling)


def test_threads_share_a_step() -> None:
    """Chunks are encoded and decoded by several threads at once, through one step."""
    chain = CodecChain.from_list([AsTypeCodec("<i4"), "bytes", ZlibCodec()], "int64", (1000,))
    step = chain.steps(DataType.parse("int64"), (1000,))[1][1]
    data = [np.arange(1000) * factor for factor in range(8)]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(50):
            stored = bytes(step.encode(data[number].tobytes()))
            if not np.array_equal(np.frombuffer(step.decode(stored, 8000), "int64"), data[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_array_with_filters() -> None:
    """Parts are read and written, chunks of nothing but fill are not stored, and the array can be pickled."""
    store: dict[str, bytes] = {}
    array = blizzarr.create_array(
        store, shape=(10, 10), chunks=(4, 4), dtype="int32", filters=[DeltaCodec()], compressors=["lz4"], fill_value=-1
    )
    array[2:7, 3:9] = np.arange(30).reshape(5, 6)
    expected = np.full((10, 10), -1)
    expected[2:7, 3:9] = np.arange(30).reshape(5, 6)
    assert np.array_equal(array[...], expected)
    array[0:4, 0:4] = -1
    assert "c/0/0" not in store
    assert np.array_equal(pickle.loads(pickle.dumps(array))[3:8, 4:9], expected[3:8, 4:9])
    filters = [{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}}]
    assert json.loads(store["zarr.json"])["codecs"][:1] == filters


def test_prepared_once_for_equal_chains() -> None:
    """Chains are values: equal ones are prepared once, those of other options are not the same."""
    one = CodecChain.from_list([DeltaCodec(), "bytes"], "int32", (4,))
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "int32"}}
    other = CodecChain.from_list([delta, "bytes"], "int32", (4,))
    assert (one, hash(one)) == (other, hash(other))
    assert one != CodecChain.from_list([DeltaCodec(astype="<i2"), "bytes"], "int32", (4,))
    assert prepared(one, DataType.parse("int32"), (4,)).length == 16


def test_numbers_that_a_filter_cannot_bear() -> None:
    """Who stores them by numcodecs is warned by NumPy, which is an error where warnings are; who reads them is not."""
    data = np.array([1.0, np.inf, np.inf, 2.0], "f2")
    chain = CodecChain.from_list([DeltaCodec(), "bytes"], "float16", (4,))
    with pytest.raises(CodecError, match="invalid value encountered in subtract") as caught:
        encoded(chain, data)
    assert isinstance(caught.value.__cause__, RuntimeWarning)
    stored = np.array([1, np.inf, -np.inf, 3], "f2").tobytes()
    assert np.array_equal(decoded(chain, stored, "float16", (4,)), [1, np.inf, np.nan, np.nan], equal_nan=True)


def test_bitround_of_other_numbers_changes_nothing_and_is_refused_for_new_arrays() -> None:
    """Decoding does nothing; v2 documents with it were refused."""
    store = {"0": np.arange(6, dtype=">i2").tobytes()}
    document = {"zarr_format": 2, "shape": [6], "chunks": [6], "dtype": ">i2", "fill_value": 0, "order": "C"}
    document |= {"filters": [{"id": "bitround", "keepbits": 3}], "compressor": None}
    store[".zarray"] = json.dumps(document).encode()
    np.testing.assert_array_equal(blizzarr.open_array(store)[...], np.arange(6))
    blizzarr.open_array(store)[2:4] = 7
    assert blizzarr.open_array(store)[...].tolist() == [0, 1, 7, 7, 4, 5]
    assert json.loads(store[".zarray"]) == document
    with pytest.raises(MetadataError, match="this one is for float16"):
        blizzarr.create_array({}, shape=6, dtype="i2", filters=document["filters"], zarr_format=2)
