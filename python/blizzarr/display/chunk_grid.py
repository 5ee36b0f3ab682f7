"""A drawing of the chunks and shards of an array, as SVG.

The last three axes are drawn as a box seen from the upper right: the last axis runs to the right, the one before it
down, the one before that to the back. Chunks are cut by thin lines, shards by thick ones. Colours are translucent or
those of the surrounding text, so the drawing fits dark and light pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

from blizzarr.display.sizes import shape_text
from blizzarr.model.edges import Edges
from blizzarr.printable import escape

_LONGEST: Final = 170.0
_SLIMMEST: Final = 0.22
_DEPTH: Final = (0.42, -0.34)
"""The offset for one pixel of depth, to the right and down."""
_MOST_LINES: Final = 32
"""The most lines along one axis; if there are more, only every second, fifth, ... line is drawn."""
_NAME: Final = 18
_LETTER: Final = 6.8
"""The width of a letter, approximately."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Side:
    """One axis of the box: its length in pixels, and the positions of the lines along the axis."""

    label: str
    pixels: float
    chunks: tuple[float, ...]
    shards: tuple[float, ...]
    every: int
    """The step between the lines that are drawn between chunks: 1 draws every line."""

    def cuts(self, kind: str) -> tuple[float, ...]:
        return self.chunks if kind == "chunk" else self.shards


def draw(
    shape: Sequence[int],
    chunks: Sequence[Edges],
    shards: Sequence[Edges] | None = None,
    names: Sequence[str | None] | None = None,
) -> str:
    """Return the drawing as an ``<svg>`` element, with a caption about the parts that it leaves out."""
    rank = len(shape)
    given = list(names or [None] * rank)
    sides = [_side(axis, shape, chunks, shards, given[axis]) for axis in range(max(0, rank - 3), rank)]
    notes = []
    if rank > 3:
        leading = [f"{shape[axis]:,} {_short(given[axis]) or ''}".rstrip() for axis in range(rank - 3)]
        notes.append("\N{MULTIPLICATION SIGN} " + " \N{MULTIPLICATION SIGN} ".join(leading))
    if any(side.every > 1 for side in sides):
        notes.append("not every line is drawn")
    while len(sides) < 2:
        sides.insert(0, _Side("", _LONGEST * _SLIMMEST, (), (), 1))
    return _svg(sides, notes, shape_text(tuple(shape)))


def _side(
    axis: int, shape: Sequence[int], chunks: Sequence[Edges], shards: Sequence[Edges] | None, name: str | None
) -> _Side:
    longest = max((length for length in shape[-3:]), default=1) or 1
    length = shape[axis]
    pixels = _LONGEST * max(_SLIMMEST, length / longest)
    shown, every = _lines(length, chunks[axis], pixels)
    thick = _lines(length, shards[axis], pixels)[0] if shards else ()
    label = f"{_short(name)} {length:,}".strip()
    return _Side(label, pixels, shown, thick, every)


def _lines(length: int, edges: Edges, pixels: float) -> tuple[tuple[float, ...], int]:
    count = edges.count(length) if length else 1
    every, factors = 1, cycle((2, 2.5, 2))
    while count / every > _MOST_LINES:
        every = round(every * next(factors))
    return tuple(edges.start(number) / length * pixels for number in range(every, count, every)), every


def _short(name: str | None) -> str:
    return "" if not name else name if len(name) <= _NAME else name[: _NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _svg(sides: list[_Side], notes: list[str], title: str) -> str:
    depth = sides[0] if len(sides) == 3 else None
    down, right = sides[-2:]
    back = (depth.pixels * _DEPTH[0], depth.pixels * _DEPTH[1]) if depth else (0.0, 0.0)
    left = max(24.0, 16 + _LETTER * len(down.label))
    top = 12.0 - back[1]
    beyond = back[0] / 2 + 16 + _LETTER * len(depth.label) if depth else 0.0
    texts = [left + _LETTER * len(text) for text in notes]
    width = max(left + right.pixels + max(back[0], beyond) + 4, *texts, left + right.pixels / 2 + _LETTER * 12)
    height = top + down.pixels + 30 + 15 * len(notes)

    def at(x: float, y: float, z: float = 0.0) -> Point:
        """Return a point of the box, at the fraction `z` of the way to the back."""
        return left + x + z * back[0], top + y + z * back[1]

    parts = [_face("front", at(0, 0), at(right.pixels, 0), at(right.pixels, down.pixels), at(0, down.pixels))]
    if depth:
        corner = at(right.pixels, 0, 1)
        parts += [
            _face("top", at(0, 0), at(0, 0, 1), corner, at(right.pixels, 0)),
            _face("side", at(right.pixels, 0), corner, at(right.pixels, down.pixels, 1), at(right.pixels, down.pixels)),
        ]
    for kind in ("chunk", "shard"):
        far = 1.0 if depth else 0.0
        lines = [(at(x, down.pixels), at(x, 0), at(x, 0, far)) for x in right.cuts(kind)]
        lines += [(at(0, y), at(right.pixels, y), at(right.pixels, y, far)) for y in down.cuts(kind)]
        if depth:
            cuts = [pixels / depth.pixels for pixels in depth.cuts(kind)]
            lines += [(at(0, 0, z), at(right.pixels, 0, z), at(right.pixels, down.pixels, z)) for z in cuts]
        if lines:
            path = "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in line) for line in lines)
            parts.append(f'<path class="bzr-{kind}" d="{path}"/>')
    below = top + down.pixels + 18
    parts.append(_text(left + right.pixels / 2, below, "middle", right.label))
    parts.append(_text(left - 8, top + down.pixels / 2 + 4, "end", down.label))
    if depth:
        x, y = at(right.pixels, down.pixels, 0.5)
        parts.append(_text(x + 8, y + 10, "start", depth.label))
    parts += [_text(left, below + 15 * (1 + number), "start", note) for number, note in enumerate(notes)]
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg class="bzr-grid" {size} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _face(name: str, *corners: Point) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon class="bzr-{name}" points="{points}"/>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>' if text else ""
