"""Fault rows 83 to 85 and 91: power cuts, file systems without room, processes without files or threads."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import StoreError
from soak import power_cuts
from support.child import answer

NOISE = np.random.default_rng(0).integers(0, 256, (8, 1 << 16), "uint8")
MUCH = np.random.default_rng(1).integers(0, 256, (32, 1 << 16), "uint8")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory of 1 MiB."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small file system takes Linux and root")
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=64", "none", place], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode()}")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(path: Path) -> None:
    """Write until there is no more room."""
    with open(path, "wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        file.writelines(itertools.repeat(bytes(4096)))


def take_all_names(place: Path) -> Path:
    """Make directories until there can be no more; gives one."""
    with pytest.raises(OSError, match="No space"):
        deque(map(Path.mkdir, (place / f"taken{number}" for number in range(100))))
    return place / "taken0"


def left_over(root: Path) -> list[str]:
    return [path.name for path in root.rglob(".blizzarr-*")]


def test_rows_083_084_power_cuts(tmp_path: Path) -> None:
    """What was flushed is there and nothing is torn: some cuts here, hundreds by `make soak`."""
    reason = power_cuts.EXPERIMENT.needs()
    if reason is not None:
        pytest.skip(reason)
    outcome = power_cuts.run(2, 1, tmp_path)
    assert (outcome.done, outcome.findings) == (2, ())
    assert outcome.figures["full writes"] + outcome.figures["ordered writes"] > 0


@pytest.mark.parametrize("level", ["none", "ordered", "full"])
def test_row_085_a_disk_that_is_full(small: Path, level: blizzarr.durability.Durability) -> None:
    with blizzarr.config.set(durability=level):
        array = blizzarr.create_array(small / "x.zarr", data=NOISE, chunks=(1, 1 << 16), compressors=None)
        (small / "other").write_bytes(bytes(256 << 10))
        # Each new chunk needs room beside the old one.
        fill(small / "rest")
        with pytest.raises(StoreError, match="c/3/0") as raised:
            array[3] = NOISE[0]
        assert raised.value.errno == errno.ENOSPC
        with pytest.raises(StoreError, match=r"zarr\.json") as raised:
            array.attrs["long"] = "x" * 5000
        assert raised.value.errno == errno.ENOSPC
        with pytest.raises(StoreError) as raised:
            blizzarr.create_group(small / "new" / "one")
        assert raised.value.errno == errno.ENOSPC
        assert left_over(small) == []
        assert (array[...] == NOISE).all()
        assert dict(array.attrs) == {}
        (small / "rest").unlink()
        array[3] = NOISE[0]
        array.attrs["long"] = "x" * 5000
        assert (blizzarr.open_array(small / "x.zarr")[3] == NOISE[0]).all()


def test_row_085_no_room_for_names(small: Path) -> None:
    """All inodes are taken: neither a file nor a directory can be made."""
    array = blizzarr.create_array(small / "x.zarr", data=NOISE[:2, :64], chunks=(1, 64), compressors=None)
    taken = take_all_names(small)
    before = sorted(path.relative_to(small) for path in small.rglob("*"))
    with pytest.raises(StoreError) as raised:
        array[0] = 1
    assert raised.value.errno == errno.ENOSPC
    with pytest.raises(StoreError) as raised:
        blizzarr.create_array(small / "y.zarr", shape=4, dtype="uint8")
    assert raised.value.errno == errno.ENOSPC
    assert sorted(path.relative_to(small) for path in small.rglob("*")) == before
    taken.rmdir()
    array[0] = 1
    assert array[0].tolist() == [1] * 64
    assert (array[1] == NOISE[1, :64]).all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the last attempt, at the end
@pytest.mark.filterwarnings("ignore:.*unfinished copy")
def test_row_085_a_new_zip_file_that_gets_no_room(small: Path) -> None:
    """Nothing of it is left; the copy can be made when there is room."""
    noise = np.concatenate([NOISE] * 4)
    with pytest.raises(StoreError) as raised:
        blizzarr.copy(noise, small / "x.zip", chunks=(1, 1 << 16), compressors=None)
    assert raised.value.errno == errno.ENOSPC
    del raised
    gc.collect()
    for left in small.iterdir():  # what there was room for, as a file that can be opened
        assert (left.name, blizzarr.open(left, mode="r").shape) == ("x.zip", noise.shape)
        left.unlink()  # as what is replaced stays until the new file is complete
    gc.collect()
    for number in (2, 3):
        copied = blizzarr.copy(noise[:number], small / "x.zip", chunks=(1, 1 << 16), compressors=None, overwrite=True)
        copied.store.close()
        assert (blizzarr.open_array(small / "x.zip", mode="r")[...] == noise[:number]).all()
    assert [left.name for left in small.iterdir()] == ["x.zip"]


def one(path: Path) -> None:
    blizzarr.save(path, kept=NOISE[0], lost=MUCH)


def member(path: Path) -> None:
    blizzarr.open_group(path, mode="w").create_array("lost", data=MUCH)


def elements(path: Path) -> None:
    array = blizzarr.create_array(path, shape=(32, 1 << 16), dtype="uint8", overwrite=True)
    array[...] = MUCH


@pytest.mark.filterwarnings("ignore:.*the file that was there stays.*:UserWarning")
@pytest.mark.parametrize("write", [one, member, elements])
def test_row_085_a_zip_file_that_is_not_replaced(small: Path, write: Callable[[Path], None]) -> None:
    """The old file stays when the new one has no room, also when nobody refers to the new one any more."""
    blizzarr.save(small / "x.zip", np.arange(5))
    with pytest.raises(StoreError) as raised:
        write(small / "x.zip")
    assert raised.value.errno == errno.ENOSPC
    del raised
    gc.collect()
    assert blizzarr.load(small / "x.zip").tolist() == [0, 1, 2, 3, 4]  # type: ignore[union-attr]
    assert [left.name for left in small.iterdir()] == ["x.zip"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_row_091_too_many_open_files(tmp_path: Path) -> None:
    """However many files may be opened, a call is done or a StoreError says why not; with more of them all is well."""
    facts = answer(
        """
        noise = np.random.default_rng(0).integers(0, 256, (64, 4096), "uint8")
        array = blizzarr.create_array(ARGUMENTS["root"], data=noise, chunks=(1, 4096), compressors=None)
        seen, errnos = {"done": 0, "failed": 0}, set()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        first = max(int(name) for name in os.listdir("/dev/fd"))
        with blizzarr.config.set(threads=4):
            for more in range(0, 24):
                for work in (lambda: array[...], lambda: array.__setitem__(..., noise),
                             lambda: array.__setitem__((slice(None), 5), noise[:, 5])):
                    resource.setrlimit(resource.RLIMIT_NOFILE, (first + more, hard))
                    try:
                        found = work()
                        seen["done"] += 1
                        assert found is None or (found == noise).all()
                    except StoreError as error:
                        errnos.add(error.errno)
                        seen["failed"] += 1
                    finally:
                        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        array[...] = noise[::-1]
        tell(seen=seen, errnos=sorted(errnos), whole=bool((array[...] == noise[::-1]).all()))
        """,
        root=str(tmp_path / "x.zarr"),
    )
    assert facts["seen"]["done"] > 0
    assert facts["seen"]["failed"] > 0
    assert facts["errnos"] == [errno.EMFILE]
    assert facts["whole"]
    assert left_over(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the number of threads can be limited on Linux")
def test_row_091_out_of_threads() -> None:
    """Where no thread can be started the caller does it alone."""
    # Not below the folder of the tests, which is root's alone: root's threads are not limited.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        facts = answer(
            """
            import blizzarr.tensorstore as tensorstore
            root = ARGUMENTS["root"]
            noise = np.random.default_rng(0).integers(0, 256, (64, 4096), "uint8")

            def all_that_there_is(array, name):
                copied = blizzarr.copy(array, root + "/" + name)
                facts = {"same": blizzarr.diff(array, copied).same}
                facts["found"] = blizzarr.check(copied, record=root + "/" + name + ".sums").kinds()
                spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": root + "/" + name}}
                facts["read"] = int(tensorstore.open(spec).result(timeout=20)[3].read().result(timeout=20)[5])
                return facts

            first = blizzarr.create_array(root + "/first", data=noise[:4, :8], chunks=(1, 8))
            all_that_there_is(first, "copied")  # imports, which nobody may any more who is not root
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
            try:
                threading.Thread(target=int).start()
                tell(skip="threads are not limited here")
                sys.exit()
            except RuntimeError:
                pass
            with blizzarr.config.set(threads=8, durability="full"):
                array = blizzarr.create_array(root + "/second", data=noise, chunks=(1, 4096))
                array[:, 5] = 7
                whole = bool((np.delete(array[...], 5, 1) == np.delete(noise, 5, 1)).all())
            facts = {"whole": whole, **all_that_there_is(array, "third")}
            tell(**facts)
            """,
            root=folder,
        )
    assert facts["whole"]
    assert facts["same"]
    assert facts["found"] == {}
    assert facts["read"] == 7
