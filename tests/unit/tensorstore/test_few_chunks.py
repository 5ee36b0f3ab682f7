"""What is stored of few chunks does not depend on how many others there are."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ArrayNotFoundError
from blizzarr.stores import MemoryStore
from blizzarr.tensorstore.stored_array import refuse_missing, stored_of


class Unlisted(MemoryStore):
    """A store in which a listing would take for ever."""

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Not here."""
        raise AssertionError(f"listed {prefix!r}")


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_few_chunks_are_asked_for(shards: tuple[int, int] | None) -> None:
    """Each by its key."""
    array = blizzarr.create_array(Unlisted(), shape=(1000, 1000), chunks=(2, 2), shards=shards, dtype="int8")
    array[4:6, 4:6] = 1
    part = ((2, 2), ((0, 4, 1), (1, 4, 1)), False)
    row = ((40,), ((0, 0, 1), 5), False)
    nothing = ((2, 2), ((0, 8, 1), (1, 4, 1)), False)
    assert stored_of(array, part) == (False, True)
    assert stored_of(array, row) == (False, False)
    assert stored_of(array, nothing) == (True, False)
    refuse_missing(array, part)
    listed = ((2,), (((0,), np.array([4, 999])), ((0,), np.array([4, 999]))), False)
    missing = r"\{499, 499\} stored at" if shards is None else r"\{1, 1\} stored at shard entry \{1, 1\}/\{2, 2\} in"
    key = "c/499/499" if shards is None else "c/249/249"
    with pytest.raises(ArrayNotFoundError, match=rf"chunk {missing} \S*{key}\S* is missing"):
        refuse_missing(array, listed)
    with pytest.raises(AssertionError, match="listed 'c'"):
        stored_of(array, ((1000, 1000), ((0, 0, 1), (1, 0, 1)), False))
