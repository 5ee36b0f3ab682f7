"""Codecs of users: in NumPy, and those that packages register with zarr-python."""

from __future__ import annotations

import json
import threading
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import CATALOGUE, ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from blizzarr.errors import CodecError, MetadataError, UnknownExtensionError

DATA = np.arange(60, dtype="int16").reshape(6, 10)

pytestmark = pytest.mark.usefixtures("same_table_afterwards")


@dataclass(frozen=True)
class Halves(ArrayArrayCodec):
    """Each element as two of half the size, beside each other; and an option."""

    name: ClassVar[str] = "test.halves"

    swap: bool = False

    def encoded_dtype(self, dtype: np.dtype[Any]) -> Any:
        return f"u{dtype.itemsize // 2}"

    def encoded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape, 2)

    def encode(self, array: Any) -> Any:
        made = np.ascontiguousarray(array).view(self.encoded_dtype(array.dtype)).reshape(*array.shape, 2)
        return made[..., ::-1] if self.swap else made

    def decode(self, array: Any) -> Any:
        array = array[..., ::-1] if self.swap else array
        return np.ascontiguousarray(array).view(f"i{array.itemsize * 2}")[..., 0]


class Text(ArrayBytesCodec):
    """Elements as decimal text."""

    name = "test.text"

    def encode(self, array: Any) -> bytes:
        return " ".join(map(str, array.ravel())).encode()

    def decode(self, encoded: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return np.array(encoded.split(), dtype).reshape(shape)


class Deflate(BytesBytesCodec):
    """zlib."""

    name = "test.deflate"

    def encode(self, decoded: bytes) -> bytes:
        return zlib.compress(decoded)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        return zlib.decompress(encoded)


def test_a_filter_that_changes_shape_and_type(tmp_path: Path) -> None:
    """What is stored is what the filter made; options are in the document, and reading gives the data back."""
    blizzarr.register_codec(Halves)
    kwargs: dict[str, Any] = {"chunks": (3, 5), "compressors": None}
    array = blizzarr.create_array(tmp_path / "a", data=DATA, filters=Halves(swap=True), **kwargs)
    assert array.metadata.codecs.to_json()[0] == {"name": "test.halves", "configuration": {"swap": True}}
    stored = np.frombuffer((tmp_path / "a/c/0/1").read_bytes(), "u1").reshape(3, 5, 2)
    np.testing.assert_array_equal(stored[..., 1] + 256 * stored[..., 0].astype(int), DATA[:3, 5:])
    again = blizzarr.open(tmp_path / "a")
    np.testing.assert_array_equal(again[:, 3:7], DATA[:, 3:7])
    again[2:4, ::3] = -1
    expected = DATA.copy()
    expected[2:4, ::3] = -1
    np.testing.assert_array_equal(blizzarr.open(tmp_path / "a")[:], expected)


@pytest.mark.parametrize("shards", [None, (6, 10)])
def test_a_serializer_and_a_compressor(shards: Any) -> None:
    """Both are steps of a chain, in shards too, and can be given by name, as an object or as a value."""
    blizzarr.register_codec(Text)
    blizzarr.register_codec(Deflate)
    store: dict[str, Any] = {}
    kwargs: dict[str, Any] = {"chunks": (3, 5), "shards": shards, "serializer": "test.text"}
    array = blizzarr.create_array(store, data=DATA, compressors={"name": "test.deflate"}, **kwargs)
    if shards is None:
        assert zlib.decompress(store["c/0/0"]).split()[:6] == [b"0", b"1", b"2", b"3", b"4", b"10"]
    np.testing.assert_array_equal(blizzarr.open(store)[1:5, 2:9], DATA[1:5, 2:9])
    assert array.metadata.codecs.innermost.serializer == Text()


def test_errors_have_their_place() -> None:
    """An exception of a codec becomes an error with the path, the key and the codec, and is its cause."""

    @blizzarr.register_codec
    class Fragile(ArrayArrayCodec):
        name = "test.fragile"

        def encode(self, array: Any) -> Any:
            if array.max() > 50:
                raise OverflowError("more than 50")
            return array

        def decode(self, array: Any) -> Any:
            return array[99]

    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, name="a", shape=(4,), chunks=2, dtype="u1", filters="test.fragile")
    array[:2] = 7
    with pytest.raises(CodecError, match="more than 50") as caught:
        array[2:] = 99
    assert (caught.value.array, caught.value.key, caught.value.codec) == ("/a", "a/c/1", "test.fragile")
    assert isinstance(caught.value.__cause__, OverflowError)
    with pytest.raises(CodecError, match="index 99 is out of bounds") as damaged:
        array[:]
    assert (damaged.value.array, damaged.value.key) == ("/a", "a/c/0")


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (lambda array: array[:1], r"found shape \(1,\) and data type int16"),
        (lambda array: array.astype("f4"), r"found shape \(2,\) and data type float32"),
        (lambda array: array.astype(">i2"), "data type >i2"),
        (lambda array: array.tolist(), "found list"),
        (lambda array: None, "found NoneType"),
    ],
)
def test_wrong_arrays_are_refused(made: Any, found: str) -> None:
    """An array of another shape or data type is an error in both directions, and is neither stored nor returned."""
    wrong = [False]

    class Changing(ArrayArrayCodec):
        name = "test.changing"

        def encode(self, array: Any) -> Any:
            return made(array) if wrong[0] else array

        decode = encode

    blizzarr.register_codec(Changing)
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA[0, :2], filters="test.changing", compressors=None)
    before = bytes(store["c/0"])
    wrong[0] = True
    with pytest.raises(CodecError, match=found):
        array[:]
    with pytest.raises(CodecError, match=found):
        array[:] = 3
    assert bytes(store["c/0"]) == before


