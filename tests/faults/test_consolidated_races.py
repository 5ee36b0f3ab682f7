"""Faults: nodes that change while their metadata is consolidated, and those who do either are killed (rows 64, 81)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError
from blizzarr.hierarchy import barrier
from blizzarr.stores import LocalStore, MappingStore, Store
from support.child import Child
from support.stepped import Died, Stepped

Work = Callable[[Store], object]
Made = Callable[[], Store]


def create(store: Store) -> object:
    return blizzarr.create_array(store, name="g/new", shape=3, chunks=2, dtype="i2", zarr_format=form(store))


def delete(store: Store) -> object:
    del blizzarr.open_group(store, use_consolidated=False)["g/x"]
    return None


def replace(store: Store) -> object:
    options: Any = {"zarr_format": form(store), "overwrite": True}
    return blizzarr.create_array(store, name="g", shape=3, chunks=2, dtype="i2", **options)


def annotate(store: Store) -> object:
    blizzarr.open_group(store, use_consolidated=False)["g/x"].attrs["a"] = 1
    return None


def resize(store: Store) -> object:
    array = blizzarr.open_group(store, use_consolidated=False)["g/x"]
    assert isinstance(array, blizzarr.Array)
    return array.resize(9)


CASES = [
    *(("mapping", form, change) for form in ("v3", "v2") for change in (create, delete, replace, annotate, resize)),
    ("mapping", "v3_draft_zarr_python", create),
    *(("directory", "v3", change) for change in (create, delete, annotate)),
    ("directory", "v2", create),
]


def form(store: Store) -> Any:
    return blizzarr.open_group(store, use_consolidated=False).metadata.format


def consolidate(store: Store) -> object:
    """Consolidate; others may be in the way, which is an error that says so."""
    try:
        return blizzarr.consolidate_metadata(store)
    except ConflictError:
        return None


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here, whoever waits for another one waits for itself."""
    monkeypatch.setattr(barrier, "_PATIENCE", 0.0)


@pytest.fixture
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """Makes a new store at each call."""
    if request.param == "mapping":
        return lambda: MappingStore({})
    numbers = count()
    return lambda: LocalStore(tmp_path / str(next(numbers)))


def hierarchy(store: Store, zarr_format: Any, *, consolidated: bool) -> None:
    root = blizzarr.create_group(store, zarr_format=zarr_format)
    root.create_array("g/x", shape=4, chunks=2, dtype="i2")[:] = 1
    if consolidated:
        blizzarr.consolidate_metadata(store)


def listed(store: Store, use_consolidated: bool | None) -> dict[str, Any]:
    """What a reader finds: the members with their shapes and attributes."""
    root = blizzarr.open_group(store, mode="r", use_consolidated=use_consolidated)
    return {name: (getattr(node, "shape", None), dict(node.attrs)) for name, node in root.members(max_depth=None)}


def interleaved(
    made: Made, zarr_format: Any, consolidated: bool, one: Work, other: Work, *, dies: bool, reads: bool = True
) -> Iterator[tuple[Store, list[dict[str, Any]]]]:
    """Run `other` before each step of `one`, which may then die; yield the store, and what readers found meanwhile.

    The last yield is of `one` without `other`. Readers look at each state once: those of earlier turns have read
    what is there long before `other`.
    """
    for step in count():
        store = made()
        hierarchy(store, zarr_format, consolidated=consolidated)
        seen: list[dict[str, Any]] = []
        reached = False

        def before(number: int, step: int = step, store: Store = store, seen: list[Any] = seen) -> None:
            nonlocal reached
            if number == step:
                reached = True
                with suppress(ConflictError):  # in place of waiting until the barrier between the two is open
                    other(store)
                if dies:
                    raise Died
            if reads and number >= step - 1:
                seen.append(listed(store, None))

        with suppress(Died, ConflictError, blizzarr.errors.NodeNotFoundError):
            one(Stepped(store, before))
        yield store, seen
        if not reached:
            return


# Whether there were consolidated metadata before, and whether one of the two is killed.
TIMES = pytest.mark.parametrize(
    ("consolidated", "dies"),
    [
        (False, False),
        (True, True),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((False, True), (True, False))),
    ],
)


@TIMES
@pytest.mark.parametrize(("made", "zarr_format", "change"), CASES, indirect=["made"])
def test_row_081_a_change_at_each_step_of_a_consolidation(
    made: Made, zarr_format: str, change: Work, consolidated: bool, dies: bool
) -> None:
    """Whoever opens the group finds what is stored, then and in between, although the consolidation is killed."""
    for store, seen in interleaved(made, zarr_format, consolidated, consolidate, change, dies=dies):
        now = listed(store, False)
        assert listed(store, None) == now
        assert all(found in ({"g": (None, {}), "g/x": ((4,), {})}, now) for found in seen)


@TIMES
@pytest.mark.parametrize(("made", "zarr_format", "change"), CASES, indirect=["made"])
def test_row_081_a_consolidation_at_each_step_of_a_change(
    made: Made, zarr_format: str, change: Work, consolidated: bool, dies: bool
) -> None:
    """Whoever opens the group finds what is stored, although the one that changes it is killed right afterwards."""
    for store, _ in interleaved(made, zarr_format, consolidated, change, consolidate, dies=dies, reads=False):
        assert listed(store, None) == listed(store, False)


