"""Elements of arrays far away: in which round of requests they are appended, removed and stored with a new array."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError, NodeTypeError, StoreError
from support.far_away import requested
from support.faulty_server import FaultyServer, faulty_server


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


def test_an_array_that_grows_removes_only_chunks_that_were_left_outside(server: FaultyServer) -> None:
    """Those that are not there are not removed, as somebody may append them before they would be gone."""
    array = blizzarr.create_array(server.store(), data=np.arange(10), chunks=4)
    server.objects["/bucket/a/c/3"] = server.objects["/bucket/a/c/4"] = server.objects["/bucket/a/c/0"]
    for shape, looks, removals in [(20, 2, 1), (30, 1, 0)]:
        requested(server)
        array.resize(shape)
        made = requested(server)
        documents = [method for method, key in made if key == "zarr.json"]
        assert documents == ["GET"] * looks + ["PUT"]
        assert sum(method in ("POST", "DELETE") for method, _ in made) == removals
        # Its last chunk is read at once, not asked for first.
        assert made.count(("GET", "c/2")) == (shape == 20)
    assert array[:].tolist() == [*range(10), *[0] * 20]


def test_an_array_that_shrinks_looks_again_before_chunks_are_removed(server: FaultyServer) -> None:
    """Another program appends as soon as the array is shorter: what it stores stays."""
    array = blizzarr.create_array(server.store(), data=np.arange(12), chunks=4)

    def append(method: str, path: str) -> None:
        shorter = server.objects["/bucket/a/zarr.json"]
        if (method, path) == ("GET", "/bucket/a/zarr.json") and b'"shape": [4]' in shorter:
            server.objects[path] = shorter.replace(b'"shape": [4]', b'"shape": [8]')

    server.fault = append
    array.resize(4)
    assert blizzarr.open_array(server.store())[:].tolist() == [*range(8)]


def test_elements_are_appended_to_a_root_with_two_requests(server: FaultyServer) -> None:
    """The document that the handle knows is replaced if it is still the same; otherwise it is read."""
    one = blizzarr.create_array(server.store(), data=np.arange(4), chunks=4)
    other = blizzarr.open_array(server.store(), mode="r+")
    requested(server)
    for number in (1, 2):
        assert one.append(np.full(4, number)) == (4 + 4 * number,)
        assert requested(server) == [("PUT", "zarr.json"), ("PUT", f"c/{number}")]
    with pytest.raises(ConflictError, match="expected length 4"):
        other.append([7], at=4)
    assert other.append([7]) == (13,)
    one.attrs["x"] = 1
    assert other.append([8]) == (14,)
    assert blizzarr.open_array(server.store())[:].tolist() == [0, 1, 2, 3, 1, 1, 1, 1, 2, 2, 2, 2, 7, 8]
    assert other.attrs == {"x": 1}
    blizzarr.create_array(server.store(), data=np.arange(4.0), overwrite=True)
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        other.append([9])


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.attrs.update(x=1),
        lambda array: array.resize(14),
        lambda array: array.append([1]),
        lambda array: (blizzarr.open_array(array.store, mode="r+").attrs.update(y=2), array.refresh()),
    ],
    ids=["attributes", "resize", "append", "refresh"],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_handle_knows_what_it_has_stored_or_read(server: FaultyServer, change: Any, zarr_format: Any) -> None:
    """So its next write compares the document with that, and does not have to decode it, which is one more round."""
    array = blizzarr.create_array(server.store(), data=np.arange(12), chunks=4, zarr_format=zarr_format)
    array[4:8] = 0
    change(array)
    requested(server)
    array[4:8] = 5
    document, chunk = ("zarr.json", "c/1") if zarr_format == 3 else (".zarray", "1")
    assert sorted(requested(server)) in ([("GET", document), ("PUT", chunk)], [("HEAD", document), ("PUT", chunk)])
    assert blizzarr.open_array(server.store())[:12].tolist() == [0, 1, 2, 3, 5, 5, 5, 5, 8, 9, 10, 11]


def test_the_axes_of_what_is_appended_are_those_that_are_stored(server: FaultyServer) -> None:
    one = blizzarr.create_array(server.store(), data=np.zeros((2, 2), "u1"))
    other = blizzarr.open_array(server.store(), mode="r+")
    other.resize(2, 3)
    assert one.append(np.ones((1, 3), "u1")) == (3, 3)
    with pytest.raises(ValueError, match="of shape"):
        other.append(np.ones((1, 2), "u1"))


def _append(group: blizzarr.Group) -> object:
    return group["a"].append(np.arange(4))  # type: ignore[union-attr]


def _shrink(group: blizzarr.Group) -> object:
    return group["a"].resize(4)  # type: ignore[union-attr]


def _create(group: blizzarr.Group) -> object:
    return group.create_array("b", data=np.arange(4))


@pytest.mark.parametrize(
    ("change", "document", "other"),
    [
        (_append, "a/zarr.json", ("PUT", "a/c/2")),
        (_shrink, "a/zarr.json", ("GET", "a/zarr.json")),
        (_create, "b/zarr.json", ("PUT", "b/c/0")),
    ],
)
def test_the_groups_above_are_read_again_while_elements_are_stored(
    server: FaultyServer, change: Any, document: str, other: tuple[str, str]
) -> None:
    group = blizzarr.create_group(server.store())
    group.create_array("a", data=np.arange(8), chunks=4)
    together, is_stored = Barrier(2, timeout=1), list[bool]()

    def meet(method: str, path: str) -> None:
        key = path.removeprefix("/bucket/a/")
        if (method, key) == ("PUT", document):
            is_stored.append(True)
        elif is_stored and (method, key) in (("GET", "zarr.json"), other):
            # The server asks what goes wrong with one request after the other.
            server.lock.release()
            try:
                together.wait()
            finally:
                server.lock.acquire()

    server.fault = meet
    change(group)
    assert is_stored
    assert not together.broken


def test_metadata_consolidated_before_elements_are_stored_do_not_stay(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    group.create_array("a", data=np.arange(4))
    blizzarr.consolidate_metadata(server.store())
    stale = server.objects["/bucket/a/zarr.json"]

    def consolidate(method: str, path: str) -> None:
        if (method, path) == ("PUT", "/bucket/a/a/zarr.json"):
            server.objects["/bucket/a/zarr.json"] = stale

    server.fault = consolidate
    group["a"].append(np.arange(4))  # type: ignore[union-attr]
    root = blizzarr.open_group(server.store())
    assert root.metadata.consolidated is None
    assert root["a"].shape == (8,)  # type: ignore[union-attr]


def test_nothing_is_left_of_an_array_whose_group_becomes_an_array(server: FaultyServer) -> None:
    """Another writer puts an array in the place of the group while the elements are stored."""
    group = blizzarr.create_group(server.store())
    group.create_array("x", data=np.arange(3))
    group.create_group("g")

    def replace(method: str, path: str) -> None:
        if (method, path) == ("PUT", "/bucket/a/g/new/zarr.json"):
            server.objects["/bucket/a/g/zarr.json"] = server.objects["/bucket/a/x/zarr.json"]

    server.fault = replace
    with pytest.raises(NodeTypeError, match="nothing can be below it"):
        group.create_array("g/new", data=np.arange(4))
    assert not [key for key in server.objects if key.startswith("/bucket/a/g/new")]


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_who_may_only_use_a_part_of_a_bucket_changes_nodes_in_it(server: FaultyServer, method: str) -> None:
    """What is around it may not be read, or may be read only."""
    blizzarr.create_array(server.store(), data=np.arange(4))
    server.objects["/bucket/zarr.json"] = (
        b'{"zarr_format": 3, "node_type": "group", "consolidated_metadata": '
        b'{"kind": "inline", "must_understand": false, "metadata": {}}}'
    )
    array = blizzarr.open_array(server.store(), mode="r+")
    server.fault = lambda made, path: 403 if (made, path) == (method, "/bucket/zarr.json") else None
    array.append([7])
    assert array[:].tolist() == [0, 1, 2, 3, 7]


@pytest.mark.parametrize("fails", ["the look", "the change"])
def test_groups_around_a_store_are_looked_for_again_after_a_failure(server: FaultyServer, fails: str) -> None:
    array = blizzarr.create_array(server.store(), data=np.arange(4), chunks=4)
    server.objects["/bucket/zarr.json"] = (
        b'{"zarr_format": 3, "node_type": "group", "consolidated_metadata": '
        b'{"kind": "inline", "must_understand": false, "metadata": {}}}'
    )
    looks: list[str] = []

    def fault(method: str, path: str) -> int | None:
        if (method, path) == ("GET", "/bucket/zarr.json"):
            looks.append(path)
            return 400 if len(looks) == 1 and fails == "the look" else None
        return 400 if path.endswith("c/1") and fails == "the change" else None

    server.fault = fault
    with pytest.raises(StoreError, match="c/1") if fails == "the change" else nullcontext():
        array.append([7])
    assert array.shape == (5,)
    assert b"consolidated" not in server.objects["/bucket/zarr.json"]
