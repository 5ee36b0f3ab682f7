"""The result of `blizzarr.diff`: the differences between two nodes and everything below them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from blizzarr.dtypes.value_text import value_repr, value_text
from blizzarr.printable import printable
from blizzarr.size_text import count_text

SCHEMA: Final = 1
"""The version of `Comparison.to_dict`: it increases when a member changes its meaning, not when one is added."""

SHOWN: Final = 50
"""The number of differences that the text of a comparison lists."""

TITLES: Final[dict[str, str]] = {
    "unreadable": "could not be compared",
    "only-a": "only in A",
    "only-b": "only in B",
    "node-type": "node type",
    "shape": "shape",
    "data-type": "data type",
    "fill-value": "fill value",
    "dimension-names": "dimension names",
    "attributes": "attributes",
    "elements": "elements",
    "format": "format",
    "layout": "layout",
}
"""The headings of all kinds of differences. Names stay the same between releases; new ones may be added."""

NOTES: Final = frozenset({"format", "layout"})
"""Kinds that describe how data is stored, and do not count as differences."""


@dataclass(slots=True)
class Elements:
    """The differences between the elements of two arrays."""

    compared: int = 0
    different: int = 0
    chunks: int = 0
    """The number of chunks of A with elements that differ."""
    box: tuple[tuple[int, int], ...] | None = None
    """The smallest box with all elements that differ: start and stop along each axis."""
    largest: float | int | None = None
    """The largest absolute difference; `None` unless both sides are numbers."""
    first: list[tuple[tuple[int, ...], Any, Any]] = field(default_factory=list)
    """The first elements that differ: index, element of A, element of B."""
    unread: int = 0
    """The number of elements that could not be compared."""

    def add(self, other: Elements, most: int) -> None:
        """Add the differences of another part, keeping at most `most` examples."""
        self.compared += other.compared
        self.different += other.different
        self.chunks += other.chunks
        self.unread += other.unread
        self.first += other.first[: most - len(self.first)]
        if other.largest is not None:
            self.largest = other.largest if self.largest is None else max(self.largest, other.largest)
        if other.box is not None:
            pairs = zip(self.box or other.box, other.box, strict=True)
            self.box = tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in pairs)

    def __str__(self) -> str:
        text = f"{self.different:,} of {self.compared:,} differ, in {count_text(self.chunks, 'chunk')}"
        if self.box:
            text += f", within [{', '.join(f'{start}:{stop}' for start, stop in self.box)}]"
        if self.largest is not None:
            text += f", by at most {self.largest:{'.6g' if isinstance(self.largest, float) else ','}}"
        return text

    def examples(self) -> Iterator[str]:
        """Yield the first elements that differ as text."""
        for index, a, b in self.first:
            yield f"[{', '.join(map(str, index))}]  {element_text(a)} against {element_text(b)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {
            "compared": self.compared,
            "different": self.different,
            "chunks": self.chunks,
            "box": None if self.box is None else [list(pair) for pair in self.box],
            "largest": _plain(self.largest),
            "first": [{"index": list(index), "a": _plain(a), "b": _plain(b)} for index, a, b in self.first],
            "unread": self.unread,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference, something that could not be compared, or a note on how data is stored.

    Examples
    --------
    >>> print(Difference("shape", "/a", "(2, 3) against (2, 4)"))
    /a: shape: (2, 3) against (2, 4)
    """

    kind: str
    """One of `TITLES`."""
    path: str
    """The path of the node relative to the two that are compared, like ``/a/b``."""
    message: str
    elements: Elements | None = None
    key: str | None = None
    """The key of the object that could not be read."""
    chunk: tuple[int, ...] | None = None

    def __str__(self) -> str:
        text = f"{self.path}: {TITLES[self.kind]}: {self.message}"
        examples = self.elements.examples() if self.elements is not None else ()
        return "\n".join(map(printable, [text, *(f"    {example}" for example in examples)]))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {
            "kind": self.kind,
            "path": self.path,
            "message": self.message,
            "key": self.key,
            "chunk": None if self.chunk is None else list(self.chunk),
            "elements": None if self.elements is None else self.elements.to_dict(),
        }


@dataclass(slots=True)
class Comparison:
    """The result of `blizzarr.diff`. `str` is meant for people, `to_dict` for programs.

    Examples
    --------
    >>> found = Comparison("a.zarr", "b.zarr", arrays=1)
    >>> found.same
    True
    >>> found.differences.append(Difference("shape", "/", "(2,) against (3,)"))
    >>> print(found)
    /: shape: (2,) against (3,)
    1 array, 0 groups, 0 elements compared in 0.0 s: 1 difference
    """

    a: str
    b: str
    arrays: int = 0
    """The number of arrays that exist on both sides."""
    groups: int = 0
    elements: int = 0
    """The number of elements that were compared, or are equal because the stored bytes are."""
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)
    unreadable: list[Difference] = field(default_factory=list)
    """Nodes and chunks that could not be compared, with the reason."""
    notes: list[Difference] = field(default_factory=list)
    """Notes on equal data that is stored in another format or layout."""

    @property
    def same(self) -> bool:
        """True if everything could be compared and nothing differs."""
        return not self.differences and not self.unreadable

    def add(self, difference: Difference) -> None:
        """Add a difference to the list of its kind."""
        kinds = {"unreadable": self.unreadable} | dict.fromkeys(NOTES, self.notes)
        kinds.get(difference.kind, self.differences).append(difference)

    def verdict(self) -> str:
        """Return the number of differences as text, or "the same"."""
        parts = [count_text(len(self.differences), "difference")] if self.differences else []
        parts += [f"{len(self.unreadable):,} could not be compared"] if self.unreadable else []
        return ", ".join(parts) or "the same"

    def summary(self) -> str:
        """Return one line: what was compared, how long it took, and the number of differences."""
        looked = ", ".join(count_text(getattr(self, f"{noun}s"), noun) for noun in ("array", "group", "element"))
        return f"{looked} compared in {self.seconds:.1f} s: {self.verdict()}"

    def __str__(self) -> str:
        every = [*self.unreadable, *self.differences]
        lines = [str(difference) for difference in every[:SHOWN]]
        lines += [f"and {len(every) - SHOWN:,} more"] if len(every) > SHOWN else []
        return "\n".join([*lines, self.summary()])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, as ``blizzarr diff --json`` prints them."""
        lists = {"differences": self.differences, "unreadable": self.unreadable, "notes": self.notes}
        return {
            "blizzarr_diff": SCHEMA,
            **{name: getattr(self, name) for name in ("a", "b", "same", "arrays", "groups", "elements")},
            "seconds": round(self.seconds, 3),
            **{name: [difference.to_dict() for difference in listed] for name, listed in lists.items()},
        }


def element_text(value: Any) -> str:
    """Return an element or a fill value as text: texts and bytes in quotes, so that an empty one is seen."""
    plain = isinstance(value, np.number | np.bool_ | np.datetime64 | np.timedelta64 | np.void)
    text = value_text(value) if plain else value_repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _plain(value: Any) -> Any:
    """Return a value as JSON can express it, otherwise as text."""
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else value_text(value)
