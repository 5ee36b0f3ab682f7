"""Processes that write parts of one chunk, or of one shard, through zarr-python at the same time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["lost"]


def lost(place: Path, pipeline: str, processes: int, turns: int, sharded: bool) -> int:
    """Return how many of the elements that `processes` have written, `turns` each, are not there in the end.

    It forks, so call it in a process that has no other threads.
    """
    import zarr

    import blizzarr

    assert blizzarr.ZarrPipeline  # registers itself
    zarr.config.set({"codec_pipeline.path": pipeline})
    length = processes * turns
    layout: dict[str, Any] = {"chunks": (turns,), "shards": (length,)} if sharded else {"chunks": (length,)}
    children = []
    if not os.fork():
        zarr.create_array(place, shape=(length,), dtype="int32", fill_value=0, **layout)
        os._exit(0)
    assert os.wait()[1] == 0
    for number in range(processes):
        child = os.fork()
        if not child:
            array = zarr.open_array(place, mode="r+")
            for turn in range(turns):
                array[number + turn * processes] = number + 1
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    found = np.asarray(zarr.open_array(place, mode="r")[:])
    return int(np.count_nonzero(found != np.arange(length) % processes + 1))


if __name__ == "__main__":
    place, pipeline, processes, turns, sharded = sys.argv[1:]
    print(lost(Path(place), pipeline, int(processes), int(turns), sharded == "True"))
