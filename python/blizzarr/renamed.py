"""Names that programs written for zarr-python use, and what to use here.

They are looked up only when a name is not found, so that ``import blizzarr as zarr`` ends in advice where it cannot
end in the thing itself. `docs/coming-from-zarr-python.md` has the same names for reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ARRAY", "ARRAY_KEYWORDS", "GROUP", "MODULE", "no_attribute"]

_SYNCHRONIZED: Final = "leave it out: writers of one chunk wait for each other anyway"
_PATH: Final = "pass the path in place of a store"
_ANY_STORE: Final = "pass a mutable mapping, or an object with the methods of a store"
_SYNCHRONOUS: Final = "there are no asynchronous twins: calls use all cores, and return when they are done"
_WALK: Final = "use walk(), which iterates over paths and nodes"

MODULE: Final[Mapping[str, str]] = {
    "AsyncArray": _SYNCHRONOUS,
    "AsyncGroup": _SYNCHRONOUS,
    "Blosc": "use blizzarr.codecs.BloscCodec, or numcodecs.Blosc",
    "DirectoryStore": _PATH,
    "FSStore": _ANY_STORE,
    "LRUStoreCache": "use CachePool, and cached() of the array or group",
    "MemoryStore": "use blizzarr.stores.MemoryStore, or a dict",
    "N5Store": "pass the path of the N5 dataset; zarr_format='n5' creates one",
    "NestedDirectoryStore": _PATH,
    "ProcessSynchronizer": _SYNCHRONIZED,
    "TempStore": "pass the path of a temporary directory",
    "ThreadSynchronizer": _SYNCHRONIZED,
    "ZipStore": "pass the path of the zip file, or use blizzarr.stores.ZipStore",
    "copy_all": "use copy",
    "copy_store": "use copy",
    "create_hierarchy": "use create_group, then create_array and create_group of the group",
    "dtype": "use blizzarr.dtypes",
    "from_array": "use copy(array, store), which works part by part, or create_array(store, data=array)",
    "open_like": "use open_array with the shape, chunks and dtype of the other array",
    "print_debug_info": "use blizzarr.__version__",
    "registry": "use blizzarr.codecs",
    "storage": "use blizzarr.stores, or pass a path in place of a store",
}
"""Names of the module ``zarr``, in zarr-python 2 or 3."""

_MODULES: Final = ("caching", "tensorstore", "testing", "transformers")
"""Public modules that are not imported with the package."""

GROUP: Final[Mapping[str, str]] = {
    "array": "use create_array(name, data=...)",
    "create": "use create_array",
    "create_dataset": "use create_array",
    "create_hierarchy": "use create_group and create_array",
    "require_dataset": "use require_array",
    "store_path": "use store and path",
    "synchronizer": _SYNCHRONIZED,
    "visit": _WALK,
    "visititems": _WALK,
    "visitkeys": _WALK,
    "visitvalues": _WALK,
}
"""Attributes of ``zarr.Group``."""

ARRAY: Final[Mapping[str, str]] = {
    "chunk_store": "use store",
    "compressor": "use compressors",
    "hexdigest": "use blizzarr.check(array, record=...), which records checksums",
    "store_path": "use store and path",
    "synchronizer": _SYNCHRONIZED,
}
"""Attributes of ``zarr.Array``."""

ARRAY_KEYWORDS: Final[Mapping[str, str]] = {
    "chunk_shape": "use chunks=",
    "compression": "use compressors=",
    "compressor": "use compressors=",
    "dimension_separator": 'use chunk_key_encoding=("v2", "/")',
    "object_codec": "use serializer=",
    "synchronizer": _SYNCHRONIZED,
    "write_empty_chunks": "use blizzarr.config.set(write_empty_chunks=True)",
    "zarr_version": "use zarr_format=",
}
"""Keywords of the functions of zarr-python that create arrays."""


def no_attribute(owner: object, shown: str, name: str, instead: Mapping[str, str]) -> AttributeError:
    """Make the error about an attribute that `owner`, which is `shown` like that in the text, does not have.

    Examples
    --------
    >>> no_attribute(None, "'Array' object", "compressor", ARRAY)
    AttributeError("'Array' object has no attribute 'compressor'; use compressors")
    """
    text = f"{shown} has no attribute {name!r}"
    if name in instead:
        text += f"; {instead[name]}"
    elif instead is MODULE and name in _MODULES:
        text += f"; import it first, with import blizzarr.{name}"
    return AttributeError(text, name=name, obj=owner)
