"""Sessions of icechunk: the steps of its quickstart and of its pages on versions and parallel writes."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError, ReadOnlyError
from blizzarr.stores import Store
from blizzarr.stores.place import place_of
from blizzarr.stores.zarr_python_store import foreign_store

icechunk: Any = pytest.importorskip("icechunk", reason="icechunk is not installed")
zarr: Any = pytest.importorskip("zarr")


@pytest.fixture
def repository(tmp_path: Path) -> Any:
    return icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repository")))


def commit(repository: Any, value: int, message: str) -> str:
    """Write rows 0 to `value` of the array `x/temperature`, and return the name of the snapshot."""
    session = repository.writable_session("main")
    group = blizzarr.open_group(session.store, mode="a")
    if "x" not in group:
        group.create_array("x/temperature", shape=(10, 10), chunks=(5, 5), dtype="i4", fill_value=-1)
    group["x/temperature"][:value] = value
    return str(session.commit(message))


def column(session: Any) -> list[int]:
    return list(blizzarr.open_array(session.store, path="x/temperature", mode="r")[:, 0].tolist())


def test_write_commit_and_go_back(repository: Any) -> None:
    first = commit(repository, 4, "first")
    second = commit(repository, 2, "second")
    assert [entry.message for entry in repository.ancestry(branch="main")][:2] == ["second", "first"]
    assert column(repository.readonly_session("main")) == [2, 2, 4, 4, -1, -1, -1, -1, -1, -1]
    assert column(repository.readonly_session(snapshot_id=first)) == [4, 4, 4, 4, -1, -1, -1, -1, -1, -1]
    repository.create_tag("v1", snapshot_id=second)
    assert column(repository.readonly_session(tag="v1"))[0] == 2
    theirs = zarr.open_group(repository.readonly_session("main").store, mode="r")
    assert theirs["x/temperature"][:, 0].tolist() == [2, 2, 4, 4, -1, -1, -1, -1, -1, -1]


def test_nothing_is_seen_before_it_is_committed(repository: Any) -> None:
    commit(repository, 4, "first")
    session = repository.writable_session("main")
    blizzarr.open_array(session.store, path="x/temperature")[:] = 9
    assert session.has_uncommitted_changes
    assert column(repository.readonly_session("main"))[0] == 4
    assert column(session)[0] == 9
    session.discard_changes()
    assert column(session)[0] == 4


def test_branches(repository: Any) -> None:
    first = commit(repository, 4, "first")
    repository.create_branch("try", snapshot_id=first)
    session = repository.writable_session("try")
    blizzarr.open_group(session.store).attrs["title"] = "another"
    blizzarr.open_array(session.store, path="x/temperature").resize((12, 10))
    session.commit("on a branch")
    other = blizzarr.open_group(repository.readonly_session("try").store)
    assert (other.attrs["title"], other["x/temperature"].shape) == ("another", (12, 10))
    assert "title" not in blizzarr.open_group(repository.readonly_session("main").store).attrs


def test_sessions_that_can_only_be_read(repository: Any) -> None:
    commit(repository, 4, "first")
    with pytest.raises(ReadOnlyError, match="the session can only be read; pass the store of a writable_session"):
        blizzarr.open_array(repository.readonly_session("main").store, path="x/temperature", mode="r+")[0] = 1
    session = repository.writable_session("main")
    array = blizzarr.open_array(session.store, path="x/temperature")
    array[0] = 1
    session.commit("second")
    with pytest.raises(ReadOnlyError, match="new session"):
        array[0] = 2
    assert column(repository.readonly_session("main"))[0] == 1


def test_conflicts(repository: Any) -> None:
    commit(repository, 4, "first")
    first, second, third = (repository.writable_session("main") for _ in range(3))
    blizzarr.open_array(first.store, path="x/temperature")[0] = 1
    blizzarr.open_array(second.store, path="x/temperature")[1] = 2
    blizzarr.open_array(third.store, path="x/temperature")[9] = 3
    first.commit("first")
    with pytest.raises(icechunk.ConflictError):
        second.commit("second")
    with pytest.raises(icechunk.RebaseFailedError):
        second.rebase(icechunk.ConflictDetector())
    third.rebase(icechunk.ConflictDetector())
    third.commit("third")
    assert column(repository.readonly_session("main")) == [1, 4, 4, 4, -1, -1, -1, -1, -1, 3]


def test_handles_for_other_processes(repository: Any) -> None:
    commit(repository, 4, "first")
    array = blizzarr.open_array(repository.readonly_session("main").store, path="x/temperature", mode="r")
    assert pickle.loads(pickle.dumps(array))[:, 0].tolist() == array[:, 0].tolist()
    session = repository.writable_session("main")
    with pytest.raises(ValueError, match="fork"):
        pickle.dumps(blizzarr.open_array(session.store, path="x/temperature"))
    forks = [pickle.loads(pickle.dumps(session.fork())) for _ in range(2)]
    for number, fork in enumerate(forks):
        blizzarr.open_array(fork.store, path="x/temperature")[5 * number : 5 * number + 5] = number
    session.merge(*forks)
    session.commit("both")
    assert column(repository.readonly_session("main")) == [0] * 5 + [1] * 5


def test_threads_write_parts_of_one_chunk(repository: Any) -> None:
    commit(repository, 4, "first")
    session = repository.writable_session("main")
    assert session.store is not session.store

    def write(number: int) -> None:
        blizzarr.open_array(session.store, path="x/temperature")[number] = number

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(10)))
    assert column(session) == [*range(10)]


def test_each_session_is_a_place_of_its_own(repository: Any) -> None:
    first, second = repository.writable_session("main"), repository.writable_session("main")
    one: Store = foreign_store(first.store)
    same: Store = foreign_store(first.store)
    other: Store = foreign_store(second.store)
    assert place_of(one) == place_of(same) != place_of(other)


def test_arrays_grow(repository: Any) -> None:
    """A session takes no chunk beyond the shape, so the shape changes first; nobody sees it before the commit."""
    session = repository.writable_session("main")
    array = blizzarr.create_array(session.store, data=np.arange(3), chunks=2)
    assert array.append([3, 4, 5]) == array.append([3, 4, 5], at=3) == (6,)
    assert blizzarr.open_array(session.store)[:].tolist() == list(range(6))
    session.commit("longer")
    assert blizzarr.open_array(repository.readonly_session("main").store)[:].tolist() == list(range(6))


def test_nodes_whose_names_are_those_of_chunks(repository: Any) -> None:
    """To icechunk, ``c`` is a chunk of the node above, which is a group."""
    session = repository.writable_session("main")
    group = blizzarr.create_group(session.store)
    group.create_array("c", data=np.float64(3.5))
    group.create_group("d").create_array("c", data=np.arange(4), chunks=(2,))
    found = blizzarr.open_group(session.store)
    assert [path for path, _ in found.members(max_depth=None)] == ["c", "d", "d/c"]
    assert (found["c"][...].item(), found["d/c"][:].tolist()) == (3.5, [0, 1, 2, 3])


def test_nodes_whose_names_are_numbers(repository: Any) -> None:
    """As levels of OME-Zarr are called."""
    session = repository.writable_session("main")
    image = blizzarr.create_group(session.store).create_group("2020")
    for level in range(2):
        image.create_array(str(level), shape=(4,), dtype="i4")[:] = level
    assert sorted(blizzarr.open_group(session.store)["2020"].keys()) == ["0", "1"]
    assert blizzarr.open_group(session.store)["2020/1"][:].tolist() == [1] * 4


def test_everything_else_works_in_a_session(repository: Any, tmp_path: Path) -> None:
    commit(repository, 4, "first")
    session = repository.writable_session("main")
    assert blizzarr.check(session.store).ok
    assert "temperature" in str(blizzarr.open_group(session.store).tree())
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(session.store, path="x/pressure", mode="r")
    blizzarr.copy(blizzarr.open_group(session.store, path="x"), tmp_path / "copy.zarr")
    expected = np.full((10, 10), -1)
    expected[:4] = 4
    assert np.array_equal(blizzarr.open_array(tmp_path / "copy.zarr", path="temperature")[:], expected)
    blizzarr.copy(tmp_path / "copy.zarr", session.store, path="y")
    del blizzarr.open_group(session.store)["x"]
    assert [*blizzarr.open_group(session.store).keys()] == ["y"]
    array = blizzarr.open_array(session.store, path="y/temperature")
    array[:5] = -1
    assert sorted(key for key in array.store.list("y") if "/c/" in key) == []


def test_groups_with_arrays_are_replaced(repository: Any) -> None:
    """With the document of an array icechunk removes its chunks, and says of their keys that nothing is there."""
    session = repository.writable_session("main")
    blizzarr.create_group(session.store, overwrite=True).create_array("x/land", data=np.arange(6), chunks=2)
    session.commit("one")
    session = repository.writable_session("main")
    group = blizzarr.create_group(session.store, overwrite=True)
    assert list(group) == []
    assert group.create_array("x/land", shape=6, dtype="i8", chunks=2)[:].tolist() == [0] * 6
    blizzarr.copy(blizzarr.create_array({}, data=np.arange(4)), session.store, path="x", overwrite=True)
    assert blizzarr.open(session.store)["x"][:].tolist() == [0, 1, 2, 3]


def test_a_committed_session_refuses_every_change(repository: Any) -> None:
    """Its store takes removals, also of chunks that hold nothing but the fill value, and nobody would ever see them."""
    session = repository.writable_session("main")
    group = blizzarr.create_group(session.store)
    array = group.create_array("a", data=[1, 2, 3, 4], chunks=2)
    assert not array.read_only
    session.commit("first")
    for change in (
        lambda: array.__setitem__(slice(0, 2), 0),
        lambda: array.append([5]),
        lambda: array.resize(1),
        lambda: array.attrs.update(unit="m"),
        lambda: group.create_array("b", data=[1]),
        lambda: group.__delitem__("a"),
    ):
        with pytest.raises(ReadOnlyError, match="open the store of a new session"):
            change()
    assert (array.read_only, array[:].tolist(), sorted(group)) == (True, [1, 2, 3, 4], ["a"])
    assert not session.has_uncommitted_changes


def test_a_repository_in_place_of_a_store(repository: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"found Repository; pass that of a session, as in readonly_session\('main'\)"):
        blizzarr.open(repository)
    (tmp_path / "of 2/snapshots").mkdir(parents=True)
    (tmp_path / "of 2/repo").write_bytes(b"ICE")
    for name in ("repository", "of 2"):
        with pytest.raises(NodeNotFoundError, match="this looks like a repository of icechunk: open it with icechunk"):
            blizzarr.open(tmp_path / name)
