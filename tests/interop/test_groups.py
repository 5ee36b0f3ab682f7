"""Hierarchies cross between blizzarr and every peer that has groups, both ways: paths, attributes, values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interop.cases.groups import GROUP_CASES, GroupCase
from interop.crossing import cross, pairs
from interop.elements import pack
from interop.peers import Peer, subject


@pairs(GROUP_CASES, "writes")
def test_we_read_the_group_that_the_peer_writes(case: GroupCase, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, peer, ours, lambda: differences(case, peer, ours, root))


@pairs(GROUP_CASES, "reads")
def test_the_peer_reads_the_group_that_we_write(case: GroupCase, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, ours, peer, lambda: differences(case, ours, peer, root))


def differences(case: GroupCase, writer: Peer, reader: Peer, root: Path) -> list[str]:
    """Have the hierarchy written by one and read by the other; say which nodes were read otherwise than written."""
    nodes = {path: _node(case, path) for path in case.nodes}
    place = {"root": str(root), "consolidated": case.consolidated}
    writer.call("write_group", {**place, "nodes": nodes})
    answer = reader.call("read_group", {**place, "paths": list(nodes)})
    found = {path: _without(node, writer.own_attributes) for path, node in answer["nodes"].items()}
    expected = {path: _expected(node) for path, node in nodes.items()}
    return [
        f"{path!r}: expected {expected.get(path)}, found {found.get(path)}"
        for path in sorted(expected.keys() | found.keys())
        if expected.get(path) != found.get(path)
    ]


def _node(case: GroupCase, path: str) -> dict[str, Any]:
    made = case.nodes[path]
    return {"document": made} | ({"values": pack(case.values(path))} if "shape" in made else {})


def _expected(node: dict[str, Any]) -> dict[str, Any]:
    return {"attributes": node["document"]["attributes"]} | ({"values": node["values"]} if "values" in node else {})


def _without(node: dict[str, Any], own: frozenset[str]) -> dict[str, Any]:
    return node | {"attributes": {key: value for key, value in node["attributes"].items() if key not in own}}
