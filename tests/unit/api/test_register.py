"""What users register beside codecs: data types, grids, key encodings, stores, transformers; and entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import CATALOGUE, ArrayArrayCodec
from blizzarr.dtypes import DataType, table
from blizzarr.errors import MetadataError, PathError, UnknownExtensionError
from blizzarr.model import RegularGrid
from blizzarr.model.chunk_grid import CHUNK_GRIDS
from blizzarr.stores import MemoryStore, urls
from blizzarr.transformers import KEY_ENCODINGS, ChunkKeyEncoding, RenamingStore, StorageTransformer, registry
from blizzarr.zarr import metadata as zarr_metadata

TABLES: tuple[Any, ...] = (CATALOGUE, table.OWN, CHUNK_GRIDS, KEY_ENCODINGS, urls.OWN, registry._REGISTRY)
DATA = np.arange(24, dtype="int16").reshape(4, 6)


@pytest.fixture(autouse=True)
def _same_tables_afterwards() -> Iterator[None]:
    before = [(dict(rows.places), dict(rows._here)) for rows in TABLES]
    yield
    for rows, (places, here) in zip(TABLES, before, strict=True):
        rows.places, rows._here = places, here


def document_of(store: Mapping[str, Any]) -> Any:
    return json.loads(bytes(store["zarr.json"]))


def test_a_data_type() -> None:
    """A name for a data type of NumPy: in documents, as an argument, in records; NumPy's own type is not affected."""
    blizzarr.register_data_type("test.level", "int16")
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, dtype="test.level", fill_value=-3)
    assert (document_of(store)["data_type"], document_of(store)["fill_value"]) == ("test.level", -3)
    assert array.dtype == np.dtype("int16")
    again = blizzarr.open(store)
    np.testing.assert_array_equal(again[:], DATA)
    assert again.metadata.dtype.name == "test.level"
    assert blizzarr.create_array({}, data=DATA).metadata.dtype.name == "int16"
    record = {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "test.level"}]}}
    assert DataType.from_json(record).numpy == np.dtype([("a", "i2")])  # type: ignore[union-attr]
    assert blizzarr.copy(again, {})[1, 1] == 7
    with pytest.raises(MetadataError, match="expected an integer"):
        blizzarr.create_array({}, shape=3, dtype="test.level", fill_value=0.5)


def test_a_data_type_with_options() -> None:
    """A function makes the data type of the options in a document; what it raises for wrong ones is a problem."""

    def pixel(channels: int) -> Any:
        return np.dtype((np.void, channels))

    blizzarr.register_data_type("test.pixel", pixel)
    store: dict[str, Any] = {}
    dtype = {"name": "test.pixel", "configuration": {"channels": 3}}
    array = blizzarr.create_array(store, shape=2, dtype=dtype)
    array[1] = np.void(b"abc")
    assert document_of(store)["data_type"] == dtype
    assert blizzarr.open(store)[:].tolist() == [b"\0\0\0", b"abc"]
    for options in ({}, {"channels": -1}, {"depth": 3}):
        with pytest.raises(MetadataError, match=r"data_type.configuration: expected options that test.pixel takes"):
            DataType.from_json({"name": "test.pixel", "configuration": options})


def test_a_data_type_with_fill_values_of_its_own() -> None:
    """A class that derives from `DataType` spells fill values."""

    class Rank(DataType):
        def fill_from_json(self, value: Any, path: str = "fill_value", problems: Any = None, endian: Any = None) -> Any:
            return np.uint8(int(value.removeprefix("no. ")))

        def fill_to_json(self, value: np.generic) -> Any:
            return f"no. {value}"

    plain = DataType.parse("uint8")
    blizzarr.register_data_type("test.rank", Rank("test.rank", plain.numpy, plain.kind, limits=plain.limits))
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=2, dtype="test.rank", fill_value=5)
    assert document_of(store)["fill_value"] == "no. 5"
    assert blizzarr.open(store)[:].tolist() == [5, 5]


@pytest.mark.parametrize("name", ["int8", "r24", "struct", "raw_bytes", "complex_bfloat16", "object"])
def test_data_types_that_are_there(name: str) -> None:
    """The names of this library's data types are not replaced."""
    with pytest.raises(ValueError, match="expected a name that no data type has"):
        blizzarr.register_data_type(name, "int8")


@dataclass(frozen=True)
class Backwards(ChunkKeyEncoding):
    """Indices in the reverse order, with an ending."""

    name: ClassVar[str] = "test.backwards"

    ending: str = ".bin"

    def encode(self, position: tuple[int, ...]) -> str:
        return "x" + "-".join(map(str, reversed(position))) + self.ending

    def decode(self, key: str) -> tuple[int, ...] | None:
        if not key.startswith("x") or not key.endswith(self.ending):
            return None
        return tuple(int(part) for part in reversed(key[1 : -len(self.ending)].split("-")))


