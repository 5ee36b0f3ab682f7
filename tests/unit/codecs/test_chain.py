"""The chain: what users may say, and what the engine gets."""

from __future__ import annotations

import json
import sys
from typing import Any

import numcodecs
import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import (
    BloscCodec,
    BytesCodec,
    CodecChain,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from blizzarr.codecs.numcodecs import (
    BZ2Codec,
    CRC32Codec,
    DeltaCodec,
    JenkinsLookup3Codec,
    LZ4Codec,
    LZMACodec,
    ShuffleCodec,
    ZlibCodec,
)
from blizzarr.codecs.user import codec_of
from blizzarr.creation.describe import describe_array
from blizzarr.dtypes import DataType
from blizzarr.errors import LimitError, MetadataError, UnknownExtensionError

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}


def test_default_chain() -> None:
    """New arrays get what zarr-python gives them: little-endian bytes and zstd."""
    assert CodecChain.from_user(dtype="float32", chunk_shape=(4,)).to_json() == [LITTLE, ZSTD]
    assert CodecChain.from_user(dtype="uint8", chunk_shape=(4,)).to_json() == [{"name": "bytes"}, ZSTD]


def test_default_sharded_chain() -> None:
    """K-39: with shards, the chain is that of the inner chunks; the index, at the end, has a checksum."""
    chain = describe_array(shape=(4, 4), dtype="float32", chunks=(2, 2), shards=(4, 4)).codecs
    assert chain.to_json() == [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [2, 2],
                "codecs": [LITTLE, ZSTD],
                "index_codecs": [LITTLE, {"name": "crc32c"}],
                "index_location": "end",
            },
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"compressors": None}, ["bytes"]),
        ({"compressors": []}, ["bytes"]),
        ({"compressors": "gzip"}, ["bytes", "gzip"]),
        ({"compressors": ["gzip", Crc32cCodec()]}, ["bytes", "gzip", "crc32c"]),
        ({"compressors": {"name": "zstd", "configuration": {"level": 3}}}, ["bytes", "zstd"]),
        ({"filters": TransposeCodec((1, 0)), "compressors": None}, ["transpose", "bytes"]),
        ({"filters": None, "serializer": None, "compressors": None}, ["bytes"]),
        ({"serializer": BytesCodec("big"), "compressors": GzipCodec()}, ["bytes", "gzip"]),
    ],
)
def test_what_users_may_say(arguments: dict[str, Any], names: list[str]) -> None:
    """A codec, a list, a name, an object as in documents, None, "auto"."""
    chain = CodecChain.from_user(dtype="int16", chunk_shape=(4, 4), **arguments)
    assert [codec.name for codec in chain.all] == names


def test_endian_of_the_user() -> None:
    """A big-endian dtype keeps its order in the store, where there is one."""
    assert CodecChain.from_user(dtype="int16", chunk_shape=(1,), endian="big").serializer == BytesCodec("big")
    assert CodecChain.from_user(dtype="int8", chunk_shape=(1,), endian="big").serializer == BytesCodec(None)


@pytest.mark.parametrize(
    ("dtype", "shuffle", "size"), [("int8", "bitshuffle", 1), ("float64", "shuffle", 8), ("r4096", "shuffle", 1)]
)
def test_blosc_chooses_for_the_data_type(dtype: str, shuffle: str, size: int) -> None:
    """K-41, F-10: shuffle and type size follow the elements; lz4, level 5, automatic blocks."""
    chain = CodecChain.from_user(dtype=dtype, chunk_shape=(4,), compressors=BloscCodec())
    assert chain.compressors == (BloscCodec("lz4", 5, shuffle, size, 0),)


def test_int4_with_blosc() -> None:
    """K-32: int4 and blosc store [bytes, blosc lz4 5 bitshuffle 1 0]."""
    chain = CodecChain.from_list(["bytes", "blosc"], "int4", (4,))
    configuration = {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 1, "blocksize": 0}
    assert chain.to_json() == [{"name": "bytes"}, {"name": "blosc", "configuration": configuration}]


