"""Chunks spread over hashed sub-directories, for arrays of more chunks than one directory should hold.

The chunk ``c1/0`` of the array with the prefix ``data/foo/`` is stored under ``data/foo/00/a0/c1.0``: the array's
prefix, `levels` directories, and the name of the chunk with dots in place of slashes, so that there are no directories
but these. Their names are `width` digits each, taken from the front of the CRC-32 (as in zlib, gzip and PNG) of that
name with dots, in lower-case hexadecimal with eight digits, most significant first:

>>> import zlib
>>> f"{zlib.crc32(b'c1.0'):08x}"
'00a031d6'

Nothing else is stored: the array knows the separator of its chunk keys. All other keys are unchanged.

ZEP 1 names this use of storage transformers: https://github.com/zarr-developers/zarr-specs/issues/115
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from zlib import crc32

from blizzarr import _native
from blizzarr.problems import MISSING, Problems
from blizzarr.stores import Store
from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.base import StorageTransformer
from blizzarr.transformers.renaming import RenamingStore

_DIGITS: Final = 8
"""The number of hexadecimal digits of a CRC-32."""


@dataclass(frozen=True, slots=True)
class HashedTransformer(StorageTransformer):
    """A transformer that stores chunks in sub-directories named by a hash: `levels` levels, of `width` digits each.

    A directory has up to 16 to the power of `width` sub-directories on each level, and the chunks are spread evenly: by
    default over 65,536 directories.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> memory = MemoryStore()
    >>> store = HashedTransformer(levels=2).wrap(memory, ArrayKeys("data/foo/", "c", "/", "c", 2))
    >>> store.set("data/foo/c1/0", b"chunk")
    >>> list(memory.list()), list(store.list())
    (['data/foo/00/a0/c1.0'], ['data/foo/c1/0'])
    """

    name: ClassVar[str] = "blizzarr.hashed"
    extension: ClassVar[str] = "https://purl.org/blizzarr/storage-transformers/hashed/1.0"
    type: ClassVar[str] = "crc32"
    once: ClassVar[bool] = True

    levels: int = 2
    width: int = 2

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        levels, width = (_count(configuration, option, path, problems) for option in ("levels", "width"))
        if levels * width > _DIGITS:
            problems.add(f"{path}.configuration", f"levels and width whose product is at most {_DIGITS}", configuration)

    def wrap(self, store: Store, keys: ArrayKeys) -> HashedStore:
        return HashedStore(store, keys, self.levels, self.width)


class HashedStore(RenamingStore):
    """The store that `HashedTransformer` wraps around another."""

    def __init__(self, store: Store, keys: ArrayKeys, levels: int, width: int) -> None:
        super().__init__(store, keys)
        self.levels, self.width = levels, width
        self._cuts = [slice(level * width, (level + 1) * width) for level in range(levels)]
        self._added = levels * (width + 1)

    def stored(self, name: str) -> str:
        dotted = name.replace("/", ".")
        digits = f"{crc32(dotted.encode()):08x}"
        return "/".join([*[digits[cut] for cut in self._cuts], dotted])

    def original(self, name: str) -> str:
        dotted = name[self._added :]
        return dotted.replace(".", "/") if self.keys.separator == "/" else dotted

    def _renamed(self, inner: _native.NativeStore) -> _native.RenamedStore:
        return _native.RenamedStore.hashed(inner, self.keys.prefix, self.levels, self.width)


def _count(configuration: Mapping[str, Any], option: str, path: str, problems: Problems) -> int:
    value = configuration.get(option, MISSING)
    if type(value) is int and 1 <= value <= _DIGITS:
        return value
    problems.add(f"{path}.configuration.{option}", f"an integer in [1, {_DIGITS}]", value)
    return 0
