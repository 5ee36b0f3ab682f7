"""The metadata of nodes, whatever format they are stored in.

`ArrayMeta` and `GroupMeta` are the model that all formats translate into; a `ChunkGrid` and `ChunkKeys` are parts of
it. Nothing here knows format versions; `CHUNK_GRIDS` has the chunk grids of v3 by name.
"""

from blizzarr.model.array_meta import ArrayMeta
from blizzarr.model.chunk_grid import ChunkGrid, RegularGrid
from blizzarr.model.chunk_keys import ChunkKeys
from blizzarr.model.group_meta import GroupMeta

__all__ = ["ArrayMeta", "ChunkGrid", "ChunkKeys", "GroupMeta", "RegularGrid"]
