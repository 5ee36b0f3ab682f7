"""Changing the shape of an array that is huge, or mostly not there: only what is there is looked at."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from blizzarr.api import create_array, open_array
from blizzarr.array import reshape
from blizzarr.errors import ConflictError
from blizzarr.stores import MappingStore
from support.arrays import make


def test_resizing_a_huge_sparse_array_lists_what_is_there() -> None:
    """A grid of 2**60 chunks, of which two are stored."""
    z = make(shape=(2**30, 2**30), dtype="u1", chunks=(1, 1))
    z[5, 5] = 1
    z[2**30 - 1, 2**30 - 1] = 2
    z.resize((2**29, 2**30))
    assert sorted(z.store.list("a/c")) == ["a/c/5/5"]
    z.resize((2**31, 2**31))
    assert (z[5, 5], z[2**30 - 1, 2**30 - 1], z.shape) == (1, 0, (2**31, 2**31))


@pytest.mark.parametrize("shape", [(0, 2**61), (2, 2**61), (2, 1, 2**60)], ids=str)
def test_long_axes_of_which_few_chunks_are_cut_off(shape: tuple[int, ...]) -> None:
    """Neither time nor memory depends on the chunks that stay, nor on those of an axis beside an empty one."""
    chunks = (*(1 for _ in shape[1:]), 2**10)
    array = create_array({}, shape=shape, chunks=chunks, dtype="int8", fill_value=3)
    array[..., -1] = 5
    array.resize((*shape[:-1], shape[-1] - 1))
    array.resize((2, *shape[1:]))
    assert (array.shape[0], (array[..., -2:] == 3).all()) == (2, True)


def test_a_chunk_that_is_not_stored_is_not_compared() -> None:
    """It may be huge, and reads as the fill value."""
    asked: list[str] = []

    class Asked(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            asked.append(key)
            return super().__getitem__(key)

    array = create_array(Asked(), shape=1 << 28, chunks=1 << 28, dtype="u1")
    array.resize(10)
    assert asked.count("c/0") == 1


@pytest.mark.parametrize(("shape", "far"), [(3, False), (20, False), (20, True)])
def test_what_another_program_has_just_appended_stays(shape: int, far: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no lock excludes it."""
    values: dict[str, bytes] = {}
    monkeypatch.setattr(MappingStore, "remote", far, raising=False)
    array = create_array(MappingStore(values), data=np.arange(6), chunks=4, fill_value=-1)
    erase, kept = reshape.erase_outside, [*range(min(shape, 6)), 7, 7, 7, 7, 7, 7]

    def late(*args: Any, **named: Any) -> None:
        create_array(appended := dict[str, bytes](), data=np.array(kept), chunks=4, fill_value=-1)
        values.update(appended)
        erase(*args, **named)

    monkeypatch.setattr(reshape, "erase_outside", late)
    with pytest.raises(ConflictError) if shape > 6 else nullcontext():
        array.resize(shape)
    assert open_array(values)[:].tolist() == kept
