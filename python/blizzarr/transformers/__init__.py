"""Storage transformers, which change the keys and bytes of chunks between an array and its store.

- `StorageTransformer` is the base class; `register` makes a subclass known by its name;
- `ChunkKeyEncoding` is the base class of chunk key encodings of other packages;
- `HashedTransformer` spreads chunks over sub-directories; `ShardingTransformer` is the one of the draft of Zarr v3;
- `StoreInterface` gives any of our stores the abstract store interface of that draft.
"""

from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.base import StorageTransformer, wrap
from blizzarr.transformers.encoding import EncodingStore
from blizzarr.transformers.hashed import HashedTransformer
from blizzarr.transformers.key_encoding import KEY_ENCODINGS, ChunkKeyEncoding, encoding_of
from blizzarr.transformers.registry import MAX_TRANSFORMERS, decode, decode_draft, register, transformers_of
from blizzarr.transformers.renaming import RenamingStore, original_key, stored_key
from blizzarr.transformers.sharded import ShardingTransformer
from blizzarr.transformers.store_interface import (
    KeyRange,
    KeyStartValue,
    PartialAccessStore,
    StoreInterface,
    StoreWithPartialAccess,
)

__all__ = [
    "KEY_ENCODINGS",
    "MAX_TRANSFORMERS",
    "ArrayKeys",
    "ChunkKeyEncoding",
    "EncodingStore",
    "HashedTransformer",
    "KeyRange",
    "KeyStartValue",
    "PartialAccessStore",
    "RenamingStore",
    "ShardingTransformer",
    "StorageTransformer",
    "StoreInterface",
    "StoreWithPartialAccess",
    "decode",
    "decode_draft",
    "encoding_of",
    "original_key",
    "register",
    "stored_key",
    "transformers_of",
    "wrap",
]
