"""Repairing upgrades to v3 by an early version, which lost the value that xarray masks, and kept OME-Zarr 0.4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar, cast

from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import Nodes, find_quietly
from blizzarr.checking.report import Repair, Report
from blizzarr.dtypes.value_text import value_text
from blizzarr.errors import BlizzarrError
from blizzarr.formats import StoredNode, format_of
from blizzarr.formats.masked_value import with_lost_masked_value
from blizzarr.formats.ome import axis_names, with_lost_ome
from blizzarr.hierarchy.documents import Node, revise
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.stores import Store

N = TypeVar("N", ArrayMeta, GroupMeta)

REPAIRED = {"masked-value": "xarray masks the fill value again", "ome-zarr": "it has the metadata of OME-Zarr 0.5"}
"""The kinds of findings, with what a repair says."""


def find_lost(store: Store, start: str, nodes: Nodes) -> list[Finding]:
    """Return a finding for each node at `start` or below that an upgrade did not translate."""
    findings = []
    lost = {path: meta for path, meta in nodes.arrays().items() if with_lost_masked_value(meta) is not None}
    above = {path: find_quietly(store, path, nodes.forms) for path in (ancestors(start) if lost else ())}
    # Without the names that an upgrade took from OME-Zarr xarray could not open these arrays, and masked nothing.
    axes = axis_names({path: one.meta for path, one in above.items() if isinstance(one, StoredNode)} | nodes.metas)
    for path, meta in lost.items():
        if meta.dimension_names != axes.get(path):
            text = f"xarray does not mask the fill value {value_text(meta.fill_value)} as in v2: no _FillValue"
            findings.append(_finding("masked-value", path, text, nodes))
    for path, node in with_lost_ome(nodes.metas).items():
        what = "names of its dimensions" if isinstance(node, ArrayMeta) else "attribute ome"
        findings.append(_finding("ome-zarr", path, f"OME-Zarr 0.4 in v3, where readers expect 0.5: no {what}", nodes))
    return findings


def _finding(kind: str, path: str, message: str, nodes: Nodes) -> Finding:
    own = format_of(nodes.metas[path]).node_keys(path)
    key = next((key for key in own if key in nodes.documents[path]), None)
    return Finding(kind, f"/{path}", message, key=key, repairable=True)


def mend_lost(store: Store, report: Report, nodes: Mapping[str, Node], *, dry_run: bool) -> Iterator[Repair]:
    """Store what is missing. Arrays go first, as the groups above them tell what they lack."""
    for finding in sorted(report.of_kind(*REPAIRED), key=lambda each: not isinstance(nodes[each.path[1:]], ArrayMeta)):
        path = finding.path[1:]

        def mended(here: N, path: str = path, kind: str = finding.kind) -> N:
            if kind == "ome-zarr":
                return cast("N", with_lost_ome({**nodes, path: here}).get(path, here))
            return (with_lost_masked_value(here) if isinstance(here, ArrayMeta) else None) or here

        try:
            if not dry_run:
                revise(store, path, mended)
        except BlizzarrError as error:
            yield Repair(finding.kind, finding.path, finding.key, error.reason or str(error), False)
        else:
            yield Repair(finding.kind, finding.path, finding.key, REPAIRED[finding.kind], True)
