"""Arrays of one object on a faulty server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import blizzarr
from blizzarr.errors import BlizzarrError
from support.faulty_server import FaultyServer

VALUES = np.arange(1, 65, dtype="u2")
LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": 64, "compressors": "zstd"},
    "raw": {"chunks": 64, "compressors": None},
    "shard": {"chunks": 8, "shards": 64, "compressors": "zstd"},
    "raw shard": {"chunks": 8, "shards": 64, "compressors": None},
}
KEY = "/bucket/a/c/0"
PARTS = [slice(None), slice(3, 7)]


def stored(server: FaultyServer, layout: str) -> Any:
    """An array of one object, which is there."""
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=VALUES, fill_value=9, **LAYOUTS[layout])
    server.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in values.items()})
    return blizzarr.open_array(server.store(), mode="r+")


def known(server: FaultyServer) -> FaultyServer:
    """The server, after it was found that it heeds conditions."""
    store = server.store()
    for value in (None, b"1"):
        assert store.replace("known", value, b"1" if value is None else b"2")
    del server.objects["/bucket/a/known"]
    return server


def outcome(work: Callable[[], Any]) -> Any:
    """What work returns, or the error of ours that it raises."""
    try:
        return work()
    except BlizzarrError as error:
        return error
