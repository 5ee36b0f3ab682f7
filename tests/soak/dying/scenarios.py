"""Every kind of change: what is there before, and steps each of which is one call that can be repeated.

All write numbers that differ from chunk to chunk and from step to step, of very different sizes when compressed, so
that a mixture of two would be seen, and what is left of a longer value behind a shorter one (fault row 80) too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.stores import ZipStore

__all__ = ["SCENARIOS", "Scenario"]

Step: TypeAlias = Callable[[Path], object]
SHAPE = (64, 48)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is made first, and what is done then, in the folder that is given."""

    name: str
    before: Step
    steps: tuple[Step, ...]
    suffix: str = ".zarr"
    may_be_gone: bool = False
    """Whether what is replaced is missing for a moment."""


def noise(seed: int, shape: tuple[int, ...] = SHAPE) -> npt.NDArray[Any]:
    """Numbers that do not compress."""
    return np.random.default_rng(seed).integers(1, 1 << 30, shape, "i4")


def plain(seed: int, shape: tuple[int, ...] = SHAPE) -> npt.NDArray[Any]:
    """Numbers that compress to nearly nothing."""
    return np.full(shape, seed, "i4")


def array(place: Path, name: str | None = None, **options: Any) -> blizzarr.Array:
    """An array with elements in sixteen chunks."""
    settings: dict[str, Any] = {"data": noise(0), "chunks": (16, 12), "overwrite": True} | options
    return blizzarr.create_array(place, name=name, **settings)


def a(place: Path, path: str = "") -> blizzarr.Array:
    """The array that is there, opened anew as whoever comes back would."""
    return blizzarr.open_array(place, path=path, mode="r+")


def whole(**options: Any) -> tuple[Step, tuple[Step, ...]]:
    """Whole chunks: shorter than before, longer, as short as nothing."""
    return lambda p: array(p, **options), (
        lambda p: a(p).__setitem__(..., plain(7)),
        lambda p: a(p).__setitem__(..., noise(1)),
        lambda p: a(p).__setitem__(..., 0),
        lambda p: a(p).__setitem__(..., noise(2)),
    )


def part(**options: Any) -> tuple[Step, tuple[Step, ...]]:
    """Parts of several chunks."""
    return lambda p: array(p, **options), (
        lambda p: a(p).__setitem__((slice(8, 40), slice(6, 30)), plain(7, (32, 24))),
        lambda p: a(p).__setitem__((slice(5, 50, 3), slice(1, 40)), noise(1, (15, 39))),
        lambda p: a(p).__setitem__((slice(0, 16), slice(0, 12)), 0),
    )


def group(place: Path, **options: Any) -> blizzarr.Group:
    """A group with two arrays and a group with an array."""
    root = blizzarr.create_group(place, attributes={"title": "before"}, **options)
    for seed, name in enumerate(("x", "g/y", "z")):
        root.create_array(name, data=noise(seed, (20,)), chunks=6)
    return root


def old_hierarchy(zarr_format: str) -> Step:
    """The same, in a format that is to be upgraded."""
    return lambda place: group(place, zarr_format=zarr_format)


def attributes() -> tuple[Step, ...]:
    """Attributes of the root, of a group and of an array, set and removed."""
    return (
        lambda p: blizzarr.open_group(p).attrs.update(title="after", longer="x" * 5000),
        lambda p: blizzarr.open_group(p)["g"].attrs.put({"a": [1, 2, 3]}),
        lambda p: blizzarr.open_group(p)["g/y"].attrs.update(b=1),
        lambda p: blizzarr.open_group(p).attrs.put({"title": "short"}),
    )


def remove(place: Path, name: str) -> None:
    """Remove a member if it is there."""
    root = blizzarr.open_group(place, use_consolidated=False)
    if name in root:
        del root[name]


def in_zip(place: Path, change: Callable[[ZipStore], object]) -> None:
    """Change a zip file, and finish it."""
    with ZipStore(place, mode="a") as store:
        change(store)


def zipped(change: Callable[[ZipStore], object]) -> Step:
    """A step in a zip file."""
    return lambda place: in_zip(place, change)


SHARDS: dict[str, Any] = {"chunks": (8, 12), "shards": (32, 24)}

