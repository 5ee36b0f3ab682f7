"""Settings of the process: by assignment, by `set`, and for the length of a block."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config


def test_assigning_is_setting() -> None:
    """The engine is told, and what cannot be is refused."""
    with config.set(threads=config.threads, durability=config.durability):
        config.threads = 1
        assert config.threads == 1
        config.durability = "ordered"
        assert config.durability == "ordered"
        with pytest.raises(ValueError, match="expected threads to be an integer of at least 0, found 'many'"):
            config.threads = "many"  # type: ignore[assignment]
        with pytest.raises(ValueError, match=r"there is no setting 'thread'; did you mean \"threads\"\?"):
            config.thread = 1  # type: ignore[attr-defined]
        assert config.threads == 1
    assert (config.threads, config.durability) == (0, "none")


def test_the_engine_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what it has, too, and only when it changes."""
    told: list[object] = []
    monkeypatch.setitem(sys.modules["blizzarr.config"]._ENGINE, "threads", told.append)
    with config.set(threads=3, chunk_bytes=7):
        config.threads = 3
        config.threads = 2
    assert told == [3, 2, 0]


def test_a_block_restores_what_it_has_set() -> None:
    """What others set meanwhile stays."""
    with config.set(copy_bytes=config.copy_bytes):
        with (block := config.set(chunk_bytes=8, shard_bytes=16)):
            assert repr(block) == "<settings: chunk_bytes=8 (before: 1048576), shard_bytes=16 (before: 67108864)>"
            config.shard_bytes = 99
            config.copy_bytes = 1000
        assert (config.chunk_bytes, config.shard_bytes, config.copy_bytes) == (1 << 20, 64 << 20, 1000)
    assert config.copy_bytes == 128 << 20


def test_all_or_nothing() -> None:
    """Of several settings, none is changed if one cannot be."""
    with pytest.raises(ValueError, match="chunk_bytes"):
        config.set(threads=5, chunk_bytes=0)
    assert config.threads == 0


def test_what_is_set_is_used(tmp_path: Path) -> None:
    """An assignment has the same effect as `set`."""
    array = blizzarr.create_array(tmp_path, shape=(2,), dtype="int8")
    with config.set(write_empty_chunks=False):
        config.write_empty_chunks = True
        array[...] = 0
    assert (tmp_path / "c" / "0").exists()


@pytest.mark.parametrize("name", ["threads", "chunk_bytes", "shard_bytes", "copy_bytes", "element_bytes"])
def test_integers_of_numpy_are_integers(name: str) -> None:
    """What is computed from shapes with NumPy is no `int`."""
    with config.set(**{name: np.int64(7)}):
        assert (getattr(config, name), type(getattr(config, name))) == (7, int)
    for value in (np.float64(7), np.True_, True, "7", 7.0, None):
        with pytest.raises(ValueError, match=f"expected {name} to be an integer"), config.set(**{name: value}):
            pass