@pytest.mark.parametrize(
    ("made", "zarr_format"),
    [
        *(("mapping", "v3"), ("mapping", "v2"), ("directory", "v3")),
        pytest.param("mapping", "v3_draft_zarr_python", marks=pytest.mark.thorough),
    ],
    indirect=["made"],
)
def test_row_081_a_consolidation_that_is_killed_after_a_change_that_it_did_not_notice(
    made: Made, zarr_format: str
) -> None:
    """What it has listed before the change counts for nobody, wherever it ends."""
    for first in count():
        for second in count(first + 1):
            store = made()
            hierarchy(store, zarr_format, consolidated=False)
            last = 0

            def before(number: int, first: int = first, second: int = second, store: Store = store) -> None:
                nonlocal last
                last = number
                if number == first:
                    with suppress(ConflictError):
                        create(store)
                if number == second:
                    raise Died

            with suppress(Died, ConflictError):
                consolidate(Stepped(store, before))
            assert listed(store, None) == listed(store, False)
            if last < second:
                break
        if last < first:
            return


@pytest.mark.parametrize("consolidated", [False, True])
def test_row_081_a_change_that_is_killed_after_a_consolidation_that_it_did_not_notice(
    tmp_path: Path, consolidated: bool
) -> None:
    """In a directory no consolidation begins during a change, so that nothing is left for its last step to remove."""
    for first in count():
        for second in count(first):
            store = LocalStore(tmp_path / f"{first}-{second}")
            hierarchy(store, "v3", consolidated=consolidated)
            last = 0

            def before(number: int, first: int = first, second: int = second, store: Store = store) -> None:
                nonlocal last
                last = number
                if number == first:
                    consolidate(store)
                if number == second:
                    raise Died

            with suppress(Died):
                create(Stepped(store, before))
            assert listed(store, None) == listed(store, False)
            if last < second:
                break
        if last < first:
            return


def test_row_106_a_change_that_is_paused_and_then_killed(tmp_path: Path) -> None:
    """Consolidation does not wait for ever, and goes on when the system has released the lock."""
    hierarchy(LocalStore(tmp_path), "v3", consolidated=False)
    program = """
        from blizzarr.hierarchy.changing import changing
        with changing(blizzarr.stores.LocalStore(ARGUMENTS["root"]), "g/new"):
            tell(ready=True)
            sys.stdin.readline()
    """
    with Child(program, root=str(tmp_path)) as child:
        child.hear()
        with pytest.raises(ConflictError, match="other writers have been changing the hierarchy"):
            blizzarr.consolidate_metadata(tmp_path)
    assert list(blizzarr.consolidate_metadata(tmp_path).metadata.consolidated or ()) == ["g", "g/x"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_row_064_a_node_that_is_opened_by_the_path_of_its_directory(tmp_path: Path, zarr_format: Any) -> None:
    """The groups above the root of a store lose their consolidated metadata, too, whatever changes below them."""
    place = tmp_path / "data.zarr"
    inner = place / "g"
    works: list[Callable[[], object]] = [
        lambda: blizzarr.create_array(inner / "new", shape=3, dtype="i2", zarr_format=zarr_format),
        lambda: blizzarr.open_group(inner, mode="r+").create_group("h"),
        lambda: blizzarr.open_array(inner / "x", mode="r+").resize(9),
        lambda: blizzarr.open_array(inner / "x", mode="r+").attrs.update(a=1),
        lambda: blizzarr.save(inner / "x", np.arange(3), zarr_format=zarr_format),
        lambda: blizzarr.copy(np.arange(3), inner / "copy", zarr_format=zarr_format),
        lambda: blizzarr.open_group(inner, mode="r+").__delitem__("x"),
        lambda: blizzarr.create_group(inner, overwrite=True, zarr_format=zarr_format),
    ]
    hierarchy(LocalStore(place), zarr_format, consolidated=False)
    for work in works:
        blizzarr.consolidate_metadata(place)
        work()
        assert blizzarr.open_group(place).metadata.consolidated is None


def test_row_064_nothing_above_a_store_that_nothing_leads_out_of(tmp_path: Path) -> None:
    """What is above its root is not even looked at: others use that with links that are followed."""
    hierarchy(LocalStore(tmp_path), 3, consolidated=True)
    inner = LocalStore(tmp_path / "g", links="within-root")
    blizzarr.open_group(inner, mode="r+").create_group("new")
    assert "g/new" not in blizzarr.open_group(tmp_path)
    assert "new" in blizzarr.open_group(inner)


@pytest.mark.parametrize("zarr_format", ["v3", "v2"])
def test_row_081_a_removal_of_a_group_with_consolidated_metadata_is_killed(zarr_format: str) -> None:
    """What is left of the group lists no array that is gone."""
    for step in count():
        store = MappingStore({})
        hierarchy(store, zarr_format, consolidated=True)

        def before(number: int, step: int = step) -> None:
            if number == step:
                raise Died

        try:
            blizzarr.create_group(Stepped(store, before), overwrite=True, zarr_format=zarr_format)
        except Died:
            with suppress(blizzarr.errors.NodeNotFoundError):
                assert listed(store, None) == listed(store, False)
        else:
            return
