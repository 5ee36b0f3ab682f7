"""Arrays cross between blizzarr and every peer, both ways, without a difference.

A failure names the case and the peer. What a peer does not support is skipped with the reason from
:mod:`interop.peers`; it is tried nevertheless, and a peer that has learned it fails the test until its rule is removed.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interop.case import Case
from interop.cases import CASES
from interop.crossing import cross, pairs
from interop.documents import type_name
from interop.elements import Packed, pack
from interop.message import Message
from interop.peers import Peer, subject


@pairs(CASES, "writes")
def test_we_read_what_the_peer_writes(case: Case, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, peer, ours, lambda: differences(case, exchange(case, peer, ours, root), peer))


@pairs(CASES, "reads")
def test_the_peer_reads_what_we_write(case: Case, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, ours, peer, lambda: differences(case, exchange(case, ours, peer, root), ours))


def exchange(case: Case, writer: Peer, reader: Peer, root: Path) -> Message:
    """Have the case written by one and read by the other; return what was read."""
    place = {"root": str(root), "path": "a"}
    box = [list(edge) for edge in case.written_box]
    writer.call("write", {**place, "document": case.document, "box": box, "values": pack(case.values())})
    return reader.call("read", place)


def differences(case: Case, answer: Message, writer: Peer) -> list[str]:
    """Say what was read otherwise than it was written."""
    expected = case.expected()
    attributes = {key: value for key, value in answer["attributes"].items() if key not in writer.own_attributes}
    fill = None if case.fill is None else pack(case.fill)
    pairs: dict[str, tuple[Any, Any]] = {
        "shape": (list(expected.shape), answer["shape"]),
        "data type": (type_name(case.document), answer["data_type"]),
        "fill value": (_hex(fill), _hex(answer["fill"])),
        "attributes": (_text(case.document["attributes"]), _text(attributes)),
        "dimension names": (_names(case.document.get("dimension_names")), _names(answer["dimension_names"])),
    }
    problems = [
        f"{what}: expected {wanted}, found {found}" for what, (wanted, found) in pairs.items() if wanted != found
    ]
    wanted, found = pack(expected), answer["values"]
    if found != wanted:
        problems.append(_first_difference(expected, wanted, found))
    return problems


def _hex(packed: Packed | None) -> Any:
    return base64.b64decode(packed).hex() if isinstance(packed, str) else packed


def _first_difference(expected: NDArray[Any], wanted: Packed, found: Packed) -> str:
    """Name the first element that is another one than was wanted."""
    ours, theirs = _elements(wanted, expected.dtype.itemsize), _elements(found, expected.dtype.itemsize)
    if len(ours) != len(theirs):
        return f"values: expected {len(ours)} elements, found {len(theirs)}"
    wrong = [index for index, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    place = tuple(int(index) for index in np.unravel_index(wrong[0], expected.shape))
    difference = f"expected {ours[wrong[0]]}, found {theirs[wrong[0]]}"
    return f"values: {len(wrong)} of {expected.size} differ, first at {place}: {difference}"


def _elements(packed: Packed, size: int) -> list[Any]:
    if isinstance(packed, list):
        return packed
    data = base64.b64decode(packed)
    return [data[at : at + size].hex() for at in range(0, len(data), size)]


def _text(value: Any) -> str:
    """Write JSON so that 1, 1.0 and true differ and the order of members does not."""
    return json.dumps(value, sort_keys=True)


def _names(names: list[str | None] | None) -> list[str | None] | None:
    """Take names that are all null for none: the specification gives both one meaning."""
    return names if names and any(name is not None for name in names) else None
