"""Reading all nodes of a hierarchy, found by the keys of their documents, including those that no group leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from blizzarr.checking.finding import Finding
from blizzarr.errors import ArchiveError, BlizzarrError, LimitError, MetadataError, UnknownExtensionError
from blizzarr.formats import FORMATS, Format, StoredNode, find_many, format_of, relatives
from blizzarr.hierarchy.documents import Node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.stores import Store


@dataclass(slots=True)
class Nodes:
    """The nodes of a hierarchy."""

    forms: tuple[Format, ...]
    """The formats that were searched."""
    metas: dict[str, Node] = field(default_factory=dict)
    """The metadata of the nodes that can be read, by path."""
    documents: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """The documents of these nodes: by path, then by key."""
    unreadable: set[str] = field(default_factory=set)
    """The paths of nodes whose documents cannot be read."""
    keys: set[str] = field(default_factory=set)
    """The keys of all documents."""
    entries: set[str] = field(default_factory=set)
    """The keys of missing entry documents (of the hierarchy as a whole)."""

    def arrays(self) -> dict[str, ArrayMeta]:
        """Return the arrays by path."""
        return {path: meta for path, meta in self.metas.items() if isinstance(meta, ArrayMeta)}

    def groups(self) -> dict[str, GroupMeta]:
        """Return the groups by path."""
        return {path: meta for path, meta in self.metas.items() if isinstance(meta, GroupMeta)}

    def is_reachable(self, path: str, start: str) -> bool:
        """Return whether groups lead from the node at `start` to this one."""
        above = [group for group in ancestors(path) if len(group) >= len(start)]
        form = format_of(self.metas[path])
        return all(
            isinstance(self.metas.get(group), GroupMeta) or (form.implicit_groups and group not in self.metas)
            for group in above
        )


def read_nodes(store: Store, path: str, keys: Sequence[str], findings: list[Finding]) -> Nodes:
    """Read all documents among these keys that belong to the node at `path` or to nodes below it."""
    there = set(keys)
    here = find_quietly(store, path)
    nodes = Nodes(_formats(here, path, there))
    nodes.entries = {form.entry_key for form in nodes.forms if form.entry_key is not None} - there
    places = {node_path for form in nodes.forms for key in keys if (node_path := form.node_of(key)) is not None}
    inside = sorted(
        node_path for node_path in places | {path} if node_path == path or not path or node_path.startswith(f"{path}/")
    )
    wanted = {
        node_path: [key for form in nodes.forms for key in form.document_keys(node_path) if key in there]
        for node_path in inside
    }
    nodes.keys = {key for several in wanted.values() for key in several}
    values = _values(store, sorted(nodes.keys), findings)
    for node_path in inside:
        documents = {key: values[key] for key in wanted[node_path] if key in values}
        if len(documents) == len(wanted[node_path]):
            _read(store, node_path, documents, nodes, findings)
        else:
            nodes.unreadable.add(node_path)
    if isinstance(here, StoredNode) and path not in nodes.metas and path not in nodes.unreadable:
        # A group without a document, or the entry point of the hierarchy.
        nodes.metas[path], nodes.documents[path] = here.meta, here.documents
    _check_above(nodes, path, findings)
    return nodes


def find_quietly(
    store: Store, path: str, forms: Iterable[Format] | None = None, known: Mapping[str, bytes] | None = None
) -> StoredNode | BlizzarrError | None:
    """Return the node at a path, `None` if there is none, or any error that prevents reading it, without warnings."""
    try:
        return find_many(store, [path], forms, known=known)[0]
    except BlizzarrError as error:
        return error


def _formats(here: StoredNode | BlizzarrError | None, path: str, keys: set[str]) -> tuple[Format, ...]:
    """Return the formats that nodes at and below the path may have."""
    if isinstance(here, StoredNode):
        form = format_of(here.meta)
        return tuple(relatives(form, path)) or (form,)
    # There is no node at the path: try every format that the keys suggest.
    return tuple(
        form
        for form in FORMATS.values()
        if (form.listing_prefix(path) is not None and any(form.node_of(key) is not None for key in keys))
        or not keys.isdisjoint(form.node_keys(path))
    )


def _values(store: Store, keys: Sequence[str], findings: list[Finding]) -> dict[str, bytes]:
    """Read documents, with a finding for each that cannot be read."""
    get_many = getattr(store, "get_many", None)
    if get_many is not None:
        try:
            return {key: bytes(value) for key, value in zip(keys, get_many(keys), strict=True) if value is not None}
        except BlizzarrError:
            # One by one, to find out which.
            pass
    values = {}
    for key in keys:
        try:
            value = store.get(key)
        except BlizzarrError as error:
            kind = "archive" if isinstance(error, ArchiveError) else "unreadable"
            findings.append(Finding(kind, f"/{key.rpartition('/')[0]}", error.reason, key=key))
        else:
            if value is not None:
                values[key] = bytes(value)
    return values


def _read(store: Store, path: str, documents: dict[str, bytes], nodes: Nodes, findings: list[Finding]) -> None:
    """Read one node, and add everything that is wrong with its documents, or doubtful, to `findings`."""
    name = f"/{path}"
    here = find_quietly(store, path, nodes.forms, documents)
    doubts: Sequence[str] = ()
    kinds = [key for form in nodes.forms for key in form.node_keys(path) if key in documents]
    if isinstance(here, StoredNode):
        form = format_of(here.meta)
        nodes.metas[path] = here.meta
        nodes.documents[path] = here.documents
        own = [key for key in form.node_keys(path) if key in documents]
        others = [key for key in documents if key not in form.document_keys(path)]
        if others:
            message = f"{', '.join(own)} ({form.name}) counts, {', '.join(others)} is ignored"
            findings.append(Finding("two-formats", name, message, key=own[0] if own else None))
        if len(own) > 1:
            message = f"an array and a group: {own[0]} counts, {own[1]} is ignored"
            findings.append(Finding("two-formats", name, message, key=own[1]))
        doubts = [notice.text for notice in here.notices if notice.kind != "two-nodes"]
    elif here is not None:
        nodes.unreadable.add(path)
        findings.append(_document(name, here, documents))
        doubts = getattr(here, "__notes__", ())
    elif documents and not kinds:
        message = f"{', '.join(documents)} without a document that makes an array or a group"
        findings.append(Finding("no-document", name, message, key=next(iter(documents))))
    else:
        _miss_entry(nodes, documents, findings)
    key = kinds[0] if kinds else None
    findings += [Finding("document-warning", name, doubt, key=key) for doubt in doubts]


def _miss_entry(nodes: Nodes, documents: Iterable[str], findings: list[Finding]) -> None:
    """Add one finding if the entry document, which the others need, is missing."""
    for form in nodes.forms:
        entry = form.entry_key
        if entry not in nodes.entries or not any(form.node_of(key) is not None for key in documents):
            continue
        if all(finding.key != entry for finding in findings):
            message = "not there, and without it no document of the hierarchy is read"
            findings.append(Finding("no-document", "/", message, key=entry))
        return


def _document(name: str, error: BlizzarrError, documents: Mapping[str, bytes]) -> Finding:
    """Return one finding with all problems of the documents of a node."""
    key = error.key or next(iter(documents), None)
    problems = getattr(error, "problems", ())
    message = "; ".join(map(str, problems)) if problems else error.reason or str(error)
    if isinstance(error, UnknownExtensionError | LimitError):
        return Finding("not-supported", name, message, key=key)
    kind = "document" if isinstance(error, MetadataError) else "unreadable"
    kind = "archive" if isinstance(error, ArchiveError) else kind
    return Finding(kind, name, message, key=key)


def _check_above(nodes: Nodes, start: str, findings: list[Finding]) -> None:
    """Add findings for nodes below arrays, and for missing groups above nodes where the format requires them."""
    missing: dict[str, list[str]] = {}
    for path, meta in nodes.metas.items():
        needed = format_of(meta).groups_above(path)
        for above in _between(start, ancestors(path)):
            if isinstance(nodes.metas.get(above), ArrayMeta):
                message = f"below the array /{above}, where no node may be"
                findings.append(
                    Finding("unreachable", f"/{path}", message, key=next(iter(nodes.documents[path]), None))
                )
                break
            if above in needed and above not in nodes.metas and above not in nodes.unreadable:
                missing.setdefault(above, []).append(path)
    for above, paths in missing.items():
        below = f"/{paths[0]} " + (f"and {len(paths) - 1:,} more are" if len(paths) > 1 else "is")
        # Arrays in a plain directory are fine; below a group, listing the group does not show them.
        known = nodes.metas.keys() | nodes.unreadable
        kind = "unreachable" if known.intersection(_between(start, ancestors(above))) else "standalone"
        findings.append(Finding(kind, f"/{above}", f"/{above} is no group: it has no document, but {below} below it"))


def _between(start: str, above: Iterable[str]) -> list[str]:
    return [path for path in above if len(path) >= len(start)]
