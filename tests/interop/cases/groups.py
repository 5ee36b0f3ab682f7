"""Hierarchies that every implementation with groups must write and read alike, again as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from interop.cases.v3 import LITTLE, ZSTD, document
from interop.documents import dtype_of
from interop.values import draw


def group(**attributes: Any) -> dict[str, Any]:
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


@dataclass(frozen=True)
class GroupCase:
    """A hierarchy: from each path (the root's is empty) to its document, parents before children."""

    name: str
    nodes: dict[str, dict[str, Any]]
    consolidated: bool = False

    def values(self, path: str) -> NDArray[Any]:
        """What is written into the array at `path`."""
        made = self.nodes[path]
        return draw(dtype_of(made), tuple(made["shape"]), f"{self.name} {path}")


NESTED = {
    "": group(title="root", level=0),
    "a": document(codecs=(LITTLE, ZSTD), attributes={"unit": "K"}),
    "b": group(),
    "b/c": group(deep=[1, {"x": None}]),
    "b/c/d": document("float32", codecs=(LITTLE, ZSTD), dimension_names=["y", "x"]),
    "b/e": document("int64", shape=(5,), chunks=(2,)),
}

GROUP_CASES: tuple[GroupCase, ...] = (
    GroupCase("an empty group", {"": group()}),
    GroupCase("attributes only", {"": group(text="Grüße", number=1.5, none=None, list=[1, "a", {}])}),
    GroupCase("one array", {"": group(), "a": document()}),
    GroupCase("nested", NESTED),
    GroupCase("names", {"": group(), "with space": group(), "é": document(), "c": group(), "c/0": document()}),
    GroupCase("consolidated", NESTED, consolidated=True),
    GroupCase("consolidated and empty", {"": group()}, consolidated=True),
)