@pytest.mark.parametrize("kind", ["local", "memory", "mapping"])
def test_a_chunk_key_encoding(kind: str, tmp_path: Path) -> None:
    """Chunks have the keys of the encoding: written, read, changed in part, erased by resizing, checked and copied."""
    blizzarr.register_chunk_key_encoding(Backwards)
    store: Any = {"local": str(tmp_path / "a"), "memory": MemoryStore(), "mapping": {}}[kind]
    encoding = {"name": "test.backwards", "configuration": {"ending": ".x"}}
    array = blizzarr.create_array(store, data=DATA, chunks=(2, 3), chunk_key_encoding=encoding)
    keys = set(array.store.list(""))
    assert keys == {"zarr.json", "x0-0.x", "x1-0.x", "x0-1.x", "x1-1.x"}
    assert json.loads(bytes(array.store.get("zarr.json")))["chunk_key_encoding"] == encoding
    again = blizzarr.open(store)
    again[1:3, 2:4] = -1
    expected = DATA.copy()
    expected[1:3, 2:4] = -1
    np.testing.assert_array_equal(blizzarr.open(store)[:], expected)
    assert again.nchunks_initialized == 4
    assert blizzarr.check(store).ok
    assert repr(blizzarr.copy(again, {}).storage_transformers) == "(Backwards(ending='.x'),)"
    assert zarr_metadata.ArrayV3Metadata(again.metadata).encode_chunk_key((1, 0)) == "x0-1.x"
    again.resize((4, 3))
    assert set(again.store.list("")) == {"zarr.json", "x0-0.x", "x0-1.x"}
    copied = blizzarr.copy(again, {}, zarr_format=2)
    np.testing.assert_array_equal(copied[:], expected[:, :3])


def test_wrong_chunk_key_encodings() -> None:
    """Options of documents are checked; a key that no store may have, or that of the document, is an error."""
    blizzarr.register_chunk_key_encoding(Backwards)
    store: dict[str, Any] = {}
    for ending in ("/../../x", "/"):
        array = blizzarr.create_array(store, shape=1, dtype="i1", chunk_key_encoding=Backwards(ending), overwrite=True)
        with pytest.raises(PathError, match=r"expected a key from the chunk key encoding test.backwards"):
            array[:] = 1
    document = document_of(store)
    document["chunk_key_encoding"]["configuration"] = {"begin": "x"}
    store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match=r"chunk_key_encoding.configuration.begin: expected no such option"):
        blizzarr.open(store)
    with pytest.raises(MetadataError, match=r"none beside the chunk key encoding test.backwards"):
        blizzarr.create_array(
            {}, data=DATA, chunk_key_encoding="test.backwards", storage_transformers="blizzarr.hashed"
        )
    with pytest.raises(
        MetadataError, match=r"chunk_key_encoding: expected an encoding that v2 has, found test.backwards"
    ):
        blizzarr.create_array({}, data=DATA, chunk_key_encoding="test.backwards", zarr_format=2)
    for name in ("default", "v2"):
        with pytest.raises(ValueError, match="choose another"):
            blizzarr.register_chunk_key_encoding(type("Own", (Backwards,), {"name": name}))


@pytest.mark.parametrize("method", ["encoded_dtype", "encoded_shape"])
def test_what_a_codec_raises_about_chunks_is_a_problem_of_the_document(method: str) -> None:
    """It is no bug of this library, as which it was reported."""

    def fails(self: Any, chunk: Any) -> Any:
        raise KeyError("unknown")

    fragile = type("Fragile", (ArrayArrayCodec,), {"name": "test.fragile", method: fails})
    with pytest.raises(MetadataError, match=r"chunks that test.fragile takes, found KeyError\('unknown'\)"):
        blizzarr.create_array({}, data=DATA, filters=fragile())


@pytest.mark.parametrize(
    ("encode", "decode", "reason"),
    [
        (lambda self, position: "k", lambda self, key: (0,), r"decodes 'k' to \(1,\), found \(0,\)"),
        (lambda self, position: f"k{position[0]}", lambda self, key: None, r"decodes 'k0' to \(0,\), found None"),
        (lambda self, position: f"k{position[0]}", lambda self, key: (7, 7), r"found \(7, 7\)"),
        (lambda self, position: f"k{position[0]}", lambda self, key: {}[key], "cannot decode 'k0': KeyError"),
    ],
)
def test_chunk_keys_that_do_not_lead_back(encode: Any, decode: Any, reason: str) -> None:
    """Two chunks would be one, or no listing would find them: such a key is an error, not lost data."""
    methods = {"name": "test.one_way", "encode": encode, "decode": decode}
    blizzarr.register_chunk_key_encoding(type("OneWay", (ChunkKeyEncoding,), methods))
    array = blizzarr.create_array({}, shape=4, chunks=2, dtype="i1", chunk_key_encoding="test.one_way")
    with pytest.raises(PathError, match=reason):
        array[:] = 1


