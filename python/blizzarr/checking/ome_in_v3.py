"""Finding and translating metadata of OME-Zarr 0.4 in v3, where readers look for those of 0.5.

Whoever converts v2 to v3 without knowing OME-Zarr leaves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar, cast

from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import Nodes
from blizzarr.checking.report import Repair, Report
from blizzarr.errors import BlizzarrError
from blizzarr.formats import format_of
from blizzarr.formats.ome import with_new_ome
from blizzarr.hierarchy.documents import Node, revise
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Store

N = TypeVar("N", ArrayMeta, GroupMeta)

KIND: Final = "ome-zarr"


def find_old_ome(nodes: Nodes) -> list[Finding]:
    """Return a finding for each node whose metadata of OME-Zarr are not those of its format."""
    findings = []
    for path, node in with_new_ome(nodes.metas).items():
        own = format_of(nodes.metas[path]).node_keys(path)
        key = next((key for key in own if key in nodes.documents[path]), None)
        what = "names of its dimensions" if isinstance(node, ArrayMeta) else "attribute ome"
        message = f"OME-Zarr 0.4 in v3, where readers expect 0.5: no {what}"
        findings.append(Finding(KIND, f"/{path}", message, key=key, repairable=True))
    return findings


def translate_old_ome(store: Store, report: Report, nodes: Mapping[str, Node], *, dry_run: bool) -> Iterator[Repair]:
    """Store what is missing. Arrays go first, as the groups above them tell what they lack."""
    for finding in sorted(report.of_kind(KIND), key=lambda each: not isinstance(nodes[each.path[1:]], ArrayMeta)):
        path = finding.path[1:]

        def translated(here: N, path: str = path) -> N:
            return cast("N", with_new_ome({**nodes, path: here}).get(path, here))

        try:
            if not dry_run:
                revise(store, path, translated)
        except BlizzarrError as error:
            yield Repair(KIND, finding.path, finding.key, error.reason or str(error), False)
        else:
            yield Repair(KIND, finding.path, finding.key, "it has the metadata of OME-Zarr 0.5", True)
