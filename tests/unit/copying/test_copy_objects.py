"""Copying arrays of objects: elements into other layouts, stored objects as they are, on from an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.objects import JsonCodec
from blizzarr.config import config
from blizzarr.errors import MetadataError

TEXTS = np.array([f"{number}" * (number % 7) for number in range(600)], object).reshape(20, 30)


def made(store: Any = None, **options: Any) -> blizzarr.Array:
    return blizzarr.create_array({} if store is None else store, data=TEXTS, **{"chunks": (7, 8)} | options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (3, 30)},
        {"chunks": (5, 5), "shards": (10, 10)},
        {"compressors": ["gzip", "crc32c"]},
        {"order": "F", "chunks": (20, 4)},
        {"dtype": "U18"},
        {"zarr_format": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("limit", [1, 1 << 20])
def test_into_any_layout(options: dict[str, Any], limit: int) -> None:
    """In parts of an element and in one; the attributes and the fill value come along."""
    source = made(fill_value="666666", attributes={"a": 1})
    with config.set(copy_bytes=limit):
        target = blizzarr.copy(source, {}, **options)
    assert target[...].tolist() == TEXTS.tolist()
    assert target.attrs["a"] == 1
    if "dtype" not in options:
        assert (target.fill_value, target.metadata.dtype) == ("666666", source.metadata.dtype)


def test_stored_objects_are_copied_as_they_are(tmp_path: Path) -> None:
    """Nothing is decoded where the layout stays: a damaged chunk is copied like the others."""
    source = made(tmp_path / "a")
    (tmp_path / "a/c/0/0").write_bytes(b"damaged")
    blizzarr.copy(source, tmp_path / "b")
    assert (tmp_path / "b/c/0/0").read_bytes() == b"damaged"
    assert blizzarr.open_array(tmp_path / "b")[7:].tolist() == TEXTS[7:].tolist()


def test_another_fill_value_is_another_layout() -> None:
    """Chunks that are not there mean something else then."""
    source = made(fill_value="0")
    target = blizzarr.copy(source, {}, fill_value="none")
    assert (target.fill_value, target[...].tolist()) == ("none", TEXTS.tolist())


def test_on_from_an_interruption() -> None:
    source, store = made(), blizzarr.stores.MemoryStore()

    class Interruption(Exception):  # noqa: N818  # not an error
        pass

    def stop(done: int, total: int) -> None:
        if done > total // 3:
            raise Interruption

    with config.set(copy_bytes=4096):
        with pytest.raises(Interruption):
            blizzarr.copy(source, store, chunks=(4, 5), progress=stop)
        told: list[tuple[int, int]] = []
        target = blizzarr.copy(source, store, chunks=(4, 5), resume=True, progress=lambda *done: told.append(done))
    assert target[...].tolist() == TEXTS.tolist()
    assert told[-1][0] == told[-1][1] == TEXTS.size * 8


def test_from_memory() -> None:
    assert blizzarr.copy(TEXTS, {}, chunks=5)[...].tolist() == TEXTS.tolist()
    with pytest.raises(MetadataError, match="what the elements are"):
        blizzarr.copy(np.array([1, "a"], object), {})


def test_any_objects_stay_in_formats_that_have_them() -> None:
    source = blizzarr.create_array({}, data=TEXTS, filters=JsonCodec(), zarr_format=2)
    assert blizzarr.copy(source, {})[...].tolist() == TEXTS.tolist()
    with pytest.raises(MetadataError, match="any objects of Python, which only v2 has"):
        blizzarr.copy(source, {}, zarr_format=3)
    text = blizzarr.copy(source, {}, dtype=str, serializer="vlen-utf8", filters=None, zarr_format=3)
    assert (text.metadata.dtype.name, text[...].tolist()) == ("string", TEXTS.tolist())
