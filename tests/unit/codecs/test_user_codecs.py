"""Codecs that users registered with numcodecs: they run in v2 arrays, as zarr-python would run them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numcodecs
import numpy as np
import pytest
from numcodecs.registry import codec_registry

import blizzarr
from blizzarr.codecs import CodecChain, TransposeCodec
from blizzarr.codecs.configs import chain_from_configs, chain_to_configs
from blizzarr.codecs.numcodecs import LZ4Codec, library
from blizzarr.codecs.numcodecs.row import UserCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, MetadataError, UnknownExtensionError
from blizzarr.problems import Problems
from support.one_chunk import decoded, encoded


class Rows(numcodecs.abc.Codec):  # type: ignore[misc]
    """Writes down what it is given: type and shape, then the elements."""

    codec_id = "test_rows"

    def __init__(self, secret: int = 0) -> None:
        self.secret = secret

    def encode(self, buf: Any) -> bytes:
        head = json.dumps([buf.dtype.str, list(buf.shape), buf.flags.writeable, self.secret])
        return head.encode() + b"\n" + np.ascontiguousarray(buf).tobytes()

    def decode(self, buf: Any, out: Any = None) -> Any:
        head, _, data = bytes(buf).partition(b"\n")
        dtype, shape, *_ = json.loads(head)
        return np.frombuffer(data, dtype).reshape(shape)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The codec is registered while a test runs."""
    numcodecs.register_codec(Rows)
    yield
    codec_registry.pop("test_rows", None)


def read(filters: Any, compressor: Any = None, dtype: str = ">i2", order: str = "C") -> CodecChain:
    """The chain for what a document says."""
    problems = Problems()
    chain = chain_from_configs(
        filters,
        compressor,
        dtype=DataType.parse(dtype),
        endian="big",
        order=order,
        chunk_shape=(2, 3),
        problems=problems,
    )
    problems.raise_any()
    assert chain is not None
    return chain


NUMBERS = np.array([[1, 2, 4], [7, 11, 16]], "int16")


@pytest.mark.parametrize("order", ["C", "F"])
def test_it_sees_what_it_sees_in_v2(order: str) -> None:
    """V-1: elements in the byte order of the array, with the shape of the chunk, in memory that may be written."""
    chain = read([{"id": "test_rows", "secret": 5}], {"id": "lz4"}, order=order)
    assert chain.serializer == NumcodecsRun((UserCodec("test_rows", {"secret": 5}),), order, "big")  # type: ignore[arg-type]
    assert chain.compressors == (LZ4Codec(),)
    stored = bytes(numcodecs.LZ4().decode(encoded(chain, NUMBERS)))
    assert stored == b'[">i2", [2, 3], true, 5]\n' + NUMBERS.astype(">i2").tobytes()
    assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)


def test_others_around_it() -> None:
    """Filters before it and codecs of any kind behind it run as in v2, whatever they are given."""
    filters = [{"id": "delta", "dtype": ">i2", "astype": "|i1"}, {"id": "test_rows"}, {"id": "delta", "dtype": "|u1"}]
    chain = read(filters, {"id": "zlib", "level": 1})
    assert isinstance(chain.serializer, NumcodecsRun)
    assert [codec.config()["id"] for codec in chain.serializer.codecs] == ["delta", "test_rows", "delta"]
    assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)


def test_it_gets_integers_of_bitround() -> None:
    """As of numcodecs; these are floating point again when they are decoded."""
    numbers = np.array([[1.1, np.nan], [3, -4]], "f4")
    chain = CodecChain.from_user([numcodecs.BitRound(3), Rows()], compressors=None, dtype="f4", chunk_shape=(2, 2))
    stored = encoded(chain, numbers)
    assert bytes(stored).startswith(b'["<i4", [2, 2], ')
    rounded = decoded(chain, stored, "float32", (2, 2))
    np.testing.assert_array_equal(rounded, np.array([[1.125, np.nan], [3, -4]], "f4"))


def test_written_again() -> None:
    """Its options are kept as they are, of whatever kind."""
    filters = [{"id": "test_rows", "secret": {"deep": [1, None]}}]
    for order in "CF":
        chain = read(filters, {"id": "zlib", "level": 1}, order=order)
        problems = Problems()
        configs = chain_to_configs(chain, dtype=DataType.parse("int16"), chunk_shape=(2, 3), problems=problems)
        assert configs == (filters, {"id": "zlib", "level": 1}, order, "big")


