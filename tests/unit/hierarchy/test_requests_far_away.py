"""How often a change asks a store far away for what it needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.errors import (
    ConflictError,
    MetadataError,
    NodeNotFoundError,
    NodeTypeError,
    UnsupportedOperationError,
)
from blizzarr.stores import MappingStore, StoreWrapper
from support.far_away import Far, requested
from support.faulty_server import FaultyServer, faulty_server


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


@pytest.mark.parametrize(("zarr_format", "document"), [(2, ".zgroup"), (3, "zarr.json")])
def test_the_group_above_is_read_once_before_and_once_after_a_new_node(zarr_format: Any, document: str) -> None:
    store = Far()
    group = blizzarr.create_group(store, zarr_format=zarr_format)
    store.read.clear()
    group.create_array("a", data=np.arange(4))
    assert store.read[document] == 2


def test_a_node_that_changes_is_read_together_with_the_groups_above_it() -> None:
    store = Far()
    array = blizzarr.create_group(store).create_array("a", data=np.arange(4))
    store.batches.clear()
    array.attrs["x"] = 1
    assert [batch for batch in store.batches if len(batch) > 1] == [["a/zarr.json", "zarr.json"]]
    assert blizzarr.open_array(store, path="a").attrs == {"x": 1}


@pytest.mark.parametrize("zarr_format", ["v2", "n5"])
def test_members_of_an_older_format_are_expected_to_have_it_too(zarr_format: str) -> None:
    store = Far()
    group = blizzarr.create_group(store, zarr_format=zarr_format)
    array = group.create_array("a", data=np.arange(4))
    tasks = [array.refresh, group.refresh, lambda: group["a"], lambda: "a" in group, lambda: list(group.members())]
    if zarr_format == "v2":
        tasks.append(lambda: blizzarr.open_group(store))
    for task in tasks:
        store.batches.clear()
        assert task() is not None
        assert len(store.batches) == 1
    # What counts before the expected format is read all the same.
    if zarr_format == "v2":
        blizzarr.create_array(newer := Far(), name="a", data=np.arange(3))
        store.set("a/zarr.json", newer.get("a/zarr.json"))
        with pytest.warns(match="in two formats"):
            assert array.refresh().shape == group["a"].shape == (3,)


def test_the_entry_document_of_a_draft_hides_no_node_of_v2() -> None:
    """It has the key of a document of v3; what counts is the same as on this machine."""
    store = Far()
    for zarr_format in ("v3_draft", "v2"):
        blizzarr.create_group(other := Far(), zarr_format=zarr_format, attributes={"made as": zarr_format})
        for key in other.list():
            store.set(key, other.get(key))
    for values in (dict(store.mapping), store):
        root = blizzarr.open_group(values, mode="r")
        assert (root.metadata.format, root.attrs) == ("v2", {"made as": "v2"})


def test_many_nodes_of_v2_are_not_asked_for_documents_of_older_formats() -> None:
    store = Far()
    group = blizzarr.create_group(store, zarr_format=2)
    for number in range(20):
        group.create_array(f"x/n{number}", data=np.arange(4))
    store.read.clear()
    del group["x"]
    assert not [key for key in store.read if key.startswith("x/n") and key.endswith(("/meta", "/attributes.json"))]


def test_consolidation_reads_what_is_below_a_group_once(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    group.create_array("a", data=np.arange(4))
    group.create_array("b", data=np.arange(4))
    requested(server)
    blizzarr.consolidate_metadata(group)
    counts = Counter(requested(server))
    assert [counts["GET", key] for key in ("/bucket", "a/zarr.json", "b/zarr.json")] == [1, 1, 1]
    # The mark, and the metadata on the condition that the mark is still there, which need not be read for that.
    assert (counts["PUT", "zarr.json"], counts["GET", "zarr.json"]) == (2, 2)
    assert blizzarr.open_group(server.store()).metadata.consolidated is not None


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidation_far_away_that_fails_leaves_the_group_as_it_was(server: FaultyServer, zarr_format: Any) -> None:
    group = blizzarr.create_group(server.store(), zarr_format=zarr_format)
    group.create_array("a", data=np.arange(4))
    blizzarr.consolidate_metadata(group)
    for key in ("zarr.json", ".zarray"):
        if f"/bucket/a/a/{key}" in server.objects:
            server.objects[f"/bucket/a/a/{key}"] = b"{}"
    before = dict(server.objects)
    with pytest.raises(MetadataError):
        blizzarr.consolidate_metadata(group)
    assert server.objects == before


def test_small_arrays_are_checked_several_at_once(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    for name in "abc":
        group.create_array(name, data=np.arange(4))
    together, seen, tags = Barrier(3, timeout=1), list[tuple[int, int | None]](), server.tags

    def wait(value: bytes) -> str | None:
        if not value.startswith(b"{"):
            together.wait()
        return tags(value)

    server.tags = wait
    report = blizzarr.check(server.store(), progress=lambda done, of: seen.append((done, of)))
    assert report.clean
    assert (report.arrays, report.objects, report.chunks) == (3, 3, 3)
    assert seen == [(done, 3) for done in range(4)]


@pytest.mark.parametrize("create", [blizzarr.create_group, partial(blizzarr.create_array, data=np.arange(4))])
def test_attributes_of_a_root_change_with_one_request(server: FaultyServer, create: Any) -> None:
    node = create(server.store())
    for number in range(3):
        handle = node if number < 2 else blizzarr.open(server.store(), mode="r+")
        requested(server)
        handle.attrs["x"] = number
        # Whether there is a group around the store is asked beside.
        assert sorted(server.requests) == [("GET", "/bucket/zarr.json"), ("PUT", "/bucket/a/zarr.json")]
    requested(server)
    if isinstance(handle, blizzarr.Array):
        # Its document is compared before something is written, and need not be decoded for that.
        handle[...] = 5
        assert requested(server) == [("GET", "zarr.json"), ("PUT", "c/0")]


def test_attributes_of_a_group_without_a_document_take_no_more_requests(server: FaultyServer) -> None:
    """Nothing can be known of its version, so the document is not asked for just to know that."""
    blizzarr.create_array(server.store(), name="x", data=np.arange(4))
    del server.objects["/bucket/a/zarr.json"]
    with pytest.warns(UserWarning, match="no document says that / in"):
        group = blizzarr.open_group(server.store(), mode="r+")
    requested(server)
    group.attrs["x"] = 1
    assert Counter(requested(server))["GET", "zarr.json"] == 3


def test_changes_of_attributes_apply_to_what_is_stored_by_then(server: FaultyServer) -> None:
    """Whatever a handle knows: another program has changed the document since."""
    one = blizzarr.create_array(server.store(), data=np.arange(4), attributes={"here": 0})
    other = blizzarr.open_array(server.store(), mode="r+")
    other.attrs.update(x=1, here=1)
    one.attrs["y"] = 2
    assert one.attrs == {"here": 1, "x": 1, "y": 2}
    other.attrs["x"] = 3
    # This handle has these values already.
    one.attrs["x"] = 1
    assert blizzarr.open_array(server.store()).attrs == {"here": 1, "x": 1, "y": 2}
    other.refresh()
    del one.attrs["here"]
    with pytest.raises(KeyError):
        del other.attrs["here"]
    assert other.attrs.pop("here", None) is None
    other.resize(6)
    one.attrs["z"] = 4
    assert one.shape == (6,)
    document = "/bucket/a/zarr.json"
    server.objects[document] = server.objects[document].replace(
        b'"shape"', b'"odd": {"must_understand": false}, "shape"'
    )
    one.attrs["z"] = 5
    assert b'"odd"' in server.objects[document]
    del server.objects[document]
    with pytest.raises(NodeNotFoundError):
        one.attrs["z"] = 6
    blizzarr.create_array(server.store(), data=np.arange(4.0), overwrite=True)
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        one.attrs["z"] = 6


def test_a_server_that_ignores_conditions_is_still_found_out(server: FaultyServer) -> None:
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=np.arange(4))
    server.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in values.items()})
    server.conditions = set()
    array = blizzarr.open_array(server.store(), mode="r+")
    with pytest.raises(UnsupportedOperationError, match="ignores conditions"):
        array.attrs["x"] = 1
    assert server.objects["/bucket/a/zarr.json"] == values["zarr.json"]


def test_a_removal_lists_three_times_and_asks_for_nothing_that_is_not_listed(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    for name in ("b/x", "b/y", "b/z", "other"):
        group.create_array(name, data=np.arange(4))
    requested(server)
    del group["b"]
    made = requested(server)
    assert Counter(request for request in made if request[0] == "GET") == {
        ("GET", "b/zarr.json"): 2,
        ("GET", "b/x/zarr.json"): 1,
        ("GET", "b/y/zarr.json"): 1,
        ("GET", "b/z/zarr.json"): 1,
        # Before and after it: consolidated metadata above would be out of date.
        ("GET", "zarr.json"): 2,
        # Whether another program has replaced the node meanwhile.
        ("GET", "b/blizzarr-removal.txt"): 1,
        # What is there; what was stored before the documents were gone; what others have made since.
        ("GET", "/bucket"): 3,
    }
    assert sorted(key for key in server.objects if key.startswith("/bucket/a/")) == [
        "/bucket/a/other/c/0",
        "/bucket/a/other/zarr.json",
        "/bucket/a/zarr.json",
    ]


class Together(MappingStore):
    """A store far away in which what is done with one of two keys waits for what is done with the other."""

    remote = True

    def __init__(self, values: dict[str, Any], *keys: str) -> None:
        super().__init__(values)
        self._keys = keys
        self._barrier = Barrier(2)

    def get(self, key: str) -> Any:
        if key in self._keys:
            self._barrier.wait(10)
        return super().get(key)

    def set(self, key: str, value: Any) -> None:
        if key in self._keys:
            self._barrier.wait(10)
        super().set(key, value)


def test_what_waits_for_requests_is_done_at_once_for_several_nodes() -> None:
    arrays = {"a/x": np.arange(4), "b/y": np.arange(5)}
    chunks = ("a/x/c/0", "b/y/c/0")
    blizzarr.save(stored := Together({}, *chunks), **arrays)
    assert {name: list(elements) for name, elements in blizzarr.load(stored).items()} == {
        name: list(elements) for name, elements in arrays.items()
    }
    values = dict(stored.mapping)
    assert blizzarr.diff(Together(values, *chunks), values).same
    assert blizzarr.diff(values, Together(values, *chunks)).same
    blizzarr.copy(values, copied := Together({}, "a/blizzarr-copy.json", "b/blizzarr-copy.json"))
    assert blizzarr.diff(values, dict(copied.mapping)).same


@pytest.mark.parametrize("zarr_format", ["v3", "v2", "v3_draft", "n5"])
def test_no_array_is_saved_below_another(zarr_format: Any) -> None:
    """At the same time, both would be made, and nobody would see the inner one."""
    for names in (("a", "a/x"), ("a/b/x", "a/b")):
        store = Far()
        blizzarr.save(store, before=np.arange(3), zarr_format=zarr_format)
        values = dict(store.mapping)
        with pytest.raises(NodeTypeError, match="nothing can be below it"):
            blizzarr.save(store, zarr_format=zarr_format, **dict.fromkeys(names, np.arange(3)))
        assert store.mapping == values


def test_of_copies_without_separators_the_chunks_are_looked_at_at_once() -> None:
    """zarr-python before 2.8, and GDAL, store no separator; consolidated metadata have many such arrays."""
    root = blizzarr.create_group(values := {}, zarr_format=2)
    for name in ("x", "g/y"):
        root.create_array(name, data=np.arange(4).reshape(2, 2), chunks=1, chunk_key_encoding=("v2", "."))
    blizzarr.consolidate_metadata(values)
    values[".zmetadata"] = values[".zmetadata"].replace(b'"dimension_separator":', b'"other":')
    group = blizzarr.open_group(Together(values, "x/0.0", "g/y/0.0"))
    assert [name for name, _ in group.members(None)] == ["g", "g/y", "x"]


class Listed(Far):
    """The same; listings are counted, too."""

    def list_dir(self, prefix: str = "") -> Any:
        self.batches.append([prefix])
        return super().list_dir(prefix)


def test_groups_without_documents_are_looked_for_once() -> None:
    """Of all formats that may have them, down to the nearest document; each chunk of N5 may be in one of v3."""
    root = blizzarr.create_group(store := Listed(), zarr_format="n5")
    root.create_array("a/b/x", data=np.arange(400).reshape(20, 20), chunks=1)
    store.batches.clear()
    assert isinstance(root["a"], blizzarr.Group)
    assert [batch for batch in store.batches if batch[0].endswith("/")] == [["a/"], ["a/b/"]]
    store.batches.clear()
    assert root.get("missing") is None
    assert [batch for batch in store.batches if batch[0].endswith("/")] == [["missing/"]]


def test_groups_without_documents_are_looked_for_at_once() -> None:
    root = blizzarr.create_group(values := {}, zarr_format="n5")
    for name in ("a/x", "b/y"):
        root.create_array(name, data=np.arange(4))
    group = blizzarr.open_group(Together(values, "a/x/attributes.json", "b/y/attributes.json"))
    assert [name for name, _ in group.members()] == ["a", "b"]


def test_sizes_are_those_of_the_listing(server: FaultyServer) -> None:
    """Not asked for chunk by chunk."""
    array = blizzarr.create_group(server.store()).create_array("x", data=np.arange(40), chunks=4)
    requested(server)
    there = [value for key, value in server.objects.items() if key.startswith("/bucket/a/x/")]
    assert (len(there), array.nbytes_stored()) == (11, sum(map(len, there)))
    assert requested(server) == [("GET", "/bucket")]


def test_sizes_are_those_of_the_keys_that_a_wrapper_has(server: FaultyServer) -> None:
    class Hiding(StoreWrapper):
        def list(self, prefix: str = "") -> list[str]:
            return [key for key in super().list(prefix) if not key.endswith(".mine")]

    array = blizzarr.create_array(store := server.store(), data=np.arange(4))
    size = array.nbytes_stored()
    store.set("c/0.mine", b"of somebody else")
    assert blizzarr.open_array(Hiding(store)).nbytes_stored() == size


def test_coordinates_of_a_picture_are_read_at_once() -> None:
    root = blizzarr.create_group(values := {})
    root.create_array("t", data=np.arange(12).reshape(4, 3), dimension_names=["y", "x"])
    for name, length in (("y", 4), ("x", 3)):
        root.create_array(name, data=np.arange(length), dimension_names=[name])
    array = blizzarr.open_group(Together(values, "y/c/0", "x/c/0"))["t"]
    assert np.array_equal(blizzarr.show(array), blizzarr.show(root["t"]))


def test_groups_of_zarr_python_s_interface_are_opened_once() -> None:
    store = Far()
    blizzarr.create_group(store, attributes={"x": 1})
    store.batches.clear()
    assert zarr.open(store, mode="r").attrs["x"] == 1
    assert len(store.batches) == 1


def test_the_format_of_new_nodes_is_looked_for_in_all_groups_above_at_once() -> None:
    blizzarr.create_array(store := Far(), name="a/b/x", data=np.arange(4))
    assert {"a/b/zarr.json", "a/zarr.json", "zarr.json"} <= {*store.batches[0]}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_is_opened_in_one_round_of_three_requests(zarr_format: Any) -> None:
    blizzarr.create_array(store := Far(), data=np.arange(4), zarr_format=zarr_format, attributes={"x": 1})
    store.batches.clear()
    assert blizzarr.open(store, mode="r").attrs == {"x": 1}
    assert store.batches == [["zarr.json", ".zarray", ".zattrs"]]


def test_groups_are_saved_and_loaded_at_once_by_zarr_python_s_names() -> None:
    zarr.save(store := Together({}, "x/c/0", "y/c/0"), x=np.arange(4), y=np.arange(5))
    loaded = zarr.load(store)
    assert {name: elements.tolist() for name, elements in loaded.items()} == {"x": [0, 1, 2, 3], "y": [0, 1, 2, 3, 4]}
    with pytest.raises(ValueError, match="nothing can be below it"):
        zarr.save(Far(), **{"a": np.arange(3), "a/x": np.arange(3)})
