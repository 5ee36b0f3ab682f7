"""What a spec may demand of the metadata of stored arrays: one engine, and a table of members for each driver."""

from __future__ import annotations

from typing import Final

from blizzarr.lazy_imports import LazyTable
from blizzarr.spec.metadata.interface import MetadataConstraints

METADATA: Final = LazyTable[type[MetadataConstraints]](
    {
        "zarr3": "blizzarr.spec.metadata.zarr3:Zarr3Constraints",
        "zarr": "blizzarr.spec.metadata.zarr2:ZarrConstraints",
        "n5": "blizzarr.spec.metadata.n5:N5Constraints",
        "zarr3_draft": "blizzarr.spec.metadata.older:DraftConstraints",
    }
)
"""The classes of the constraints on metadata, of drivers whose constraints are not simply members of documents."""
