"""Names of nodes and documents in Zarr v2.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#logical-storage-paths
"""

from __future__ import annotations

from typing import Final

from blizzarr.model.names import unusable

ARRAY: Final = ".zarray"
GROUP: Final = ".zgroup"
ATTRIBUTES: Final = ".zattrs"
CONSOLIDATED: Final = ".zmetadata"
"""Consolidated metadata, which are not in the specification; zarr-python, GDAL, NCZarr and xarray use them."""
DOCUMENTS: Final = (ARRAY, GROUP, ATTRIBUTES, CONSOLIDATED)
"""The last part of the key of each document that a node may have."""


def name_problem(name: str) -> str | None:
    """Return the rule that a node name breaks; `None` if it is valid.

    Unlike in v3, a name may begin with two underscores, or consist of three dots.

    >>> name_problem("__x"), name_problem("..")
    (None, "a name may not be '.' or '..'")
    """
    return unusable(name, DOCUMENTS)
