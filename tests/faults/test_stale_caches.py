"""Faults: caches (row 124). What another process changes is seen when the bound says that it must
be, and no write builds on what a cache has kept. Also K-17 and K-18 of TensorStore's page.

Who changes is another process, or somebody who replaces files behind the back of the library.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.caching import CachedStore, Since
from blizzarr.errors import ChecksumError, CodecError
from blizzarr.stores import LocalStore, MappingStore, ZipStore
from support.child import Child, answer

MIB = 1 << 20
SETTLED = 2.1
"""Seconds after which the version of a file is known for good."""

LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": 4, "compressors": None},
    "zstd": {"chunks": 4},
    "sharded": {"chunks": 2, "shards": 8},
    "sharded raw": {"chunks": 2, "shards": 8, "compressors": None},
}


def values(number: int) -> Any:
    """16 elements, of which each says when it was written."""
    return (np.arange(16) + 100 * number).astype("int32")


def another(root: Path, layout: str, number: int) -> dict[str, bytes]:
    """The chunks of the same array with other elements, as another process stores them."""
    beside = root.parent / f"beside-{number}"
    blizzarr.create_array(beside, data=values(number), overwrite=True, **LAYOUTS[layout])
    return {path.relative_to(beside).as_posix(): path.read_bytes() for path in beside.glob("c/*")}


def replace(root: Path, layout: str, number: int) -> None:
    """Replace the chunks one by one as the library does: each at once."""
    for key, value in another(root, layout, number).items():
        (root / "new").write_bytes(value)
        os.replace(root / "new", root / key)


def rewrite(root: Path, layout: str, number: int) -> None:
    """Write into the files, and give them back the time of their last change."""
    for key, value in another(root, layout, number).items():
        before = (root / key).stat()
        with (root / key).open("r+b") as file:
            file.write(value)
            file.truncate()
        os.utime(root / key, ns=(before.st_atime_ns, before.st_mtime_ns))


def exchange(root: Path, layout: str, number: int) -> None:
    """Move a whole directory of chunks into their place."""
    another(root, layout, number)
    os.rename(root / "c", root.parent / f"gone-{number}")
    os.rename(root.parent / f"beside-{number}" / "c", root / "c")


CHANGES = [replace, rewrite, exchange]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_row_124_changes_of_fresh_files_are_seen(tmp_path: Path, layout: str, change: Any) -> None:
    """Also when a file changes several times within what its file system takes for one instant."""
    root = tmp_path / "x"
    blizzarr.create_array(root, data=values(0), **LAYOUTS[layout])
    z = blizzarr.open_array(root).cached(blizzarr.CachePool(MIB))
    for number in range(1, 5):
        np.testing.assert_array_equal(z[...], values(number - 1))
        change(root, layout, number)
        assert z[13] == 13 + 100 * number


def test_row_124_changes_of_old_files_are_seen(tmp_path: Path) -> None:
    """What is kept of them is used until they change, in whatever way; what goes away is fill, what comes is seen."""
    pool = blizzarr.CachePool(MIB)
    cases = []
    for layout in LAYOUTS:
        for change in CHANGES:
            root = tmp_path / layout / change.__name__ / "x"
            blizzarr.create_array(root, data=values(0), **LAYOUTS[layout])
            cases.append((root, layout, change, blizzarr.open_array(root).cached(pool)))
    time.sleep(SETTLED)
    for root, layout, change, z in cases:
        np.testing.assert_array_equal(z[...], values(0))
        misses = pool.info().misses
        np.testing.assert_array_equal(z[...], values(0))
        assert z[9] == 9
        assert pool.info().misses == misses
        change(root, layout, 9)
        assert z[1] == 901
        np.testing.assert_array_equal(z[...], values(9))
        held = {path: path.read_bytes() for path in (root / "c").iterdir()}
        for path in held:
            path.unlink()
        np.testing.assert_array_equal(z[...], 0 * values(0))
        for path, value in held.items():
            path.write_bytes(value)
        np.testing.assert_array_equal(z[...], values(9))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_124_staleness_has_the_bound_that_was_asked_for(tmp_path: Path, layout: str) -> None:
    """K-17, K-18: never, once after the opening, since a moment, and for an age; one pool, one array, four handles."""
    root = tmp_path / "x"
    blizzarr.create_array(root, data=values(0), **LAYOUTS[layout])
    pool = blizzarr.CachePool(MIB)
    bounds = {"never": False, "open": "open", "since": Since.now(), "age": 0.5}
    never, opened, since, age = (blizzarr.open_array(root).cached(pool, recheck=bound) for bound in bounds.values())
    for z in (never, opened, since, age):
        np.testing.assert_array_equal(z[...], values(0))
    begun = time.monotonic()
    replace(root, layout, 1)
    again = blizzarr.open_array(root).cached(pool, recheck="open")
    for z in (never, opened, since):
        np.testing.assert_array_equal(z[...], values(0))
    young = age[...]
    if time.monotonic() - begun < 0.4:
        np.testing.assert_array_equal(young, values(0))
    time.sleep(0.6)
    assert never[3] == 3
    assert age[3] == 103
    # All of them see what one of them has found out, as they share it.
    np.testing.assert_array_equal(age[...], values(1))
    for z in (never, opened, since, again):
        np.testing.assert_array_equal(z[...], values(1))
    replace(root, layout, 2)
    later = blizzarr.open_array(root).cached(pool, recheck=Since.now())
    np.testing.assert_array_equal(never[...], values(1))
    np.testing.assert_array_equal(later[...], values(2))
    np.testing.assert_array_equal(never[...], values(2))
    replace(root, layout, 3)
    to_come = blizzarr.open_array(root).cached(pool, recheck=Since(time.time() + 3600))
    assert [int(to_come[5]), int(later[5])] == [305, 305]


def test_row_124_partial_writes_never_build_on_what_is_kept(tmp_path: Path) -> None:
    """Elements that another process has stored stay, though this one has not seen them; then it has."""
    program = """
    while (root := sys.stdin.readline().strip()):
        array = blizzarr.open(root)
        array[...] = array[...] + 100
        tell(done=True)
    """
    with Child(program) as child:
        for number, (layout, recheck) in enumerate(itertools.product(LAYOUTS, [False, "open", 3600])):
            root = tmp_path / str(number)
            blizzarr.create_array(root, data=values(0), **LAYOUTS[layout])
            z = blizzarr.open_array(root).cached(blizzarr.CachePool(MIB), recheck=recheck)
            np.testing.assert_array_equal(z[...], values(0))
            assert child.process.stdin is not None
            child.process.stdin.write(f"{root}\n")
            child.process.stdin.flush()
            assert child.hear()["done"]
            assert [int(z[0]), int(z[1])] == [0, 1]
            z[1] = -1
            z[14:] = -2
            expected = values(1)
            expected[1], expected[14:] = -1, -2
            np.testing.assert_array_equal(blizzarr.open_array(root)[...], expected)
            assert [int(z[0]), int(z[1]), int(z[14])] == [100, -1, -2]


def test_row_124_two_processes_see_each_other(tmp_path: Path) -> None:
    """Each adds to the number that it finds, in turn; both have a cache and look each time."""
    blizzarr.create_array(tmp_path, data=np.zeros(4, "int64"), chunks=4)
    program = """
    array = blizzarr.open(ARGUMENTS["root"]).cached(blizzarr.CachePool(1 << 20))
    while sys.stdin.readline():
        array[2] = array[2] + 1
        tell(found=int(array[2]))
    """
    z = blizzarr.open_array(tmp_path).cached(blizzarr.CachePool(MIB))
    with Child(program, root=str(tmp_path)) as child:
        for turn in range(40):
            child.start()
            assert child.hear()["found"] == z[2] == 2 * turn + 1
            z[2] = z[2] + 1


def test_row_124_threads_see_what_was_written_before_they_asked() -> None:
    """Readers of every bound, and one who writes ever larger numbers: none reads less than there was when he began."""
    memory = blizzarr.stores.MemoryStore()
    blizzarr.create_array(memory, data=np.zeros(64, "int64"), chunks=8, shards=32)
    pool = blizzarr.CachePool(3000)
    written = 0
    over = threading.Event()
    wrong: list[Any] = []

    def read(recheck: Any) -> None:
        z = blizzarr.open_array(memory).cached(pool, recheck=recheck)
        while not over.is_set():
            before = written
            found = z[[3, 30, 60]]
            one = z[17]
            after = written + 1
            if not (before <= found.min() and found.max() <= after and before <= one <= after):
                wrong.append((recheck, before, found, one, after))

    readers = [threading.Thread(target=read, args=(recheck,)) for recheck in (True, False, "open", 60)]
    for reader in readers:
        reader.start()
    z = blizzarr.open_array(memory)
    for number in range(1, 400):
        z[...] = np.full(64, number)
        written = number
    over.set()
    for reader in readers:
        reader.join()
    assert not wrong


def test_row_124_damage_is_not_hidden_by_what_was_kept(tmp_path: Path) -> None:
    """A chunk that was fine and is damaged now is an error for who looks, and again; then it can be read again."""
    z = blizzarr.create_array(tmp_path, data=values(0), chunks=8, compressors=["zstd", "crc32c"])
    z = z.cached(blizzarr.CachePool(MIB))
    time.sleep(SETTLED)
    np.testing.assert_array_equal(z[...], values(0))
    file = tmp_path / "c" / "1"
    good = file.read_bytes()
    file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    for _ in range(2):
        with pytest.raises(ChecksumError, match=r"chunk c/1"):
            z[12]
        assert z[3] == 3
    file.write_bytes(good[: len(good) // 2])
    with pytest.raises(CodecError):
        z[12]
    file.write_bytes(good)
    assert z[12] == 12


def test_row_124_a_forked_process_has_what_there_was(tmp_path: Path) -> None:
    """While other threads read, and fetch; afterwards the two go their own ways."""
    blizzarr.create_array(tmp_path, data=np.arange(4000, dtype="int64"), chunks=10, shards=1000)
    program = """
    pool = blizzarr.CachePool(1 << 20)
    array = blizzarr.open(ARGUMENTS["root"]).cached(pool, recheck=False)
    expected = np.arange(4000)
    over = threading.Event()
    def read():
        rng = np.random.default_rng()
        while not over.is_set():
            start = rng.integers(3900)
            assert (array[start : start + 100] == expected[start : start + 100]).all()
            if rng.integers(20) == 0:
                pool.clear()
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    failed = 0
    for _ in range(20):
        child = os.fork()
        if child == 0:
            try:
                assert (array[...] == expected).all() and array[5] == 5
                array[7] = 7
                assert array[7] == 7 and pool.info().used <= pool.limit
                os._exit(0)
            except BaseException:
                os._exit(1)
        failed += os.waitpid(child, 0)[1]
    over.set()
    for thread in threads:
        thread.join()
    tell(failed=failed)
    """
    assert answer(program, root=str(tmp_path))["failed"] == 0


class Versioned:
    """A store of others, which tells versions."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.read: list[str] = []

    def get(self, key: str) -> bytes | None:
        self.read.append(key)
        return self.values.get(key)

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]

    def version(self, key: str) -> str | None:
        self.asked.append(key)
        value = self.values.get(key)
        return None if value is None else str(hash(value))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_124_stores_written_in_python_tell_versions_or_are_read(tmp_path: Path, layout: str) -> None:
    """With `version` one look tells; without it who always looks always reads, and who never looks never does."""
    target = Versioned()
    z = blizzarr.create_array(target, data=values(0), **LAYOUTS[layout])
    always = z.cached(blizzarr.CachePool(MIB))
    np.testing.assert_array_equal(always[...], values(0))
    target.asked.clear()
    target.read.clear()
    np.testing.assert_array_equal(always[...], values(0))
    assert not target.read
    assert len(target.asked) == len(set(target.asked)) == (2 if "sharded" in layout else 4)
    target.values.update(another(tmp_path / "x", layout, 1))
    np.testing.assert_array_equal(always[...], values(1))

    untold: dict[str, bytes] = {}
    blizzarr.create_array(untold, data=values(0), **LAYOUTS[layout])
    always, never = (blizzarr.open_array(untold).cached(blizzarr.CachePool(MIB), recheck=it) for it in (True, False))
    for z in (always, never):
        np.testing.assert_array_equal(z[...], values(0))
    untold.update(another(tmp_path / "x", layout, 2))
    np.testing.assert_array_equal(always[...], values(2))
    np.testing.assert_array_equal(never[...], values(0))
    assert isinstance(never.store, CachedStore)
    never.store.pool.clear()
    np.testing.assert_array_equal(never[...], values(2))


