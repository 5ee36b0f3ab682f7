"""The codec of ``zarr3`` in a schema: a chain, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blizzarr.spec.members import Members
from blizzarr.spec.zarr3.chain import Chain, chain_from_json

__all__ = ["Zarr3Codec"]


@dataclass(frozen=True, slots=True)
class Zarr3Codec:
    """Constraints on the chain of codecs."""

    codecs: Chain | None = None

    @classmethod
    def take(cls, members: Members) -> Zarr3Codec:
        """Parse the members."""
        return cls(members.take("codecs", chain_from_json, None))

    def merged(self, other: Zarr3Codec) -> Zarr3Codec:
        """Return the codec with the constraints of both."""
        if self.codecs is None or other.codecs is None:
            return self if other.codecs is None else other
        return Zarr3Codec(self.codecs.merged(other.codecs))

    def to_json(self) -> dict[str, Any]:
        """The chain, if there is one."""
        return {} if self.codecs is None else {"codecs": self.codecs.to_json(partial=True)}