def test_steps_swap_only_what_differs() -> None:
    """F-9: bytes are swapped when the stored order is not the machine's; a complex number by its halves."""
    other = "big" if sys.byteorder == "little" else "little"
    for dtype, unit in (("int16", 2), ("complex64", 4), ("complex128", 8), ("int8", 0), ("r32", 0)):
        chunk = DataType.parse(dtype), (3,)
        assert CodecChain((), BytesCodec(other), ()).steps(*chunk) == [("bytes", unit)]
        assert CodecChain((), BytesCodec(sys.byteorder), ()).steps(*chunk) == [("bytes", 0)]


def test_steps_of_everything() -> None:
    """The engine gets plain values, shuffles by number, shapes and orders as tuples."""
    dtype = DataType.parse("float32")
    inner = [TransposeCodec((1, 0)), BytesCodec(sys.byteorder), BloscCodec("zstd", 3, "bitshuffle")]
    codecs = [ShardingCodec((2, 4), inner, index_location="start"), ZstdCodec(3, True), GzipCodec(2), Crc32cCodec()]
    chain = CodecChain.from_list(codecs, dtype, (4, 8))
    index = 0 if sys.byteorder == "little" else 8
    assert chain.steps(dtype, (4, 8)) == [
        (
            "shard",
            (2, 4),
            [("transpose", (1, 0)), ("bytes", 0), ("blosc", "zstd", 3, 2, 4, 0)],
            [("bytes", index), ("crc32c",)],
            True,
            "lexicographic",
        ),
        ("zstd", 3, True),
        ("gzip", 2),
        ("crc32c",),
    ]


def test_read_shape() -> None:
    """T-11: the innermost chunk in the array's axes, through a transpose outside and through nested shards."""
    assert CodecChain.from_list(["bytes"], "int8", (8, 4)).read_shape((8, 4)) == (8, 4)
    outside = CodecChain.from_list([TransposeCodec((1, 0)), ShardingCodec((2, 8), ["bytes"])], "int8", (8, 4))
    assert outside.read_shape((8, 4)) == (8, 2)
    nested = CodecChain.from_list([ShardingCodec((4, 4), [ShardingCodec((2, 1), ["bytes"])])], "int8", (8, 4))
    assert nested.read_shape((8, 4)) == (2, 1)
    turned = CodecChain.from_list([TransposeCodec((2, 0, 1)), ShardingCodec((1, 2, 3), ["bytes"])], "int8", (2, 3, 4))
    assert turned.read_shape((2, 3, 4)) == (2, 3, 1)


def test_the_innermost_chain() -> None:
    """That of the chunks which `read_shape` gives, through shards within shards; without shards the chain itself."""
    nested = CodecChain.from_list([ShardingCodec((4, 4), [ShardingCodec((2, 1), ["bytes", "gzip"])])], "int8", (8, 4))
    assert [codec.name for codec in nested.innermost.all] == ["bytes", "gzip"]
    assert nested.innermost.innermost is nested.innermost
    z = blizzarr.create_array({}, shape=(8, 4), dtype="int8", chunks=(8, 4), codecs=nested)
    assert (z.chunks, z.compressors, z.info.compressors) == ((2, 1), (GzipCodec(6),), ("GzipCodec(level=6)",))


@pytest.mark.parametrize(
    ("codecs", "order"),
    [
        (["bytes"], "C"),
        ([TransposeCodec((0, 1, 2)), "bytes"], "C"),
        ([TransposeCodec((2, 1, 0)), "bytes"], "F"),
        ([TransposeCodec((2, 0, 1)), "bytes"], "C"),
        ([TransposeCodec((2, 0, 1)), TransposeCodec((0, 2, 1)), "bytes"], "F"),
        ([TransposeCodec((2, 1, 0)), TransposeCodec((2, 1, 0)), "bytes"], "C"),
        ([ShardingCodec((2, 2, 2), [TransposeCodec((2, 1, 0)), "bytes"])], "F"),
    ],
)
def test_order(codecs: list[Any], order: str) -> None:
    """K-53, T-11: all transposes together decide."""
    assert CodecChain.from_list(codecs, "int8", (2, 2, 2)).order == order


