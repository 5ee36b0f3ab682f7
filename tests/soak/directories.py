"""P2: damage to the directory of a zip file hides nothing, and nothing is lost by writing to such a file."""

from __future__ import annotations

import shutil
import struct
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import blizzarr
from blizzarr.errors import BlizzarrError
from blizzarr.stores import MemoryStore, ZipStore
from soak.experiment import Experiment, Outcome
from support.zip_files import WRITERS

__all__ = ["EXPERIMENT"]

PER_FILE = 50
"""Damages that are done to one file, each to the whole one, before there is a new file."""
SIZES = [1, 2, 3, 5, 8, 20, 60, 200]
"""Chunks of a file; of many, not all names are compared at once."""
END = struct.Struct("<4s4H2IH")
FORMATS: list[Any] = [3, 3, 2]
Contents = Mapping[str, Any]


class ZipFile:
    """A zip file with a group, and what is in it."""

    def __init__(self, path: Path, random: Random) -> None:
        memory = MemoryStore()
        self.contents = made(memory, random)
        self.writer = random.choice([name for name in WRITERS if name != "Info-ZIP" or shutil.which("zip")])
        path.unlink(missing_ok=True)
        shutil.rmtree(path.with_suffix(".folder"), ignore_errors=True)
        values = {key: bytes(memory.get(key) or b"") for key in memory.list()}
        WRITERS[self.writer](path, values)
        self.whole = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            self.begin = archive.start_dir
        self.records = list(records(self.whole, self.begin))
        assert read(path) == self.contents


def made(store: MemoryStore, random: Random) -> Contents:
    """A group with an array and a group, in which is another array; the fill value is nowhere."""
    zarr_format = random.choice(FORMATS)
    root = blizzarr.create_group(store, zarr_format=zarr_format, attributes={"title": "of a file"})
    count = random.choice(SIZES)
    options: dict[str, Any] = {"chunks": 3, "compressors": random.choice([None, "zstd"])}
    root.create_array("a", data=np.arange(1, 3 * count + 1, dtype="int32"), **options)
    inner = root.create_group("b", attributes={"number": count})
    inner.create_array("c", data=np.arange(7, 13, dtype="int16"), **options)
    return contents(root)


def contents(group: blizzarr.Group) -> Contents:
    """Attributes and elements of all nodes by their paths."""
    found: dict[str, Any] = {"": dict(group.attrs)}
    for path, node in group.members(max_depth=None):
        found[path] = dict(node.attrs)
        if isinstance(node, blizzarr.Array):
            found[f"{path} elements"] = node[...].tolist()
    return found


def read(path: Path) -> Contents:
    """What is in a zip file."""
    return contents(blizzarr.open_group(path, mode="r"))


def records(whole: bytes, begin: int) -> list[range]:
    """Where the entries of the directory lie."""
    found = []
    while whole.startswith(b"PK\1\2", begin):
        end = begin + 46 + sum(struct.unpack_from("<3H", whole, begin + 28))
        found.append(range(begin, end))
        begin = end
    return found


def damaged(random: Random, file: ZipFile) -> tuple[str, bytes]:
    """What was done to the directory or the records at the end, and the file."""
    while True:
        name = random.choice(list(DAMAGES))
        data = bytearray(file.whole)
        DAMAGES[name](random, data, file)
        if data != file.whole:
            return name, bytes(data)


