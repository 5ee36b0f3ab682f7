"""The members of a group, for reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from blizzarr.array import Array, without_data
from blizzarr.errors import BlizzarrError, NodeNotFoundError, PathError, UnknownExtensionError
from blizzarr.formats import (
    PROGRESS,
    Child,
    detect,
    find_likely,
    format_of,
    is_implicit,
    not_found,
    read_member,
    warn_if_unfinished,
    with_separators,
)
from blizzarr.hierarchy.members import consolidated_below, member_names, read_members
from blizzarr.keywords import nearest
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import check_path, join
from blizzarr.node import Node, copied_in
from blizzarr.problems import warn, warn_of
from blizzarr.stores.requests import is_remote

if TYPE_CHECKING:
    from blizzarr.group import Group
    from blizzarr.group_tree import Tree

D = TypeVar("D")
_SHOWN: Final = 10
"""The most members that an error names."""


class GroupMembers(Node, ABC):
    """The methods of a group that read: a mapping from names to arrays and groups.

    All of them raise `StoreError` if the store fails, or cannot list its keys.
    """

    __slots__ = ("_metadata",)

    _metadata: GroupMeta

    @abstractmethod
    def _group(self, path: str, metadata: GroupMeta) -> Group:
        """Return a group of the same store."""

    def __getitem__(self, path: str) -> Array | Group:
        """Return the array or group at a path below this group.

        Raises
        ------
        NodeNotFoundError
            If there is none; the text says what is there.
        MetadataError
            If its document does not conform. What is not supported here is no error: all but the data is there.
        PathError
            If the path may not be used.
        TypeError
            If `path` is not text.
        """
        node = self._member(path)
        if node is not None:
            return node
        full = join(self._path, path)
        if self._metadata.consolidated is None:
            raise not_found(self._store, full, None, detect)
        above = path.rpartition("/")[0]
        names = [repr(name) for name in self._metadata.consolidated if name.rpartition("/")[0] == above]
        more = [f"{len(names) - 6} more"] if len(names) > 6 else []
        beside = ", but " + ", ".join(names[:6] + more) if names else ""
        meant = nearest(path, self._metadata.consolidated)
        beside += "" if meant is None else f"; did you mean {meant!r}?"
        raise NodeNotFoundError(
            f"the consolidated metadata of /{self._path} list no {path!r}{beside}; open the group with "
            "use_consolidated=False to look into the store",
            array=f"/{full}",
            store=str(self._store),
        )

    def _member(self, path: str) -> Array | Group | None:
        full = join(self._path, member_path(path, self._metadata))
        if self._metadata.consolidated is not None:
            copy = self._metadata.consolidated.get(path)
            return None if copy is None else self._nodes([(path, copy)])[0][1]
        try:
            meta = read_member(self._store, full, format_of(self._metadata))
        except UnknownExtensionError as error:
            return without_data(self._store, full, error)
        return None if meta is None else self._node(path, meta)

    def get(self, path: str, default: D | None = None) -> Array | Group | D | None:
        """Return the array or group at a path below this group, or `default` if there is none.

        Raises
        ------
        MetadataError
            If its document does not conform.
        PathError
            If the path may not be used.
        """
        node = self._member(path)
        return default if node is None else node

    def __contains__(self, path: object) -> bool:
        """Return whether there is an array or group at this path below the group."""
        try:
            full = join(self._path, member_path(path, self._metadata))  # type: ignore[arg-type]  # it is checked there
            if self._metadata.consolidated is not None:
                return path in self._metadata.consolidated
            form = format_of(self._metadata)
            there = find_likely(self._store, [full], form)[0]
            return there is not None or is_implicit(self._store, form, full)
        except (PathError, TypeError):
            # A name that no node can have, like one that is too long for a file, is not there either.
            return False

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the members, sorted."""
        return iter(member_names(self._store, self._path, self._metadata))

    def __len__(self) -> int:
        """Return the number of members."""
        return len(member_names(self._store, self._path, self._metadata))

    def keys(self) -> Iterator[str]:
        """Iterate over the names of the members, sorted, including members that cannot be read."""
        return iter(self)

    def items(self) -> Iterator[tuple[str, Array | Group]]:
        """Iterate over the members with their names, without those that cannot be read; see `members`."""
        return iter(self.members())

    def values(self) -> Iterator[Array | Group]:
        """Iterate over the members, without those that cannot be read; see `members`."""
        return (node for _, node in self.members())

    def members(self, max_depth: int | None = 0) -> tuple[tuple[str, Array | Group], ...]:
        """Return the members with their names; with `max_depth`, also the members of the groups among them, by path.

        Members that cannot be read are left out, with a warning that names them; `unreadable` returns the reasons. A
        warning names unfinished copies, too, where looking for them takes no requests.

        Parameters
        ----------
        max_depth
            The number of levels to go below the members; None for all levels.

        Raises
        ------
        ValueError
            If `max_depth` is negative.
        """
        nodes = tuple(self._nodes(self._readable(max_depth)))
        if not is_remote(self._store) and (present := getattr(self._store, "present", None)) is not None:
            for record in present([join(node.path, PROGRESS) for _, node in nodes]):
                warn_if_unfinished(self._store, record.rpartition("/")[0])
        return nodes

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Return the number of nodes down to `max_depth` levels below the members, including unreadable ones."""
        return len(self) if max_depth == 0 else len(self._children(max_depth))

    def walk(self) -> Iterator[tuple[str, Array | Group]]:
        """Iterate over all nodes below the group by path, each group before its members; see `members`."""
        return iter(self.members(max_depth=None))

    def unreadable(self, max_depth: int | None = 0) -> dict[str, BlizzarrError]:
        """Return the errors of members that cannot be read, by name."""
        return {child.name: child.error for child in self._children(max_depth) if child.error is not None}

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Iterate over the arrays in the group, with their names; see `members`."""
        return ((name, node) for name, node in self.members() if isinstance(node, Array))

    def array_keys(self) -> Iterator[str]:
        """Iterate over the names of the arrays in the group; see `members`."""
        return (name for name, meta in self._readable(0) if isinstance(meta, ArrayMeta))

    def array_values(self) -> Iterator[Array]:
        """Iterate over the arrays in the group; see `members`."""
        return (array for _, array in self.arrays())

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Iterate over the groups in the group, with their names; see `members`."""
        return ((name, node) for name, node in self.members() if not isinstance(node, Array))

    def group_keys(self) -> Iterator[str]:
        """Iterate over the names of the groups in the group; see `members`."""
        return (name for name, meta in self._readable(0) if isinstance(meta, GroupMeta))

    def group_values(self) -> Iterator[Group]:
        """Iterate over the groups in the group; see `members`."""
        return (group for _, group in self.groups())

    def tree(self, level: int | None = None) -> Tree:
        """Return all nodes below the group, down to `level` levels; it prints as a tree.

        Members that cannot be read are shown with the reason.

        Examples
        --------
        >>> import blizzarr
        >>> root = blizzarr.create_group({})
        >>> a = root.create_array("a/x", shape=(2, 3), dtype="int16")
        >>> print(root.tree())
        /
        └── a
            └── x (2, 3) int16
        """
        from blizzarr.group_tree import Tree

        return Tree(f"/{self._path}", tuple(self._below(None if level is None else level - 1)))

    def _nodes(self, members: Iterable[tuple[str, ArrayMeta | GroupMeta]]) -> list[tuple[str, Array | Group]]:
        members = list(members)
        if self._metadata.consolidated is not None:
            # A copy of a document may leave something open that only the chunks tell, like their separator.
            metas = with_separators(self._store, [(join(self._path, name), meta) for name, meta in members])
            members = [(name, meta) for (name, _), meta in zip(members, metas, strict=True)]
        return [(name, self._node(name, meta)) for name, meta in members]

    def _node(self, name: str, meta: ArrayMeta | GroupMeta) -> Array | Group:
        path = join(self._path, name)
        copies = self._metadata.consolidated
        if copies is not None and isinstance(meta, GroupMeta):
            meta = meta.with_consolidated(consolidated_below(copies, name))
        node = Array(self._store, path, meta) if isinstance(meta, ArrayMeta) else self._group(path, meta)
        if copies is not None:
            copied_in(self, node)
        return node

    def _children(self, max_depth: int | None) -> list[Child]:
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth must be None or >= 0. Got '{max_depth}' instead")
        return self._below(max_depth)

    def _below(self, max_depth: int | None) -> list[Child]:
        return read_members(self._store, self._path, self._metadata, max_depth)

    def _readable(self, max_depth: int | None) -> Iterator[tuple[str, ArrayMeta | GroupMeta]]:
        """Iterate over the members that can be read; warn of the others, by name."""
        children = self._children(max_depth)
        for child in children:
            if child.notices:
                warn_of(child.notices)
        broken = [f"{child.name!r}: {child.error.line}" for child in children if child.error is not None]
        if broken:
            shown = "; ".join(broken[:3])
            more = f"; and {len(broken) - 3} more" if len(broken) > 3 else ""
            warn(f"{len(broken)} of {len(children)} members of /{self._path} cannot be read: {shown}{more}")
        return ((child.name, child.meta) for child in children if child.meta is not None)


def members_and_errors(
    group: GroupMembers, max_depth: int | None = 0, *, warns: bool = False
) -> tuple[list[tuple[str, Array | Group]], dict[str, BlizzarrError]]:
    """Return the members that can be read, and why the others cannot; see `GroupMembers.members`.

    - `warns`: whether to warn of what is doubtful about the former.
    """
    children = group._children(max_depth)
    for child in children if warns else ():
        warn_of(child.notices)
    nodes = group._nodes((child.name, child.meta) for child in children if child.meta is not None)
    return nodes, {child.name: child.error for child in children if child.error is not None}


def left_out(group: GroupMembers, errors: Mapping[str, BlizzarrError], what: str) -> BlizzarrError:
    """Make one error about all members that cannot be read, of the nearest class that fits each.

    - `what`: what has become of them and of the others, and what to do.
    """
    first, *others = errors.values()
    fitting = (kind for kind in type(first).__mro__ if all(isinstance(other, kind) for other in others))
    kind: type[BlizzarrError] = next(fitting)
    shown = "; ".join(f"{name!r}: {error.line}" for name, error in islice(errors.items(), _SHOWN))
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    return kind(f"{what}: {shown}{more}", array=group.name, store=str(group.store))


def as_stored(group: Group) -> Group:
    """Return the group with the members that are in its store, whatever its consolidated metadata list.

    Other programs may have changed members since. The group itself is returned if the store cannot list, or has no
    documents but the consolidated metadata.
    """
    if group.metadata.consolidated is None or not getattr(group.store, "supports_list", True):
        return group
    made = group._group(group.path, group.metadata.with_consolidated(None))
    return made if member_names(made.store, made.path, made.metadata) else group


def member_path(path: str, group: GroupMeta) -> str:
    """Return the path of a member relative to its group, if the format of the group allows the names in it.

    Raise `PathError` if the path is empty, or the format does not allow a name.
    Raise `TypeError` if the path is not text.
    """
    if not isinstance(path, str):
        names = "; names are text, like '0'" if isinstance(path, int) else ""
        raise TypeError(f"expected the name of a member, found {path!r}{names}; elements are read from arrays")
    if path in ("", "/"):
        raise PathError("expected the name of a member, found an empty one; the group itself is no member of it")
    return check_path(path, format_of(group).name_problem)
