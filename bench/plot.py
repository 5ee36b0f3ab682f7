"""The picture: each row a line, each peer a mark at its multiple of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from bench.results import Result

mpl.use("Agg")

import matplotlib.pyplot as plt

OURS, LIMIT = "blizzarr", "limit"
MARKS = ("s", "^", "v", "D", "P", "X")
# Told apart by people who do not see red and green as different; ours is the dark one.
COLOURS = ("#56B4E9", "#E69F00", "#CC79A7", "#009E73", "#999999", "#D55E00")


def draw(path: Path, results: Sequence[Result], peers: Sequence[str]) -> None:
    """Draw the results that have a baseline into a PNG."""
    results = [result for result in results if LIMIT in result.times]
    figure, axes = plt.subplots(figsize=(11, 1.6 + 0.27 * len(results)), layout="constrained")
    places = list(range(len(results)))
    _shade_sections(axes, results)
    others = [peer for peer in peers if peer != OURS]
    for peer, mark, colour in zip(others, MARKS, COLOURS, strict=False):
        _scatter(axes, results, peer, mark, colour, 34)
    if OURS in peers:
        _scatter(axes, results, OURS, "o", "#111111", 52)
    axes.axvline(1, color="#444444", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}x" if f"{value:.0e}"[0] in "25" else "")
    axes.tick_params(axis="x", which="minor", labelsize=7, colors="#777777")
    axes.set_yticks(places, [result.row.name for result in results], fontsize=8)
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.grid(axis="x", which="both", color="#dddddd", linewidth=0.5)
    axes.set_xlabel("time as a multiple of the baseline, which is no lower bound (left is faster)")
    figure.legend(loc="outside upper center", ncols=len(peers), fontsize=9, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _scatter(axes: plt.Axes, results: Sequence[Result], peer: str, mark: str, colour: str, size: int) -> None:
    found = [(ratio, place) for place, result in enumerate(results) if (ratio := result.ratio(peer, LIMIT)) is not None]
    x, y = [ratio for ratio, _ in found], [place for _, place in found]
    axes.scatter(x, y, marker=mark, color=colour, s=size, label=peer, zorder=3, edgecolors="white", linewidths=0.5)


def _shade_sections(axes: plt.Axes, results: Sequence[Result]) -> None:
    """Shade every other section and write its name at the right."""
    start = 0
    for number, end in enumerate(_ends(results)):
        if number % 2 == 0:
            axes.axhspan(start - 0.5, end - 0.5, color="#f3f5f8", zorder=0)
        name = results[start].row.section
        axes.annotate(
            name,
            (1.005, (start + end - 1) / 2),
            xycoords=("axes fraction", "data"),
            fontsize=8,
            va="center",
            color="#333333",
            annotation_clip=False,
        )
        start = end


def _ends(results: Sequence[Result]) -> list[int]:
    """Return where each section ends."""
    sections = [result.row.section for result in results]
    return [at + 1 for at in range(len(sections)) if at + 1 == len(sections) or sections[at + 1] != sections[at]]