def _flip(count: int) -> Callable[[Random, bytearray, ZipFile], None]:
    def flip(random: Random, data: bytearray, file: ZipFile) -> None:
        for bit in random.sample(range(8 * file.begin, 8 * len(data)), count):
            data[bit // 8] ^= 1 << bit % 8

    return flip


def _change(random: Random, data: bytearray, file: ZipFile) -> None:
    data[random.randrange(file.begin, len(data))] = random.randrange(256)


def _zero(random: Random, data: bytearray, file: ZipFile) -> None:
    at = random.randrange(file.begin, len(data))
    length = min(random.choice([1, 4, 16, 46, 512, len(data)]), len(data) - at)
    data[at : at + length] = bytes(length)


def _cut(random: Random, data: bytearray, file: ZipFile) -> None:
    del data[random.randrange(file.begin, len(data)) :]


def _remove(random: Random, data: bytearray, file: ZipFile) -> None:
    """An entry; the end record may know that by its count or its size, but not by both: that would be a sound file."""
    record = random.choice(file.records)
    del data[record.start : record.stop]
    _told(random, data, -len(record))


def _insert(random: Random, data: bytearray, file: ZipFile) -> None:
    """A copy of an entry."""
    record, at = (random.choice(file.records) for _ in range(2))
    data[at.start : at.start] = data[record.start : record.stop]
    _told(random, data, len(record))


def _overwrite(random: Random, data: bytearray, file: ZipFile) -> None:
    """An entry by another; most are as long as each other, otherwise the end record knows or does not."""
    record, other = (random.choice(file.records) for _ in range(2))
    data[record.start : record.stop] = data[other.start : other.stop]
    if random.random() < 0.5:
        _told(random, data, len(other) - len(record), counts=False)


def _told(random: Random, data: bytearray, by: int, *, counts: bool = True) -> None:
    at = data.rfind(b"PK\5\6")
    fields = list(END.unpack_from(data, at))
    which = random.choice(["nothing", "count", "size"] if counts else ["size"])
    if which == "count":
        fields[3], fields[4] = (max(0, fields[number] + (1 if by > 0 else -1)) % 2**16 for number in (3, 4))
    elif which == "size":
        fields[5] = max(0, fields[5] + by) % 2**32
    END.pack_into(data, at, *fields)


DAMAGES: dict[str, Callable[[Random, bytearray, ZipFile], None]] = {
    "a bit": _flip(1),
    "two bits": _flip(2),
    "eight bits": _flip(8),
    "a byte": _change,
    "zeros": _zero,
    "cut": _cut,
    "an entry removed": _remove,
    "an entry inserted": _insert,
    "an entry over another": _overwrite,
}


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many damaged directories, each read and checked; some are written to."""
    random = Random(seed)
    figures: Counter[str] = Counter(dict.fromkeys(["refused", "errors_on_read", "same", "lost_with_a_word"], 0))
    figures |= Counter(dict.fromkeys(["writes", "writes_refused"], 0))
    findings: list[str] = []
    for turn in range(count):
        if turn % PER_FILE == 0:
            file = ZipFile(scratch / "whole.zip", random)
        name, data = damaged(random, file)
        path = scratch / "x.zip"
        path.write_bytes(data)
        outcome, wrong = tried(path, file.contents)
        figures[outcome] += 1
        if turn % 3 == 0:
            wrong += written(path, random, file.contents if outcome == "same" else None, figures)
        if wrong:
            where = f"seed {seed}, turn {turn}, {file.writer}, {len(file.records)} entries, {name}"
            findings.append(f"{where}: {'; '.join(wrong)}")
    return Outcome(count, len(findings), figures, tuple(findings))


def tried(path: Path, expected: Contents) -> tuple[str, list[str]]:
    """What comes of opening, reading and checking, and what is wrong with that."""
    with warnings.catch_warnings(record=True) as words:
        warnings.simplefilter("always")
        try:
            group = blizzarr.open_group(path, mode="r")
        except BlizzarrError:
            return "refused", []
        try:
            found = contents(group)
        except BlizzarrError:
            return "errors_on_read", []
        if found == expected:
            return "same", []
        outcome, wrong = "lost_with_a_word", others(found, expected)
        try:
            sound = blizzarr.check(path).ok
        except BlizzarrError:
            sound = False
    if sound and not words:
        wrong.append("something is missing without a word")
    return outcome, wrong


def others(found: Contents, expected: Contents) -> list[str]:
    """What is neither as it was written nor missing."""
    wrong = [f"{path} was never written" for path in found.keys() - expected.keys()]
    for path in found.keys() & expected.keys():
        now, then = found[path], expected[path]
        if isinstance(then, list):
            right = len(now) == len(then) and all(a in (0, b) for a, b in zip(now, then, strict=True))
        else:
            right = now in ({}, then)
        if not right:
            wrong.append(f"{path} has other values")
    return wrong


def seen_by_others(path: Path) -> dict[str, bytes]:
    """The entries that Python reads."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    # Whatever damage makes it raise.
                    try:
                        found[name] = archive.read(name)
                    except Exception:
                        continue
        except Exception:
            return found
    return found


def written(path: Path, random: Random, expected: Contents | None, figures: Counter[str]) -> list[str]:
    """What is wrong once something was written into the file; `expected` is what could be read before."""
    before, data = seen_by_others(path), path.read_bytes()
    figures["writes"] += 1
    adds = random.random() < 0.5
    with warnings.catch_warnings(record=True) as words:
        warnings.simplefilter("always")
        try:
            if adds:
                with ZipStore(path, "a") as store:
                    store.set("note", b"added")
            else:
                with blizzarr.open_group(path, mode="r+") as group:
                    group["b/c"][:2] = 99
        except BlizzarrError:
            figures["writes_refused"] += 1
            return [] if path.read_bytes() == data else ["a write was refused, and has changed the file"]
        # What follows a whole directory is taken for what an interrupted writer left, and replaced.
        wrong = [] if expected is not None or words else ["something was written to what could not be read"]
        after = seen_by_others(path)
        lost = [
            name
            for name, value in before.items()
            # Folders have no value, and are not listed again.
            if after.get(name) != value and (adds or "b/c/" not in name) and not name.endswith("/")
        ]
        if lost:
            wrong.append(f"a write has removed {lost[:5]}, which other programs could read")
        if expected is not None:
            now = dict(read(path))
            if not adds:
                now["b/c elements"] = [*expected["b/c elements"][:2], *now["b/c elements"][2:]]
            if now != expected:
                wrong.append("a write has changed what else is in the file")
    return wrong


EXPERIMENT = Experiment(
    name="directories",
    promise="P2",
    what="When the directory of a zip file is damaged, values are right or an error; what is missing is reported",
    unit="damaged directories",
    full=50_000,
    ci=60,
    run=run,
    batch=1000,
)
