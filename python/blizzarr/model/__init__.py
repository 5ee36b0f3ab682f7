"""What a node is, whatever format it is stored in.

`ArrayMeta` and `GroupMeta` are the one model that all formats translate into; `RegularGrid` and `ChunkKeys` are
its parts. Nothing here knows of JSON or of format versions.
"""

from blizzarr.model.array_meta import MAX_RANK, ArrayMeta
from blizzarr.model.chunk_grid import RegularGrid
from blizzarr.model.chunk_keys import ChunkKeys
from blizzarr.model.group_meta import GroupMeta

__all__ = ["MAX_RANK", "ArrayMeta", "ChunkKeys", "GroupMeta", "RegularGrid"]
