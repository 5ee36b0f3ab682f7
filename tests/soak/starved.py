"""A child that works with hardly any address space left: `python -m soak.starved FOLDER SEED FIRST COUNT`.

It tells of each operation before and after it, one JSON object a line; its parent notices when it dies or hangs.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.stores import MemoryStore, ZipStore

LENGTH, SIDE = 1 << 19, 724
"""Elements of 8 bytes: 4 MiB, of one dimension or of two."""
KEYS, MEMBERS = 10_000, 100
"""Of a long document, and of a group with many members."""
ROOM_LEAST, ROOM_MOST = 1 << 16, 300 << 20
FREE = resource.RLIM_INFINITY
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"chunks": (1 << 16,), "compressors": None},
    "one chunk": {"chunks": (LENGTH,)},
    "shards": {"chunks": (1 << 13,), "shards": (1 << 18,)},
    "v2": {"chunks": (1 << 16,), "compressors": "blosc", "zarr_format": 2},
    "draft": {"chunks": (1 << 17,), "zarr_format": "v3_draft"},
    "a codec in Python": {
        "chunks": (1 << 18,),
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "numcodecs.adler32"}],
    },
    "memory": {"chunks": (1 << 16,)},
    "zip": {"chunks": (1 << 16,)},
    "square": {"chunks": (128, 256)},
    "square shards": {"chunks": (64, 64), "shards": (512, 256)},
}


class Work(NamedTuple):
    """What is done, and what is wrong afterwards, given its result, or None if it raised."""

    do: Callable[[], Any]
    judge: Callable[[Any], list[str]]


class Starved:
    """What there is: arrays with the values that they have, and a hierarchy of many members."""

    def __init__(self, folder: Path, chance: Random) -> None:
        self._folder, self._chance = folder, chance
        self._numbers = np.random.default_rng(chance.getrandbits(32))
        self._kept: dict[str, npt.NDArray[Any]] = {}
        self._arrays: dict[str, blizzarr.Array] = {}
        self._zip = ZipStore(folder / "a.zip", mode="w")
        for name, layout in LAYOUTS.items():
            values = self._new((SIDE, SIDE) if "square" in name else (LENGTH,))
            place = {"memory": MemoryStore(), "zip": self._zip}.get(name, folder / name)
            self._arrays[name] = blizzarr.create_array(place, data=values, **layout)
            self._kept[name] = values
        # A document of a megabyte, and many in one.
        self._long, self._many = folder / "long", folder / "many"
        blizzarr.create_group(self._long, attributes={f"key {number}": [number] * 9 for number in range(KEYS)})
        root = blizzarr.create_group(self._many)
        for number in range(MEMBERS):
            root.create_array(f"{number}", shape=9, dtype="i2", chunks=3)

    def _new(self, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return self._numbers.integers(0, 1 << 40, shape)

    def work(self) -> tuple[str, Work]:
        """Anything, with its name."""
        name = self._chance.choice(list(self._arrays))
        kind = self._chance.choice(["read"] * 5 + ["write"] * 4 + ["others"] * 4)
        if kind == "others":
            other = self._chance.choice(
                [self.attributes, self.open, self.consolidate, self.check, self.copy, self.diff]
            )
            return other.__name__, other()
        how, key = self._key(self._kept[name].shape)
        return f"{kind} {name}, {how}", self.read(name, how, key) if kind == "read" else self.write(name, how, key)

    def _key(self, shape: tuple[int, ...]) -> tuple[str, Any]:
        """A selection; ``points`` are for `vindex`, ``product`` for `oindex`."""
        size, many = shape[0], self._chance.choice([1 << 8, 1 << 14, 1 << 20])
        how = self._chance.choice(["whole", "slice", "steps", "list", "sorted", "unique", "points", "product", "mask"])
        begin = self._chance.randrange(size)
        listed = self._numbers.integers(0, size, min(many, 1 << 12 if len(shape) > 1 else many))
        match how:
            case "whole":
                return how, ...
            case "slice":
                return how, slice(begin, begin + max(1, size // 3))
            case "steps":
                return how, slice(begin % 7, None, self._chance.randint(2, 40))
            case "mask":
                return how, self._numbers.random(shape) < self._chance.choice([0.001, 0.5])
            case "points":
                return how, tuple(self._numbers.integers(0, side, many) for side in shape)
            case "product":
                return how, tuple(self._numbers.integers(0, side, min(many, side)) for side in shape)
            case "sorted":
                return how, np.sort(listed)
            case "unique":
                return how, np.unique(listed)
        return how, listed

    def _taken(self, array: Any, how: str, key: Any) -> Any:
        return getattr(array, {"points": "vindex", "product": "oindex"}.get(how, ""), array), key

    def read(self, name: str, how: str, key: Any) -> Work:
        """A selection of any kind."""
        array = self._arrays[name]
        wanted = self._kept[name][np.ix_(*key) if how == "product" else key]
        do = {"points": lambda: array.vindex[key], "product": lambda: array.oindex[key]}.get(how, lambda: array[key])
        return Work(do, lambda found: [] if found is None or np.array_equal(found, wanted) else ["other values"])

    def write(self, name: str, how: str, key: Any) -> Work:
        """The same selection, with other values; which of an index that is there twice counts is not said."""
        array, old = self._arrays[name], self._kept[name]
        plain = np.ix_(*key) if how == "product" else key
        wanted = old.copy()
        wanted[plain] = self._new(())
        values = wanted[plain]

        def do() -> bool:
            target = {"points": array.vindex, "product": array.oindex}.get(how, array)
            target[key] = values
            return True

        def judge(done: bool | None) -> list[str]:
            found = self._kept[name] = array[...]
            if name == "zip":
                self._zip.flush()
                found = blizzarr.open_array(self._folder / "a.zip", mode="r")[...]
            if done:
                return [] if np.array_equal(found, wanted) else ["what was written is not there"]
            return [] if ((found == old) | (found == wanted)).all() else ["elements that are neither old nor new"]

        return Work(do, judge)

    def attributes(self) -> Work:
        """Another attribute in a long document."""
        number = self._chance.getrandbits(30)
        before = blizzarr.open_group(self._long).attrs.asdict()

        def do() -> bool:
            blizzarr.open_group(self._long, mode="r+").attrs["number"] = number
            return True

        def judge(done: bool | None) -> list[str]:
            after = blizzarr.open_group(self._long).attrs.asdict()
            wanted = before | {"number": number}
            return [] if after == wanted or (not done and after == before) else ["other attributes"]

        return Work(do, judge)

    def open(self) -> Work:
        """A long document, and many short ones."""

        def do() -> tuple[int, list[Any]]:
            attributes = blizzarr.open_group(self._long, mode="r").attrs.asdict()
            return len(attributes), [node.shape for _, node in blizzarr.open_group(self._many, mode="r").arrays()]

        def judge(found: tuple[int, list[Any]] | None) -> list[str]:
            wanted = [(9,)] * MEMBERS
            return [] if found is None or (found[0] >= KEYS and found[1] == wanted) else [f"found {found}"]

        return Work(do, judge)

    def consolidate(self) -> Work:
        """Many members."""

        def judge(_: Any) -> list[str]:
            names = [
                [name for name, _ in blizzarr.open_group(self._many, mode="r", use_consolidated=use).members()]
                for use in (None, False)
            ]
            return [] if names[0] == names[1] and len(names[0]) == MEMBERS else [f"{len(names[0])} members are listed"]

        return Work(lambda: blizzarr.consolidate_metadata(self._many) is not None, judge)

    def check(self) -> Work:
        """Of what is intact, with any repair: what cannot be decoded for lack of memory stays where it is."""
        name = self._chance.choice(list(self._arrays))

        def do() -> Any:
            array, quarantine = self._arrays[name], self._folder / "quarantine"
            if name == "zip":  # which cannot be repaired
                return blizzarr.check(array)
            return blizzarr.check(array, repair=True, quarantine=quarantine, quarantine_damaged=True)

        def judge(found: Any) -> list[str]:
            alarms = [] if found is None else [str(one) for one in found.findings if not _of_memory(one)]
            same = np.array_equal(self._arrays[name][...], self._kept[name])
            return alarms if same else [*alarms, f"a repair has changed values: {found}"]

        return Work(do, judge)

    def copy(self) -> Work:
        """Into another layout."""
        name, place = self._chance.choice(list(self._arrays)), self._folder / "copy"
        rank = self._kept[name].ndim
        chunks = (self._chance.choice([1000, 4096, 1 << 18]),) if rank == 1 else (100, 500)

        def judge(done: Any) -> list[str]:
            if done is None:
                with suppress(BlizzarrError):
                    found = blizzarr.open_array(place, mode="r")[...]
                    same = found.shape == self._kept[name].shape and ((found == self._kept[name]) | (found == 0)).all()
                    return [] if same else ["an unfinished copy has other values"]
                return []
            return [] if np.array_equal(blizzarr.open_array(place)[...], self._kept[name]) else ["the copy differs"]

        if place.exists():
            blizzarr.create_group(place, overwrite=True)
        return Work(lambda: blizzarr.copy(self._arrays[name], place, chunks=chunks, overwrite=True) is not None, judge)

    def diff(self) -> Work:
        """Of two arrays."""
        name = self._chance.choice(list(self._arrays))
        other = self._chance.choice([one for one in self._arrays if ("square" in one) == ("square" in name)])
        same = np.array_equal(self._kept[name], self._kept[other])

        def judge(found: Any) -> list[str]:
            # What could not be read for lack of memory is listed as that.
            if found is None or found.same == same or (found.unreadable and all(map(_of_memory, found.unreadable))):
                return []
            return [f"expected {same}, found {found}"]

        return Work(lambda: blizzarr.diff(self._arrays[name], self._arrays[other]), judge)


def _of_memory(said: object) -> bool:
    """Whether something says that there was not enough memory."""
    return any(word in str(said).lower() for word in ("memory", "allocate"))


def used() -> int:
    """Bytes of address space."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")


