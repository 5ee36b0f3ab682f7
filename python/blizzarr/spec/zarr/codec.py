"""The codec of ``zarr`` in a schema: a compressor, none, or nothing said; and filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_values import copied, dump
from blizzarr.spec.members import Members
from blizzarr.spec.zarr.compressor import compressor_json

__all__ = ["ZarrCodec"]


@dataclass(frozen=True, slots=True)
class ZarrCodec:
    """Constraints on compressor and filters."""

    compressor: Mapping[str, Any] | None = None
    has_compressor: bool = False
    """True if a compressor is given, even null."""
    filters: Any = None

    @classmethod
    def take(cls, members: Members) -> ZarrCodec:
        """Parse the members."""
        said = "compressor" in members.left
        compressor = members.take("compressor", compressor_json, None)
        return cls(compressor, said, members.take("filters", lambda value: value, None))

    def merged(self, other: ZarrCodec) -> ZarrCodec:
        """Return the codec with the constraints of both."""
        if self.filters is not None and other.filters is not None and dump(self.filters) != dump(other.filters):
            raise SpecError('"filters" does not match')
        if self.has_compressor and other.has_compressor and self.compressor != other.compressor:
            raise SpecError('"compressor" does not match')
        known = self if self.has_compressor else other
        filters = other.filters if self.filters is None else self.filters
        return ZarrCodec(known.compressor, known.has_compressor, filters)

    def to_json(self) -> dict[str, Any]:
        """Return the filters, null if there are none, and the compressor, if it is given."""
        found: dict[str, Any] = {"filters": copied(self.filters)}
        if self.has_compressor:
            found["compressor"] = copied(self.compressor)
        return found
