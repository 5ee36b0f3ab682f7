"""Errors of a directory say which directory it is, whatever was asked of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore

ASKED: dict[str, Callable[[Any], Any]] = {
    "get": lambda store: store.get("a"),
    "get_many": lambda store: store.get_many(["b", "a"]),
    "get_ranges": lambda store: store.get_ranges("a", [(0, 1)]),
    "set": lambda store: store.set("file/below", b"1"),
    "set_many": lambda store: store.set_many([("b", b"1"), ("file/below", b"1")]),
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_was_asked(asked: str, tmp_path: Path) -> None:
    """The field and the text."""
    (tmp_path / "a").symlink_to("a")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        ASKED[asked](LocalStore(tmp_path))
    assert caught.value.store == str(tmp_path)
    assert caught.value.key is not None
    assert f"key {caught.value.key} in {tmp_path}: " in str(caught.value)
