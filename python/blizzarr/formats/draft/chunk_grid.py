"""The chunk grid in documents of the draft: regular, with the separator of chunk keys.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#chunk-grids
"""

from __future__ import annotations

from typing import Any, NamedTuple

from blizzarr.dtypes import DataType
from blizzarr.formats.draft.extension import extension_point, unknown_members
from blizzarr.model.shapes import chunk_shape
from blizzarr.problems import MISSING, Problems


class Grid(NamedTuple):
    """The shape of chunks, and the separator of the indices in their keys."""

    chunk_shape: tuple[int, ...]
    separator: str


def decode(value: Any, shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems) -> Grid | None:
    """Decode the chunk grid of a document; `None` if a problem was added.

    A chunk length of 0 is allowed along axes of length 0; it becomes 1, so that the grid has a shape.
    """
    path = "chunk_grid"
    if type(value) is not dict:
        problems.add(path, "an object with type, chunk_shape and separator", value)
        return None
    if "extension" in value:
        extension_point(value, path, problems, "chunk grid")
        return None
    before = len(problems.items)
    if value.get("type") != "regular":
        problems.add(f"{path}.type", '"regular", or an extension', value.get("type", MISSING))
    separator = value.get("separator", "/")
    if separator not in ("/", "."):
        problems.add(f"{path}.separator", '"/" or "."', separator)
    unknown_members(value, ("type", "chunk_shape", "separator"), problems, path)
    lengths_read = chunk_shape(value.get("chunk_shape", MISSING), f"{path}.chunk_shape", shape, dtype, problems)
    return Grid(lengths_read, separator) if lengths_read is not None and len(problems.items) == before else None


def encode(grid: Grid) -> dict[str, Any]:
    """Encode a chunk grid."""
    return {"type": "regular", "chunk_shape": list(grid.chunk_shape), "separator": grid.separator}
