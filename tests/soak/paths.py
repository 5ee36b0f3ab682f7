"""P9: whatever a name is, and whatever links are planted, nothing outside of a root that is kept within is touched.

Beside the root lies a canary, whose bytes nothing else has: none of them may come back, and nothing of it may change.
The names are those that have got out of some program: ``..`` in all spellings, absolute paths, backslashes, characters
that end strings, devices, names that are too long; and paths by way of links that are planted below the root.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import blizzarr
from blizzarr.errors import BlizzarrError
from blizzarr.stores import LocalStore
from soak.experiment import Experiment, Outcome
from soak.planting.names import name
from soak.planting.surfaces import SURFACES
from support.canary import Canary


def plant(root: Path) -> None:
    """Arrays of our own, in place of whatever is there."""
    store = LocalStore(root, links="within-root")
    store.delete_prefix("")
    group = blizzarr.create_group(store)
    for own in ("own", "doc"):
        group.create_array(own, data=np.arange(8, dtype="int16"), chunks=2, compressors=None)


def plant_links(root: Path, outside: Path) -> None:
    """Links that lead out, stay, lead nowhere and in circles, wherever they have been removed or replaced."""
    links = {
        "out": outside,
        "up": Path("..", outside.name),
        "parent": Path(".."),
        "top": Path("/"),
        "chain": Path("out"),
        "in": Path("own"),
        "loop": Path("loop"),
        "nowhere": Path("missing"),
        "file": outside / "c" / "0",
        "own/out": Path("..", "..", outside.name),
        "own/c/1": outside / "c" / "0",
        "own/c/9": outside / "c",
        "doc/zarr.json": outside / "zarr.json",
    }
    for place, target in links.items():
        path = root / place
        if path.is_symlink():
            continue
        for above in [*reversed(path.relative_to(root).parents)][1:]:
            if not (root / above).is_dir():
                (root / above).unlink(missing_ok=True)
                (root / above).mkdir()
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(target)


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Each name once as a key of the store, and once elsewhere."""
    random_ = random.Random(seed)
    canary = Canary(scratch / "outside")
    root = scratch / "root"
    beside = {"outside", "root", "name.zip"}
    (scratch / "name.zip").touch()
    figures = Counter[str]()
    findings: list[str] = []
    for number in range(count):
        # What was deleted or replaced by names that are ours to delete comes back.
        if number % 50 == 0:
            plant(root)
        plant_links(root, canary.root)
        word = name(random_, scratch)
        for surface in ("key", list(SURFACES)[number % len(SURFACES)]):
            where = f"seed {seed}, name {number} ({word[:60]!r}) as {surface}: "
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for act in SURFACES[surface](LocalStore(root, links="within-root"), word, scratch):
                    try:
                        canary.refuse(act())
                        figures["answers"] += 1
                    except AssertionError as error:
                        findings.append(f"{where}{error}")
                    except (BlizzarrError, ValueError) as error:
                        figures["refusals"] += 1
                        figures["because_of_links"] += "leads out of the root" in str(error)
                        if canary.mark in str(error):
                            findings.append(f"{where}an error tells what is outside: {error}")
                    except Exception as error:
                        findings.append(f"{where}{type(error).__name__}: {str(error)[:200]}")
        if not canary.unchanged():
            findings.append(f"seed {seed}, name {number} ({word[:60]!r}): what is outside has changed")
            shutil.rmtree(canary.root, ignore_errors=True)
            canary = Canary(canary.root)
        if {*os.listdir(scratch)} != beside:
            findings.append(f"seed {seed}, name {number} ({word[:60]!r}): something was made beside the root")
            beside = {*os.listdir(scratch)}
    return Outcome(count, len(findings), dict(figures), tuple(findings))


def _needs() -> str | None:
    return None if sys.platform == "linux" else "no other system keeps to a directory"


EXPERIMENT = Experiment(
    name="paths",
    promise="P9",
    what='No key, node name, consolidated entry or zip entry leads out of a root opened with `links="within-root"`',
    unit="names",
    full=100_000,
    ci=150,
    run=run,
    batch=2000,
    needs=_needs,
)
