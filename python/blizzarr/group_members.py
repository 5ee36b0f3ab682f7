"""What is in a group: the half of it that reads."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from blizzarr.array import Array
from blizzarr.errors import BlizzarrError, NodeNotFoundError, PathError
from blizzarr.formats import Child, format_of, read_node, settled
from blizzarr.hierarchy.documents import read_many
from blizzarr.hierarchy.members import consolidated_below, member_names, read_members
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import check_path, join
from blizzarr.node import Node
from blizzarr.problems import warn_of

if TYPE_CHECKING:
    from blizzarr.group import Group
    from blizzarr.group_tree import Tree

__all__ = ["GroupMembers", "member_path", "members_and_errors"]

D = TypeVar("D")


class GroupMembers(Node, ABC):
    """A mapping from names to arrays and groups, that can only be read."""

    __slots__ = ("_metadata",)

    _metadata: GroupMeta

    @abstractmethod
    def _group(self, path: str, metadata: GroupMeta) -> Group:
        """A group of the same store."""

    def __getitem__(self, path: str) -> Array | Group:
        """The array or group at a path below this group."""
        full = join(self._path, member_path(path, self._metadata))
        if self._metadata.consolidated is None:
            return self._node(path, read_node(self._store, full))
        if path not in self._metadata.consolidated:
            above = path.rpartition("/")[0]
            names = [repr(name) for name in self._metadata.consolidated if name.rpartition("/")[0] == above]
            more = [f"{len(names) - 6} more"] if len(names) > 6 else []
            beside = ", but " + ", ".join(names[:6] + more) if names else ""
            raise NodeNotFoundError(
                f"the consolidated metadata of /{self._path} list no {path!r}{beside}; open the group with "
                "use_consolidated=False to look into the store",
                array=f"/{full}",
                store=str(self._store),
            )
        return self._node(path, self._metadata.consolidated[path])

    def get(self, path: str, default: D | None = None) -> Array | Group | D | None:
        """The array or group at a path below this group, or `default` when there is none."""
        try:
            return self[path]
        except NodeNotFoundError:
            return default

    def __contains__(self, path: object) -> bool:
        """Whether there is an array or group at this path below the group."""
        try:
            full = join(self._path, member_path(path, self._metadata))  # type: ignore[arg-type]  # it is checked there
            if self._metadata.consolidated is not None:
                return path in self._metadata.consolidated
            return read_many(self._store, [full])[0] is not None
        except (PathError, TypeError):
            # Also what this store has no name for, like one that is too long for a file.
            return False

    def __iter__(self) -> Iterator[str]:
        """The names of the members, sorted."""
        return iter(member_names(self._store, self._path, self._metadata))

    def __len__(self) -> int:
        """The number of members."""
        return len(member_names(self._store, self._path, self._metadata))

    def keys(self) -> Iterator[str]:
        """The names of the members, sorted, including those that cannot be read."""
        return iter(self)

    def items(self) -> Iterator[tuple[str, Array | Group]]:
        """The members with their names, without those that cannot be read; see `members`."""
        return iter(self.members())

    def values(self) -> Iterator[Array | Group]:
        """The members, without those that cannot be read; see `members`."""
        return (node for _, node in self.members())

    def members(self, max_depth: int | None = 0) -> tuple[tuple[str, Array | Group], ...]:
        """The members with their names; with `max_depth`, also the members of the groups among them, by path.

        Members that cannot be read are left out, with a warning that names them; `unreadable` has the reasons.

        Parameters
        ----------
        max_depth
            How many levels to go below the members; None for all of them.
        """
        return tuple((name, self._node(name, meta)) for name, meta in self._readable(max_depth))

    def nmembers(self, max_depth: int | None = 0) -> int:
        """The number of members, down to `max_depth` levels below them."""
        return len(self) if max_depth == 0 else len(self._children(max_depth))

    def walk(self) -> Iterator[tuple[str, Array | Group]]:
        """Everything below the group by path, each group before what is in it."""
        return iter(self.members(max_depth=None))

    def unreadable(self, max_depth: int | None = 0) -> dict[str, BlizzarrError]:
        """Why members cannot be read, by name."""
        return {child.name: child.error for child in self._children(max_depth) if child.error is not None}

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """The arrays in the group, with their names."""
        return ((name, node) for name, node in self.members() if isinstance(node, Array))

    def array_keys(self) -> Iterator[str]:
        """The names of the arrays in the group."""
        return (name for name, meta in self._readable(0) if isinstance(meta, ArrayMeta))

    def array_values(self) -> Iterator[Array]:
        """The arrays in the group."""
        return (array for _, array in self.arrays())

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The groups in the group, with their names."""
        return ((name, node) for name, node in self.members() if not isinstance(node, Array))

    def group_keys(self) -> Iterator[str]:
        """The names of the groups in the group."""
        return (name for name, meta in self._readable(0) if isinstance(meta, GroupMeta))

    def group_values(self) -> Iterator[Group]:
        """The groups in the group."""
        return (group for _, group in self.groups())

    def tree(self, level: int | None = None) -> Tree:
        """Everything below the group as text, `level` levels deep.

        Examples
        --------
        >>> from blizzarr.group import create_root
        >>> root = create_root({})
        >>> a = root.create_array("a/x", shape=(2, 3), dtype="int16")
        >>> print(root.tree())
        /
        └── a
            └── x (2, 3) int16
        """
        from blizzarr.group_tree import Tree

        return Tree(f"/{self._path}", tuple(self._children(None if level is None else level - 1)))

    def _node(self, name: str, meta: ArrayMeta | GroupMeta) -> Array | Group:
        """The member with this metadata."""
        path = join(self._path, name)
        if isinstance(meta, ArrayMeta):
            if self._metadata.consolidated is not None:
                # Copies of documents leave open what the documents do; nobody has looked at the chunks yet.
                meta = settled(self._store, path, meta)
            return Array(self._store, path, meta)
        if self._metadata.consolidated is not None:
            meta = meta.with_consolidated(consolidated_below(self._metadata.consolidated, name))
        return self._group(path, meta)

    def _children(self, max_depth: int | None) -> list[Child]:
        return read_members(self._store, self._path, self._metadata, max_depth)

    def _readable(self, max_depth: int | None) -> Iterator[tuple[str, ArrayMeta | GroupMeta]]:
        """The members that can be read; the others are named in a warning."""
        children = self._children(max_depth)
        for child in children:
            if child.notices:
                warn_of(child.notices, stacklevel=3)
        broken = [f"{child.name!r}: {child.error.line}" for child in children if child.error is not None]
        if broken:
            shown = "; ".join(broken[:3])
            more = f"; and {len(broken) - 3} more" if len(broken) > 3 else ""
            warnings.warn(
                f"{len(broken)} of {len(children)} members of /{self._path} cannot be read: {shown}{more}",
                stacklevel=3,
            )
        return ((child.name, child.meta) for child in children if child.meta is not None)


def members_and_errors(
    group: GroupMembers, max_depth: int | None = 0
) -> tuple[list[tuple[str, Array | Group]], dict[str, BlizzarrError]]:
    """Return the members that can be read, and why the others cannot, without warnings; see `GroupMembers.members`."""
    children = group._children(max_depth)
    nodes = [(child.name, group._node(child.name, child.meta)) for child in children if child.meta is not None]
    return nodes, {child.name: child.error for child in children if child.error is not None}


def member_path(path: str, group: GroupMeta) -> str:
    """The path of a member relative to its group, with names that the format of the group allows."""
    if not isinstance(path, str):
        raise TypeError(f"expected the name of a member, found {path!r}; elements are read from arrays")
    if path in ("", "/"):
        raise PathError("expected the name of a member, found an empty one; the group itself is no member of it")
    return check_path(path, format_of(group).name_problem)
