"""How often creating, replacing and removing a node asks a store far away, and what several writers get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.errors import ConflictError, NodeExistsError, NodeTypeError
from support.far_away import Far, requested
from support.faulty_server import FaultyServer, faulty_server


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


@pytest.mark.parametrize(("zarr_format", "documents"), [(2, 5), (3, 1)])
def test_a_new_node_takes_three_rounds_of_requests(server: FaultyServer, zarr_format: Any, documents: int) -> None:
    """One listing shows that nothing is there in any format, and the group above is read with it, and afterwards."""
    group = blizzarr.create_group(server.store(), zarr_format=zarr_format)
    slashes: Any = {"chunk_key_encoding": ("v2", "/")} if zarr_format == 2 else {}
    for create in (partial(group.create_group, "x"), partial(group.create_array, "y", shape=4, dtype="u1", **slashes)):
        requested(server)
        create()
        methods = [method if key != "/bucket" else "LIST" for method, key in requested(server)]
        put = methods.index("PUT")
        assert sorted(methods[:put]) == [*["GET"] * documents, "LIST"]
        assert methods[put:] == ["PUT", *["GET"] * documents]


@pytest.mark.parametrize("other", ["v1", "v2", "n5", "v3"])
@pytest.mark.parametrize("zarr_format", ["v2", "n5", "v3"])
def test_a_new_node_far_away_hides_nothing_of_another_format(zarr_format: Any, other: Any) -> None:
    store = Far()
    group = blizzarr.create_group(store, zarr_format=zarr_format)
    blizzarr.create_array(made := Far(), name="x", data=np.arange(4), zarr_format=other)
    for key in made.list("x/"):
        store.set(key, made.get(key))
    before = dict(store.mapping)
    with pytest.raises(NodeExistsError, match="something is here already"):
        group.create_group("x")
    with pytest.raises(NodeExistsError, match="something is here already"):
        group.create_array("x", shape=4, dtype="u1")
    with pytest.raises(NodeTypeError, match="found an array"):
        group.create_group("x/y")
    for require in (group.require_group, partial(group.require_array, shape=5)):
        with pytest.raises((NodeTypeError, TypeError), match="found"):
            require("x")
    assert ("x" in group, group["x"][:].tolist()) == (True, [0, 1, 2, 3])
    assert store.mapping == before


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_of_two_who_look_before_they_create_one_gets_an_error(zarr_format: Any) -> None:
    """Neither sees the other's node in the listing."""
    blizzarr.create_group(values := {}, zarr_format=zarr_format)
    together = Barrier(2)

    class Late(Far):
        def list_dir(self, prefix: str = "") -> Any:
            listing = super().list_dir(prefix)
            together.wait(10)
            return listing

    def create(number: int) -> str:
        store = Late()
        store.mapping = values
        try:
            blizzarr.Group(store, "", blizzarr.open_group(values).metadata).create_array("x", shape=number, dtype="u1")
        except NodeExistsError as error:
            return error.line
        return ""

    with ThreadPoolExecutor(2) as pool:
        made = sorted(pool.map(create, (3, 4)))
    assert made[0] == ""
    assert "another writer made it" in made[1]