def test_wrong_bytes_are_refused() -> None:
    """A decoder that makes too many or too few bytes, or none, is an error."""
    results: list[Any] = []

    class Careless(BytesBytesCodec):
        name = "test.careless"

        def encode(self, decoded: bytes) -> bytes:
            return decoded

        def decode(self, encoded: bytes, max_size: int) -> Any:
            return results.pop()

    blizzarr.register_codec(Careless)
    array = blizzarr.create_array({}, data=DATA[0, :2], compressors="test.careless")
    for result in (b"123", b"12345", b"", None, "1234"):
        results.append(result)
        with pytest.raises(CodecError, match=r"test\.careless"):
            array[:]
    results.append(b"\1\0\2\0")
    assert array[:].tolist() == [1, 2]


def test_more_bytes_than_are_read_are_not_stored() -> None:
    """Reading takes four times a chunk, and 64 KiB, unless the codec says that it makes more."""

    class Label(BytesBytesCodec):
        name = "test.label"

        def encode(self, decoded: bytes) -> bytes:
            return bytes(1 << 17) + decoded

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            return encoded[1 << 17 :]

    class Sized(Label):
        name = "test.sized"

        def encoded_size(self, decoded: int) -> int:
            return (1 << 17) + decoded

    for codec in (Label, Sized):
        blizzarr.register_codec(codec)
    array = blizzarr.create_array({}, shape=4, chunks=2, dtype="int16", compressors="test.label")
    with pytest.raises(CodecError, match=r"cannot encode .*test\.label: expected at most 65,552 bytes, found 131,076"):
        array[:] = 1
    assert array[:].tolist() == [0] * 4
    array = blizzarr.create_array({}, data=[1, 2], compressors="test.sized")
    assert array[:].tolist() == [1, 2]


