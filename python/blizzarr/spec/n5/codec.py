"""The codec of ``n5`` in a schema: a compression, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.spec.members import Members
from blizzarr.spec.n5.compression import compression_json

__all__ = ["N5Codec"]


@dataclass(frozen=True, slots=True)
class N5Codec:
    """Constraints on the compression.

    Examples
    --------
    >>> N5Codec().merged(N5Codec({"type": "raw"})).to_json()
    {'compression': {'type': 'raw'}}
    """

    compression: Mapping[str, Any] | None = None

    @classmethod
    def take(cls, members: Members) -> N5Codec:
        """Parse the members."""
        return cls(members.take("compression", compression_json, None))

    def merged(self, other: N5Codec) -> N5Codec:
        """Return the codec with the constraints of both."""
        if self.compression is None or other.compression is None:
            return self if other.compression is None else other
        if self.compression != other.compression:
            raise SpecError('"compression" does not match')
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the compression, if one is given."""
        return {} if self.compression is None else {"compression": dict(self.compression)}
