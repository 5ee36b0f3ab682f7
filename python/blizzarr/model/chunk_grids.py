"""The table of chunk grids: of each name in documents of v3 the class, with its configuration read and written."""

from __future__ import annotations

from typing import Final

from blizzarr.model.chunk_grid import ChunkGrid
from blizzarr.open_table import OpenTable

CHUNK_GRIDS: Final = OpenTable[type[ChunkGrid]](
    "blizzarr.chunk_grids",
    {
        "regular": "blizzarr.model.chunk_grid:RegularGrid",
        "zarrs.regular_bounded": "blizzarr.model.chunk_grid:RegularBoundedGrid",
        "rectilinear": "blizzarr.model.rectilinear_grid:RectilinearGrid",
        "rectangular": "blizzarr.model.rectilinear_grid:RectangularGrid",
    },
)
