"""Stores in which several processes may write parts of one value at the same time."""

from __future__ import annotations

from blizzarr.stores.generation import is_conditional
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import Store
from blizzarr.stores.wrapper import unwrapped


def keeps_all_parts(store: Store) -> bool:
    """Return whether parts of one chunk or shard are all kept, whichever processes write them at the same time.

    They are in directories, by locks; in object stores with conditional writes; and in the memory of this process,
    which no other process can write to. In other stores this holds for the threads of one process only.

    >>> keeps_all_parts(MemoryStore()), keeps_all_parts(LocalStore("/tmp", locking="threads"))
    (True, False)
    """
    bare = unwrapped(store)
    if isinstance(bare, LocalStore):
        return bare.locking == "required"
    if isinstance(bare, MappingStore):
        return type(bare.mapping) is dict
    return isinstance(bare, MemoryStore) or is_conditional(bare)
