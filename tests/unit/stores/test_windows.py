"""What only Windows does: locks by what is shared with others, and files that are renamed while they are open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blizzarr.errors import ConflictError
from blizzarr.stores import LocalStore, ZipStore

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

from blizzarr.stores.windows import open_directory

HOLDS = """
import sys, time
from blizzarr.stores.windows import open_directory
open_directory(sys.argv[1], alone=True)
print("holds it", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_who_wants_a_directory_alone_shares_it_with_nobody(first: bool, second: bool, tmp_path: Path) -> None:
    held = open_directory(str(tmp_path), alone=first)
    with pytest.raises(BlockingIOError):
        open_directory(str(tmp_path), alone=second)
    (tmp_path / "made").write_bytes(b"meanwhile")
    os.close(held)
    os.close(open_directory(str(tmp_path), alone=second))
    assert os.listdir(tmp_path) == ["made"]


def test_a_directory_is_held_together(tmp_path: Path) -> None:
    held = [open_directory(str(tmp_path), alone=False) for _ in range(2)]
    assert os.path.samestat(os.fstat(held[0]), os.stat(tmp_path))
    for descriptor in held:
        os.close(descriptor)


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"holds it"
        with pytest.raises(BlockingIOError):
            open_directory(str(tmp_path), alone=False)
        holder.kill()
    os.close(open_directory(str(tmp_path), alone=True))


def test_a_directory_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_directory(str(tmp_path / "nothing"), alone=True)


def test_a_zip_file_has_one_writer(tmp_path: Path) -> None:
    """It gets its name while it is open, and is read meanwhile."""
    path = tmp_path / "a.zip"
    with ZipStore(path, "w") as writer:
        writer.set("a", b"1")
        writer.flush()
        assert ZipStore(path, "r").get("a") == b"1"
        with pytest.raises(ConflictError, match="another writer has this zip file open"):
            ZipStore(path, "a").set("b", b"2")
    with ZipStore(path, "a") as writer:
        writer.set("b", b"2")
    assert ZipStore(path, "r").get("b") == b"2"


def test_directories_of_dead_writers_are_swept(tmp_path: Path) -> None:
    """A directory that is just being removed belongs to somebody who lives, and is left alone."""
    store, doomed = LocalStore(tmp_path), tmp_path / ".blizzarr-1"
    doomed.mkdir()
    (doomed / "c").write_bytes(b"")
    held = open_directory(str(doomed), alone=True)
    assert store.sweep() == []
    os.close(held)
    assert store.sweep() == [".blizzarr-1"]
    assert os.listdir(tmp_path) == []
