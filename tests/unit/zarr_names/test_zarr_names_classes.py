"""Classes of results and of errors as zarr-python 3.1.6 and 3.4.2 have them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.codecs import CATALOGUE
from blizzarr.zarr.buffer import Buffer
from blizzarr.zarr.dtype import parse_dtype
from blizzarr.zarr.errors import ArrayNotFoundError, BoundsCheckError, ContainsArrayError, VindexInvalidSelectionError


@dataclass(frozen=True)
class Plus(zarr.abc.codec.ArrayArrayCodec):
    """Adds a number to each element."""

    number: int
    is_fixed_size = True

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plus:
        _, options = zarr.core.common.parse_named_configuration(data, "test.plus")
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        return {"name": "test.plus", "configuration": {"number": self.number}}

    async def _encode_single(self, chunk: Any, spec: Any) -> Any:
        assert (spec.shape, spec.ndim, spec.dtype) == ((2,), 1, zarr.dtype.Int32())
        return spec.prototype.nd_buffer.from_numpy_array(chunk.as_numpy_array() + self.number)

    async def _decode_single(self, chunk: Any, spec: Any) -> Any:
        return spec.prototype.nd_buffer.from_numpy_array(chunk.as_numpy_array() - self.number)

    def compute_encoded_size(self, length: int, spec: Any) -> int:
        return length


def test_codecs_of_users_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written on the base classes and the functions of zarr-python."""
    for table, name in ((CATALOGUE, "places"), (CATALOGUE, "_here")):
        monkeypatch.setattr(table, name, dict(getattr(table, name)))
    zarr.registry.register_codec("test.plus", Plus)
    zarr.registry.register_codec("test.plus", Plus)
    store: dict[str, Any] = {}
    zarr.create_array(store, data=np.arange(4, dtype="i4"), chunks=(2,), filters=[Plus(5)], compressors=None)
    z = zarr.open_array(store)
    assert (z[1:].tolist(), z.filters) == ([1, 2, 3], (Plus(5),))
    assert np.frombuffer(store["c/1"].to_bytes(), "<i4").tolist() == [7, 8]
    assert zarr.registry.get_codec_class("test.plus") is Plus


def test_names_within_zarr_python_are_there() -> None:
    for path, names in zarr.core._NAMES.items():
        module = import_module(f"blizzarr.zarr.core.{path}")
        assert [name for name in " ".join(names.values()).split() if not hasattr(module, name)] == []


def array(shape: tuple[int, ...] = (4,), dtype: Any = "i4", **options: Any) -> Any:
    return zarr.create_array({}, shape=shape, dtype=dtype, chunks=(2,) * len(shape), **options)


@pytest.mark.parametrize("dtype", ["i4", "U3", "S2", "<M8[s]"])
def test_elements_are_scalars_or_arrays(dtype: str) -> None:
    """Integers of Python make arrays without axes, those of NumPy scalars, and points arrays of one element."""
    z = array(dtype=dtype)
    one = np.int64(0)
    scalars = (z[one], z.get_basic_selection(0), z.get_basic_selection(one))
    assert all(type(found) is np.dtype(dtype).type for found in scalars)
    for found, shape in (
        (z[0], ()),
        (z[-1,], ()),
        (z.oindex[0], ()),
        (z.get_orthogonal_selection(0), ()),
        (z.vindex[0], (1,)),
        (z.vindex[[0]], (1,)),
        (z.get_coordinate_selection(0), (1,)),
        (z.blocks[0], (2,)),
    ):
        assert (type(found), found.shape, found.dtype) == (np.ndarray, shape, np.dtype(dtype))
    plane = array((4, 5), dtype)
    assert type(plane[one, 1]) is np.dtype(dtype).type
    assert (plane[one].shape, plane.oindex[0, 0].shape, plane.vindex[0, 0].shape) == ((5,), (), (1,))


def test_texts_are_scalars_or_arrays() -> None:
    z = zarr.create_array({}, data=np.array(["a", "bc"], dtype="T"))
    assert [type(found) for found in (z[np.int64(1)], z.get_basic_selection(1))] == [str, str]
    assert (z[1].shape, z[1].dtype.kind, z.vindex[1].tolist()) == ((), "T", ["bc"])
    z[0] = 5
    z[1:] = [None]
    assert z[:].tolist() == ["5", "None"]


def test_bytes_keep_the_zeros_at_their_end() -> None:
    z = zarr.create_array({}, shape=2, dtype="variable_length_bytes")
    z[...] = np.array([b"a\0", b"\0"], object)
    for found in (z[0], z.vindex[0], z.oindex[0]):
        assert (found.dtype, found.item()) == (object, b"a\0")


