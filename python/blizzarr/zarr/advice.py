"""Errors about names of zarr-python that are not here, with advice."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

_V2: Final = "it was removed in zarr-python 3"
_ENGINE: Final = "there is one engine, which runs all codecs; its settings are blizzarr.config"
_NUMPY: Final = "elements are read into arrays of NumPy only"
INSTEAD: Final = {
    "ABSStore": "pass the URL, or blizzarr.stores.ObjectStore",
    "ConsolidatedMetadataStore": _V2,
    "DirectoryStore": "use LocalStore, or pass the path",
    "FSStore": "use FsspecStore, or pass the URL",
    "GpuMemoryStore": f"{_NUMPY}; use MemoryStore",
    "KVStore": "pass the mapping in place of the store",
    "LRUStoreCache": "use blizzarr.CachePool, and cached() of the array or group of blizzarr",
    "N5Store": "pass the path to blizzarr.open",
    "NestedDirectoryStore": "use LocalStore, or pass the path",
    "ProcessSynchronizer": "leave it out: writers of one chunk wait for each other anyway",
    "TempStore": "pass the path of a temporary directory",
    "ThreadSynchronizer": "leave it out: writers of one chunk wait for each other anyway",
    "ManagedMemoryStore": "use MemoryStore, and pass the store itself in the place of its URL",
    **dict.fromkeys(("BatchedCodecPipeline", "CodecPipeline", "FusedCodecPipeline", "SupportsSyncCodec"), _ENGINE),
    **dict.fromkeys(("ArrayBytesCodecPartialDecodeMixin", "ArrayBytesCodecPartialEncodeMixin"), _ENGINE),
    **dict.fromkeys(("get_pipeline_class", "register_pipeline"), _ENGINE),
    **dict.fromkeys(("cpu", "gpu", "register_buffer", "register_ndbuffer"), _NUMPY),
    "get_chunk_key_encoding_class": "use blizzarr.model.chunk_keys",
    "register_chunk_key_encoding": "use blizzarr.register_chunk_key_encoding",
    "StoreTests": "use blizzarr.testing.stores.StoreContract",
    "assert_bytes_equal": "compare their to_bytes()",
    "zarr.experimental.cache_store": "use blizzarr.CachePool, and cached() of the array or group of blizzarr",
    "zarr.core.codec_pipeline": _ENGINE,
    "copy_all": "use blizzarr.copy",
    "copy_store": "use blizzarr.copy",
}


def missing(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module (PEP 562), which raises the error about a name that is not there.

    >>> missing("blizzarr.zarr.storage")("FSStore")
    Traceback (most recent call last):
    ...
    AttributeError: module 'blizzarr.zarr.storage' has no attribute 'FSStore'; use FsspecStore, or pass the URL
    """

    def get(name: str) -> Any:
        text = f"module {module!r} has no attribute {name!r}"
        if name in INSTEAD:
            raise AttributeError(f"{text}; {INSTEAD[name]}")  # without `name`, by which Python would propose another
        if not name.startswith("__"):
            text = f"{text}; it is not among the names of zarr-python that are here"
        raise AttributeError(text, name=name, obj=sys.modules.get(module))

    return get


def advise(*modules: ModuleType) -> None:
    """Have modules raise the error about names that are not there."""
    for module in modules:
        vars(module)["__getattr__"] = missing(module.__name__)


def missing_attribute(owner: Any, name: str) -> AttributeError:
    """Make the error about an attribute that an array or a group does not have."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    there = hasattr(type(owner.engine), name)
    return AttributeError(f"{text}; blizzarr's has, see .engine" if there else text, name=name, obj=owner)
