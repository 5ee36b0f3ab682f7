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
import pytest
from numpy.typing import NDArray

from interop.case import Case
from interop.cases import CASES
from interop.conftest import EVERYTHING
from interop.documents import type_name
from interop.elements import Packed, pack
from interop.message import Message
from interop.peer import PeerError, PeerMissing
from interop.peers import PEERS, Peer, subject
from interop.rules import Direction


def pairs(direction: Direction) -> pytest.MarkDecorator:
    """Every case with every peer that knows its format in this direction."""
    peers = [peer for peer in PEERS if EVERYTHING or peer.quick]
    cases = [case for case in CASES if EVERYTHING or case.quick]
    chosen = [(case, peer) for case in cases for peer in peers if case.format in peer.formats[direction]]
    return pytest.mark.parametrize(("case", "peer"), chosen, ids=[f"{case.name}-{peer.name}" for case, peer in chosen])


@pairs("writes")
def test_we_read_what_the_peer_writes(case: Case, peer: Peer, root: Path) -> None:
    expect(case, peer, "writes", writer=peer, reader=subject(), root=root)


@pairs("reads")
def test_the_peer_reads_what_we_write(case: Case, peer: Peer, root: Path) -> None:
    expect(case, peer, "reads", writer=subject(), reader=peer, root=root)


def expect(case: Case, peer: Peer, direction: Direction, *, writer: Peer, reader: Peer, root: Path) -> None:
    """Let one write and the other read; fail on a difference, unless one of them is known not to support the case."""
    rules = [(one, one.rule(what, case.tags)) for one, what in ((writer, "writes"), (reader, "reads"))]
    known = [(one, rule) for one, rule in rules if rule is not None]
    reasons = " and ".join(f"{one.name} {rule.reason}" for one, rule in known)
    if any(rule.fatal for _, rule in known):
        pytest.skip(reasons)
    try:
        problems = differences(case, exchange(case, writer, reader, root), writer)
    except PeerMissing as missing:
        pytest.skip(f"{peer.name}: {missing}")
    except PeerError as error:
        if not known:
            raise
        problems = [str(error)]
    if known:
        assert problems, f"{case.name!r} is now read as it was written: remove the rule that {reasons}"
        pytest.skip(reasons)
    assert not problems, f"{writer.name} wrote {case.name!r} and {reader.name} read it with\n  " + "\n  ".join(problems)


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
