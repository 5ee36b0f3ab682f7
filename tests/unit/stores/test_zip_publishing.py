"""Zip files get their names when they are complete: what interrupts that, and who else does it."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Any, Literal

import pytest

from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores import ZipStore
from blizzarr.stores.zip.file import AppendFile


def test_an_older_file_that_was_forgotten_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    """When the program ends, files that nobody has closed are finished, the newest first."""
    path = tmp_path / "x.zip"
    older, newer = ZipStore(path, mode="w"), ZipStore(path, mode="w")
    older.set("a", b"old")
    newer.set("a", b"new")
    newer._finish()
    with pytest.raises(ConflictError, match="another writer made this file in the meantime"):
        older.flush()
    older._finish()
    assert ZipStore(path).get("a") == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_forgotten_file_that_has_no_room(tmp_path: Path, is_new: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python prints when the program ends names the file, and says what was lost."""
    path = tmp_path / "x.zip"
    if not is_new:
        with ZipStore(path, mode="w") as store:
            store.set("a", b"old")
    store = ZipStore(path, mode="a")
    store.set("b", b"value")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(AppendFile, "append", full)
    with pytest.raises(StoreError, match=rf"cannot close {path}: No space .*; what was set since .* is lost"):
        store._finish()
    assert [left.name for left in tmp_path.iterdir()] == ["x.zip"] * (not is_new)


@pytest.mark.parametrize("mode", ["a", "w"])
@pytest.mark.parametrize("name", ["link", "replace", "unlink"])
@pytest.mark.parametrize("has_name", [False, True])
def test_publishing_goes_on_after_an_interrupt(
    tmp_path: Path, mode: Literal["a", "w"], name: str, has_name: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signals are handled when a call to the system has returned."""
    if has_name:  # as on file systems where every file has a name
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    store = ZipStore(tmp_path / "x.zip", mode=mode)
    store.set("a", b"value")
    call = getattr(os, name)

    def interrupted(*arguments: Any, **options: Any) -> None:
        call(*arguments, **options)
        monkeypatch.setattr(os, name, call)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, name, interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        store.close()
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]
    assert ZipStore(tmp_path / "x.zip").get("a") == b"value"
