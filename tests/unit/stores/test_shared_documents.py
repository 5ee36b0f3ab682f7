"""Documents that users without a group in common share by an access control list of the directory."""

from __future__ import annotations

import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import blizzarr

_ONE, _OTHER = 54321, 54322
_ANYBODY = 0xFFFFFFFF
_OWNER, _USER, _GROUP, _MASK, _REST = 1, 2, 4, 16, 32

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only the superuser can become somebody else"
)


@pytest.fixture
def shared() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    entries = [(_OWNER, 7, _ANYBODY), (_USER, 7, _ONE), (_USER, 7, _OTHER), (_GROUP, 5, _ANYBODY)]
    entries += [(_MASK, 7, _ANYBODY), (_REST, 0, _ANYBODY)]
    rights = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        for kind in ("default", "access"):
            os.setxattr(path, f"system.posix_acl_{kind}", rights)
    except OSError:
        pytest.skip("the file system has no access control lists")
    yield path
    shutil.rmtree(path)


@contextmanager
def _as_user(number: int) -> Iterator[None]:
    """Act as a user who is in no group but one of the same number."""
    groups, group, user = os.getgroups(), os.getegid(), os.geteuid()
    os.setgroups([])
    os.setegid(number)
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
        os.setgroups(groups)


def test_a_change_locks_nobody_out_whom_the_list_names(shared: Path, tmp_path: Path) -> None:
    """The group of a document cannot be given back by who is not in it, but its list can."""

    def create(path: Path) -> None:
        blizzarr.create_array(path / "a", data=[1, 2, 3])

    def describe(path: Path) -> None:
        blizzarr.open_array(path / "a", mode="r+").attrs["by"] = "other"

    def change(path: Path) -> None:
        array = blizzarr.open_array(path / "a", mode="r+")
        array.attrs["again"] = True
        array[0] = 4
        assert (array[:].tolist(), dict(array.attrs)) == ([4, 2, 3], {"by": "other", "again": True})

    for user, work in (_ONE, create), (_OTHER, describe), (_ONE, change):
        # What is imported late may lie where only the superuser reads.
        work(tmp_path)
        with _as_user(user):
            work(shared)


def test_a_private_document_gets_no_list_of_its_directory(shared: Path) -> None:
    array = blizzarr.create_array(shared / "a", data=[1, 2, 3])
    document = shared / "a" / "zarr.json"
    os.removexattr(document, "system.posix_acl_access")
    document.chmod(0o640)
    array.attrs["x"] = 1
    assert (os.listxattr(document), document.stat().st_mode & 0o777) == ([], 0o640)