def test_a_chunk_grid() -> None:
    """A grid of another name divides arrays of documents that name it."""

    @blizzarr.register_chunk_grid
    class Squares(RegularGrid):
        name = "test.squares"

        @classmethod
        def from_configuration(cls, configuration: Any, shape: Any, dtype: Any, problems: Any) -> Any:
            if type(configuration.get("side")) is not int:
                problems.add("chunk_grid.configuration.side", "an integer", configuration.get("side"))
                return None
            return cls((configuration["side"],) * len(shape))

        def to_configuration(self) -> dict[str, Any]:
            return {"side": self.chunk_shape[0]}

    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=(4, 6), chunks=(2, 2), dtype="int16", compressors=None)
    document = document_of(store)
    document["chunk_grid"] = {"name": "test.squares", "configuration": {"side": 3}}
    store["zarr.json"] = json.dumps(document).encode()
    array = blizzarr.open(store)
    array[:] = DATA
    assert len(bytes(store["c/1/1"])) == 18
    array.resize((4, 7))
    assert document_of(store)["chunk_grid"] == document["chunk_grid"]
    np.testing.assert_array_equal(blizzarr.open(store)[:, :6], DATA)
    document["chunk_grid"]["configuration"] = {}
    store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match=r"chunk_grid.configuration.side: expected an integer"):
        blizzarr.open(store)
    with pytest.raises(TypeError, match=r"blizzarr.model.ChunkGrid"):
        blizzarr.register_chunk_grid(int)  # type: ignore[type-var]


def test_a_store() -> None:
    """A scheme of a user leads to any store; what is no store, or has a scheme of this library, is refused."""
    made: dict[str, Any] = {}
    blizzarr.register_store("shelf", lambda url: made.setdefault(url, {}))
    blizzarr.create_array("shelf://top", data=DATA)
    np.testing.assert_array_equal(blizzarr.open("shelf://top", mode="r")[:], DATA)
    with pytest.raises(blizzarr.errors.ReadOnlyError):
        blizzarr.open("shelf://top", mode="r")[:] = 0
    assert "zarr.json" in made["shelf://top"]
    blizzarr.register_store("loop", lambda url: url)
    with pytest.raises(TypeError, match="expected a store from the function for loop://, found str"):
        blizzarr.open("loop://x")
    for scheme in ("s3", "file", "Shelf"):
        with pytest.raises(ValueError, match="expected a scheme"):
            blizzarr.register_store(scheme, dict)
    with pytest.raises(TypeError, match="expected a function"):
        blizzarr.register_store("shelf2", {})  # type: ignore[arg-type]


def test_a_storage_transformer() -> None:
    """An array opens without its data until its transformer is registered, and with them afterwards."""

    class Beneath(RenamingStore):
        def stored(self, name: str) -> str:
            return f"beneath/{name}"

        def original(self, name: str) -> str:
            return name.removeprefix("beneath/")

    class BeneathTransformer(StorageTransformer):
        name: ClassVar[str] = "test.beneath"
        extension: ClassVar[str] = "https://test.example/beneath"
        type: ClassVar[str] = "x"

        def wrap(self, store: Any, keys: Any) -> Any:
            return Beneath(store, keys)

    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=DATA)
    document = {**document_of(store), "storage_transformers": [{"name": "test.beneath"}]}
    store["zarr.json"] = json.dumps(document).encode()
    store["beneath/c/0/0"] = store.pop("c/0/0")
    with pytest.raises(UnknownExtensionError, match=r"test\.beneath"):
        blizzarr.open(store)[:]
    assert blizzarr.register_storage_transformer(BeneathTransformer) is BeneathTransformer
    np.testing.assert_array_equal(blizzarr.open(store)[:], DATA)


