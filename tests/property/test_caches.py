"""Any history of reads, writes and changes from outside: what a cache gives out is what was stored within its bound."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import blizzarr
from blizzarr.stores import LocalStore, MappingStore, MemoryStore

LENGTH, CHUNK = 24, 4
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"chunks": CHUNK, "compressors": None},
    "zstd": {"chunks": CHUNK},
    "shards": {"chunks": CHUNK, "shards": 12},
    "raw shards": {"chunks": CHUNK, "shards": 12, "compressors": None},
}
BOUNDS: list[Any] = [True, False, "open", 0.01, 60]
PARTS = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, LENGTH)).map(lambda ends: slice(ends[0], sum(ends)))


class Versioned:
    """Values that others can change, with numbers of their versions."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[bytes, str]] = {}
        self.numbers = count()

    def get(self, key: str) -> bytes | None:
        return self.values[key][0] if key in self.values else None

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value), str(next(self.numbers))

    def delete(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]

    def version(self, key: str) -> str | None:
        return self.values[key][1] if key in self.values else None


@dataclass
class Past:
    """What one chunk has been: each content with the moment from which on it was stored."""

    states: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def since(self, moment: int) -> set[tuple[int, ...]]:
        """What it has been at that moment or later."""
        older = [state for state in self.states if state[0] < moment]
        return {content for _, content in [*older[-1:], *(state for state in self.states if state[0] >= moment)]}


class Caches(RuleBasedStateMachine):
    """Handles of one array with all bounds, one pool; the model is what each chunk has been, and when."""

    @initialize(
        kind=st.sampled_from(["local", "mapping", "versioned"]),
        layout=st.sampled_from(sorted(LAYOUTS)),
        limit=st.sampled_from([1 << 20, 3000]),
    )
    def begin(self, kind: str, layout: str, limit: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.layout, self.root = LAYOUTS[layout], Path(self.folder.name) / "x"
        self.values: Any = Versioned() if kind == "versioned" else {}
        stores = {"local": lambda: LocalStore(self.root), "mapping": lambda: MappingStore(self.values)}
        self.store: Any = stores.get(kind, lambda: self.values)()
        self.pool = blizzarr.CachePool(limit)
        self.model = np.zeros(LENGTH, "int32")
        self.plain = blizzarr.create_array(self.store, data=self.model, **self.layout)
        self.past = [Past() for _ in range(0, LENGTH, CHUNK)]
        self.handles: dict[Any, tuple[Any, int]] = {}
        self.note(slice(None))
        for bound in BOUNDS:
            self.open(bound)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def note(self, part: slice, *, ours: bool = False) -> None:
        """What is stored now; what this process has changed was nothing else from its view."""
        touched = np.unique(np.arange(LENGTH)[part] // CHUNK)
        for chunk in touched:
            content = tuple(self.model[chunk * CHUNK : (chunk + 1) * CHUNK].tolist())
            past = self.past[chunk]
            if ours:
                past.states.clear()
            past.states.append((time.monotonic_ns(), content))

    @rule(bound=st.sampled_from(BOUNDS))
    def open(self, bound: Any) -> None:
        array = blizzarr.open_array(self.store).cached(self.pool, recheck=bound)
        self.handles[bound] = array, time.monotonic_ns()

    @rule(bound=st.sampled_from(BOUNDS), part=PARTS, value=st.integers(0, 99))
    def write(self, bound: Any, part: slice, value: int) -> None:
        self.handles[bound][0][part] = value
        self.model[part] = value
        self.note(part, ours=True)

    @rule(part=PARTS, value=st.integers(0, 99))
    def write_without(self, part: slice, value: int) -> None:
        self.plain[part] = value
        self.model[part] = value
        self.note(part, ours=True)

    @rule(part=PARTS, value=st.integers(0, 99))
    def change_outside(self, part: slice, value: int) -> None:
        """Somebody else replaces chunks and shards; those that are all fill value go."""
        self.model[part] = value
        beside = MemoryStore()
        blizzarr.create_array(beside, data=self.model, **self.layout)
        width = self.layout.get("shards", CHUNK)
        for number in np.unique(np.arange(LENGTH)[part] // width):
            key = f"c/{number}"
            value_now = beside.get(key)
            if isinstance(self.values, Versioned):
                self.values.delete(key) if value_now is None else self.values.set(key, bytes(value_now))
            elif self.root.exists():
                self.replace(self.root / key, value_now)
            elif value_now is None:
                self.values.pop(key, None)
            else:
                self.values[key] = bytes(value_now)
        self.note(part)

    @staticmethod
    def replace(path: Path, value: Any) -> None:
        if value is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(exist_ok=True)
            path.with_name("new").write_bytes(value)
            path.with_name("new").replace(path)

    @rule()
    def wait(self) -> None:
        time.sleep(0.011)

    @rule(bound=st.sampled_from(BOUNDS), part=PARTS)
    def read(self, bound: Any, part: slice) -> None:
        array, opened = self.handles[bound]
        before = time.monotonic_ns()
        found: npt.NDArray[np.int32] = array[part]
        since = {True: before, False: 0, "open": opened}.get(bound, before - round(1e9 * (bound == 0.01) * 0.01))
        if bound == 60:
            since = 0
        indices = np.arange(LENGTH)[part]
        for chunk in np.unique(indices // CHUNK):
            mine = indices[indices // CHUNK == chunk] - chunk * CHUNK
            seen = tuple(found[indices // CHUNK == chunk].tolist())
            possible = {tuple(content[index] for index in mine) for content in self.past[chunk].since(since)}
            assert seen in possible, f"recheck={bound}: chunk {chunk} was {seen}, expected one of {possible}"

    @rule(bound=st.sampled_from(BOUNDS), index=st.integers(0, LENGTH - 1))
    def read_one(self, bound: Any, index: int) -> None:
        self.read(bound, slice(index, index + 1))
        chunk, within = divmod(index, CHUNK)
        possible = {content[within] for _, content in self.past[chunk].states}
        assert int(self.handles[bound][0][index]) in possible

    @invariant()
    def what_is_stored_is_what_was_written(self) -> None:
        if hasattr(self, "plain"):
            np.testing.assert_array_equal(self.plain[...], self.model)
            assert self.pool.used <= self.pool.limit


TestCaches = Caches.TestCase
TestCaches.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