def test_options_are_checked() -> None:
    """Options are the fields of the class, with their types; those of a document that are wrong are problems."""
    blizzarr.register_codec(Halves)
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=DATA, filters="test.halves")
    document = bytes(store["zarr.json"])
    for option, expected in ((b'"swap": 1', "true or false"), (b'"spam": true', "no such option of test.halves")):
        store["zarr.json"] = document.replace(b'"swap": false', option)
        with pytest.raises(MetadataError, match=expected):
            blizzarr.open(store)
    with pytest.raises(MetadataError, match="true or false"):
        Halves(swap="yes")  # type: ignore[arg-type]
    with pytest.raises(MetadataError, match=r"an option of swap, found .turn=1"):
        blizzarr.create_array({}, data=DATA, filters={"name": "test.halves", "configuration": {"turn": 1}})

    class Plain(BytesBytesCodec):
        name = "test.plain"
        level: int = 3

    with pytest.raises(TypeError, match=r"put @dataclass\(frozen=True\)"):
        blizzarr.register_codec(Plain)

    @dataclass(frozen=True)
    class Taken(BytesBytesCodec):
        name: ClassVar[str] = "test.taken"
        steps: int = 3  # type: ignore[assignment]

    with pytest.raises(TypeError, match="names that the base class does not use, found steps"):
        blizzarr.register_codec(Taken)
    with pytest.raises(MetadataError, match="a codec for elements of variable length"):
        blizzarr.create_array({}, data=["a"], filters="test.halves")


def test_options_of_a_document_reach_any_dataclass() -> None:
    """Also those that are keyword-only; a default may be made by a function, and lead to what is no option."""

    @dataclass(frozen=True, kw_only=True)
    class Multiple(ArrayArrayCodec):
        name: ClassVar[str] = "test.multiple"
        factor: int = 2
        pair: Any = field(default_factory=lambda: (5, 7))

        def encode(self, array: Any) -> Any:
            return array * self.factor + self.pair[0]

        def decode(self, array: Any) -> Any:
            return (array - self.pair[0]) // self.factor

    blizzarr.register_codec(Multiple)
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=[1, 2], filters=Multiple(factor=10), compressors=None)
    assert np.frombuffer(store["c/0"], "<i8").tolist() == [15, 25]
    assert array[:].tolist() == [1, 2]
    document = json.loads(store["zarr.json"])
    document["codecs"][0]["configuration"] = {"factor": 5}
    store["zarr.json"] = json.dumps(document).encode()
    assert blizzarr.open(store)[:].tolist() == [2, 4]


def test_names_are_free() -> None:
    """The name of another codec is refused; the same class defined anew replaces the old one, in open documents too."""

    def defined(sign: int) -> type[Any]:
        class Sign(ArrayArrayCodec):
            name = "test.sign"

            def encode(self, array: Any) -> Any:
                return array

            def decode(self, array: Any) -> Any:
                return array * sign

        return Sign

    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=[1, 2], filters=blizzarr.register_codec(defined(1))())
    assert array[:].tolist() == [1, 2]
    blizzarr.register_codec(defined(-1))
    assert blizzarr.open(store)[:].tolist() == [-1, -2]
    nameless = type("Nameless", (ArrayArrayCodec,), {})
    with pytest.raises(TypeError, match="found None; a class has it as its attribute 'name'"):
        blizzarr.register_codec(nameless)
    with pytest.raises(ValueError, match=r"a name that blizzarr\.codecs does not have yet, found 'gzip'"):
        blizzarr.register_codec(type("Gzip", (BytesBytesCodec,), {"name": "gzip"}))
    halved = type("Halved", (ArrayArrayCodec,), {"name": "test.halved", "encode": lambda self, array: array})
    halves = blizzarr.create_array({}, data=[1], filters=blizzarr.register_codec(halved)())
    with pytest.raises(CodecError, match=r"test\.halved: .*the class has no method decode"):
        halves[:]
    for wrong in (Text(), int, ArrayArrayCodec):
        with pytest.raises(TypeError, match="expected"):
            blizzarr.register_codec(wrong)  # type: ignore[type-var]


def test_chunks_are_decoded_at_once() -> None:
    """Several threads are in a codec at the same time while it waits without the GIL."""
    meeting = threading.Barrier(2)

    class Meeting(BytesBytesCodec):
        name = "test.meeting"

        def encode(self, decoded: bytes) -> bytes:
            return decoded

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            meeting.wait(timeout=20)
            return encoded

    blizzarr.register_codec(Meeting)
    with blizzarr.config.set(threads=2):
        array = blizzarr.create_array({}, data=np.arange(200_000), chunks=50_000, compressors="test.meeting")
        assert array[:].sum() == sum(range(200_000))


