"""The check of a hierarchy, from names to decoded chunks."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NamedTuple, TypedDict

from blizzarr.checking.chunks import Verified, largest_bytes, verify
from blizzarr.checking.consolidated import check_consolidated
from blizzarr.checking.finding import Finding
from blizzarr.checking.keys import Sorted, sort_keys
from blizzarr.checking.nodes import Nodes, find_quietly, read_nodes
from blizzarr.checking.ome_in_v3 import find_old_ome
from blizzarr.checking.quarantine import is_kept
from blizzarr.checking.report import Report
from blizzarr.checking.survey import Survey, survey
from blizzarr.distributing import Progress, Tally, Workers
from blizzarr.errors import BlizzarrError, NodeNotFoundError
from blizzarr.formats import FORMATS, PROGRESS, StoredNode, format_of, read_node
from blizzarr.model import ArrayMeta
from blizzarr.model.names import join
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.requests import each_array
from blizzarr.stores.wrapper import unwrapped


class Inventory(NamedTuple):
    """Intermediate results of a check, which repairs use."""

    surveyed: Survey
    nodes: Nodes
    keys: Sorted


class Options(TypedDict, total=False):
    """The parameters of a check; `progress` counts stored objects."""

    fast: bool
    progress: Progress | None
    workers: Workers | None


def look(
    store: Store, path: str, *, fast: bool = False, progress: Progress | None = None, workers: Workers | None = None
) -> tuple[Report, Inventory]:
    """Check a node and everything below it, without changing anything; return also what repairs need.

    Raise `NodeNotFoundError` if there is no node at the path, and nothing below it.
    """
    began = time.monotonic()
    report = Report(str(store), f"/{path}", fast)
    findings: list[Finding] = []
    prefixes = _prefixes(store, path)
    surveyed = survey(store, prefixes)
    surveyed.keys = [key for key in surveyed.keys if not is_kept(key)]
    surveyed.directories = [name for name in surveyed.directories if not is_kept(f"{name}/")]
    _add_beside(store, path, surveyed)
    nodes = read_nodes(store, path, surveyed.keys, findings)
    if not nodes.metas and not nodes.unreadable and not findings:
        # Raises an error that says what was looked for, and what is there instead.
        read_node(store, path)
        raise NodeNotFoundError("no array or group here", array=f"/{path}", store=str(store))
    arrays = nodes.arrays()
    report.arrays, report.groups = len(arrays), len(nodes.groups())
    keys = sort_keys(store, surveyed, nodes, findings)
    findings += find_old_ome(nodes)
    findings += check_consolidated(nodes, path, surveyed.keys)
    findings += find_leftovers(store, surveyed, keys)
    advance = Tally(progress, sum(map(len, keys.chunks.values())))
    for verified in _verified(store, arrays, keys, fast, advance, workers):
        report.objects += verified.objects
        report.bytes += verified.bytes
        report.chunks += verified.chunks
        report.left_out += verified.left_out
        findings += verified.findings
    report.add(findings)
    report.seconds = time.monotonic() - began
    return report, Inventory(surveyed, nodes, keys)


def _verified(
    store: Store, arrays: dict[str, ArrayMeta], keys: Sorted, fast: bool, advance: Tally, workers: Workers | None
) -> list[Verified]:
    """Verify the chunks of all arrays."""

    def of_one(path: str) -> Verified:
        return verify(store, path, arrays[path], keys.chunks[path], fast=fast, advance=advance, workers=workers)

    def held_bytes(path: str) -> int:
        return len(keys.chunks[path]) * largest_bytes(arrays[path])

    there = [path for path, positions in keys.chunks.items() if positions]
    return each_array((store,) if workers is None else (), of_one, there, held_bytes)


def _prefixes(store: Store, path: str) -> tuple[str, ...]:
    """Return the prefixes of all keys of a node, except for some documents."""
    if not path:
        return ("",)
    here = find_quietly(store, path)
    forms = [format_of(here.meta)] if isinstance(here, StoredNode) else list(FORMATS.values())
    return tuple(dict.fromkeys(prefix for form in forms for prefix in form.node_prefixes(path)))


def _add_beside(store: Store, path: str, surveyed: Survey) -> None:
    """Add the documents of the node itself that do not lie below its path, and the record of a copy."""
    if not path:
        return
    there = set(surveyed.keys)
    documents = (key for form in FORMATS.values() for key in form.document_keys(path))
    for key in dict.fromkeys((join(path, PROGRESS), *documents)):
        if key not in there:
            # A directory in place of a document is reported by the survey.
            with suppress(BlizzarrError):
                surveyed.keys += [key] if store.get(key) is not None else []
    surveyed.keys.sort()


def find_leftovers(store: Store, surveyed: Survey, keys: Sorted) -> list[Finding]:
    """Return a finding for each leftover in a local directory; other stores hide theirs or have none."""
    local = unwrapped(store)
    names: set[str] = set()
    if not isinstance(local, LocalStore):
        return []
    for directory in surveyed.temporary:
        # The survey has already reported directories that cannot be listed.
        with suppress(BlizzarrError):
            names.update(local.leftovers(directory))
    message = "a writer that died has left it; nobody reads it"
    return [
        Finding("leftover", f"/{keys.owner_of(name) or ''}", message, key=name, repairable=True)
        for name in sorted(names)
    ]
