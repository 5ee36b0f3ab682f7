"""P6 for zarr-python with our pipeline: processes write elements of one chunk or shard, and none is lost.

What zarr-python loses with its own pipeline is counted beside it: it shows that the writers do meet.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from soak.experiment import Experiment, Outcome

SCRIPT = Path(__file__).parents[1] / "support" / "zarr_writers.py"
OURS, THEIRS = "blizzarr.ZarrPipeline", "zarr.core.codec_pipeline.BatchedCodecPipeline"
PROCESSES = 8


def lost(place: Path, pipeline: str, turns: int, sharded: bool) -> int:
    """Return how many elements are lost of those that all processes have written."""
    command = [sys.executable, str(SCRIPT), str(place), pipeline, str(PROCESSES), str(turns), str(sharded)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """One chunk in even batches, and one shard in odd ones."""
    turns, sharded = max(1, count // PROCESSES), seed % 2 == 1
    wrong = lost(scratch / "ours", OURS, turns, sharded)
    findings = [f"{'shard' if sharded else 'chunk'}: {wrong} of {turns * PROCESSES} writes are lost"] if wrong else []
    figures = {"lost_by_zarr-python's_own_pipeline": lost(scratch / "theirs", THEIRS, turns, sharded)}
    return Outcome(turns * PROCESSES, wrong, figures, tuple(findings))


EXPERIMENT = Experiment(
    name="zarr_writers",
    promise="P6",
    what="When processes write parts of one chunk or shard through zarr-python with our pipeline, no write is lost",
    unit="writes",
    full=8000,
    ci=64,
    run=run,
    batch=800,
    needs=lambda: None if importlib.util.find_spec("zarr") else "zarr-python is not installed",
)
