"""Whether a zip file that is open here is still the one in the directory."""

from __future__ import annotations

from pathlib import Path

from blizzarr.stores import ZipStore


def test_current_until_others_write(tmp_path: Path) -> None:
    """What this store writes leaves it current; what others add, replace or remove does not."""
    path = tmp_path / "a.zip"
    store = ZipStore(path, "a")
    assert store.is_current
    store.set("a", b"1")
    assert store.is_current
    store.flush()
    assert store.is_current
    store.close()
    assert not store.is_current
    reader = ZipStore(path, "a")
    assert reader.is_current
    with ZipStore(path, "a") as writer:
        writer.set("b", b"2")
    assert not reader.is_current
    path.unlink()
    assert not reader.is_current