def test_codecs_of_numcodecs() -> None:
    """Codecs of numcodecs are taken, with their options, those that are registered under their registered names."""
    for codec, ours in (
        (numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE), BloscCodec("zstd", 3, "bitshuffle", 4)),
        (numcodecs.Blosc("lz4", 5, numcodecs.Blosc.AUTOSHUFFLE), BloscCodec("lz4", 5, "shuffle", 4)),
        (numcodecs.Zstd(7), ZstdCodec(7)),
        (numcodecs.GZip(2), GzipCodec(2)),
        (numcodecs.BZ2(), BZ2Codec(1)),
        (numcodecs.LZMA(preset=3), LZMACodec(preset=3)),
        (numcodecs.JenkinsLookup3(), JenkinsLookup3Codec(0)),
        ({"id": "zlib", "level": 4}, ZlibCodec(4)),
    ):
        assert CodecChain.from_user(compressors=codec, dtype="f4", chunk_shape=(4,)).compressors == (ours,)
    with pytest.raises(MetadataError, match=r"codec\.levle: expected no such option"):
        CodecChain.from_user(compressors={"id": "zlib", "levle": 4}, dtype="f4", chunk_shape=(4,))


def test_filters_as_in_v2() -> None:
    """Filters may end with codecs of bytes; a byte order in them is how elements lie in v2, not what they are."""
    filters = [numcodecs.Delta(">i4", ">i2"), numcodecs.Shuffle(2), {"id": "crc32"}]
    chain = CodecChain.from_user(filters, compressors="lz4", dtype=">i4", endian="big", chunk_shape=(4,))
    before = (DeltaCodec("<i4", "<i2"),)
    assert chain == CodecChain(before, BytesCodec("big"), (ShuffleCodec(2), CRC32Codec(), LZ4Codec()))
    with pytest.raises(MetadataError, match=r"codecs\[1\]: expected no array -> array codec after"):
        CodecChain.from_user(["zlib", numcodecs.Delta("u1")], compressors=None, dtype="u1", chunk_shape=(4,))


def test_codecs_of_zarr_python() -> None:
    """Codecs of zarr-python are taken; what they would choose for the data type, we choose."""
    codecs = pytest.importorskip("zarr.codecs")
    for codec, ours in (
        (codecs.BloscCodec(cname="zstd"), BloscCodec("zstd", 5, "shuffle", 4)),
        (codecs.BloscCodec(cname="lz4", shuffle="noshuffle", typesize=2), BloscCodec("lz4", 5, "noshuffle", 2)),
        (codecs.ZstdCodec(level=7, checksum=True), ZstdCodec(7, True)),
        (codecs.GzipCodec(level=2), GzipCodec(2)),
        (codecs.Crc32cCodec(), Crc32cCodec()),
    ):
        assert CodecChain.from_user(compressors=codec, dtype="f4", chunk_shape=(4,)).compressors == (ours,)


@pytest.mark.parametrize(
    ("codecs", "path"),
    [
        (["gzip"], "codecs"),
        (["bytes", "bytes"], "codecs[1]"),
        (["bytes", TransposeCodec((0,))], "codecs[1]"),
        ([TransposeCodec((0, 1)), "bytes"], "codecs[0].configuration.order"),
        ([ShardingCodec((3,))], "codecs[0].configuration.chunk_shape[0]"),
        ([ShardingCodec((2, 2))], "codecs[0].configuration.chunk_shape"),
        ([ShardingCodec((2,), index_codecs=["bytes", "gzip"])], "codecs[0].configuration.index_codecs[1]"),
    ],
)
def test_users_are_checked_like_documents(codecs: list[Any], path: str) -> None:
    """rows 36, 37, 55, 56: the same problems, in the places where the document would have them."""
    with pytest.raises(MetadataError) as caught:
        CodecChain.from_list(codecs, "int16", (4,))
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: GzipCodec(10), "GzipCodec.level: expected an integer in [0, 9], found 10"),
        (lambda: GzipCodec(True), "found true"),
        (lambda: ZstdCodec(23), "[-131072, 22]"),
        (lambda: ZstdCodec(1, checksum="yes"), "true or false"),
        (lambda: BloscCodec("lz5"), '"lz4"'),
        (lambda: BytesCodec("middle"), '"little" or "big"'),
        (lambda: ShardingCodec((2,), index_location="top"), '"start" or "end"'),
        (lambda: ShardingCodec((2,)).to_json(), "a CodecChain; lists and None are turned into one when an array is"),
        (
            lambda: CodecChain.from_list([{"name": "gzip", "configuration": {"lvl": 1}}], "i2", (1,)),
            'gzip: expected an option of level, found "lvl=1"',
        ),
    ],
)
def test_wrong_options(make: Any, text: str) -> None:
    """row 54: a wrong option is refused when the codec is made, by name."""
    with pytest.raises(MetadataError) as caught:
        make()
    assert text in str(caught.value)