PACKAGE = """
import numpy as np
from blizzarr.codecs import ArrayArrayCodec
from blizzarr.transformers import ChunkKeyEncoding, RenamingStore, StorageTransformer

class Negative(ArrayArrayCodec):
    name = "acme.negative"
    def encode(self, array): return -array
    decode = encode

class Dashes(ChunkKeyEncoding):
    name = "acme.dashes"
    def encode(self, position): return "-".join(map(str, position))
    def decode(self, key): return tuple(map(int, key.split("-")))

class Below(RenamingStore):
    def stored(self, name): return "below/" + name
    def original(self, name): return name.removeprefix("below/")

class BelowTransformer(StorageTransformer):
    name, extension, type = "acme.below", "https://acme.example/below", "x"
    def wrap(self, store, keys): return Below(store, keys)

LEVEL = np.dtype("uint8")
STORES = {}
def open_store(url): return STORES.setdefault(url, {})
"""
ENTRY_POINTS = """
[blizzarr.codecs]
acme.negative = acme:Negative
gzip = acme:Negative
acme.broken = acme:Nothing
[blizzarr.data_types]
acme.level = acme:LEVEL
[blizzarr.chunk_key_encodings]
acme.dashes = acme:Dashes
[blizzarr.storage_transformers]
acme.below = acme:BelowTransformer
[blizzarr.stores]
acme = acme:open_store
[zarr.codecs]
other.squash = acme_zarr:Squash
[zarr.data_type]
other.half = acme_zarr:Half
"""
PROGRAM = """
import sys
import numpy as np, blizzarr
store = {}
plain = blizzarr.create_array("memory://plain", data=[1, 2], compressors="gzip")
assert "acme" not in sys.modules
array = blizzarr.create_array(store, data=[1, 2], filters="acme.negative", dtype="acme.level",
    chunk_key_encoding="acme.dashes", compressors="gzip", chunks=1)
assert sorted(store) == ["0", "1", "zarr.json"], sorted(store)
assert blizzarr.open(store)[:].tolist() == [1, 2]
assert blizzarr.open(store).compressors[0].name == "gzip"
blizzarr.create_array("acme://x", data=[3], storage_transformers="acme.below")
assert blizzarr.open("acme://x")[:].tolist() == [3]
assert sorted(sys.modules["acme"].STORES["acme://x"]) == ["below/c/0", "zarr.json"]
try:
    blizzarr.create_array({}, data=[1], filters="acme.broken")
except blizzarr.errors.UnknownExtensionError as error:
    assert "'acme.broken' of the group blizzarr.codecs cannot be imported from acme:Nothing" in str(error), error
else:
    raise AssertionError
"""
OF_ZARR_PYTHON = """
import zlib
import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.core.dtype.npy.int import Int16

class Squash(BytesBytesCodec):
    is_fixed_size = False
    @classmethod
    def from_dict(cls, data): return cls()
    def to_dict(self): return {"name": "other.squash", "configuration": {}}
    async def _encode_single(self, chunk, spec):
        return spec.prototype.buffer.from_bytes(zlib.compress(chunk.to_bytes()))
    async def _decode_single(self, chunk, spec):
        return spec.prototype.buffer.from_bytes(zlib.decompress(chunk.to_bytes()))
    def compute_encoded_size(self, size, spec): raise NotImplementedError

class Half(Int16):
    _zarr_v3_name = "other.half"
    @classmethod
    def from_json(cls, data, *, zarr_format):
        assert data == "other.half"
        return cls()
    def to_json(self, zarr_format): return "other.half"
    def to_json_scalar(self, data, *, zarr_format): return {"twice": int(data) * 2}
    def from_json_scalar(self, data, *, zarr_format): return np.int16(data["twice"] // 2)
"""
WITH_ZARR_PYTHON = """
import json
import numpy as np, blizzarr
store = {}
array = blizzarr.create_array(store, data=np.arange(5), dtype="other.half", fill_value=21, compressors="other.squash")
document = json.loads(bytes(store["zarr.json"]))
assert (document["data_type"], document["fill_value"]) == ("other.half", {"twice": 42}), document
assert blizzarr.open(store).fill_value == 21
assert blizzarr.open(store)[:].tolist() == [0, 1, 2, 3, 4]
assert document["codecs"][-1]["name"] == "other.squash"
"""


def run(tmp_path: Path, program: str) -> None:
    (tmp_path / "acme.py").write_text(PACKAGE)
    (tmp_path / "acme_zarr.py").write_text(OF_ZARR_PYTHON)
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join([str(tmp_path), str(Path(blizzarr.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_entry_points(tmp_path: Path) -> None:
    """An installed package is imported when one of its names is met, and replaces none of this library's."""
    run(tmp_path, PROGRAM)


def test_entry_points_for_zarr_python(tmp_path: Path) -> None:
    """Codecs and data types that a package has for zarr-python are known."""
    pytest.importorskip("zarr")
    run(tmp_path, WITH_ZARR_PYTHON)


def test_unknown_names_stay_unknown() -> None:
    """A name that nobody has registered is an error that says so."""
    with pytest.raises(UnknownExtensionError, match=r"nobody\.knows"):
        blizzarr.create_array({}, data=DATA, compressors="nobody.knows")