@pytest.mark.parametrize("dtype", ["i4", "S3", str, "variable_length_bytes"])
def test_a_point_is_written_as_it_is_read(dtype: Any) -> None:
    z = zarr.create_array({}, shape=(2, 2), dtype=dtype)
    old = z[...].copy()
    z.vindex[0, 1] = b"1\0" if dtype == "variable_length_bytes" else "1"
    z.vindex[1, 0] = z.vindex[0, 1]
    z.set_coordinate_selection((1, 1), z.vindex[0, 1].tolist())
    assert z[...].tolist() == [[old[0, 0], z[0, 1].item()], [z[0, 1].item()] * 2]
    assert z[0, 1].item() != old[0, 0]


MASK = np.ones(3, bool)
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "a new axis": (lambda z: z[None], IndexError),
    "a new axis and all": (lambda z: z[None, ...], IndexError),
    "a new axis of oindex": (lambda z: z.oindex[None], IndexError),
    "a new axis of vindex": (lambda z: z.vindex[None], VindexInvalidSelectionError),
    "a new axis of blocks": (lambda z: z.blocks[None], IndexError),
    "a boolean": (lambda z: z[True], IndexError),
    "a boolean of oindex": (lambda z: z.oindex[True], IndexError),
    "a boolean that is written to": (lambda z: z.__setitem__(True, 1), IndexError),
    "a number": (lambda z: z[1.5], IndexError),
    "a number of vindex": (lambda z: z.vindex[1.5], VindexInvalidSelectionError),
    "a mask": (lambda z: z[MASK], VindexInvalidSelectionError),
    "a mask that is written to": (lambda z: z.__setitem__(MASK, 1), VindexInvalidSelectionError),
    "a mask of vindex": (lambda z: z.vindex[MASK], VindexInvalidSelectionError),
    "a mask of oindex": (lambda z: z.oindex[MASK], IndexError),
    "a mask as a method": (lambda z: z.get_mask_selection(MASK), IndexError),
    "an index outside": (lambda z: z[[9]], BoundsCheckError),
    "a point outside": (lambda z: z.vindex[[9]], BoundsCheckError),
    "fields": (lambda z: z.get_basic_selection(0, fields="f"), IndexError),
    "fields of a mask": (lambda z: z.get_mask_selection(np.ones(4, bool), fields="f"), IndexError),
    "a field that is written to": (lambda z: z.set_basic_selection(0, 1, fields="f"), IndexError),
}


@pytest.mark.parametrize("what", REFUSED)
def test_selections_that_are_refused(what: str) -> None:
    select, expected = REFUSED[what]
    with pytest.raises(expected) as caught:
        select(array())
    assert isinstance(caught.value, VindexInvalidSelectionError) == (expected is VindexInvalidSelectionError)


@pytest.mark.parametrize("dtype", ["str", "i4", "U3"])
def test_an_array_without_axes_has_no_fields_and_no_elements(dtype: str) -> None:
    z = array((), dtype)
    with pytest.raises(IndexError, match="only records have fields"):
        z.get_basic_selection((), fields="f")
    with pytest.raises(IndexError):
        z.blocks[None]
    assert list(z) == []
    assert (z.oindex[()].shape, type(z.oindex[()])) == ((), np.ndarray)


def test_arrays_have_no_length_and_no_hash() -> None:
    z = array()
    group = zarr.create_group({})
    group.create_array("a", shape=1, dtype="i4")
    for node in (z, group):
        with pytest.raises(TypeError, match="unhashable"):
            hash(node)
    with pytest.raises(TypeError, match="no len"):
        len(z)
    assert len(group) == 1
    assert [int(element) for element in zarr.create_array({}, data=np.arange(3))] == [0, 1, 2]


def test_settings_that_there_are_have_priority() -> None:
    new = {"array": {"order": "F"}, "own": {"a": 2, "b": {"c": 3}}}
    with zarr.config.set({"array.order": "C", "own": {"a": 1}}):
        zarr.config.update(new, priority="old")
        assert (zarr.config.get("array.order"), zarr.config.get("own")) == ("C", {"a": 1, "b": {"c": 3}})
        zarr.config.update(new)
        assert (zarr.config.get("array.order"), zarr.config.get("own")) == ("F", new["own"])


def test_buffers() -> None:
    one = Buffer.from_bytes(b"abc")
    assert [
        (made.to_bytes(), len(made)) for made in (one + one[:1], one.combine([one, one]), Buffer.from_buffer(one))
    ] == [
        *((b"abca", 4), (b"abcabcabc", 9), (b"abc", 3)),
    ]
    signed = Buffer.from_array_like(np.arange(3, dtype="i1"))
    signed[1:] = Buffer.from_bytes(b"zz")
    assert (signed.to_bytes(), Buffer.create_zero_length().to_bytes()) == (b"\0zz", b"")
    assert (one == Buffer.from_bytes(b"abc"), one == signed, one == b"abc") == (True, False, False)