def test_a_member_that_is_missing_takes_two_rounds_of_requests(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    requested(server)
    assert "x" not in group
    assert requested(server) == [("GET", "x/zarr.json"), ("GET", "/bucket")]
    assert group.get("x") is None
    assert Counter(requested(server)) == {
        ("GET", "x/zarr.json"): 1,
        ("GET", "x/.zarray"): 1,
        ("GET", "x/.zattrs"): 1,
        ("GET", "/bucket"): 1,
    }


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_removal_takes_few_rounds_of_requests(server: FaultyServer, zarr_format: Any) -> None:
    group = blizzarr.create_group(server.store(), zarr_format=zarr_format)
    group.create_array("x", data=np.arange(4))
    requested(server)
    del group["x"]
    made = requested(server)
    document = "x/zarr.json" if zarr_format == 3 else "x/.zarray"
    methods = [method for method, key in made if key == "/bucket" or key.startswith("x/")]
    # What is there; the document as it is listed; the record, and the document is removed.
    assert methods[methods.index("PUT") :][:2] == ["PUT", "POST"]
    assert Counter(made)["GET", document] == 2
    # What was stored meanwhile is listed while the record is looked at; chunks; the record; what others have made.
    assert sorted(methods[methods.index("POST") + 1 :][:2]) == ["GET", "GET"]
    assert methods[methods.index("POST") + 3 :] == ["POST", "POST", "GET"]
    assert sum(method == "GET" for method, _ in made) == (8 if zarr_format == 3 else 20)


def test_a_removal_far_away_spares_the_document_of_a_successor(server: FaultyServer) -> None:
    """Somebody creates the array anew as soon as its document is gone, before what is left is listed."""
    group = blizzarr.create_group(server.store())
    group.create_array("x", shape=4, dtype="u1")
    document = "/bucket/a/x/zarr.json"
    stored = server.objects[document]

    def create_again(method: str, path: str) -> None:
        if method == "GET" and "list-type" in path and document not in server.objects:
            server.objects[document] = stored

    server.fault = create_again
    with pytest.raises(ConflictError, match="another writer created it anew"):
        del group["x"]
    assert server.objects[document] == stored


def test_what_is_replaced_is_asked_for_by_the_names_that_are_listed(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store())
    group.create_array("x", data=np.arange(4))
    requested(server)
    group.create_array("x", shape=5, dtype="u1", overwrite=True)
    asked = {key for method, key in requested(server) if method == "GET"}
    assert asked == {"x/zarr.json", "zarr.json", "/bucket", "x/blizzarr-removal.txt"}


def test_a_new_root_takes_a_listing_and_its_document(server: FaultyServer) -> None:
    blizzarr.create_group(server.store(), zarr_format=3)
    server.objects.clear()
    requested(server)
    blizzarr.create_group(server.store(), zarr_format=3)
    assert requested(server) == [("GET", "/bucket"), ("PUT", "zarr.json")]
    # What is there is looked for in all formats; the entry document of a draft has the key of a document of v3.
    with pytest.raises(NodeExistsError, match="something is here already"):
        blizzarr.create_group(server.store(), zarr_format=2)
    blizzarr.create_group(store := Far(), zarr_format="v3_draft")
    with pytest.raises(NodeExistsError, match="something is here already"):
        blizzarr.create_group(store, zarr_format=3)


def test_the_format_of_the_groups_above_is_not_asked_for_where_a_format_is_given() -> None:
    zarr.save_group(store := Far(), a=np.arange(3))
    # Documents of several formats are asked for at the end: what has "a" become?
    assert [batch for batch in store.batches if len(batch) > 1] == [["a/zarr.json", "a/.zarray", "a/.zattrs"]]


def test_the_entry_document_of_the_draft_is_stored_with_the_first_group(server: FaultyServer) -> None:
    group = blizzarr.create_group(server.store(), zarr_format="v3_draft")
    requested(server)
    group.create_array("a", shape=4, dtype="u1")
    assert [key for method, key in requested(server) if method == "PUT"] == ["meta/a.array.json"]


class Interrupted(Far):
    """A store in which something happens before the next value is set or deleted."""

    first: Callable[[], Any] | None = None

    def _begin(self) -> None:
        first, self.first = self.first, None
        if first is not None:
            first()

    def set(self, key: str, value: Any) -> None:
        self._begin()
        super().set(key, value)

    def delete(self, key: str) -> None:
        self._begin()
        super().delete(key)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_made_during_a_change_does_not_stay(zarr_format: Any) -> None:
    """Somebody consolidates after the groups above were read, and before the change is stored."""
    group = blizzarr.create_group(store := Interrupted(), zarr_format=zarr_format)
    group.create_array("a/x", shape=4, dtype="u1")
    (other := Far()).mapping = store.mapping
    for change in (partial(group.__delitem__, "a/x"), partial(group.create_group, "a/y")):
        store.first = partial(blizzarr.consolidate_metadata, other)
        change()
        assert store.first is None
        assert blizzarr.open_group(other).metadata.consolidated is None
