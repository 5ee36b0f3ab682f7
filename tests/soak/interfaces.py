"""P6: a hierarchy is changed through one interface after another: each reads what the others wrote.

The interfaces are blizzarr's own (also with a cache), `blizzarr.zarr` and `blizzarr.tensorstore`, whose handles may be
older than what others changed, and as foreign programs zarr-python, also with `blizzarr.ZarrPipeline`, and TensorStore,
which open everything anew. A dictionary of NumPy arrays says what must be there.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, cast

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import ConflictError, ViewOutOfBoundsError
from soak.experiment import Experiment, Outcome

CAPACITY: Final = 24
"""No axis is longer."""
NAMES: Final = ("a", "g/b", "g/c")
DTYPES: Final = ("int8", "uint16", ">i4", "int64", "float32", "<f8", "complex64", "bool")
OURS: Final = ("blizzarr", "cached", "blizzarr.zarr", "blizzarr.tensorstore")
FOREIGN: Final = ("zarr-python", "TensorStore", "pipeline")
MODULES: Final = {"cached": "blizzarr", "zarr-python": "zarr", "pipeline": "zarr", "TensorStore": "tensorstore"}


class Model:
    """What must be read of an array: its elements, and which of them nobody can know."""

    def __init__(self, shape: tuple[int, ...], stored: tuple[int, ...], dtype: str, fill: Any) -> None:
        self.shape, self.stored, self.fill = shape, stored, np.array(fill, dtype)
        self.values = np.full([CAPACITY] * len(shape), self.fill, dtype)
        self.attributes: dict[str, int] = {}
        self.unknown = np.zeros(self.values.shape, bool)
        """Elements that became invisible when a foreign program shrank the array, and left them in their chunks."""

    def box(self) -> tuple[slice, ...]:
        return tuple(map(slice, self.shape))

    def resize(self, shape: tuple[int, ...], by: str) -> None:
        old, self.shape = self.shape, shape
        common = tuple(slice(0, min(pair)) for pair in zip(old, shape, strict=True))
        outside = np.ones(self.values.shape, bool)
        outside[common] = False
        if by in FOREIGN:
            # Foreign programs remove at most the chunks that are wholly outside.
            edge = np.zeros(self.values.shape, bool)
            edge[tuple(slice(0, -(-size // step) * step) for size, step in zip(shape, self.stored, strict=True))] = True
            was = np.zeros(self.values.shape, bool)
            was[tuple(map(slice, old))] = True
            self.unknown |= outside & edge & was
            outside &= ~self.unknown
        else:
            self.unknown[outside & _inside(self.values.shape, old)] = False
        self.values[outside & ~self.unknown] = self.fill

    def differs(self, found: npt.NDArray[Any], box: tuple[slice, ...]) -> str | None:
        """Say how elements that were read differ from those that must be there."""
        expected, known = self.values[box], ~self.unknown[box]
        if (found.shape, found.dtype.newbyteorder("=")) != (expected.shape, expected.dtype.newbyteorder("=")):
            return f"{found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}"
        same = (found == expected) | ((found != found) & (expected != expected)) | ~known
        if same.all():
            return None
        at = tuple(map(int, np.argwhere(~same)[0]))
        return f"{found[at]!r} instead of {expected[at]!r} at {at} of {box}, {np.count_nonzero(~same)} wrong"


def _inside(shape: tuple[int, ...], box: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(shape, bool)
    inside[tuple(map(slice, box))] = True
    return inside


def _library(face: str) -> ModuleType:
    return import_module(MODULES.get(face, face))


class Program:
    """Random steps, the same for the same seed."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng, self.form = str(root), rng, cast("Literal[2, 3]", rng.choice([2, 3]))
        self.models: dict[str, Model] = {}
        self.handles: dict[str, list[tuple[str, Any]]] = {name: [] for name in NAMES}
        self.pool = blizzarr.CachePool(1 << 20)
        self.consolidated = False
        self.done: list[str] = []
        blizzarr.create_group(root, zarr_format=self.form)
        blizzarr.create_group(root, path="g", zarr_format=self.form)

    def step(self) -> str | None:
        """Do something and look at what is there; return what is wrong."""
        name = self.rng.choice(NAMES)
        steps: list[Callable[[str], None]] = [*[self.write] * 6, *[self.resize] * 3, *[self.append] * 2]
        steps += [self.create, self.remove, self.consolidate, self.annotate]
        chosen = self.create if name not in self.models else self.rng.choice(steps)
        try:
            chosen(name)
            name = self.rng.choice([*self.models] or [name])
            return self.look(name) or self.list()
        except ViewOutOfBoundsError:
            # As in TensorStore, handles share the last shape that one of them gave the array.
            old = [(face, handle) for face, handle in self.handles[name] if face == "blizzarr.tensorstore"]
            assert old, "refused without a reason"
            self.handles[name] = [entry for entry in self.handles[name] if entry not in old]
            return None

    def open(self, name: str, face: str) -> Any:
        """Return a handle; one of ours may have been opened long ago."""
        kept = [handle for other, handle in self.handles[name] if other == face]
        if kept and self.rng.random() < 0.6:
            return self.rng.choice(kept)
        place, library = f"{self.root}/{name}", _library(face)
        if face == "blizzarr.zarr":
            handle: Any = library.open_group(self.root, mode="r+", use_consolidated=False)[name]
        elif "ensor" in face:
            spec = {"driver": "zarr3" if self.form == 3 else "zarr", "kvstore": {"driver": "file", "path": f"{place}/"}}
            handle = library.open(spec, open=True).result()
        elif face == "pipeline":
            with library.config.set({"codec_pipeline.path": "blizzarr.ZarrPipeline"}):
                handle = library.open_array(place, mode="r+")
        else:
            handle = library.open_array(place, mode="r+")
            handle = handle.cached(self.pool) if face == "cached" else handle
        if face in OURS:
            self.handles[name].append((face, handle))
        return handle

    def box(self, name: str, handle: Any) -> tuple[slice, ...]:
        """Return a random part of what both the handle and the array have."""
        box = []
        for size in map(min, handle.shape, self.models[name].shape):
            start, stop = sorted((self.rng.randint(0, size), self.rng.randint(0, size)))
            box.append(slice(start, stop, self.rng.choice([1, 1, 2, 5])))
        return tuple(box)

    def note(self, what: str, name: str, face: str, more: Any = "") -> None:
        self.done.append(f"{what} {name} by {face} {more}")
        if what in ("create", "resize", "annotate") and face in FOREIGN and self.consolidated:
            # Those programs leave consolidated metadata behind that are too old.
            blizzarr.consolidate_metadata(self.root)

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        if self.rng.random() < 0.1:
            return np.zeros(shape, dtype)
        count = int(np.prod(shape, dtype=int))
        return np.array([self.rng.randint(0, 100) for _ in range(count)], "int8").reshape(shape).astype(dtype)

    def create(self, name: str) -> None:
        rng, face = self.rng, self.rng.choice([*OURS[::2], *FOREIGN[:1]])
        rank = rng.randint(1, 3)
        shape = tuple(rng.randint(0, CAPACITY // 2) for _ in range(rank))
        chunks = tuple(rng.randint(1, 6) for _ in range(rank))
        shards = tuple(step * rng.randint(1, 3) for step in chunks) if self.form == 3 and rng.random() < 0.4 else None
        dtype = rng.choice(DTYPES)
        fill = np.array(rng.choice([0, 0, 1, np.nan if np.dtype(dtype).kind == "f" else 1]), dtype)[()]
        options: dict[str, Any] = {"chunks": chunks, "shards": shards, "fill_value": fill}
        if rng.random() < 0.3:
            options["compressors"] = None
        if self.form == 2:
            options["order"] = rng.choice("CF")
        kept = {"name": name, "shape": shape, "dtype": dtype, "zarr_format": self.form, "overwrite": True}
        self.note("create", name, face, kept | options)
        self.handles[name] = []
        _library(face).create_array(self.root, **kept, **options)
        self.note("create", name, face)
        self.models[name] = Model(shape, shards or chunks, dtype, fill)

    def write(self, name: str) -> None:
        face = self.rng.choice(OURS + FOREIGN)
        model, handle = self.models[name], self.open(name, face)
        box = self.box(name, handle)
        values = self.values(model.values[box].shape, model.values.dtype)
        self.note("write", name, face, box)
        if "ensor" in face:
            handle[box] = values.astype(values.dtype.newbyteorder("="))
        else:
            handle[box] = values
        model.values[box], model.unknown[box] = values, False

    def resize(self, name: str) -> None:
        face = self.rng.choice(OURS + FOREIGN)
        model, handle = self.models[name], self.open(name, face)
        shape = tuple(self.rng.randint(0, CAPACITY) for _ in model.shape)
        self.note("resize", name, face, shape)
        try:
            if "ensor" in face:
                handle.resize(exclusive_max=shape).result()
            else:
                handle.resize(shape)
        except ConflictError:
            # Nobody resizes an array whose shape they do not know.
            assert handle.shape != model.shape, "refused without a reason"
            self.handles[name].remove((face, handle))
            return
        model.resize(shape, face)
        self.note("resize", name, face)

    def append(self, name: str) -> None:
        face = self.rng.choice(["blizzarr", "blizzarr.zarr", "cached"])
        model, handle = self.models[name], self.open(name, face)
        axis = self.rng.randrange(len(model.shape))
        old = model.shape[axis]
        size = self.rng.randint(0, min(4, CAPACITY - old))
        values = self.values((*model.shape[:axis], size, *model.shape[axis + 1 :]), model.values.dtype)
        self.note("append", name, face, (size, axis))
        handle.append(values, axis=axis)
        model.resize((*model.shape[:axis], old + size, *model.shape[axis + 1 :]), face)
        box = tuple(slice(old, None) if at == axis else slice(None) for at in range(values.ndim))
        model.values[model.box()][box], model.unknown[model.box()][box] = values, False

    def annotate(self, name: str) -> None:
        face = self.rng.choice(["blizzarr", "cached", "blizzarr.zarr", "zarr-python"])
        attribute, number = self.rng.choice("xyz"), self.rng.randint(0, 99)
        self.note("annotate", name, face, (attribute, number))
        self.open(name, face).attrs[attribute] = number
        self.models[name].attributes[attribute] = number
        self.note("annotate", name, face)

    def remove(self, name: str) -> None:
        self.note("remove", name, "blizzarr")
        del blizzarr.open_group(self.root, mode="r+")[name]
        del self.models[name]
        self.handles[name] = []

    def consolidate(self, _: str) -> None:
        self.note("consolidate", "", "blizzarr")
        blizzarr.consolidate_metadata(self.root)
        self.consolidated = True

    def look(self, name: str) -> str | None:
        """Read an array through an interface, or a part of it through a handle that is older."""
        if name not in self.models:
            return None
        face = self.rng.choice(OURS + FOREIGN)
        handle, model = self.open(name, face), self.models[name]
        box = (
            self.box(name, handle)
            if self.rng.random() < 0.5
            else tuple(map(slice, map(min, handle.shape, model.shape)))
        )
        found = np.asarray(handle[box].read().result() if "ensor" in face else handle[box])
        wrong = model.differs(found, box)
        return wrong and f"{name} by {face}: {wrong}"

    def list(self) -> str | None:
        """Say in what the arrays differ that are listed, with their shapes and attributes."""
        nodes = blizzarr.open_group(self.root).members(max_depth=None)
        found = {path: (node.shape, dict(node.attrs)) for path, node in nodes if isinstance(node, blizzarr.Array)}
        expected = {name: (model.shape, model.attributes) for name, model in self.models.items()}
        return None if found == expected else f"listed {found} instead of {expected}"


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many steps, in programs of 60."""
    findings = []
    done = 0
    while done < count:
        program = Program(scratch / f"{seed}-{done}.zarr", random.Random(f"{seed} {done}"))
        for _ in range(60):
            done += 1
            try:
                wrong = program.step()
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                findings.append(f"seed {seed}, v{program.form}: {wrong} after {'; '.join(program.done[-12:])}")
                break
    return Outcome(done, len(findings), findings=tuple(findings))


EXPERIMENT = Experiment(
    name="interfaces",
    promise="P6",
    what="What is written through one interface is read through each other one",
    unit="changes",
    full=100_000,
    ci=120,
    run=run,
    batch=600,
    needs=lambda: None if all(map(find_spec, ("zarr", "tensorstore"))) else "needs zarr-python and TensorStore",
)
