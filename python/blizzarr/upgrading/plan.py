"""Planning an upgrade: all new documents and all obstacles, before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

from blizzarr.array.stored import chunks_inside
from blizzarr.errors import BlizzarrError, MetadataError, Problem
from blizzarr.formats import (
    FORMATS,
    Format,
    OmeChange,
    StoredNode,
    chunk_prefix,
    chunk_store,
    find_many,
    get_many,
    has_consolidated,
    listed,
    ome_changes,
    translate,
)
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors, join
from blizzarr.printable import printable
from blizzarr.problems import warn_of
from blizzarr.size_text import count_text
from blizzarr.stores import Store
from blizzarr.transformers import stored_key

_MOST_PATHS: Final = 4
"""The most nodes that are named in the text of a note which many have."""

_WAY_OUT: Final = "To go on without such an array, copy it elsewhere, in its own format, and remove it here."


@dataclass(frozen=True, slots=True)
class NodeUpgrade:
    """One node before and after the upgrade."""

    path: str
    old: ArrayMeta | GroupMeta
    new: ArrayMeta | GroupMeta
    documents: dict[str, bytes] = field(repr=False)
    """The new documents by key."""
    outdated: tuple[str, ...]
    """The keys of the old documents, which are removed at the end."""
    replaced: tuple[str, ...] = ()
    """The keys whose old documents are replaced by new ones."""
    notes: tuple[str, ...] = ()
    """Descriptions of what will not be the same."""

    @property
    def moves_chunks(self) -> bool:
        """True if its chunks get other keys."""
        return _place(self.path, self.old) != _place(self.path, self.new)


def _place(path: str, meta: ArrayMeta | GroupMeta) -> object:
    if not isinstance(meta, ArrayMeta):
        return None
    # Two encodings with the same keys may have different names.
    keys = meta.chunk_keys
    return chunk_prefix(path, meta), keys.head, keys.separator, keys.scalar


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The plan of an upgrade, or with `done` the upgrade that was made."""

    store: Store = field(repr=False)
    old: Format = field(repr=False)
    new: Format = field(repr=False)
    nodes: tuple[NodeUpgrade, ...]
    """All nodes; groups come before their members."""
    problems: tuple[Problem, ...] = ()
    """The obstacles: for each, the path of the node, and what cannot be expressed in the new format, or be read."""
    done: bool = False

    @property
    def arrays(self) -> int:
        """The number of arrays."""
        return sum(isinstance(node.new, ArrayMeta) for node in self.nodes)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.nodes) - self.arrays

    def raise_problems(self) -> None:
        """Raise `MetadataError` with one problem for each obstacle, if there are any."""
        if self.problems:
            raise MetadataError(_WAY_OUT, problems=self.problems, store=str(self.store), wanted_format=self.new.name)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {
            "store": str(self.store),
            "from": self.old.name,
            "to": self.new.name,
            "done": self.done,
            "nodes": [
                {
                    "path": f"/{node.path}",
                    "kind": "array" if isinstance(node.new, ArrayMeta) else "group",
                    "chunks_get_other_keys": node.moves_chunks,
                    "notes": list(node.notes),
                }
                for node in self.nodes
            ],
            "problems": [problem._asdict() for problem in self.problems],
        }

    def _nodes_text(self) -> str:
        counts = ((self.arrays, "array"), (self.groups, "group"))
        return " and ".join(count_text(number, what) for number, what in counts if number) or "nothing"

    def __str__(self) -> str:
        if not self.nodes and not self.problems:
            return f"nothing to do: {self.store} has format {self.new.name}"
        verb = "upgraded" if self.done else "to upgrade"
        lines = [f"{self._nodes_text()} {verb} from {self.old.name} to {self.new.name} in {self.store}"]
        moving = sum(node.moves_chunks for node in self.nodes)
        if moving:
            lines.append(f"the chunks of {count_text(moving, 'array')} get other keys")
        noted: dict[str, list[str]] = {}
        for node in self.nodes:
            for note in node.notes:
                noted.setdefault(note, []).append(f"/{node.path}")
        lines += [f"{_some(paths)}: {note}" for note, paths in noted.items()]
        if self.problems:
            many = len(self.problems) > 1
            lines.append(f"{count_text(len(self.problems), 'problem')} {'stand' if many else 'stands'} against it:")
            lines += [*(f"  {problem}" for problem in self.problems), _WAY_OUT]
        return "\n".join(map(printable, lines))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def _some(paths: list[str]) -> str:
    more = len(paths) - _MOST_PATHS
    return ", ".join(paths[:_MOST_PATHS]) + (f" and {more:,} more" if more > 0 else "")


def is_found_first(old: Format, new: Format) -> bool:
    """True if the old document of a node counts as long as it has both."""
    order = list(FORMATS)
    return old.name in order[: order.index(new.name)]


