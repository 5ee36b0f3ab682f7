"""Hierarchies cross between blizzarr and every peer that has groups, both ways: paths, attributes, values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interop.cases.groups import GROUP_CASES, GroupCase
from interop.conftest import EVERYTHING
from interop.elements import pack
from interop.peer import PeerMissing
from interop.peers import PEERS, Peer, subject
from interop.rules import Direction

pytestmark = [
    pytest.mark.parametrize("case", GROUP_CASES, ids=lambda case: case.name),
    pytest.mark.parametrize("peer", [peer for peer in PEERS if EVERYTHING or peer.quick], ids=lambda peer: peer.name),
]


def test_we_read_the_group_that_the_peer_writes(case: GroupCase, peer: Peer, root: Path) -> None:
    expect(case, peer, "writes", writer=peer, reader=subject(), root=root)


def test_the_peer_reads_the_group_that_we_write(case: GroupCase, peer: Peer, root: Path) -> None:
    expect(case, peer, "reads", writer=subject(), reader=peer, root=root)


def expect(case: GroupCase, peer: Peer, direction: Direction, *, writer: Peer, reader: Peer, root: Path) -> None:
    """Let one write and the other read, and compare every node."""
    reason = peer.no_groups.get(direction) or (peer.no_consolidated.get(direction) if case.consolidated else None)
    if reason is not None:
        pytest.skip(f"{peer.name} {reason}")
    nodes = {path: _node(case, path) for path in case.nodes}
    try:
        writer.call("write_group", {"root": str(root), "nodes": nodes, "consolidated": case.consolidated})
        answer = reader.call(
            "read_group", {"root": str(root), "consolidated": case.consolidated, "paths": list(case.nodes)}
        )
    except PeerMissing as missing:
        pytest.skip(f"{peer.name}: {missing}")
    found = {path: _without(node, writer.own_attributes) for path, node in answer["nodes"].items()}
    expected = {path: _expected(node) for path, node in nodes.items()}
    assert found == expected, f"{writer.name} wrote {case.name!r}, {reader.name} read it"


def _node(case: GroupCase, path: str) -> dict[str, Any]:
    made = case.nodes[path]
    return {"document": made} | ({"values": pack(case.values(path))} if "shape" in made else {})


def _expected(node: dict[str, Any]) -> dict[str, Any]:
    return {"attributes": node["document"]["attributes"]} | ({"values": node["values"]} if "values" in node else {})


def _without(node: dict[str, Any], own: frozenset[str]) -> dict[str, Any]:
    return node | {"attributes": {key: value for key, value in node["attributes"].items() if key not in own}}
