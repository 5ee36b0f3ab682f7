"""P13: a check finds every damage that can be found, and nothing else; a repair loses nothing that was intact."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np

import blizzarr
from blizzarr.checking import Finding, Report
from soak.experiment import Experiment, Outcome
from soak.planting.damage import Damage, Kind
from soak.planting.kinds import DAMAGES, LEGAL
from soak.planting.stores import CHUNK, INNER, Planted, build

__all__ = ["EXPERIMENT"]

PER_DAMAGE = 10
"""Chunks for each damage."""


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Plant so many damages in ten times as many chunks; check, compare, repair, and compare again."""
    random = Random(seed)
    planted = build(scratch, count * PER_DAMAGE, max(4, count // 6), random)
    chunks = planted.chunks()
    damages = list(_plant(planted, DAMAGES, count, random))
    allowed = list(_plant(planted, LEGAL, count // 5, random))
    before = _digest(scratch)
    reports = {root: blizzarr.check(root) for root in planted.roots.values()}
    wrong = []
    if _digest(scratch) != before:
        wrong.append(f"seed {seed}: the check has changed something")
    unexplained = [*_missed(damages, reports), *_false(damages + allowed, reports)]
    wrong += [f"seed {seed}: {text}" for text in unexplained]
    wrong += [f"seed {seed}: {text}" for text in _repaired(planted, damages + allowed, reports)]
    for descriptor in planted.alive:
        os.close(descriptor)
    figures = {
        "chunks": chunks,
        "found": len(damages) - sum(text.startswith("not found") for text in unexplained),
        "false_alarms": sum(text.startswith("false alarm") for text in unexplained),
        "allowed": len(allowed),
    }
    return Outcome(len(damages), len(wrong), figures, tuple(wrong))


def _plant(planted: Planted, kinds: Mapping[Kind, int], count: int, random: Random) -> Iterator[Damage]:
    """So many damages of these kinds."""
    made = 0
    left = dict(kinds)
    while made < count and left:
        kind = random.choices(list(left), list(left.values()))[0]
        damage = kind(planted, random)
        if damage is None:
            # Nothing is left that could be damaged like this.
            del left[kind]
            continue
        made += 1
        yield damage


def _explains(damage: Damage, finding: Finding) -> bool:
    return finding.key in damage.keys and finding.kind in damage.kinds


def _missed(damages: Sequence[Damage], reports: Mapping[Path, Report]) -> Iterator[str]:
    by_key: dict[tuple[Path, str | None], list[Finding]] = {}
    for root, report in reports.items():
        for finding in report.findings:
            by_key.setdefault((root, finding.key), []).append(finding)
    for damage in damages:
        about = [finding for key in damage.keys for finding in by_key.get((damage.root, key), ())]
        named = [finding for finding in about if _explains(damage, finding)]
        if damage.chunk is not None:
            named = [finding for finding in named if finding.chunk == damage.chunk]
        if damage.certain and not named:
            yield f"not found: {damage}; said was {list(map(str, about))}"


def _false(damages: Sequence[Damage], reports: Mapping[Path, Report]) -> Iterator[str]:
    by_key = {(damage.root, key): damage for damage in damages for key in damage.keys}
    for root, report in reports.items():
        for finding in report.findings:
            damage = by_key.get((root, finding.key or ""))
            if damage is None or not _explains(damage, finding):
                yield f"false alarm in {root.name}: {finding.kind}: {finding}; planted was {damage}"


def _repaired(planted: Planted, damages: Sequence[Damage], reports: Mapping[Path, Report]) -> Iterator[str]:
    """What is wrong after a repair."""
    repairable = {
        (damage.root, key)
        for damage in damages
        for key in damage.keys
        if damage.certain and (damage.chunk is not None or damage.kinds & {"outside", "leftover", "consolidated"})
    }
    for root, report in reports.items():
        repaired = blizzarr.check(root, repair=True)
        if Counter(map(str, repaired.findings)) != Counter(map(str, report.findings)):
            yield f"a second check of {root.name} found something else"
        done = {(repair.path, repair.key) for repair in repaired.repairs if repair.done}
        before = {(finding.kind, finding.path, finding.key) for finding in report.findings}
        for finding in blizzarr.check(root).findings:
            if (finding.path, finding.key) in done and finding.kind != "shared":
                yield f"still there after the repair: {finding}"
            if (finding.kind, finding.path, finding.key) not in before:
                yield f"new after the repair of {root.name}: {finding}"
            if (root, finding.key) in repairable:
                yield f"not repaired: {finding}"
    yield from _changed(planted, damages)


def _changed(planted: Planted, damages: Sequence[Damage]) -> Iterator[str]:
    """Chunks that nothing was done to and that do not read as they should."""
    spoiled = {
        (damage.root, damage.spoiled.array, damage.spoiled.position): damage
        for damage in damages
        if damage.spoiled is not None
    }
    for (root, path), values in planted.values.items():
        array = blizzarr.open_array(root, path=path, mode="r")
        for row in range(values.shape[0] // CHUNK):
            for column in range(values.shape[1] // CHUNK):
                damage = spoiled.get((root, path, (row, column)))
                if damage is not None and damage.inner is None:
                    continue
                for box in _boxes(row, column, damage):
                    if not np.array_equal(array[box], values[box]):
                        yield f"{path} has other values at {box} in {root.name}, {damage}"


def _boxes(row: int, column: int, damage: Damage | None) -> Iterator[tuple[slice, slice]]:
    """The part of a chunk that nothing was done to."""
    if damage is None or damage.inner is None:
        yield _box(row, column, CHUNK)
        return
    for place in np.ndindex(INNER, INNER):
        if place not in damage.inner:
            yield _box(row * INNER + place[0], column * INNER + place[1], CHUNK // INNER)


def _box(row: int, column: int, size: int) -> tuple[slice, slice]:
    return slice(row * size, row * size + size), slice(column * size, column * size + size)


def _digest(folder: Path) -> str:
    """Names, kinds, times and bytes of everything."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        status = file.lstat()
        digest.update(f"{file} {status.st_mode} {status.st_mtime_ns} {status.st_size}".encode())
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()


EXPERIMENT = Experiment(
    name="damages",
    promise="P13",
    what="`blizzarr check` finds all damage that can be detected, and nothing else; a repair harms no intact chunk",
    unit="planted damages",
    full=1000,
    ci=60,
    batch=1000,
    run=run,
)