def plan(store: Store, old: Format, new: Format, *, resumed: bool = False, switched: bool = False) -> Upgrade:
    """Plan the upgrade of the hierarchy in a store, without changing anything.

    - `resumed`: true if an interrupted upgrade may have stored new documents, which somebody may have changed since.
    - `switched`: true if all new documents are stored, and old ones are left to be removed.
    """
    nodes: list[NodeUpgrade] = []
    problems: list[Problem] = []
    consolidated = False
    if switched and is_found_first(old, new):
        walked, around = _still_old(store, old, new)
    else:
        # The old entry document has been replaced first, so that it is given here.
        entry = old.entry_documents().get(old.entry_key) if switched and old.entry_key is not None else None
        walked, around = walk(store, old, entry), {}
    around |= {path: node.meta for path, node in walked.items() if isinstance(node, StoredNode)}
    changes = ome_changes(around, new.name)
    for path, node in walked.items():
        name = path.rpartition("/")[2]
        reason = new.name_problem(name) if path else None
        if reason is not None:
            problems.append(Problem(f"/{path}", "a name that the new format allows", reason))
        if isinstance(node, BlizzarrError):
            problems.append(Problem(f"/{path}", "a node that can be read; restore or remove it", str(node)))
            continue
        try:
            consolidated |= not path and isinstance(node.meta, GroupMeta) and node.meta.consolidated is not None
            nodes.append(_translated(path, node, old, new, changes.get(path)))
            reserved = new.reserved(name) if path else None
            if reserved is not None:
                nodes[-1] = replace(nodes[-1], notes=(*nodes[-1].notes, f"in {new.name} {reserved}; it is kept"))
            problems += _immovable(store, nodes[-1])
            nodes[-1] = replace(nodes[-1], notes=(*nodes[-1].notes, *_undefined(store, nodes[-1])))
        except MetadataError as error:
            problems += [problem.of_node(path) for problem in error.problems]
        except BlizzarrError as error:
            problems.append(Problem(f"/{path}", "a node that can be read", str(error)))
    if resumed and not is_found_first(old, new):
        nodes = _with_stored(store, nodes, new)
    if consolidated and not problems:
        if has_consolidated(new):
            nodes[0] = _with_consolidated(nodes, new)
        else:
            lost = f"left out: the consolidated metadata, as {new.name} has none"
            nodes[0] = replace(nodes[0], notes=(*nodes[0].notes, lost))
    if old.entry_key is not None and old.entry_key == new.entry_key:
        found = f"{new.name}, whose documents would lie among those of {old.name}; copy the hierarchy instead"
        problems.append(Problem("/", "a format with keys of its own", found))
    if not switched:
        # After an interruption, the document that counts is in the plan, so that another one is out of date.
        problems += [*_key_problems(nodes), *([] if resumed else _conflicts(store, nodes, old))]
    return Upgrade(store, old, new, tuple(nodes), tuple(problems))


def _with_stored(store: Store, nodes: list[NodeUpgrade], new: Format) -> list[NodeUpgrade]:
    """Leave the new documents as they are where a node has them: they count, and what was changed since is in them."""
    stored = find_many(store, [node.path for node in nodes], [new])
    return [
        replace(node, new=there.meta, documents={}) if isinstance(there, StoredNode) and node.path else node
        for node, there in zip(nodes, stored, strict=True)
    ]


def _still_old(
    store: Store, old: Format, new: Format
) -> tuple[dict[str, StoredNode | BlizzarrError], dict[str, ArrayMeta | GroupMeta]]:
    """Return the nodes whose old documents count because they are there, and others as they were in the old format.

    The old documents of the groups above may be gone, so the new ones lead to these nodes, too.
    """
    nodes: dict[str, StoredNode | BlizzarrError] = {}
    others: dict[str, ArrayMeta | GroupMeta] = {}
    level = [""]
    while level:
        below: set[str] = set()
        for path, *found in zip(level, *(find_many(store, level, [form]) for form in (old, new)), strict=True):
            if found[0] is not None:
                nodes[path] = found[0]
            elif isinstance(found[1], StoredNode):
                others[path] = found[1].meta
            for form, node in zip((old, new), found, strict=True):
                if isinstance(node, StoredNode) and isinstance(node.meta, GroupMeta):
                    below |= {join(path, name) for name in listed(store, path, form, [form])[0]}
        level = sorted(below)
    changes = ome_changes(others, old.name)
    others |= {
        path: replace(others[path], attributes=change.attributes)
        for path, change in changes.items()
        if change.attributes is not None
    }
    return nodes, others


