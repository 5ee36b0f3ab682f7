"""The module ``zarr.abc.metadata``."""

from __future__ import annotations

from typing import Any

__all__ = ["Metadata"]


class Metadata:
    """What can be written as JSON and read from it."""

    def to_dict(self) -> dict[str, Any]:
        """Return what is in the document."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """Make an object from what is in a document."""
        return cls(**data)
