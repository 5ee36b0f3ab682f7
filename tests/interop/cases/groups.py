"""Hierarchies that every implementation with groups must write and read alike, again as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from interop.cases import draft, v2, v3
from interop.documents import dtype_of, format_of
from interop.values import draw

Json = Any
Group = Callable[..., Json]


@dataclass(frozen=True)
class GroupCase:
    """A hierarchy: from each path (the root's is empty) to its document, parents before children."""

    name: str
    nodes: dict[str, dict[str, Any]]
    consolidated: bool = False
    quick: bool = True

    @property
    def format(self) -> str:
        return format_of(self.nodes[""])

    @cached_property
    def tags(self) -> frozenset[str]:
        """The words by which a peer declares what it cannot do."""
        attributes = {f"attribute {name}" for node in self.nodes.values() for name in node["attributes"]}
        return frozenset({"group", self.format, *attributes, *(["consolidated"] if self.consolidated else [])})

    def values(self, path: str) -> NDArray[Any]:
        """What is written into the array at `path`."""
        made = self.nodes[path]
        return draw(dtype_of(made), tuple(made["shape"]), f"{self.name} {path}")


def _cases(prefix: str, group: Group, document: Callable[..., Json], small: Json, floats: Json) -> Iterator[GroupCase]:
    """Make the hierarchies of a format of what makes its groups and arrays."""
    nested = {
        "": group(title="root", level=0),
        "a": document(**small, attributes={"unit": "K"}),
        "b": group(),
        "b/c": group(deep=[1, {"x": None}]),
        "b/c/d": document(**floats),
        "b/e": document(**small),
    }
    yield GroupCase(f"{prefix}an empty group", {"": group()})
    yield GroupCase(f"{prefix}attributes only", {"": group(text="Grüße", number=1.5, none=None, list=[1, "a", {}])})
    yield GroupCase(f"{prefix}one array", {"": group(), "a": document()})
    yield GroupCase(f"{prefix}nested", nested)
    yield GroupCase(f"{prefix}consolidated", nested, consolidated=True)
    yield GroupCase(f"{prefix}consolidated and empty", {"": group()}, consolidated=True)
    # The draft had names of ASCII letters, digits, dots, dashes and underscores.
    others = ("with.dot", "é") if prefix != "draft " else ("with.dot", "with-dash")
    names = {"": group(), others[0]: group(), others[1]: document(), "c": group(), "c/0": document()}
    yield GroupCase(f"{prefix}names", names)


def _v3(**attributes: Any) -> Json:
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def _v2(**attributes: Any) -> Json:
    return {"zarr_format": 2, "attributes": attributes}


def _draft(**attributes: Any) -> Json:
    return {"zarr_format": "draft", "attributes": attributes}


_V3_FLOATS = {"data_type": "float32", "codecs": (v3.LITTLE, v3.ZSTD), "dimension_names": ["y", "x"]}
_OLD_FLOATS = {"dtype": "<f4", "compressor": v2.blosc("zstd"), "fill_value": "NaN"}

GROUP_CASES: tuple[GroupCase, ...] = (
    *_cases("", _v3, v3.document, {"codecs": (v3.LITTLE, v3.ZSTD)}, _V3_FLOATS),
    *_cases("v2 ", _v2, v2.document, {"compressor": v2.blosc()}, _OLD_FLOATS),
    *_cases("draft ", _draft, draft.document, {"compressor": v2.blosc()}, _OLD_FLOATS),
)
