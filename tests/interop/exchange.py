"""An array crosses from one implementation to another: what is to be read, what was, and where they differ."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interop.case import Case
from interop.documents import type_name
from interop.elements import Packed, pack
from interop.message import Message, array_answer
from interop.peers import Peer


def exchange(case: Case, writer: Peer, reader: Peer, root: Path) -> list[str]:
    """Have the case written by one and read by the other; say what was read otherwise than it was written."""
    write(case, writer, root, "a")
    found = reader.call("read", {"root": str(root), "path": "a"})
    return differences(expected_of(case), without(found, writer.own_attributes))


def write(case: Case, writer: Peer, root: Path, path: str) -> None:
    place = {"root": str(root), "path": path, "document": case.document}
    writer.call("write", {**place, "box": [list(edge) for edge in case.written_box], "values": pack(case.values())})


def expected_of(case: Case) -> Message:
    """Return what every reader must answer."""
    return array_answer(
        case.expected(),
        data_type=type_name(case.document),
        fill=case.fill,
        attributes=case.document["attributes"],
        names=case.document.get("dimension_names"),
    )


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Say where two answers about an array differ."""
    pairs: dict[str, tuple[Any, Any]] = {
        "shape": (expected["shape"], found["shape"]),
        "data type": (expected["data_type"], found["data_type"]),
        "fill value": (_hex(expected["fill"]), _hex(found["fill"])),
        "attributes": (_text(expected["attributes"]), _text(found["attributes"])),
        "dimension names": (_names(expected["dimension_names"]), _names(found["dimension_names"])),
    }
    problems = [f"{what}: expected {one}, found {other}" for what, (one, other) in pairs.items() if one != other]
    if expected["values"] != found["values"]:
        problems.append(_first_difference(tuple(expected["shape"]), expected["values"], found["values"]))
    return problems


def without(node: Message, own: frozenset[str]) -> Message:
    """Leave out attributes that the writer adds by itself."""
    return node | {"attributes": {key: value for key, value in node["attributes"].items() if key not in own}}


def _first_difference(shape: tuple[int, ...], expected: Packed, found: Packed) -> str:
    """Name the first element that is another one than was expected."""
    ours, theirs = _elements(expected, shape), _elements(found, shape)
    if len(ours) != len(theirs):
        return f"values: expected {len(ours)} elements, found {len(theirs)}"
    wrong = [index for index, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    if not wrong:
        return f"values: expected elements of {len(ours[0])} bytes, found some of {len(theirs[0])}"
    place = tuple(int(index) for index in np.unravel_index(wrong[0], shape))
    difference = f"expected {ours[wrong[0]]}, found {theirs[wrong[0]]}"
    return f"values: {len(wrong)} of {len(ours)} differ, first at {place}: {difference}"


def _elements(packed: Packed, shape: tuple[int, ...]) -> list[Any]:
    if isinstance(packed, list):
        return packed
    data = base64.b64decode(packed)
    size = max(len(data) // max(int(np.prod(shape)), 1), 1)
    return [data[at : at + size].hex() for at in range(0, len(data), size)]


def _hex(packed: Packed | None) -> Any:
    return base64.b64decode(packed).hex() if isinstance(packed, str) else packed


def _text(value: Any) -> str:
    """Write JSON so that 1, 1.0 and true differ and the order of members does not."""
    return json.dumps(value, sort_keys=True)


def _names(names: list[str | None] | None) -> list[str | None] | None:
    """Take names that are all null for none: the specification gives both one meaning."""
    return names if names and any(name is not None for name in names) else None
