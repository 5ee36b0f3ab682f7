"""A hierarchy crosses from one implementation to another: paths, attributes, values."""

from __future__ import annotations

from pathlib import Path

from interop.cases.groups import GroupCase
from interop.documents import fill_of, type_name
from interop.elements import pack
from interop.exchange import without
from interop.message import Message, array_answer
from interop.peers import Peer


def exchange_group(case: GroupCase, writer: Peer, reader: Peer, root: Path) -> list[str]:
    """Have the hierarchy written by one and read by the other; say which nodes were read otherwise than written."""
    write_group(case, writer, root)
    place = {"root": str(root), "consolidated": case.consolidated}
    answer = reader.call("read_group", {**place, "paths": list(case.nodes)})
    found = {path: without(node, writer.own_attributes) for path, node in answer["nodes"].items()}
    expected = {path: _brief(node) for path, node in expected_nodes(case).items()}
    return [
        f"{path!r}: expected {expected.get(path)}, found {found.get(path)}"
        for path in sorted(expected.keys() | found.keys())
        if expected.get(path) != found.get(path)
    ]


def write_group(case: GroupCase, writer: Peer, root: Path) -> None:
    nodes = {
        path: {"document": document} | ({"values": pack(case.values(path))} if "shape" in document else {})
        for path, document in case.nodes.items()
    }
    writer.call("write_group", {"root": str(root), "consolidated": case.consolidated, "nodes": nodes})


def expected_nodes(case: GroupCase) -> dict[str, Message]:
    """Return what every reader must answer about each node, as for single arrays."""
    expected: dict[str, Message] = {}
    for path, document in case.nodes.items():
        expected[path] = {"attributes": document["attributes"]}
        if "shape" in document:
            expected[path] = array_answer(
                case.values(path),
                data_type=type_name(document),
                fill=fill_of(document),
                attributes=document["attributes"],
                names=document.get("dimension_names"),
            )
    return expected


def _brief(node: Message) -> Message:
    """Return what answers about hierarchies have of a node."""
    return {key: node[key] for key in ("attributes", "values") if key in node}