def starve(works: list[Work], room: int, alone: bool) -> list[tuple[str, Any]]:
    """Do them at once with so much room; return how each ended, and its result."""
    ended: list[tuple[str, Any]] = [("", None)] * len(works)
    go = threading.Event()

    def one(number: int) -> None:
        go.wait()
        try:
            ended[number] = "fine", works[number].do()
        except BaseException as error:
            ended[number] = outcome(error), None

    # They are there before the limit is, as they need room themselves.
    threads = [] if alone else [threading.Thread(target=one, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    ctypes.CDLL(None).malloc_trim(0)
    resource.setrlimit(resource.RLIMIT_AS, (used() + room, FREE))
    try:
        go.set()
        if alone:
            one(0)
        for thread in threads:
            thread.join()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (FREE, FREE))
    return ended


def outcome(error: BaseException) -> str:
    """Errors that say that memory has run out are as they should be; the text is that of others."""
    if isinstance(error, MemoryError) or (isinstance(error, StoreError) and _of_memory(error)):
        return "error"
    return f"{type(error).__name__}: {error}"


def main() -> None:
    """Go on from an operation of this number."""
    folder, seed, first, count = Path(sys.argv[1]), *map(int, sys.argv[2:])
    warnings.simplefilter("ignore")
    faulthandler.register(signal.SIGUSR1)
    chance = Random(f"{seed}, {first}")
    if chance.random() < 0.8:
        # Large blocks come from the system and go back to it (M_MMAP_THRESHOLD), and no thread has an arena of its own
        # (M_ARENA_MAX): nothing lies about for the next one.
        for option, value in ((-3, 128 << 10), (-8, 1)):
            ctypes.CDLL(None).mallopt(option, value)
    blizzarr.config.set(threads=chance.choice([1, 2, 4]))
    starved = Starved(folder, chance)
    for other in (starved.attributes, starved.open, starved.consolidate, starved.check, starved.copy, starved.diff):
        work = other()
        assert work.judge(work.do()) == []  # imports what it needs, too
    for number in range(first, first + count):
        room = int(ROOM_LEAST * (ROOM_MOST / ROOM_LEAST) ** chance.random())
        several = chance.choice([1, 1, 1, 3])
        name, work = starved.work()
        works = [work]
        # Beside a change, nothing else, or it is not known what there is.
        while len(works) < several and name.startswith("read"):
            another, work = starved.work()
            works += [work] * another.startswith("read")
        print(json.dumps({"number": number, "what": name, "room": room, "threads": len(works)}), flush=True)
        ended = starve(works, room, alone=len(works) == 1 and chance.random() < 0.5)
        wrong = [one for work, (_, result) in zip(works, ended, strict=True) for one in work.judge(result)]
        print(json.dumps({"ended": [how for how, _ in ended], "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
