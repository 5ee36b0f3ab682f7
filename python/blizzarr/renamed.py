"""Names that programs written for zarr-python use, or that users of xarray and Dask expect, and what to use here.

They are looked up only when a name is not found, so that ``import blizzarr as zarr`` ends in advice where it cannot
end in the thing itself. `docs/coming-from-zarr-python.md` has the same names for reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SYNCHRONIZED: Final = "leave it out: writers of one chunk wait for each other anyway"
_PATH: Final = "pass the path in place of a store"
_ANY_STORE: Final = "pass a mutable mapping, or an object with the methods of a store"
_SYNCHRONOUS: Final = "there are no asynchronous twins: calls use all cores, and return when they are done"
_WALK: Final = "use walk(), which iterates over paths and nodes"
_MOVE: Final = "use blizzarr.copy, then del group[name]"
_REMOVE: Final = "use del group[name]"
_REMOVE_NODE: Final = "use del group[name], or in the shell: blizzarr rm"
_STORE: Final = "use blizzarr.stores, or pass the path or URL in place of a store"
_REFRESH: Final = "leave it out: refresh() reads the metadata again"
_NUMCODECS: Final = (
    "use blizzarr.codecs (BloscCodec, GzipCodec, ZlibCodec, ZstdCodec, ...), a codec of numcodecs, or its document in "
    "v2, like {'id': 'lz4'}"
)
_NOT_FOUND: Final = "use NodeNotFoundError"
_EXISTS: Final = "use NodeExistsError, or NodeTypeError where a node of the other kind was opened"
_COPY: Final = "use blizzarr.copy, which takes chunks=, shards= and zarr_format="
_CHECK: Final = "use check, which also takes repair=True"
_XARRAY: Final = 'use xarray.open_dataset(path, engine="blizzarr")'
_READ: Final = "read elements with array[...]"
_ONE_ENGINE: Final = "leave it out: there is one engine, whose settings are blizzarr.config"

MODULE: Final[Mapping[str, str]] = {
    "AsyncArray": _SYNCHRONOUS,
    "AsyncGroup": _SYNCHRONOUS,
    "Blosc": "use blizzarr.codecs.BloscCodec, or numcodecs.Blosc",
    "DirectoryStore": _PATH,
    "FSStore": _ANY_STORE,
    "FsspecStore": _STORE,
    "LRUStoreCache": "use CachePool, and cached() of the array or group",
    "LocalStore": _STORE,
    "MemoryStore": "use blizzarr.stores.MemoryStore, or a dict",
    "N5Store": "pass the path of the N5 dataset; zarr_format='n5' creates one",
    "NestedDirectoryStore": _PATH,
    "ObjectStore": _STORE,
    "ProcessSynchronizer": _SYNCHRONIZED,
    "TempStore": "pass the path of a temporary directory",
    "ThreadSynchronizer": _SYNCHRONIZED,
    "ZipStore": "pass the path of the zip file, or use blizzarr.stores.ZipStore",
    "convert": _COPY,
    "copy_all": "use copy",
    "copy_store": "use copy",
    "create_hierarchy": "use create_group, then create_array and create_group of the group",
    "delete": _REMOVE_NODE,
    "dtype": "use blizzarr.dtypes",
    "experimental": "for a cache use CachePool, and cached() of the array or group",
    "from_array": "use copy(array, store), which works part by part, or create_array(store, data=array)",
    "info": "use info of an array or group, like open(path).info",
    "ls": "use tree, or list(group)",
    "move": _MOVE,
    "open_dataset": _XARRAY,
    "open_like": "use open_array with the shape, chunks and dtype of the other array",
    "open_zarr": _XARRAY,
    "print_debug_info": "use blizzarr.__version__",
    "read": "use load, which reads whole arrays, or open, then array[...]",
    "rechunk": _COPY,
    "registry": "use blizzarr.codecs",
    "remove": _REMOVE_NODE,
    "rename": _MOVE,
    "repair": _CHECK,
    "rm": _REMOVE_NODE,
    "savez": "use save(path, **arrays)",
    "storage": "use blizzarr.stores, or pass a path in place of a store",
    "to_zarr": "use blizzarr.xarray.to_zarr for datasets, and blizzarr.dask.to_zarr for arrays of Dask",
    "validate": _CHECK,
    "verify": _CHECK,
}
"""Names of the module ``zarr``, in zarr-python 2 or 3, and of functions that others have."""

_MODULES: Final = ("caching", "dask", "for_zarr", "tensorstore", "testing", "transformers", "xarray", "zarr")
"""Public modules that are not imported with the package."""

GROUP: Final[Mapping[str, str]] = {
    "attributes": "use attrs",
    "array": "use create_array(name, data=...)",
    "clear": _REMOVE,
    "consolidate": "use blizzarr.consolidate_metadata(group)",
    "copy": _COPY,
    "create": "use create_array",
    "create_dataset": "use create_array",
    "create_hierarchy": "use create_group and create_array",
    "delete": _REMOVE,
    "from_store": "use blizzarr.create_group",
    "get_array": "use group[name]",
    "get_group": "use group[name]",
    "glob": _WALK,
    "info_complete": "use info",
    "move": _MOVE,
    "pop": _REMOVE,
    "popitem": _REMOVE,
    "remove": _REMOVE,
    "rename": _MOVE,
    "require_dataset": "use require_array",
    "store_path": "use store and path",
    "synchronizer": _SYNCHRONIZED,
    "update": "use group[name] = array, or attrs.update",
    "update_attributes_async": "use update_attributes",
    "visit": _WALK,
    "visititems": _WALK,
    "visitkeys": _WALK,
    "visitvalues": _WALK,
    "zarr_format": "use metadata.format",
}
"""Attributes of ``zarr.Group``."""

ARRAY: Final[Mapping[str, str]] = {
    "async_array": _SYNCHRONOUS,
    "attributes": "use attrs",
    "chunk_store": "use store",
    "codecs": "use filters, serializer and compressors, or metadata.codecs",
    "compressor": "use compressors",
    "compute": _READ,
    "copy": _COPY,
    "config": "use blizzarr.config, which is for all arrays",
    "dimensions": "use dimension_names",
    "dims": "use dimension_names",
    "flush": "leave it out: elements are stored when the assignment returns",
    "hexdigest": "use blizzarr.check(array, record=...), which records checksums",
    "info_items": "use info",
    "isel": _XARRAY,
    "plot": "use blizzarr.show(array)",
    "read": _READ,
    "rechunk": _COPY,
    "sel": _XARRAY,
    "show": "use blizzarr.show(array)",
    "store_path": "use store and path",
    "synchronizer": _SYNCHRONIZED,
    "to_dask": "use blizzarr.dask.from_zarr(array)",
    "to_numpy": _READ,
    "values": _READ,
    "with_config": "use blizzarr.config.set, which is for all arrays",
    "zarr_format": "use metadata.format",
}
"""Attributes of ``zarr.Array``, and of arrays of xarray and Dask."""

METADATA: Final[Mapping[str, str]] = {
    "chunk_key_encoding": "use chunk_keys",
    "chunks": "use chunk_shape",
    "compressor": "use compressors of the array",
    "compressors": "use compressors of the array",
    "consolidated_metadata": "use consolidated",
    "data_type": "use dtype",
    "filters": "use filters of the array",
    "to_dict": "read the document from the store: json.loads(store.get(key))",
    "zarr_format": "use format",
}
"""Attributes of ``zarr.Array.metadata`` and ``zarr.Group.metadata``."""

ERRORS: Final[Mapping[str, str]] = {
    "ArrayIndexError": "use SelectionError",
    "BaseZarrError": "use BlizzarrError",
    "BoundsCheckError": "use OutOfBoundsError",
    "ContainsArrayAndGroupError": _EXISTS,
    "ContainsArrayError": _EXISTS,
    "ContainsGroupError": _EXISTS,
    "GroupNotFoundError": _NOT_FOUND,
    "MetadataValidationError": "use MetadataError",
    "NegativeStepError": "leave it out: steps may be negative",
    "NodeTypeValidationError": "use NodeTypeError",
    "PathNotFoundError": _NOT_FOUND,
    "ReadOnlyStoreError": "use ReadOnlyError",
    "UnknownCodecError": "use UnknownExtensionError",
    "VindexInvalidSelectionError": "use SelectionError",
}
"""Names of the module ``zarr.errors``."""

CODECS: Final[Mapping[str, str]] = {
    "BloscCname": "use a string like 'zstd'",
    "BloscShuffle": "use 'noshuffle', 'shuffle' or 'bitshuffle'",
    "Endian": "use 'little' or 'big'",
    "ShardingCodecIndexLocation": "use 'start' or 'end'",
    "VLenBytesCodec": "use VlenBytesCodec",
    "VLenUTF8Codec": "use VlenUtf8Codec",
    "register_codec": "use blizzarr.register_codec",
} | dict.fromkeys(
    (
        *("Adler32", "AsType", "BZ2", "BitRound", "Blosc", "CRC32", "CRC32C", "Delta", "FixedScaleOffset"),
        *("Fletcher32", "GZip", "JenkinsLookup3", "LZ4", "LZMA", "PCodec", "PackBits", "Quantize", "Shuffle"),
        *("ZFPY", "Zlib", "Zstd"),
    ),
    _NUMCODECS,
)
"""Names of the modules ``zarr.codecs`` and ``zarr.codecs.numcodecs``."""

STORES: Final[Mapping[str, str]] = {
    "DirectoryStore": _PATH,
    "FSStore": _ANY_STORE,
    "KVStore": "pass the mapping in place of a store",
    "LRUStoreCache": "use blizzarr.CachePool, and cached() of the array or group",
    "LoggingStore": "derive from StoreWrapper",
    "ManagedMemoryStore": 'pass "memory://name" in place of a store',
    "NestedDirectoryStore": _PATH,
    "RemoteStore": _ANY_STORE,
    "StorePath": "pass the store, and the path as path= or name=",
    "WrapperStore": "use StoreWrapper",
}
"""Names of the module ``zarr.storage``."""

CONFIG: Final[Mapping[str, str]] = dict.fromkeys(
    ("defaults", "enable_gpu", "get", "pprint", "refresh", "reset", "to_dict", "update"),
    "settings are attributes, like config.threads; print(config) shows all of them",
)
"""Attributes of ``zarr.config``."""

SETTINGS: Final[Mapping[str, str]] = {
    "array.order": "leave it out: elements are read in C order; out= of get_basic_selection takes arrays of any order",
    "array.read_missing_chunks": "leave it out: missing chunks read as the fill value",
    "array.target_shard_size_bytes": "use shard_bytes",
    "array.write_empty_chunks": "use write_empty_chunks",
    "async.concurrency": "use threads",
    "async.timeout": "leave it out: there is no timeout",
    "codec_pipeline.batch_size": _ONE_ENGINE,
    "codec_pipeline.max_workers": "use threads",
    "codec_pipeline.path": _ONE_ENGINE,
    "default_zarr_format": "pass zarr_format=",
    "threading.max_workers": "use threads",
}
"""Keys of ``zarr.config``."""

ARRAY_KEYWORDS: Final[Mapping[str, str]] = {
    "chunk_shape": "use chunks=",
    "compression": "use compressors=",
    "compressor": "use compressors=",
    "dims": "use dimension_names=",
    "dimension_separator": 'use chunk_key_encoding=("v2", "/")',
    "object_codec": "use serializer=",
    "path": "use name=",
    "config": "use blizzarr.config.set, like write_empty_chunks=True",
    "mode": "use overwrite=True, or open and open_array, which have modes",
    "read_only": "use open_array with mode='r'",
    "write_data": "leave out data=, and pass its shape and dtype",
    "write_empty_chunks": "use blizzarr.config.set(write_empty_chunks=True)",
}
"""Keywords of the functions of zarr-python that create arrays."""

STORE_KEYWORDS: Final[Mapping[str, str]] = {
    "cache_attrs": _REFRESH,
    "cache_metadata": _REFRESH,
    "chunk_store": "leave it out: chunks are in the store of their metadata",
    "meta_array": "leave it out: elements are read into arrays of NumPy",
    "storage_options": "pass FsspecStore.from_url(url, storage_options) or ObjectStore.from_url(url, ...) as the store",
    "synchronizer": _SYNCHRONIZED,
    "zarr_version": "use zarr_format=",
}
"""Keywords of most functions of zarr-python."""

ENCODINGS: Final[Mapping[str, str]] = {
    "blosc": "use compressors",
    "chunk": "use chunks",
    "chunksizes": "use chunks",
    "complevel": "use compressors, like blizzarr.codecs.GzipCodec(level=4)",
    "compression": "use compressors",
    "compression_opts": "use compressors, like blizzarr.codecs.GzipCodec(level=4)",
    "compressor": "use compressors",
    "contiguous": "leave it out",
    "shard": "use shards",
    "shuffle": "use compressors, like blizzarr.codecs.BloscCodec(shuffle='shuffle')",
    "zlib": "use compressors='gzip'",
}
"""Encodings of netCDF and of older releases of xarray, which xarray refuses for Zarr."""


def no_attribute(owner: object, shown: str, name: str, instead: Mapping[str, str]) -> AttributeError:
    """Make the error about an attribute that `owner`, which is `shown` like that in the text, does not have.

    >>> no_attribute(None, "'Array' object", "compressor", ARRAY)
    AttributeError("'Array' object has no attribute 'compressor'; use compressors")
    """
    text = f"{shown} has no attribute {name!r}"
    if name in instead:
        text += f"; {instead[name]}"
    elif instead is MODULE and name in _MODULES:
        text += f"; import it first, with import blizzarr.{name}"
    return AttributeError(text, name=name, obj=owner)