def test_as_users_give_it() -> None:
    """As an object among filters or compressors; v3 has no name for it, which is an error when it is written."""
    for filters, compressors in (([Rows(3)], None), (None, Rows(3)), ([TransposeCodec((1, 0)), Rows(3)], ["lz4"])):
        chain = CodecChain.from_user(filters, compressors=compressors, dtype="i2", chunk_shape=(2, 3))
        assert isinstance(chain.serializer, NumcodecsRun)
        assert chain.serializer.order == ("F" if chain.filters else "C")
        assert np.array_equal(decoded(chain, encoded(chain, NUMBERS), "int16", (2, 3)), NUMBERS)
    with pytest.raises(UnknownExtensionError, match="only v2 documents can name them"):
        CodecChain.from_json(chain.to_json())
    with pytest.raises(MetadataError, match="codecs of numcodecs, and order C or F"):
        CodecChain.from_user([TransposeCodec((1, 2, 0)), Rows()], compressors=None, dtype="i2", chunk_shape=(1, 2, 3))


def test_what_is_not_registered() -> None:
    """row 53: named, with what to do about it; no name in a document leads to an import."""
    codec_registry.pop("test_rows")
    for name in ("test_rows", "os", "os.path", "../evil", ""):
        with pytest.raises(UnknownExtensionError, match="if it is one of yours, import what registers it") as caught:
            read([{"id": name}])
        assert caught.value.extensions == (name,)


def test_options_that_it_refuses() -> None:
    """What its class says of its options is told."""
    with pytest.raises(UnknownExtensionError, match="unexpected keyword argument 'colour'"):
        read([{"id": "test_rows", "colour": 1}])


def test_wrong_sizes() -> None:
    """Whatever it makes of stored bytes must be one chunk, and what it raises is told with the place."""
    chain = read([{"id": "test_rows"}])
    with pytest.raises(CodecError, match="test_rows: expected 12 bytes, found 10"):
        decoded(chain, b'[">i2", [5]]\n' + bytes(10), "int16", (2, 3))
    with pytest.raises(CodecError, match="test_rows: Expecting value") as caught:
        decoded(chain, b"nonsense", "int16", (2, 3))
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)


def test_without_numcodecs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package cannot be imported, the error says what to install."""
    monkeypatch.setattr(library, "import_module", lambda name: (_ for _ in ()).throw(ImportError("no such luck")))
    with pytest.raises(UnknownExtensionError, match=r"no such luck\): pip install --upgrade numcodecs"):
        read([{"id": "test_rows"}])


@pytest.mark.parametrize(
    ("zfpy", "said"),
    [
        (
            "1.0.1.post0",
            r"\(it does not understand the version of zfpy, 1\.0\.1\.post0\): pip install 'zfpy==1\.0\.1'$",
        ),
        ("1.0.1", r"\(invalid literal\): pip install --upgrade numcodecs$"),
    ],
)
def test_versions_that_numcodecs_does_not_understand(monkeypatch: pytest.MonkeyPatch, zfpy: str, said: str) -> None:
    """Its extra zfpy installs 1.0.1.post0, beside which numcodecs cannot be imported any more."""
    monkeypatch.setattr(library, "import_module", lambda name: (_ for _ in ()).throw(ValueError("invalid literal")))
    monkeypatch.setattr("importlib.metadata.version", lambda package: zfpy)
    with pytest.raises(UnknownExtensionError, match=said):
        read([{"id": "test_rows"}])


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codecs that need a package of their own say which one installs it."""
    monkeypatch.setattr("blizzarr.codecs.codec.find_spec", lambda name: None)
    for name, requirement in (("pcodec", r"blizzarr\[codecs\]"), ("zfpy", r"blizzarr\[zfp\]")):
        with pytest.raises(UnknownExtensionError, match=f"pip install '{requirement}'"):
            read(None, {"id": name}, dtype="f4")
        with pytest.raises(UnknownExtensionError, match=f"pip install '{requirement}'"):
            CodecChain.from_list([f"numcodecs.{name}"], "float32", (2, 3))


def test_without_numcodecs_an_unknown_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is mostly a mistyped one, for which no package helps; the names of imagecodecs need another extra."""
    monkeypatch.setattr("blizzarr.codecs.numcodecs.library.find_spec", lambda name: None)
    with pytest.raises(UnknownExtensionError, match="numcodecs has no codec of this name"):
        blizzarr.create_array({}, data=[1], compressors={"id": "zst"}, zarr_format=2)
    with pytest.raises(UnknownExtensionError, match=r"'blizzarr\[images\]'"):
        blizzarr.create_array({}, data=[1], compressors={"id": "imagecodecs_png"}, zarr_format=2)


@pytest.mark.parametrize(
    ("codec", "message"),
    [
        ("quantize", r"numcodecs\.quantize\.digits: expected an integer in \[-308, 308\], found nothing"),
        ({"name": "cast_value"}, r"cast_value\.data_type: expected a data type, found nothing"),
        ("conditional", r"conditional\.codecs: expected a value, found nothing"),
    ],
)
def test_options_that_have_no_default(codec: Any, message: str) -> None:
    with pytest.raises(MetadataError, match=message):
        blizzarr.create_array({}, data=[1.5], filters=codec)
