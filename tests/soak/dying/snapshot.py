"""What a hierarchy is at one moment, and whether it is one between two others."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import NodeNotFoundError

__all__ = ["Node", "Snapshot", "between", "equal", "snapshot"]


@dataclass(frozen=True, slots=True)
class Node:
    """An array with its elements, or a group."""

    attributes: dict[str, Any]
    elements: npt.NDArray[Any] | None = None
    chunk_shape: tuple[int, ...] = ()
    """Of what is replaced at once."""


Snapshot = dict[str, Node]


def snapshot(place: Path) -> Snapshot:
    """Every node that is there by its path, read from the store by a new handle; nothing, if there is none."""
    with warnings.catch_warnings():
        # Of two formats at one place, of zip files that were not closed: what is read is compared all the same.
        warnings.simplefilter("ignore")
        try:
            root = blizzarr.open(place, mode="r")
        except NodeNotFoundError:
            return {}
        nodes: list[tuple[str, Any]] = [("", root)]
        if isinstance(root, blizzarr.Group):
            whole = blizzarr.open_group(place, mode="r", use_consolidated=False)
            unreadable = whole.unreadable(None)
            assert not unreadable, f"cannot be read: {unreadable}"
            nodes += list(whole.walk())
        found = {path: _node(node) for path, node in nodes}
        consolidated = getattr(root.metadata, "consolidated", None)
        if consolidated is not None:
            # They may be missing, but never tell another story than the documents.
            told = {path: dict(meta.attributes) for path, meta in consolidated.items()}
            assert told == {path: node.attributes for path, node in found.items() if path}, "consolidated are stale"
        root.store.close()
        return found


def _node(node: Any) -> Node:
    attributes = dict(node.attrs)
    if isinstance(node, blizzarr.Array):
        return Node(attributes, node[...], node.metadata.write_shape)
    return Node(attributes)


def equal(one: Snapshot, other: Snapshot) -> bool:
    """Whether both are the same."""
    return between(one, other, other) is None


def between(now: Snapshot, old: Snapshot, new: Snapshot, *, may_be_gone: bool = False) -> str | None:
    """What of `now` is neither as in `old` nor as in `new`, chunk by chunk; None when everything is one of both."""
    for path in old.keys() | new.keys() | now.keys():
        states = [state[path] for state in (old, new) if path in state]
        if path not in now:
            if path in old and path in new and not may_be_gone:
                return f"/{path} is gone"
            continue
        if not states:
            return f"/{path} was never there"
        node = now[path]
        if node.attributes not in [state.attributes for state in states]:
            return f"/{path} has attributes {node.attributes}, neither of {[state.attributes for state in states]}"
        if may_be_gone:
            # No chunk of what was replaced is in what replaces it.
            states = [state for state in states if state.attributes == node.attributes]
        if may_be_gone or len(states) == 1:
            # An array that is made has its fill values before it has its elements.
            states.append(_empty(states[-1]))
        problem = _elements(node, states)
        if problem is not None:
            return f"/{path}{problem}"
    return None


def _empty(node: Node) -> Node:
    if node.elements is None:
        return node
    return Node(node.attributes, np.zeros_like(node.elements), node.chunk_shape)


def _elements(node: Node, states: list[Node]) -> str | None:
    if node.elements is None:
        return None if any(state.elements is None for state in states) else " is a group"
    arrays = [state for state in states if state.elements is not None]
    if node.elements.shape not in [state.elements.shape for state in arrays if state.elements is not None]:
        return f" has shape {node.elements.shape}"
    for cell in _cells(node.elements.shape, node.chunk_shape):
        part = node.elements[cell]
        if not any(_holds(state, cell, part) for state in arrays):
            return f"[{cell}] is neither old nor new: {part.ravel()[:8]}"
    return None


def _cells(shape: tuple[int, ...], chunk: tuple[int, ...]) -> Any:
    axes = (
        [slice(start, min(start + part, length)) for start in range(0, length, part)]
        for length, part in zip(shape, chunk, strict=True)
    )
    return itertools.product(*axes)


def _holds(state: Node, cell: tuple[slice, ...], part: npt.NDArray[Any]) -> bool:
    """Whether a chunk is what it is in this state, where elements outside are fill values."""
    assert state.elements is not None
    inside = state.elements[cell]
    expected = np.zeros(part.shape, part.dtype)
    expected[tuple(slice(0, length) for length in inside.shape)] = inside
    return bool(np.array_equal(part, expected))