SCENARIOS = [
    Scenario("whole", *whole()),
    Scenario("whole v2", *whole(zarr_format=2)),
    Scenario("whole raw", *whole(compressors=None)),
    Scenario("whole shards", *whole(**SHARDS)),
    Scenario("part", *part()),
    Scenario("part v2", *part(zarr_format=2)),
    Scenario("part v1", *part(zarr_format=1)),
    Scenario("part draft", *part(zarr_format="v3_draft")),
    Scenario("part shards", *part(**SHARDS)),
    Scenario(
        "create",
        lambda p: blizzarr.create_group(p),
        (
            lambda p: array(p, "deep/er/x", overwrite=True),
            lambda p: blizzarr.create_group(p, path="deep/group", overwrite=True, attributes={"a": 1}),
            lambda p: array(p, "y", data=noise(1, (20,)), chunks=6),
        ),
        may_be_gone=True,
    ),
    Scenario("create v2", lambda p: None, (lambda p: array(p, "a/x", zarr_format=2),), may_be_gone=True),
    Scenario("create draft", lambda p: None, (lambda p: array(p, "a/x", zarr_format="v3_draft"),), may_be_gone=True),
    Scenario("attributes", group, attributes()),
    Scenario("attributes v2", old_hierarchy("v2"), attributes()),
    Scenario("attributes draft", old_hierarchy("v3_draft"), attributes()),
    Scenario(
        "resize",
        array,
        (
            lambda p: a(p).resize((100, 60)),
            lambda p: a(p).resize((30, 20)),
            lambda p: a(p).resize((64, 48)),
        ),
    ),
    Scenario(
        "resize shards",
        lambda p: array(p, **SHARDS),
        (lambda p: a(p).resize((20, 30)), lambda p: a(p).resize((64, 48))),
    ),
    Scenario(
        "append",
        array,
        (
            lambda p: a(p).append(noise(3, (7, 48)), at=64),
            lambda p: a(p).append(plain(3, (20, 48)), at=71),
        ),
    ),
    Scenario(
        "append shards v2 keys",
        lambda p: array(p, **SHARDS, chunk_key_encoding=("v2", "/")),
        (lambda p: a(p).append(noise(3, (7, 48)), at=64), lambda p: a(p).append(noise(4, (71, 5)), axis=1, at=48)),
    ),
    Scenario(
        "consolidate",
        group,
        (
            lambda p: blizzarr.consolidate_metadata(p),
            lambda p: blizzarr.open_group(p, use_consolidated=False)["x"].attrs.update(a=1),
            lambda p: blizzarr.consolidate_metadata(p),
            lambda p: remove(p, "z"),
        ),
    ),
    Scenario("remove", group, (lambda p: remove(p, "x"), lambda p: remove(p, "g"))),
    Scenario("remove v2", old_hierarchy("v2"), (lambda p: remove(p, "x"), lambda p: remove(p, "g"))),
    Scenario("remove draft", old_hierarchy("v3_draft"), (lambda p: remove(p, "x"), lambda p: remove(p, "g"))),
    Scenario(
        "overwrite",
        group,
        (
            lambda p: array(p, "g", data=noise(5, (30,)), chunks=10),
            lambda p: array(p, "x", data=plain(1, (3,)), chunks=2),
        ),
        may_be_gone=True,
    ),
    Scenario(
        # Where the store begins, whose directory cannot be renamed. The attributes tell whose chunks may be there.
        "replace",
        lambda p: array(p, attributes={"version": 0}),
        (
            lambda p: array(p, data=noise(1), attributes={"version": 1}),
            lambda p: array(p, data=noise(2), chunks=(8, 48), attributes={"version": 2}),
            lambda p: blizzarr.copy(noise(3), p, chunks=(16, 12), attributes={"version": 3}, overwrite=True),
            lambda p: blizzarr.open_array(
                p, mode="w", shape=SHAPE, chunks=(16, 12), dtype="i4", attributes={"version": 4}
            ),
            lambda p: blizzarr.create_group(p, attributes={"version": 5}, overwrite=True),
            lambda p: array(p, "x", data=noise(6), attributes={"version": 6}),
            lambda p: array(p, "x", data=noise(7), attributes={"version": 7}),
            lambda p: array(p, data=noise(8), attributes={"version": 8}, **SHARDS),
        ),
        may_be_gone=True,
    ),
    Scenario(
        "copy",
        lambda p: array(p, "from"),
        (
            lambda p: blizzarr.copy(p / "from", p, path="to", chunks=(20, 20), resume=True),
            lambda p: blizzarr.copy(p / "from", p, path="same", resume=True),
            lambda p: blizzarr.copy(p / "from", p, path="shards", chunks=(8, 8), shards=(32, 32), resume=True),
        ),
    ),
    Scenario("upgrade v2", old_hierarchy("v2"), (lambda p: blizzarr.upgrade(p),)),
    Scenario("upgrade draft", old_hierarchy("v3_draft"), (lambda p: blizzarr.upgrade(p),)),
    Scenario(
        "zip",
        zipped(lambda store: array(store, "x", overwrite=False)),  # type: ignore[arg-type]
        (
            zipped(lambda store: blizzarr.open_array(store, path="x", mode="r+").__setitem__(..., plain(3))),
            zipped(lambda store: blizzarr.open_array(store, path="x", mode="r+").__setitem__(slice(5, 20), 9)),
            zipped(lambda store: blizzarr.open_array(store, path="x", mode="r+").attrs.update(a=1)),
        ),
        suffix=".zip",
    ),
]
