"""Everything that opens, lists, shows and reads a hierarchy; what comes out is data or one of our errors."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr import Array, Group
from blizzarr.array import ArrayWithoutData
from blizzarr.errors import BlizzarrError, InternalError, MetadataError
from blizzarr.stores import MappingStore, ZipStore
from fuzz.choices import Choices
from fuzz.damage import Case, damaged

__all__ = ["SECONDS", "one", "read_everything"]

SECONDS = 1.0
"""No call takes longer."""
WHOLE = 1 << 16
"""Arrays of no more elements are read as a whole."""
MEMBERS = 40


def one(data: bytes) -> str:
    """Make a hierarchy of the fuzzer's bytes and read it; says which one it was made of."""
    case = damaged(Choices(data))
    read_everything(case)
    return case.name


def read_everything(case: Case) -> None:
    """All of it; whatever is raised but a `BlizzarrError`, and whatever takes too long, comes out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _store(case.content) as store:
            if store is not None:
                _read(store, case.changed)


@contextlib.contextmanager
def _store(content: dict[str, bytes] | bytes) -> Iterator[Any]:
    if isinstance(content, dict):
        yield MappingStore(content)
        return
    directory = Path("/dev/shm") if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(suffix=".zip", dir=directory) as file:
        file.write(content)
        file.flush()
        opened = _ours(lambda: ZipStore(file.name, limit=1 << 24))
        try:
            yield opened
        finally:
            if opened is not None:
                _ours(opened.close)


def _ours(call: Callable[[], Any]) -> Any:
    """What a call gives, or None when it raises one of our errors that is no bug. Its time is the processor's."""
    begun = time.process_time()
    try:
        return call()
    except InternalError:
        raise
    except BlizzarrError as error:
        _named(error)
        return None
    finally:
        spent = time.process_time() - begun
        assert spent < SECONDS, f"{spent:.1f} s"


def _named(error: BlizzarrError) -> None:
    if not str(error) or (isinstance(error, MetadataError) and error.key is None and error.array is None):
        raise AssertionError(f"an error that does not say what or where: {error!r}")


def _read(store: Any, changed: frozenset[str]) -> None:
    _ours(lambda: sorted(store.list()))
    node = _ours(lambda: blizzarr.open(store, mode="r"))
    _ours(lambda: blizzarr.open_group(store, mode="r", use_consolidated=False))
    if isinstance(node, Array):
        _array(node)
    if isinstance(node, Group):
        _group(node, changed)


def _group(group: Group, changed: frozenset[str]) -> None:
    for call in (
        lambda: dict(group.attrs),
        lambda: repr(group),
        lambda: str(group.info),
        lambda: list(group.unreadable()),
    ):
        _ours(call)
    for error in (_ours(group.unreadable) or {}).values():
        _named(error)
    _ours(lambda: str(group.tree()))
    names = _ours(lambda: list(group.keys())) or []
    for name in names[:MEMBERS]:
        # Of the others no more than what the group says of them.
        if changed and not any(name in key.split("/") or ".z" in key[:2] or key == "zarr.json" for key in changed):
            continue
        member = _ours(lambda name=name: group[name])
        if isinstance(member, Array):
            _array(member)
    for path, _ in (_ours(lambda: list(group.members(max_depth=None))) or [])[:MEMBERS]:
        assert isinstance(path, str)


def _array(array: Array) -> None:
    for call in (lambda: dict(array.attrs), lambda: repr(array), lambda: str(array.info), lambda: array.fill_value):
        _ours(call)
    for call in (lambda: array.chunks, lambda: array.compressors, lambda: array.nbytes, lambda: array.nchunks):
        _ours(call)
    if isinstance(array, ArrayWithoutData):
        return
    if 0 not in array.shape:
        _ours(lambda: array[(0,) * array.ndim])
        _ours(lambda: array[(-1,) * array.ndim])
    if array.size <= WHOLE and array.itemsize * array.size <= 1 << 24:
        found = _ours(lambda: array[...])
        if found is not None:
            assert np.shape(found) == array.shape
