"""The report: lines while it runs, then Markdown, JSON and a picture."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from bench import plot, speed
from bench.peers.base import Peer
from bench.results import Result
from bench.rows import Row

OURS, LIMIT = "blizzarr", "limit"
INTRODUCTION = """\
# Benchmark

Each cell is the median time, and how many times that of the baseline it is; the fastest library of each row is bold.
`vs best` is the fastest other library's time divided by ours: above 1, blizzarr is faster.

`baseline` is a bare Rust program that shows what the files and the codecs alone cost. **It is not a lower bound.** It
reads every chunk that a row touches, each with one `pread`, and decodes the whole of it with the bare codec library, on
every core, into memory that it already has; it puts nothing in its place in an array. So a library that has to fill a
new array can hardly reach 1.0x where all elements are wanted. One that decodes only the part of a chunk that is needed,
reads less of an uncompressed chunk, or reads many chunks of a shard at once is below 1.0x.

{variation}

![times as multiples of the baseline](results.png)

The rows of several threads and of futures have no baseline, so that they are in their table only.
"""


def facts(folder: Path, peers: Sequence[Peer], rounds: int) -> dict[str, str]:
    """Return what a reader must know to judge the figures."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{_cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "files": f"{_file_system(folder)}, page cache warm; nothing is flushed to the disk",
        "rounds": f"up to {rounds}, all peers in turn in each; medians",
        **{f"{peer.name} {peer.version()}": peer.settings for peer in peers},
    }


def text_header(facts: dict[str, str], peers: Sequence[Peer]) -> str:
    lines = [f"{key}: {value}" for key, value in facts.items()]
    return "\n".join([*lines, "", f"{'':62}" + "".join(f"{peer.name[:17]:>19}" for peer in peers)])


def text_row(result: Result, peers: Sequence[Peer]) -> str:
    cells = "".join(f"{_cell(result, peer.name):>19}" for peer in peers)
    return f"{result.row.title[:61]:62}{cells}"


def write(out: Path, facts: dict[str, str], results: Sequence[Result], peers: Sequence[Peer]) -> None:
    """Write results.md, results.json, results.png and speed.svg."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.md").write_text(_markdown(facts, results, peers))
    (out / "results.json").write_text(json.dumps(_json(facts, results), indent=1) + "\n")
    (out / "speed.svg").write_text(speed.drawing(results))
    plot.draw(out / "results.png", results, [peer.name for peer in peers if peer.name != LIMIT])


def merged(out: Path, results: Sequence[Result], rows: Sequence[Row]) -> list[Result]:
    """These results, and for all other rows those that are there already."""
    new = {result.row.title: result for result in results}
    there = json.loads((out / "results.json").read_text())["rows"]
    return [
        new.get(row.title) or Result(row, *(there[row.title][part] for part in ("seconds", "cannot", "wrong")))
        for row in rows
        if row.title in new or row.title in there
    ]


def duration(seconds: float) -> str:
    """Write a time with three digits.

    >>> [duration(value) for value in (0.0000123, 0.00345, 0.1, 2.5)]
    ['12.3 µs', '3.45 ms', '100 ms', '2.50 s']
    """
    unit, scale = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * scale
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def _cell(result: Result, peer: str) -> str:
    seconds = result.seconds(peer)
    if seconds is None:
        return "wrong" if peer in result.wrong else "-"
    ratio = result.ratio(peer, LIMIT)
    return duration(seconds) + (f" {ratio:.2f}x" if ratio is not None and peer != LIMIT else "")


def _markdown(facts: dict[str, str], results: Sequence[Result], peers: Sequence[Peer]) -> str:
    names = [peer.name for peer in peers]
    lines = [INTRODUCTION.format(variation=_variation(results))]
    for section, group in groupby(results, key=lambda result: result.row.section):
        columns = " | ".join(map(_shown, names))
        lines += [f"## {section}", "", f"| | {columns} | vs best |", f"|---|{'---:|' * (len(names) + 1)}"]
        lines += [_markdown_row(result, names) for result in group]
        lines.append("")
    notes = {f"{peer} {why}" for result in results for peer, why in result.cannot.items()}
    wrong = [f"{result.row.title}: {why}" for result in results for why in result.wrong.values()]
    lines += ["## Not compared", "", *(f"- {note}" for note in sorted(notes)), *(f"- {note}" for note in wrong), ""]
    lines += ["## Settings", "", *(f"- {_shown(key)}: {value}" for key, value in facts.items())]
    lines += [
        "- the volume: 64 MiB of uint16, shape 256, 256, 512, smooth with noise; zstd level 3, gzip level 5, blosc lz4",
        "  level 5 with byte shuffle; stored by TensorStore for every reader; a whole write starts without any chunk",
        "- the baseline: of a chunk without codec, it reads only the span from the first wanted byte to the last; it",
        "  decodes and encodes with zstd, libdeflate and c-blosc, and writes with open, write, close",
        "",
    ]
    return "\n".join(lines)


def _variation(results: Sequence[Result]) -> str:
    """Say by how much our rounds differ, relative to their median, in the median row."""
    # Of fewer rounds, at most one would be left to differ from.
    rounds = [sorted(result.times[OURS]) for result in results if len(result.times.get(OURS, ())) >= 4]
    if not rounds:
        return "There were too few rounds to tell by how much they vary."
    spread = median((times[-2] - times[1]) / median(times) for times in rounds)
    return (
        "Rounds vary: without its fastest and its slowest round, the times of blizzarr differ by "
        f"{spread:.0%} in the median row:\nsmaller differences between libraries mean little."
    )


def _shown(name: str) -> str:
    """Return the name of a peer as readers see it."""
    return name.replace(LIMIT, "baseline", 1) if name.startswith(LIMIT) else name


def _markdown_row(result: Result, names: Sequence[str]) -> str:
    libraries = [name for name in names if name != LIMIT]
    best = result.best_of(libraries)
    cells = [f"**{_cell(result, name)}**" if name == best else _cell(result, name) for name in names]
    rival = result.best_of([name for name in libraries if not name.startswith(OURS)])
    ahead = None if rival is None else result.ratio(rival, OURS)
    return f"| {result.row.name} | {' | '.join(cells)} | {'' if ahead is None else f'{ahead:.2f}x'} |"


def _json(facts: dict[str, str], results: Sequence[Result]) -> dict[str, object]:
    rows = {
        result.row.title: {
            "per": result.row.per,
            "seconds": result.times,
            "cannot": result.cannot,
            "wrong": result.wrong,
        }
        for result in results
    }
    return {"facts": facts, "rows": rows}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown file system"
    inside = [(len(mount), kind) for mount, kind in mounts if folder.resolve().is_relative_to(mount)]
    return max(inside)[1] if inside else "unknown file system"