@pytest.mark.parametrize("elements", [np.zeros((2, 3), "u1"), np.zeros(3, "f4"), np.zeros((), "u1")], ids=str)
def test_a_buffer_is_of_bytes(elements: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match="expected the bytes of a buffer along one axis, found"):
        Buffer.from_array_like(elements)


def test_arrays_of_one_place_are_equal() -> None:
    values: dict[str, Any] = {}
    made = zarr.create_array(values, name="a", shape=3, dtype="i4")
    same = zarr.open_array(values, path="a")
    also = zarr.open_array(zarr.storage.MemoryStore(values), path="a")
    assert made == same == also
    assert zarr.open_group(values) == zarr.open_group(values)
    assert made != zarr.create_array({}, name="a", shape=3, dtype="i4")
    assert made != zarr.create_array(values, name="b", shape=3, dtype="i4")
    assert same != zarr.open_array(values, path="a", mode="r")
    of_url = zarr.storage.FsspecStore.from_url
    assert of_url("memory://a") == of_url("memory://a") != of_url("memory://b")


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_to_dict_has_tuples_where_zarr_python_has_them() -> None:
    group = zarr.create_group({})
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    options: dict[str, Any] = {"filters": [transpose], "dimension_names": ["x", None], "attributes": {"codecs": [1]}}
    made = group.create_array("a", shape=(4, 4), chunks=(2, 2), shards=(4, 4), dtype="c8", **options)
    bytes_codec = {"name": "bytes", "configuration": {"endian": "little"}}
    shown = made.metadata.to_dict()
    assert shown["chunk_grid"] == {"name": "regular", "configuration": {"chunk_shape": (4, 4)}}
    sharding = shown["codecs"][0]["configuration"]
    assert (sharding["chunk_shape"], sharding["index_codecs"]) == ((2, 2), (bytes_codec, {"name": "crc32c"}))
    assert sharding["codecs"][0] == {"name": "transpose", "configuration": {"order": (1, 0)}}
    members = ("shape", "dimension_names", "storage_transformers", "fill_value", "attributes")
    assert [shown[name] for name in members] == [(4, 4), ("x", None), (), (0.0, 0.0), {"codecs": [1]}]
    zarr.consolidate_metadata(group.store)
    below = zarr.open_consolidated(group.store).metadata.to_dict()["consolidated_metadata"]["metadata"]["a"]
    assert below == shown
    old = array((2, 2), "c8", zarr_format=2).metadata.to_dict()
    assert [old[name] for name in ("shape", "chunks", "fill_value")] == [(2, 2), (2, 2), (0.0, 0.0)]


def test_what_is_there_is_saved_over_only_if_that_is_said() -> None:
    values: dict[str, Any] = {}
    zarr.save_array(values, np.arange(3))
    for save in (zarr.save, zarr.save_array):
        with pytest.raises(ContainsArrayError):
            save(values, np.arange(4))
    assert zarr.load(values).tolist() == [0, 1, 2]
    zarr.save_array(values, np.arange(4), mode="w")
    zarr.save_array(values, np.arange(5), overwrite=True)
    assert zarr.load(values).tolist() == [0, 1, 2, 3, 4]


def test_errors_of_what_cannot_be_written_or_made() -> None:
    values: dict[str, Any] = {}
    zarr.create_group(values, attributes={"a": 1}).create_array("x", shape=1, dtype="i4")
    group = zarr.open_group(values, mode="r")
    for change in (
        lambda: group.attrs.update(b=1),
        lambda: group.attrs.__setitem__("b", 1),
        lambda: group.attrs.__delitem__("a"),
        lambda: group.attrs.put({}),
        lambda: group.__delitem__("x"),
    ):
        with pytest.raises(ValueError, match="opened for reading"):
            change()
    for mode in ("a", "w", "w-"):
        with pytest.raises(TypeError, match="'shape'"):
            zarr.open_array(values, path="new", mode=mode)
    with pytest.raises(ArrayNotFoundError):
        zarr.open_array(values, path="new")


@pytest.mark.parametrize("dtype", [">u2", np.dtype(">u2"), np.dtype([("a", ">u2")])])
def test_v3_is_little_endian_unless_a_codec_says_more(dtype: Any) -> None:
    big = zarr.codecs.BytesCodec(endian="big")
    for made, endian in (
        (array(dtype=dtype), "little"),
        (zarr.zeros(4, dtype=dtype), "little"),
        (array(dtype=dtype, serializer=big), "big"),
    ):
        assert made.metadata.to_dict()["codecs"][0] == {"name": "bytes", "configuration": {"endian": endian}}
    assert array(dtype=dtype, zarr_format=2).metadata.to_dict()["dtype"] in (">u2", [["a", ">u2"]])