def test_a_codec_of_zarr_python() -> None:
    """Codecs of zarr-python of each kind run in our chain, with their options; zarr-python reads what they wrote."""
    zarr = pytest.importorskip("zarr")
    from zarr.abc.codec import ArrayArrayCodec as Filter
    from zarr.abc.codec import BytesBytesCodec as Compressor

    @dataclass(frozen=True)
    class Added(Filter):  # type: ignore[misc]
        amount: int
        is_fixed_size = True

        @classmethod
        def from_dict(cls, data: Any) -> Added:
            return cls(**data["configuration"])

        def to_dict(self) -> Any:
            return {"name": "test.added", "configuration": {"amount": self.amount}}

        async def _encode_single(self, chunk: Any, spec: Any) -> Any:
            return spec.prototype.nd_buffer.from_numpy_array(chunk.as_numpy_array() + self.amount)

        async def _decode_single(self, chunk: Any, spec: Any) -> Any:
            return spec.prototype.nd_buffer.from_numpy_array(chunk.as_numpy_array() - self.amount)

        def compute_encoded_size(self, size: int, spec: Any) -> int:
            return size

    class Squashed(Compressor):  # type: ignore[misc]
        is_fixed_size = False

        @classmethod
        def from_dict(cls, data: Any) -> Squashed:
            return cls()

        def to_dict(self) -> Any:
            return {"name": "test.squashed"}

        async def _encode_single(self, chunk: Any, spec: Any) -> Any:
            return spec.prototype.buffer.from_bytes(zlib.compress(chunk.to_bytes()))

        async def _decode_single(self, chunk: Any, spec: Any) -> Any:
            return spec.prototype.buffer.from_bytes(zlib.decompress(chunk.to_bytes()))

        def compute_encoded_size(self, size: int, spec: Any) -> int:
            raise NotImplementedError

    blizzarr.register_codec(Added, "test.added")
    blizzarr.register_codec(Squashed, "test.squashed")
    zarr.registry.register_codec("test.added", Added)
    zarr.registry.register_codec("test.squashed", Squashed)
    theirs = zarr.storage.MemoryStore()
    array = blizzarr.create_array(
        theirs, data=DATA, chunks=(3, 5), filters=Added(5), compressors=[Squashed()], overwrite=True
    )
    np.testing.assert_array_equal(blizzarr.open(theirs)[:], DATA)
    np.testing.assert_array_equal(zarr.open_array(theirs, mode="r")[:], DATA)
    assert array.metadata.codecs.to_json()[0] == {"name": "test.added", "configuration": {"amount": 5}}
    packed = blizzarr.create_array({}, data=DATA, serializer="packbits", compressors=[Squashed()])
    np.testing.assert_array_equal(packed[:], DATA)
    with pytest.raises(MetadataError, match=r"options that test\.added takes.*spam"):
        blizzarr.create_array({}, data=DATA, filters={"name": "test.added", "configuration": {"spam": 1}})
    with pytest.raises(AttributeError, match="no codec of zarr-python"):
        blizzarr.register_codec(int, "test.int")


def test_a_package_that_cannot_be_imported_is_named() -> None:
    """An entry point whose package fails is an error with its name, and nothing else is affected."""
    CATALOGUE.get("nothing of this name")  # after which entry points have been read
    CATALOGUE.places["test.missing"] = "no_such_package.module:Codec"
    CATALOGUE._adapters["test.missing"] = ""
    try:
        with pytest.raises(UnknownExtensionError, match=r"'test.missing'.*cannot be imported from no_such_package"):
            blizzarr.create_array({}, data=DATA, compressors="test.missing")
    finally:
        del CATALOGUE._adapters["test.missing"]


def test_errors_of_codecs_are_codec_errors() -> None:
    """What a codec says itself is not wrapped a second time."""

    class Sum(BytesBytesCodec):
        name = "test.sum"

        def encode(self, decoded: bytes) -> bytes:
            return decoded

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            raise CodecError("expected 4, found 5")

    array = blizzarr.create_array({}, data=DATA, compressors=blizzarr.register_codec(Sum)())
    with pytest.raises(CodecError, match=r"test\.sum: expected 4, found 5"):
        array[:]
