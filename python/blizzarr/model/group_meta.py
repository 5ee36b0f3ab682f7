"""The metadata of a group, in terms of no format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from blizzarr.json_values import alike

if TYPE_CHECKING:
    from blizzarr.model.array_meta import ArrayMeta


@dataclass(frozen=True, slots=True, eq=False)
class GroupMeta:
    """A group: its attributes, and perhaps the metadata of everything below it.

    >>> GroupMeta({"title": "brain"}).attributes["title"]
    'brain'
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    consolidated: Mapping[str, ArrayMeta | GroupMeta] | None = None
    """The metadata of all nodes below, by path relative to this group; None if the group's document has none."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown members of the document that may be ignored; they are kept when it is written again."""
    format: str = "v3"
    source: Mapping[str, Any] | None = field(default=None, repr=False)
    """The document that the metadata came from; never changed."""

    def __eq__(self, other: object) -> bool:
        # As for arrays, `source` does not matter, and NaN equals NaN.
        if not isinstance(other, GroupMeta):
            return NotImplemented
        same = (self.consolidated, self.extra, self.format) == (other.consolidated, other.extra, other.format)
        return same and alike(self.attributes, other.attributes)

    __hash__ = None  # type: ignore[assignment]

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            from blizzarr.renamed import METADATA, no_attribute

            raise no_attribute(self, f"{type(self).__name__!r} object", name, METADATA)

    def with_attributes(self, attributes: Mapping[str, Any]) -> GroupMeta:
        """Return the group with these attributes."""
        return replace(self, attributes=dict(attributes))

    def with_consolidated(self, consolidated: Mapping[str, ArrayMeta | GroupMeta] | None) -> GroupMeta:
        """Return the group with this consolidated metadata, or with none."""
        return replace(self, consolidated=consolidated)