def test_the_shape_that_tifffile_asks_for() -> None:
    from blizzarr.zarr.core.indexing import BasicIndexer

    found = BasicIndexer((0, slice(1, None, 2), ...), shape=(4, 5, 6), chunk_grid=None)
    assert found.shape == (2, 6)


@pytest.mark.parametrize("name", ["empty", "zeros", "ones"])
def test_the_shape_may_be_named(name: str) -> None:
    assert getattr(zarr, name)(shape=(2, 3)).shape == getattr(zarr, name)((2, 3)).shape == (2, 3)
    assert getattr(zarr, f"{name}_like")(a=np.zeros((2, 3))).shape == (2, 3)


def test_an_array_becomes_one_of_a_derived_class() -> None:
    """As hdmf-zarr does with the arrays that it reads."""

    class Derived(zarr.Array):
        def __len__(self) -> int:
            return 7

    array: Any = zarr.array([1, 2])
    array.__class__ = Derived
    assert (len(array), array[1:].tolist()) == (7, [2])


@pytest.mark.parametrize("name", ["fill_value", "size", "dtype", "chunks", "path"])
def test_what_is_stored_cannot_be_set(name: str) -> None:
    array: Any = zarr.array([1, 2])
    with pytest.raises(AttributeError, match="no setter"):
        setattr(array, name, 3)
    assert name in dir(array)


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_info_counts_the_nodes_that_consolidated_metadata_list() -> None:
    root = zarr.group({})
    root.create_array("a/x", shape=2, dtype="i1")
    assert "No. arrays" not in str(root.info)
    consolidated = zarr.open_group(zarr.consolidate_metadata(root.store).store)
    assert str(consolidated.info).splitlines()[-3:] == ["No. members : 2", "No. arrays  : 1", "No. groups  : 1"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_a_consolidated_group_shows_what_was_changed_through_its_members() -> None:
    root = zarr.group({})
    root.create_array("a/x", shape=2, dtype="i1")
    zarr.consolidate_metadata(root.store)
    opened = zarr.open_group(root.store)
    assert opened.metadata.consolidated_metadata is not None
    opened["a"]["x"].attrs["unit"] = "mm"
    assert opened["a/x"].attrs["unit"] == "mm"


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["foo", "int3", "M8[foo]", object(), ["a"], 3])
def test_no_data_type(zarr_format: Any, dtype: Any) -> None:
    """zarr-python raises the `TypeError` of NumPy, and in some releases a `ValueError`."""
    group = zarr.create_group({}, zarr_format=zarr_format)
    for work in (
        lambda: group.create_array("a", shape=4, dtype=dtype),
        lambda: group.create_array("a", shape=4, chunks=(2,), dtype=dtype),
        lambda: zarr.zeros(4, dtype=dtype, zarr_format=zarr_format),
        lambda: parse_dtype(dtype, zarr_format=zarr_format),
    ):
        with pytest.raises(TypeError, match="expected the name of a data type") as raised:
            work()
        assert isinstance(raised.value, ValueError)
        assert isinstance(pickle.loads(pickle.dumps(raised.value)), TypeError)
    document = {**zarr.create_array({}, shape=4, dtype="i4").metadata.to_dict(), "data_type": 5}
    with pytest.raises(zarr.errors.MetadataValidationError):
        zarr.open_array({"zarr.json": json.dumps(document).encode()})


@pytest.mark.parametrize(
    ("form", "codecs"),
    [("v3_draft", ["bytes", "gzip"]), ("n5", ["transpose", "n5"]), ("v1", None)],
    ids=["draft", "n5", "v1"],
)
def test_arrays_of_formats_that_zarr_python_does_not_have_show_their_metadata(form: str, codecs: Any) -> None:
    """As v3, or as v2 for v1."""
    store: dict[str, bytes] = {}
    options = {"shape": (4, 6), "chunks": (2, 3), "dtype": "int16", "zarr_format": form, "attributes": {"unit": "m"}}
    blizzarr.create_array(store, compressors="zlib" if form == "v1" else "gzip", **options)
    array = zarr.open_array(store, mode="r")
    metadata = array.metadata
    assert repr(metadata).startswith(f"{type(metadata).__name__}(shape=(4, 6), ")
    document = metadata.to_dict()
    assert (document["shape"], document["fill_value"], document["attributes"]) == ((4, 6), 0, {"unit": "m"})
    assert metadata == zarr.open_array(store, mode="r").metadata
    if codecs is None:
        assert (document["compressor"], document["filters"]) == ({"id": "zlib", "level": 1}, None)
        assert metadata.compressor.get_config() == document["compressor"]
    else:
        assert [codec.to_dict()["name"] for codec in metadata.codecs] == codecs
        assert [codec["name"] for codec in document["codecs"]] == codecs
        assert document["data_type"] == "int16"
    assert metadata.encode_chunk_key((1, 0)) == {"v3_draft": "c1/0", "n5": "1/0", "v1": "1.0"}[form]
