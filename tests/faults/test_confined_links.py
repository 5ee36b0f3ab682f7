"""Faults: directories that nothing may lead out of, rows 69 and 70 (`links="within-root"`).

Outside of the root lies a canary with bytes that nothing else has. None of them may ever come back, and nothing of it
may change.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, NodeNotFoundError, PathError, StoreError, UnsupportedOperationError
from blizzarr.stores import LocalStore
from support.canary import Canary
from support.child import answer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no other system keeps to a directory")


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    """An array outside, which is the same at the end."""
    canary = Canary(tmp_path / "outside")
    yield canary
    assert canary.unchanged()


def within(root: Path, **more: Any) -> LocalStore:
    return LocalStore(root, links="within-root", **more)


@pytest.fixture
def group(tmp_path: Path, canary: Canary) -> blizzarr.Group:
    """A group with an array and with links to the canary: an array, a chunk, a document, and relative ones."""
    root = tmp_path / "root"
    group = blizzarr.create_group(within(root))
    array = group.create_array("own", data=np.arange(8, dtype="int16"), chunks=2, compressors=None)
    assert array[...].tolist() == list(range(8))
    (root / "array").symlink_to(canary.root)
    (root / "relative").symlink_to(Path("..", canary.root.name))
    (root / "own" / "c" / "1").unlink()
    (root / "own" / "c" / "1").symlink_to(canary.root / "c" / "0")
    (root / "document").mkdir()
    (root / "document" / "zarr.json").symlink_to(canary.root / "zarr.json")
    return group


ACTS: dict[str, Callable[[blizzarr.Group], object]] = {
    "open array": lambda group: group["array"],
    "open relative": lambda group: group["relative"],
    "open document": lambda group: group["document"],
    "read chunk": lambda group: group["own"][...],
    "partial write of a chunk": lambda group: group["own"].__setitem__(2, 1),
    "create array": lambda group: group.create_array("array", shape=3, dtype="int8", overwrite=True),
    "create below": lambda group: group.create_array("relative/new", shape=3, dtype="int8"),
    "create group": lambda group: group.create_group("array/group"),
    "copy": lambda group: blizzarr.copy(group["own"], {}),
    "store": lambda group: group.store.get("array/zarr.json"),
    "list": lambda group: group.store.list("array"),
    "write": lambda group: group.store.set("relative/c/0", b"new"),
    "delete": lambda group: group.store.delete("array/c/0"),
}


@pytest.mark.parametrize("act", list(ACTS))
def test_row_069_what_leads_out_is_an_error_that_names_the_link(
    group: blizzarr.Group, canary: Canary, tmp_path: Path, act: str
) -> None:
    """The error says which link it is, which key was meant, and where the root is."""
    with pytest.raises(StoreError) as caught:
        ACTS[act](group)
    text = str(caught.value)
    found = re.search(r'the link "([^"]+)" \(to "[^"]+"\) leads out of the root "([^"]+)"', text)
    assert found is not None, text
    assert found[1] in ("array", "relative", "own/c/1", "document/zarr.json")
    assert Path(found[2]) == tmp_path / "root"
    assert caught.value.key is not None
    assert caught.value.key.startswith(found[1])
    assert canary.mark not in text


def test_row_069_nothing_behind_links_is_listed_or_removed(
    group: blizzarr.Group, canary: Canary, tmp_path: Path
) -> None:
    """Members and listings are what is within, and the names of links; links are removed as links."""
    chunks = [f"own/c/{number}" for number in range(4)]
    assert list(group.store.list()) == [
        "array",
        "document/zarr.json",
        *chunks,
        "own/zarr.json",
        "relative",
        "zarr.json",
    ]
    assert group.store.list_dir("").prefixes == ("document/", "own/")
    with pytest.raises(StoreError, match=r'the link "document/zarr\.json"'):
        list(group.keys())
    group.store.delete("document/zarr.json")
    assert list(group.keys()) == ["own"]
    group["own"][2:4] = 7, 8  # the whole chunk: the link is replaced
    assert group["own"][...].tolist() == [0, 1, 7, 8, 4, 5, 6, 7]
    assert not (tmp_path / "root" / "own" / "c" / "1").is_symlink()
    (tmp_path / "root" / "own" / "c" / "1").unlink()
    (tmp_path / "root" / "own" / "c" / "1").symlink_to(canary.root / "c" / "0")
    del group["own"]
    assert list(group.store.list()) == ["array", "relative", "zarr.json"]
    group.store.delete_prefix("")
    assert os.listdir(tmp_path / "root") == []


def test_row_069_directories_of_chunks_that_lead_out_are_not_missing_chunks(tmp_path: Path, canary: Canary) -> None:
    """Whoever goes by a listing is told, rather than given fill values: copies, changes of shape, counts."""
    root = tmp_path / "root"
    array = blizzarr.create_array(within(root), data=np.ones((4, 4), "int16"), chunks=2, compressors=None)
    shutil.rmtree(root / "c" / "1")
    (root / "c" / "1").symlink_to(canary.root / "c")
    acts: list[Callable[[], object]] = [
        lambda: blizzarr.copy(array, {}),
        lambda: array.info_complete(),
        lambda: array[...],
        # The last: the shape is published before what is cut off is erased, and the handle has it then.
        lambda: array.resize((2, 4)),
    ]
    for act in acts:
        with pytest.raises(StoreError, match='the link "c/1"'):
            act()
    assert not blizzarr.check(array.store).ok


def test_row_069_check_finds_links_that_lead_out(group: blizzarr.Group, canary: Canary, tmp_path: Path) -> None:
    report = blizzarr.check(group.store)
    found = {finding.key: finding for finding in report.findings}
    assert {"array", "relative", "own/c/1"} <= found.keys()
    assert "leads out of the root" in str(found["own/c/1"])
    assert canary.mark not in str(report)
    (tmp_path / "root" / "own" / "c" / "2").write_bytes(b"x")  # what is replaced is not kept beside the root by default
    with pytest.raises(PathError, match="expected a place to keep what is damaged"):
        blizzarr.check(group.store, repair=True, quarantine_damaged=True)


def test_row_069_links_that_stay_work(tmp_path: Path, canary: Canary) -> None:
    root = tmp_path / "root"
    group = blizzarr.create_group(within(root))
    array = group.create_array("deep/array", data=np.arange(6), chunks=2)
    (root / "linked").symlink_to("deep/array")
    (root / "deep" / "up").symlink_to("..")
    assert group["linked"][...].tolist() == [0, 1, 2, 3, 4, 5]
    group["linked"][1] = 9
    group["deep/up/deep/array"][2:] = 8
    assert array[...].tolist() == [0, 9, 8, 8, 8, 8]
    assert group["linked"].append(np.arange(3)) == (9,)
    (root / "absolute").symlink_to(root / "deep")  # whose target is read from the top of the file system
    with pytest.raises(StoreError, match="relative links"):
        group["absolute"]
    del group["linked"]
    assert blizzarr.open(within(root), path="deep/array")[...].tolist() == [0, 9, 8, 8, 8, 8, 0, 1, 2]


@pytest.mark.parametrize("locking", ["required", "threads"])
@pytest.mark.parametrize("durability", ["none", "full"])
def test_row_069_arrays_live_their_whole_life_within(
    tmp_path: Path, canary: Canary, locking: Any, durability: Any
) -> None:
    """Create, write, shards in part, append, resize, attributes, copy, check, pickle, remove."""
    store = within(tmp_path / "new" / "root", locking=locking, durability=durability)
    more = f"locking={locking!r}, " if locking != "required" else ""
    assert repr(store) == f"LocalStore({str(tmp_path / 'new' / 'root')!r}, {more}links='within-root')"
    assert pickle.loads(pickle.dumps(store)) == store != LocalStore(tmp_path / "new" / "root", locking=locking)
    group = blizzarr.open(store, mode="a")
    array = group.create_array("a/b", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="int32")
    array[...] = np.arange(64).reshape(8, 8)
    array[1:3, 1:7] = -1
    assert array.append(np.ones((4, 8), "int32")) == (12, 8)
    array.resize((6, 8))
    array.attrs["unit"] = "K"
    expected = np.arange(64).reshape(8, 8)[:6].copy()
    expected[1:3, 1:7] = -1
    again = pickle.loads(pickle.dumps(array))
    assert again.store.links == "within-root"
    assert np.array_equal(again[...], expected)
    assert again.attrs["unit"] == "K"
    assert np.array_equal(blizzarr.copy(array, within(tmp_path / "copy"))[...], expected)
    assert blizzarr.check(store).ok
    assert array.nbytes_stored() == sum(
        path.stat().st_size for path in (store.root / "a" / "b").rglob("*") if path.is_file()
    )
    assert "int32" in array._repr_html_()
    store.flush()
    del group["a"]
    assert list(group.keys()) == []
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(store, mode="r", path="a/b")


def test_row_069_a_system_that_cannot_is_an_error(tmp_path: Path) -> None:
    """Where the system call is forbidden or missing there is no store, rather than one that follows links."""
    program = f"""
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
# A filter that answers openat2 (437) with ENOSYS, as an old kernel does.
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7fff0000)]
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("filters", ctypes.c_void_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(code), ctypes.addressof(filters)))) == 0
from blizzarr.stores import LocalStore
print(LocalStore({str(tmp_path)!r}).get("a"))
LocalStore({str(tmp_path)!r}, links="within-root")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    if "assert libc.prctl" in ended.stderr:
        pytest.skip("this system has no such filters")
    assert ended.stdout == "None\n"
    assert "UnsupportedOperationError" in ended.stderr
    assert "openat2 (Linux 5.6 or newer" in ended.stderr
    assert issubclass(UnsupportedOperationError, BlizzarrError)


