"""Chunk key encodings beside those of the specification: ``fanout``, two with an ending, and those of others.

The engine gives chunks the default keys, and a store between it and that of the array renames them. So such an encoding
is a storage transformer for the rest of this library; documents name it as the encoding that it is.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final, NoReturn

from blizzarr.errors import MetadataError, PathError, Problem
from blizzarr.open_table import OpenTable
from blizzarr.stores import Store
from blizzarr.stores.keys import is_key
from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.base import StorageTransformer
from blizzarr.transformers.renaming import RenamingStore


class ChunkKeyEncoding(StorageTransformer):
    """The base class of chunk key encodings that users write; the fields of a frozen dataclass are the options.

    A subclass has the `name` that documents have, and both methods. Several threads call them at once. The keys of an
    array must differ from ``zarr.json``, and lead back to their positions; a wrong one is an error where it is used.

    Examples
    --------
    >>> import blizzarr
    >>> class Backwards(ChunkKeyEncoding):
    ...     name = "example.backwards"
    ...     def encode(self, position): return "-".join(map(str, reversed(position)))
    ...     def decode(self, key): return tuple(int(part) for part in reversed(key.split("-")))
    >>> _ = blizzarr.register_chunk_key_encoding(Backwards)
    >>> store = {}
    >>> array = blizzarr.create_array(
    ...     store, data=[[1, 2], [3, 4]], chunks=(1, 2), chunk_key_encoding="example.backwards"
    ... )
    >>> sorted(store), blizzarr.open(store)[:].tolist()
    (['0-0', '0-1', 'zarr.json'], [[1, 2], [3, 4]])
    """

    __slots__ = ()

    @abstractmethod
    def encode(self, position: tuple[int, ...]) -> str:
        """Return the key of the chunk at a position in the grid, relative to the array."""

    @abstractmethod
    def decode(self, key: str) -> tuple[int, ...] | None:
        """Return the position of the chunk with a key; None, or a `ValueError`, if it is the key of no chunk."""

    def wrap(self, store: Store, keys: ArrayKeys) -> _EncodedKeys:
        return _EncodedKeys(store, keys, self)

    def to_draft(self) -> NoReturn:
        """Refuse the draft, whose keys are always the same.

        Always raise `MetadataError`.
        """
        raise MetadataError(problems=[Problem("chunk_key_encoding", "one that the draft of v3 has", self.name)])


class _EncodedKeys(RenamingStore):
    """The store that has chunks under the keys of an encoding."""

    def __init__(self, store: Store, keys: ArrayKeys, encoding: ChunkKeyEncoding) -> None:
        super().__init__(store, keys)
        self._encoding = encoding

    def stored(self, name: str) -> str:
        position = self.keys.position(self.keys.prefix + name)
        assert position is not None, "as it is the name of a chunk"
        try:
            key = self._encoding.encode(position)
        except Exception as error:
            raise PathError(
                f"the chunk key encoding {self._encoding.name} has no key for {position}: {error!r}"
            ) from error
        if not isinstance(key, str) or not is_key(key) or key == "zarr.json":
            raise PathError(f"expected a key from the chunk key encoding {self._encoding.name}, found {key!r}")
        if (decoded := self._position(key)) != position:  # else two chunks might be one, or some never found again
            raise PathError(
                f"expected that the chunk key encoding {self._encoding.name} decodes {key!r} to {position}, "
                f"found {decoded}"
            )
        return key

    def original(self, name: str) -> str | None:
        position = self._position(name)
        if position is None or len(position) != self.keys.rank or any(index < 0 for index in position):
            return None
        return self.keys.name(position)

    def _position(self, name: str) -> tuple[int, ...] | None:
        """Return the position of a chunk; None for a name that is no key of one."""
        try:
            if not self.keys.rank:  # v2 has a key for it that is another chunk's in an array with dimensions
                return () if name == self._encoding.encode(()) else None
            position = self._encoding.decode(name)
            return None if position is None else tuple(position)
        except ValueError:
            return None
        except Exception as error:
            raise PathError(
                f"the chunk key encoding {self._encoding.name} cannot decode {name!r}: {error!r}"
            ) from error


KEY_ENCODINGS: Final = OpenTable[type[ChunkKeyEncoding]](
    "blizzarr.chunk_key_encodings",
    {
        "fanout": "blizzarr.transformers.fanout:Fanout",
        "suffix": "blizzarr.transformers.suffix:Suffix",
        "zarrs.default_suffix": "blizzarr.transformers.suffix:DefaultSuffix",
    },
)
"""The chunk key encodings by name, but for those of the specification."""


def encoding_of(transformers: tuple[Any, ...]) -> ChunkKeyEncoding | None:
    """Return the chunk key encoding among the storage transformers of an array; None for one of the specification."""
    return next((item for item in transformers if isinstance(item, ChunkKeyEncoding)), None)