def test_unknown_codec() -> None:
    """row 53: named, with what would supply it."""
    with pytest.raises(UnknownExtensionError, match="an experimental codec of zarrs") as caught:
        CodecChain.from_list(["bytes", "zarrs.newer"], "f4", (1,))
    assert caught.value.extensions == ("zarrs.newer",)


def test_alias() -> None:
    """Users may give a codec as it is in a document, under its older name, too."""
    assert codec_of({"name": "numcodecs.vlen-utf8"}) == codec_of("vlen-utf8")


def test_mistyped() -> None:
    """Who mistypes is told what there is."""
    with pytest.raises(UnknownExtensionError, match=r"did you mean zstd\? 'ztsd' is not in the registry"):
        codec_of("ztsd")
    with pytest.raises(UnknownExtensionError, match="there are adler32, astype, base64, bitround, blosc, "):
        codec_of("oodle")
    spelled = r'codec: expected GzipCodec\(level=3\) or {"name": "gzip", "configuration": {"level": 3}}, found "gzip:3"'
    with pytest.raises(MetadataError, match=spelled):
        codec_of("gzip:3")
    with pytest.raises(MetadataError, match=r'BloscCodec\(\.\.\.\) or {"name": "blosc", "configuration": {\.\.\.}}'):
        codec_of("blosc:cname=zstd")
    with pytest.raises(MetadataError, match=r"zstd: expected an option of level, checksum, found .*levle=3"):
        codec_of({"name": "zstd", "configuration": {"levle": 3}})
    with pytest.raises(MetadataError, match="crc32c: expected no options, found"):
        codec_of({"name": "crc32c", "configuration": {"x": 3}})


def test_an_index_that_is_too_large() -> None:
    """row 38: known when the array is made, before anything is allocated."""
    with pytest.raises(LimitError, match="index of at most"):
        describe_array(shape=(2**15, 2**15), dtype="int8", chunks=1, shards=(2**15, 2**15))


def test_true_is_not_one_when_remembered() -> None:
    """K-40: documents that are equal in Python but not in JSON are told apart."""
    dtype = DataType.parse("uint8")

    def chain(level: Any) -> Any:
        codecs = ["bytes", {"name": "gzip", "configuration": {"level": level}}]
        return CodecChain.from_json(codecs, dtype=dtype, chunk_shape=(1,))

    assert chain(1).compressors == (GzipCodec(1),)
    for wrong in (True, 1.0):
        with pytest.raises(MetadataError):
            chain(wrong)


def test_options_may_be_of_numpy() -> None:
    """What is computed with NumPy is stored, and compared, like Python's own; a list of axes like a tuple."""
    for codec, same in (
        (ZstdCodec(np.int64(3), np.True_), ZstdCodec(3, True)),
        (TransposeCodec([np.int64(1), 0]), TransposeCodec((1, 0))),
        (TransposeCodec(np.array([1, 0])), TransposeCodec((1, 0))),
    ):
        assert codec == same
        assert hash(codec) == hash(same)
        assert json.dumps(codec.to_json()) == json.dumps(same.to_json())
    given = {"name": "gzip", "configuration": {"level": np.int8(3)}}
    z = blizzarr.create_array(
        {}, data=np.arange(6).reshape(2, 3), filters=TransposeCodec(np.array([1, 0])), compressors=given
    )
    assert z.metadata.codecs.to_json()[0]["configuration"] == {"order": [1, 0]}
    assert z.metadata.codecs.to_json()[-1] == {"name": "gzip", "configuration": {"level": 3}}
    assert z[:].tolist() == [[0, 1, 2], [3, 4, 5]]
    for wrong in (3.0, np.float64(3), "3", [3]):
        with pytest.raises(MetadataError, match="expected an integer"):
            ZstdCodec(wrong)  # type: ignore[arg-type]
