"""The metadata of nodes, whatever format they are stored in.

`ArrayMeta` and `GroupMeta` are the model that all formats translate into; `RegularGrid` and `ChunkKeys` are parts of
it. Nothing here knows JSON or format versions.
"""

from blizzarr.model.array_meta import MAX_RANK, ArrayMeta
from blizzarr.model.chunk_grid import RegularGrid
from blizzarr.model.chunk_keys import ChunkKeys
from blizzarr.model.group_meta import GroupMeta

__all__ = ["MAX_RANK", "ArrayMeta", "ChunkKeys", "GroupMeta", "RegularGrid"]
