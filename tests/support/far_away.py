"""Counting the requests to stores that are far away."""

from __future__ import annotations

from collections import Counter
from typing import Any

from blizzarr.stores import MappingStore
from support.faulty_server import FaultyServer


class Far(MappingStore):
    """A store whose requests take long, and are counted; so are the times that requests are waited for."""

    remote = True

    def __init__(self) -> None:
        super().__init__({})
        self.read: Counter[str] = Counter()
        self.batches: list[list[str]] = []

    def get_many(self, keys: list[str]) -> list[Any]:
        self.batches.append(keys)
        self.read.update(keys)
        return [super(Far, self).get(key) for key in keys]

    def get(self, key: str) -> Any:
        return self.get_many([key])[0]


def requested(server: FaultyServer) -> list[tuple[str, str]]:
    """The requests since the last call, as methods and keys, without those for a group around the store."""
    made = [(method, path.partition("?")[0].removeprefix("/bucket/a/")) for method, path in server.requests]
    server.requests.clear()
    return [(method, key) for method, key in made if not key.startswith("/bucket/")]