def test_row_069_too_many_open_files_are_not_a_system_that_cannot(tmp_path: Path) -> None:
    facts = answer(
        """
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, hard))
        opened = []
        try:
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        os.close(opened.pop())
        try:
            blizzarr.stores.LocalStore(ARGUMENTS["root"], links="within-root")
        except blizzarr.errors.StoreError as error:
            for descriptor in opened:
                os.close(descriptor)
            tell(errno=error.errno, later=blizzarr.stores.LocalStore(ARGUMENTS["root"], links="within-root").list())
        """,
        root=str(tmp_path),
    )
    assert facts == {"errno": 24, "later": []}


def test_row_069_policies_have_names(tmp_path: Path) -> None:
    assert LocalStore(tmp_path).links == "follow"
    with pytest.raises(ValueError, match="expected 'follow' or 'within-root', found \"never\""):
        LocalStore(tmp_path, links="never")  # type: ignore[arg-type]


def test_row_071_loops_of_links_within(tmp_path: Path, canary: Canary) -> None:
    """Listing ends; what is opened by way of a loop is an error that names it."""
    root = tmp_path / "root"
    group = blizzarr.create_group(within(root))
    group.create_array("a/b", shape=2, dtype="int8")
    (root / "a" / "up").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "a" / "again").symlink_to("../a")
    assert list(group.store.list()) == ["a/b/zarr.json", "a/zarr.json", "one", "self", "two", "zarr.json"]
    assert list(group.array_keys()) == []
    assert sorted(name for name, _ in group.members(max_depth=None)) == ["a", "a/b"]
    for name in ("self", "one"):
        with pytest.raises(StoreError, match=f"key {name}/zarr.json in .*: .*symbolic links"):
            blizzarr.open(group.store, path=name, mode="r")


