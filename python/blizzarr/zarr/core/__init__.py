"""The module ``zarr.core``: the names within it that other packages import, although they are not public."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Final

from blizzarr.zarr import buffer, dtype
from blizzarr.zarr.advice import missing

__all__: list[str] = []

_HERE: Final = "blizzarr.zarr."

_NAMES: Final = {
    "array": {
        "array": "Array",
        "awaitable": "AsyncArray",
        "arguments": "DEFAULT_FILL_VALUE ArrayConfig",
        "api.asynchronous": "create_array from_array",
        "names": "CompressorLike CompressorsLike FiltersLike SerializerLike ShardsLike",
    },
    "array_spec": {"arguments": "ArrayConfig ArraySpec"},
    "attributes": {"node": "Attributes"},
    "buffer": {"buffer": " ".join(buffer.__all__)},
    "buffer.core": {"buffer": " ".join(buffer.__all__)},
    "buffer.cpu": {"buffer": "Buffer NDBuffer buffer_prototype numpy_buffer_prototype"},
    "chunk_grids": {"metadata": "RegularChunkGrid"},
    "chunk_key_encodings": {"metadata": "ChunkKeyEncoding DefaultChunkKeyEncoding V2ChunkKeyEncoding"},
    "common": {
        "names": "JSON AccessModeLiteral BytesLike ChunksLike DimensionNamesLike MemoryOrder ShapeLike ZarrFormat "
        "ceildiv parse_named_configuration product"
    },
    "config": {"config": "BadConfigError Config config"},
    "dtype": {"dtype": " ".join(dtype.__all__)},
    "dtype.common": {"errors": "UnstableSpecificationWarning"},
    "group": {
        "group": "Group",
        "awaitable": "AsyncGroup",
        "metadata": "ConsolidatedMetadata GroupMetadata",
        "functions": "create_hierarchy",
    },
    "indexing": {"array": "Selector", "awaitable": "AsyncOIndex AsyncVIndex", "keys": "BasicIndexer"},
    "metadata": {"metadata": "ArrayV2Metadata ArrayV3Metadata"},
    "metadata.v2": {"metadata": "ArrayV2Metadata"},
    "metadata.v3": {"metadata": "ArrayV3Metadata RectilinearChunkGridMetadata"},
    "sync": {"sync": "SyncError SyncMixin sync"},
    "_info": {"info": "ArrayInfo GroupInfo"},
}
"""The names of each module by the module of this package that has them."""


class _Names(ModuleType):
    """A module that finds its names in other modules."""

    def __getattr__(self, name: str) -> object:
        for module, names in _NAMES[self.__name__.removeprefix(f"{__name__}.")].items():
            if name in names.split():
                value: object = getattr(import_module(_HERE + module), name)
                setattr(self, name, value)
                return value
        return missing(self.__name__)(name)

    def __dir__(self) -> list[str]:
        there = " ".join(_NAMES[self.__name__.removeprefix(f"{__name__}.")].values())
        return sorted({*super().__dir__(), *there.split()})


for _path in _NAMES:
    _module = _Names(f"{__name__}.{_path}", "Names of zarr-python.")
    _module.__path__ = []  # a package, if there are modules in it
    sys.modules[_module.__name__] = _module
    _above, _, _name = _module.__name__.rpartition(".")
    setattr(sys.modules[_above], _name, _module)

__getattr__ = missing(__name__)