def _undefined(store: Store, node: NodeUpgrade) -> list[str]:
    """Return a note if elements of chunks that are not stored lose their value, as the fill value becomes null."""
    old, new = node.old, node.new
    if not (isinstance(old, ArrayMeta) and isinstance(new, ArrayMeta)) or old.fill_undefined or not new.fill_undefined:
        return []
    count = prod(old.chunk_grid.shape(old.shape))
    missing = count - sum(1 for _ in chunks_inside(store, node.path, old))
    if missing <= 0:
        return []
    message = "where the fill value is null, zarr-python 2 reads any values; a copy stores them"
    return [f"{count_text(missing, 'chunk')} of {count:,} {'is' if missing == 1 else 'are'} not stored: {message}"]


def _immovable(store: Store, node: NodeUpgrade) -> list[Problem]:
    """Return a problem if chunks need other keys and a storage transformer does not tell where they are stored."""
    if not node.moves_chunks:
        return []
    assert isinstance(node.old, ArrayMeta)
    sample = chunk_prefix(node.path, node.old) + node.old.chunk_keys.key((0,) * len(node.old.shape))
    if stored_key(chunk_store(store, node.path, node.old), sample, store) is not None:
        return []
    found = ", ".join(map(repr, node.old.storage_transformers))
    expected = "only those that rename chunks, as chunks get other keys; copy the array instead"
    return [Problem(f"/{node.path}: storage_transformers", expected, found)]


def _key_problems(nodes: list[NodeUpgrade]) -> list[Problem]:
    """Return a problem for each new document whose key is below or above that of an old one: a file is no directory."""
    old = {key for node in nodes for key in (*node.outdated, *node.replaced)}
    above = {place for key in old for place in ancestors(key)}
    return [
        Problem(f"/{node.path}", "keys that can be stored beside those of the old format", f"{key}; copy it instead")
        for node in nodes
        for key in node.documents
        if key in above or not old.isdisjoint(ancestors(key))
    ]


def _conflicts(store: Store, nodes: list[NodeUpgrade], old: Format) -> list[Problem]:
    """Return a problem for each document of the new format that exists already and differs from the planned one."""
    wanted = {
        key: (node.path, value)
        for node in nodes
        for key, value in node.documents.items()
        if key not in node.replaced and key != old.entry_key
    }
    problems = []
    for (key, (path, value)), there in zip(wanted.items(), get_many(store, list(wanted)), strict=True):
        if there is not None and bytes(there) != value:
            found = f"another one in {key}; remove the one that is out of date"
            problems.append(Problem(f"/{path}", "no document of the new format, or one that says the same", found))
    return problems


def _translated(path: str, node: StoredNode, old: Format, new: Format, ome: OmeChange | None) -> NodeUpgrade:
    meta, notes = translate(node.meta, new, in_place=True, ome=ome)
    documents = new.encode(meta, path)
    if not path:
        documents |= new.entry_documents()
    # The documents that make the node come last: after an interruption, the others are found through them.
    outdated = [key for key in node.documents if key not in documents]
    outdated.sort(key=old.node_keys(path).__contains__)
    if not path and old.entry_key is not None and old.entry_key not in documents:
        outdated.append(old.entry_key)
    replaced = tuple(key for key in node.documents if key in documents)
    return NodeUpgrade(path, node.meta, meta, documents, tuple(outdated), replaced, tuple(notes))


def _with_consolidated(nodes: list[NodeUpgrade], new: Format) -> NodeUpgrade:
    """Return the root with the new consolidated metadata."""
    root = nodes[0]
    assert isinstance(root.new, GroupMeta)
    below = {node.path: node.new for node in nodes[1:]}
    meta = root.new.with_consolidated(below)
    documents = new.encode(meta, "") | new.entry_documents()
    return replace(root, new=meta, documents=documents)


def walk(store: Store, form: Format, entry: bytes | None = None) -> dict[str, StoredNode | BlizzarrError]:
    """Return the nodes by path, groups before their members, with the error in place of nodes that cannot be read.

    - `entry`: used in place of the document of the hierarchy as a whole, if that has been replaced already.
    """
    nodes: dict[str, StoredNode | BlizzarrError] = {}
    level: Sequence[str] = [""]
    implicit: set[str] = set()
    while level:
        below: list[str] = []
        shown: set[str] = set()
        for path, node in zip(level, find_many(store, level, [form], entry=entry), strict=True):
            if node is not None:
                nodes[path] = node
                warn_of(node.notices if isinstance(node, StoredNode) else ())
            elif path in implicit or (not path and form.implicit_groups):
                nodes[path] = StoredNode(GroupMeta(format=form.name), {})
            here = nodes.get(path)
            if isinstance(here, StoredNode) and isinstance(here.meta, GroupMeta):
                names, groups = listed(store, path, form, [form])
                below += [join(path, name) for name in names]
                shown |= {join(path, name) for name in groups}
        level, implicit = below, shown
    # A prefix without documents below it is not a group; an interrupted upgrade may have made it.
    full = {""}
    for path, node in nodes.items():
        if not isinstance(node, StoredNode) or node.documents:
            full |= {path, *ancestors(path)}
    return {path: node for path, node in nodes.items() if path in full}
