"""The small picture for the README and the front page: each kind of task a line, each library a dot.

A dot is the geometric mean, over the rows of its section that the library can do, of its time as a multiple of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import log10
from statistics import geometric_mean

from bench.results import Result

OURS, LIMIT = "blizzarr", "limit"
# As in the large picture.
COLOURS = {"tensorstore": "#56B4E9", "zarrista": "#E69F00", "zarrs-python": "#CC79A7", "zarr-python fused": "#009E73"}
WIDTH, LEFT, RIGHT, TOP, LINE = 704, 256, 16, 64, 34
TICKS = (0.5, 1, 2, 5, 10, 20, 50)


def drawing(results: Sequence[Result]) -> str:
    """Return the picture as SVG."""
    means = {name: _means(group) for name, group in groupby(results, key=lambda result: result.row.section)}
    bottom = TOP + LINE * len(means)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 56}" font-family="sans-serif" '
        'font-size="15" role="img">',
        "<title>Times of other libraries as multiples of blizzarr's, by kind of task</title>",
        f'<rect width="{WIDTH}" height="{bottom + 56}" rx="6" fill="#ffffff"/>',
        *_legend(),
    ]
    for tick in TICKS:
        stroke = "#222222" if tick == 1 else "#dddddd"
        parts += [
            f'<line x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{TOP - 10}" y2="{bottom - 6}" stroke="{stroke}"/>',
            _text(_x(tick), bottom + 12, f"{tick:g}x", "#555555", "middle"),
        ]
    for number, (section, found) in enumerate(means.items()):
        y = TOP + LINE * number + 8
        parts.append(_text(LEFT - 14, y + 5, section, "#222222", "end"))
        parts += [_dot(_x(ratio), y, COLOURS[peer], f"{peer}: {ratio:.2f}x") for peer, ratio in found.items()]
        parts.append(_dot(_x(1), y, "#111111", OURS, 7))
    axis = "time as a multiple of blizzarr's (right is slower, left faster)"
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, axis, "#555555", "middle"), "</svg>"]
    return "\n".join(parts) + "\n"


def _means(results: Sequence[Result]) -> dict[str, float]:
    rows = list(results)
    ratios = {peer: [ratio for row in rows if (ratio := row.ratio(peer, OURS)) is not None] for peer in COLOURS}
    return {peer: geometric_mean(found) for peer, found in ratios.items() if found}


def _x(ratio: float) -> float:
    low, high = log10(TICKS[0]), log10(TICKS[-1] * 1.2)
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(ratio) - low) / (high - low)


def _legend() -> list[str]:
    parts, x = [], 24.0
    for peer, colour in {OURS: "#111111", **COLOURS}.items():
        parts += [_dot(x, 24, colour, peer), _text(x + 12, 29, peer, "#222222")]
        x += 34 + 8.2 * len(peer)
    return parts


def _dot(x: float, y: float, colour: str, title: str, radius: int = 6) -> str:
    circle = f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}" stroke="#ffffff">'
    return f"{circle}<title>{title}</title></circle>"


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" text-anchor="{anchor}">{text}</text>'
