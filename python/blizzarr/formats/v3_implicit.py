"""Implicit groups of Zarr v3, which the specification had until April 2024.

https://github.com/zarr-developers/zarr-specs/pull/292

Zarr v3 has none any more: a path without a document is not listed in a group, and nothing below it is found. Only if
such a path is opened itself, and there is a node somewhere below it, it is read as a group, with a warning, and so are
the paths in it that lead to nodes. Its format is `TAG`; nodes that are created in it have plain v3.
"""

from __future__ import annotations

from typing import ClassVar, Final

from blizzarr.formats.v3 import V3Format

TAG: Final = "v3_implicit"
"""The value of `GroupMeta.format` for such a group."""


class _V3Implicit(V3Format):
    """The format of hierarchies with such groups."""

    implicit_groups: ClassVar[bool] = True


V3_IMPLICIT: Final = _V3Implicit()
