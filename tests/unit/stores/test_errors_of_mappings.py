"""What a mapping of the user's own raises, while the engine reads or writes its chunks."""

from __future__ import annotations

import pytest

from blizzarr.api import create_array
from blizzarr.errors import LimitError


class Full(dict[str, bytes]):
    """There is no memory for chunks."""

    full = False

    def __getitem__(self, key: str) -> bytes:
        if self.full and key.startswith("c/"):
            raise MemoryError("full")
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: bytes) -> None:
        if self.full and key.startswith("c/"):
            raise MemoryError("full")
        super().__setitem__(key, value)


def test_short_memory_is_no_failure_of_the_store() -> None:
    """It is an error of the class that callers catch for it, with the place."""
    store = Full()
    array = create_array(store, data=range(6), chunks=2)
    store.full = True
    with pytest.raises(LimitError, match="full") as read:
        array[:]
    with pytest.raises(LimitError, match="full") as written:
        array[:] = 1
    assert (read.value.key, type(read.value.__cause__)) == ("c/0", MemoryError)
    assert isinstance(written.value, MemoryError)
    store.full = False
    assert array[:].tolist() == list(range(6))