def test_row_124_zip_files_are_what_was_opened(tmp_path: Path) -> None:
    """What is added by this handle is seen; a file in the place of the one that is open is, when it is opened."""
    pool = blizzarr.CachePool(MIB)
    with ZipStore(tmp_path / "x.zip", "w") as store:
        z = blizzarr.create_array(store, data=values(0), chunks=4).cached(pool)
        for number in range(3):
            for _ in range(2):
                np.testing.assert_array_equal(z[...], values(number))
            z[...] = values(number + 1)
        assert (pool.info().misses, pool.info().checks) == (12, 12)
    with ZipStore(tmp_path / "beside.zip", "w") as store:
        blizzarr.create_array(store, data=values(7), chunks=4)
    with ZipStore(tmp_path / "x.zip") as opened:
        old = blizzarr.open_array(opened, mode="r").cached(pool)
        np.testing.assert_array_equal(old[...], values(3))
        (tmp_path / "beside.zip").replace(tmp_path / "x.zip")
        with ZipStore(tmp_path / "x.zip") as again:
            new = blizzarr.open_array(again, mode="r").cached(pool)
            for _ in range(2):
                np.testing.assert_array_equal(new[...], values(7))
                np.testing.assert_array_equal(old[...], values(3))


def test_row_124_what_is_kept_of_one_place_is_not_taken_for_anothers(tmp_path: Path) -> None:
    """Arrays that are alike, in directories, zip files and mappings, in one pool."""
    pool = blizzarr.CachePool(MIB)
    arrays = []
    for number in range(3):
        blizzarr.create_array(tmp_path / f"{number}", data=values(number), chunks=4)
        with ZipStore(tmp_path / f"{number}.zip", "w") as store:
            blizzarr.create_array(store, data=values(number + 3), chunks=4)
        memory: dict[str, bytes] = {}
        blizzarr.create_array(memory, data=values(number + 6), chunks=4)
        arrays.append(blizzarr.open_array(LocalStore(tmp_path / f"{number}")).cached(pool, recheck=False))
        arrays.append(blizzarr.open_array(ZipStore(tmp_path / f"{number}.zip", "r")).cached(pool, recheck=False))
        arrays.append(blizzarr.open_array(MappingStore(memory)).cached(pool, recheck=False))
    for _ in range(2):
        found = [int(z[5]) // 100 for z in arrays]
        assert found == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert pool.info().entries == 9
