"""What is written while the power goes: a child says what it begins and what is done, as lines of JSON.

Every element that is written is the number of the write, so that what is found says when it was written. Cells are what
one write replaces as a whole or not at all: half a chunk, as some writes are of half a chunk.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

import blizzarr
from blizzarr.errors import StoreError

__all__ = ["ABSENT", "CELL", "CELLS", "PLAIN", "SHARDED", "prepare"]

CELL: Final = 4096
"""Elements of 8 bytes."""
CELLS: Final = 32
ABSENT: Final = 1 << 60
"""The fill value: what is not there. Zero is what nobody has written."""
PLAIN, SHARDED = "plain", "sharded"
NEW_CELLS: Final = 8
FLUSH_EVERY: Final = 7


def prepare(root: Path) -> None:
    """Two arrays of which every cell has been written, for good."""
    with blizzarr.durable("full"):
        group = blizzarr.create_group(root)
        for name, shards in ((PLAIN, None), (SHARDED, (8 * CELL,))):
            group.create_array(
                name,
                data=np.ones(CELLS * CELL, "uint64"),
                chunks=(2 * CELL,),
                shards=shards,
                fill_value=ABSENT,
                compressors=None,
                attributes={"number": 1},
            )


def load(root: Path, level: str, seed: int) -> Iterator[dict[str, Any]]:
    """Write for ever; each write is told before it is begun and when it is done."""
    chance = random.Random(seed)
    group = blizzarr.open_group(root, mode="r+")
    arrays = {name: group[name] for name in (PLAIN, SHARDED)}
    new: list[str] = []
    for number in range(2, 1 << 30):
        name = chance.choice([PLAIN, SHARDED])
        kind = chance.choice(["chunks", "chunks", "part", "document", "new", "delete"])
        if kind == "chunks":
            first = 2 * chance.randrange(CELLS // 2)
            cells = [first, min(CELLS, first + 2 * chance.randint(1, 8))]
        else:
            first = chance.randrange(CELLS)
            cells = [first, first + 1]
        if kind == "delete" and not new:
            kind = "new"
        if kind == "new":
            name, cells = f"new/{number}/{number}", [0, NEW_CELLS]
        elif kind == "delete":
            name = new.pop(0)
        told = {"number": number, "kind": kind, "name": name, "cells": cells}
        yield {"begin": told}
        if kind == "new":
            data = np.full(NEW_CELLS * CELL, number, "uint64")
            group.create_array(name, data=data, chunks=(2 * CELL,), fill_value=ABSENT, compressors=None)
            new.append(name)
        elif kind == "delete":
            del group[name]
        elif kind == "document":
            arrays[name].attrs["number"] = number
        else:
            arrays[name][cells[0] * CELL : cells[1] * CELL] = number
        yield {"done": told, "durable": level == "full"}
        if level == "ordered" and number % FLUSH_EVERY == 0:
            group.store.flush()
            yield {"flushed": True}


def main() -> None:
    """Until there is no disk any more."""
    order = json.loads(sys.argv[1])
    with blizzarr.config.set(durability=order["level"], threads=order["threads"]):
        try:
            for told in load(Path(order["root"]), **{key: order[key] for key in ("level", "seed")}):
                print(json.dumps(told), flush=True)
        except StoreError as error:
            print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
