"""What a zip file has after an error: the old file, or what is whole."""

from __future__ import annotations

import gc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError
from blizzarr.stores import ZipStore


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    """Row 81: what a call or a block had written before its error does not replace a whole file."""
    path = tmp_path / "x.zip"
    encoded: dict[str, bytes] = {}
    source = blizzarr.create_array(encoded, data=np.arange(1, 9), chunks=2)
    encoded["c/2"] = b"damaged"
    blizzarr.save(path, np.arange(5))
    with pytest.raises(CodecError):
        blizzarr.copy(source, path, overwrite=True, chunks=1)
    with suppress(KeyboardInterrupt), ZipStore(path, mode="w") as store:
        store.set("a", b"new")
        raise KeyboardInterrupt
    for name in ("x.zip", "new.zip"):
        group = blizzarr.open_group(tmp_path / name, mode="w").cached(blizzarr.CachePool(0))
        with suppress(KeyboardInterrupt), group:
            group.create_array("a", data=[1, 2, 3])
            raise KeyboardInterrupt
    gc.collect()
    assert blizzarr.open_array(path, mode="r")[...].tolist() == [0, 1, 2, 3, 4]
    assert blizzarr.open_array(tmp_path / "new.zip", path="a", mode="r")[...].tolist() == [1, 2, 3]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["new.zip", "x.zip"]


def test_an_array_whose_elements_are_not_stored_is_not_listed(tmp_path: Path) -> None:
    """D-102: nothing can be deleted, but fill values would stand for the elements that are missing."""
    encoded: dict[str, bytes] = {}
    source = blizzarr.create_array(encoded, data=np.arange(1, 9), chunks=2)
    encoded["c/2"] = b"damaged"
    with blizzarr.open_group(tmp_path / "x.zip", mode="w") as group, blizzarr.config.set(copy_bytes=1):
        with pytest.raises(CodecError):
            group.create_array("a", data=source, chunks=1)
        group.create_array("b", data=[1, 2, 3])
    assert list(blizzarr.open_group(tmp_path / "x.zip", mode="r")) == ["b"]
    assert blizzarr.check(tmp_path / "x.zip").clean
    with blizzarr.config.set(copy_bytes=1), pytest.raises(CodecError):
        blizzarr.create_array(tmp_path / "new.zip", data=source, chunks=1)
    gc.collect()
    assert not (tmp_path / "new.zip").exists()