SWAPPER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
first, second = (path.encode() for path in sys.argv[1:])
print("ready", flush=True)
while True:
    libc.renameat2(-100, first, -100, second, 2)  # they take each other's place, in one step
"""


def turned(array: blizzarr.Array, turn: int) -> list[Callable[[], object]]:
    """What is done with an array while its directory is swapped."""
    store = array.store
    return [
        lambda: array[...],
        lambda: array.__setitem__(slice(None), turn % 100),
        lambda: array.__setitem__(1, turn % 100),
        lambda: store.get("a/c/0"),
        lambda: store.set(f"a/c/new{turn % 7}/0", b"new"),
        lambda: store.delete("a/c/0"),
        lambda: list(store.list("a")),
        lambda: store.delete_prefix(f"a/c/new{(turn - 3) % 7}"),
        lambda: blizzarr.open(store, path="a", mode="r")[...],
        lambda: store.sweep(),
    ]


@pytest.mark.parametrize("swapped", ["", "c"])
def test_row_070_a_link_that_is_swapped_in_during_use(tmp_path: Path, canary: Canary, swapped: str) -> None:
    """Another process swaps the array's directory, or that of its chunks, for a link to the canary, all the time."""
    root = tmp_path / "root"
    array = blizzarr.create_group(within(root)).create_array(
        "a", data=np.arange(8, dtype="int16"), chunks=4, compressors=None
    )
    victim = root / "a" / swapped
    out = root / "out"
    out.symlink_to(canary.root / swapped)
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(victim), str(out)], stdout=subprocess.PIPE, text=True
    )
    refused = 0
    try:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == "ready\n"
        begun = time.monotonic()
        turn = 0
        # On a busy machine the other process may do nothing for long.
        while (since := time.monotonic() - begun) < 1.5 or (not refused and since < 60):
            turn += 1
            for act in turned(array, turn):
                try:
                    canary.refuse(act())
                except StoreError as error:
                    refused += "leads out of the root" in str(error)
                except BlizzarrError as error:
                    canary.refuse(str(error))
    finally:
        swapper.kill()
        swapper.wait()
        with suppress(OSError):
            assert swapper.stdout is not None
            swapper.stdout.close()
    assert refused > 0, "the link was never met"
