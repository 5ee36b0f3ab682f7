"""Groups of Zarr v3 without a document, which there were until April 2024.

https://github.com/zarr-developers/zarr-specs/pull/292

Zarr v3 has none any more: what has no document is not listed in a group, and nothing is looked for below it. Only when
somebody opens such a place itself, and there is a node somewhere below it, it is a group, with a warning, and so is all
that leads to nodes in it. Its format is `TAG`, for which this one stands; what is made in it is plain v3.
"""

from __future__ import annotations

from typing import ClassVar, Final

from blizzarr.formats.v3 import V3Format

__all__ = ["TAG", "V3_IMPLICIT"]

TAG: Final = "v3_implicit"
"""What `GroupMeta.format` says of such a group."""


class _V3Implicit(V3Format):
    """Where there may be such groups."""

    implicit_groups: ClassVar[bool] = True


V3_IMPLICIT: Final = _V3Implicit()
