"""The table of chunk grids: of each name in documents of v3 the class, with its configuration read and written."""

from __future__ import annotations

from typing import Final

from blizzarr.lazy_imports import LazyTable
from blizzarr.model.chunk_grid import ChunkGrid

CHUNK_GRIDS: Final = LazyTable[type[ChunkGrid]](
    {
        "regular": "blizzarr.model.chunk_grid:RegularGrid",
        "rectilinear": "blizzarr.model.rectilinear_grid:RectilinearGrid",
    }
)
