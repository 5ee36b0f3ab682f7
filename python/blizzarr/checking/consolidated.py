"""Comparing consolidated metadata with the documents of which they are copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import Nodes
from blizzarr.errors import BlizzarrError
from blizzarr.formats import as_documented, format_of, own_copies_differ
from blizzarr.formats.consolidated import Consolidated
from blizzarr.hierarchy.documents import Node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.stores.keys import list_sorted

_NAMED = 3
"""The number of nodes that a finding names; the others are counted."""


def check_consolidated(nodes: Nodes, start: str, keys: Sequence[str]) -> list[Finding]:
    """Return findings for groups whose consolidated metadata are wrong or doubtful; `keys` are all that are stored."""
    findings = []
    for path, meta in nodes.groups().items():
        if meta.consolidated is None:
            continue
        name = getattr(meta.consolidated, "document_name", None)
        key = next((key for key in nodes.documents[path] if key.rpartition("/")[2] == name), None)
        try:
            if isinstance(meta.consolidated, Consolidated):
                doubts = meta.consolidated.load()
                findings += [Finding("document-warning", f"/{path}", doubt.text, key=key) for doubt in doubts]
            differences = _differences(nodes, path, meta, start)
            last = _last_copies(nodes, path, meta, keys)
        except BlizzarrError as error:
            problems = getattr(error, "problems", ())
            differences, last = ["; ".join(map(str, problems)) or error.reason], []
        if own_copies_differ(nodes.documents[path]):
            differences.insert(0, "the group itself has other metadata")
        if differences:
            more = f"; and {len(differences) - _NAMED:,} more" if len(differences) > _NAMED else ""
            text = "; ".join(differences[:_NAMED]) + more
            if last:
                text += f"; the document of {last[0]}, exists only in them: restore it from there"
            findings.append(Finding("consolidated", f"/{path}", text, key=key, repairable=not last))
    return findings


def _last_copies(nodes: Nodes, path: str, meta: GroupMeta, keys: Sequence[str]) -> list[str]:
    """Describe the nodes that have chunks or members, but no document except the copy in the consolidated metadata."""
    known, form, last = nodes.metas.keys() | nodes.unreadable, format_of(meta), []
    ordered, paths = sorted(keys), sorted(known)
    for name in meta.consolidated or ():
        full = join(path, name)
        if full in known:
            continue
        copy = _copy(meta, name)
        if isinstance(copy, ArrayMeta):
            last += [f"{name}, whose chunks are there"] * bool(list_sorted(ordered, form.chunk_prefix(full)))
        elif isinstance(copy, GroupMeta) and not form.implicit_groups:
            last += [f"{name}, whose members are there"] * bool(list_sorted(paths, f"{full}/"))
    return last


def _copy(meta: GroupMeta, name: str) -> Node | BlizzarrError:
    """Return a node in the consolidated metadata of a group, or the error that prevents reading it."""
    copies = meta.consolidated
    assert copies is not None
    try:
        return copies.decode(name)[0] if isinstance(copies, Consolidated) else copies[name]
    except BlizzarrError as error:
        return error


def _differences(nodes: Nodes, path: str, meta: GroupMeta, start: str) -> list[str]:
    """Describe each node below a group that differs from its copy in the consolidated metadata."""
    copies = meta.consolidated
    assert copies is not None
    form = format_of(meta)
    differences = []
    listed = list(copies)
    for name in listed:
        full = join(path, name)
        if full in nodes.unreadable:
            continue
        there = nodes.metas.get(full)
        copy = _copy(meta, name)
        if isinstance(copy, BlizzarrError):
            problems = getattr(copy, "problems", ())
            differences.append(f"{name}: {problems[0] if problems else copy.reason}")
            continue
        if there is None:
            implied = form.implicit_groups and isinstance(copy, GroupMeta)
            if not implied or not any(other.startswith(f"{full}/") for other in nodes.metas):
                differences.append(f"{name} is not there")
        elif _bare(there) != _bare(copy):
            differences.append(f"{name} has other metadata by now")
    below = f"{path}/" if path else ""
    reachable = [
        full[len(below) :]
        for full in nodes.metas
        if full != path and full.startswith(below) and nodes.is_reachable(full, start)
    ]
    known = set(listed)
    return [*differences, *(f"{name} is not in them" for name in reachable if name not in known)]


def _bare(node: Node) -> Node:
    """Return a node without consolidated metadata."""
    if not isinstance(node, GroupMeta):
        # Neither the document nor the copy has what was inferred from chunks.
        return as_documented(node)
    return replace(node, consolidated=None)
