"""Groups: nodes that hold arrays and other groups."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, Self

import numpy as np

from blizzarr.array import Array
from blizzarr.attributes import Attributes
from blizzarr.caching import CachedStore, CachePool, Recheck
from blizzarr.creation.describe import ShapeLike, ZarrFormat, check_option_names, describe_group, lengths_of
from blizzarr.creation.like import like
from blizzarr.creation.make import make_array
from blizzarr.errors import NodeExistsError, NodeNotFoundError, NodeTypeError
from blizzarr.formats import read_node
from blizzarr.group_members import GroupMembers, member_path
from blizzarr.hierarchy.place import place_node
from blizzarr.hierarchy.remove import remove_node
from blizzarr.keywords import exact_keywords, unknown_keywords
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join, printable
from blizzarr.stores import Store, resolve

if TYPE_CHECKING:
    from blizzarr.group_info import GroupInfo

__all__ = ["Group", "create_root", "node_of"]


class Group(GroupMembers):
    """A group in a store: a mapping from names to arrays and groups.

    Created by `create_group` and `open_group`. Members are looked up by name or by path (``group["a/b"]``).

    If the group has consolidated metadata, its members are those that it lists, as they were when it was made.
    Creating, removing or changing a node removes the consolidated metadata above it, so that nobody sees stale
    metadata; call `consolidate_metadata` again when everything is in place.

    Examples
    --------
    >>> root = create_root({})
    >>> child = root.create_group("a", attributes={"kind": "test"})
    >>> root["a"].attrs["kind"], "a" in root, list(root), len(root)
    ('test', True, ['a'], 1)
    """

    __slots__ = ()

    def __init__(self, store: Store, path: str, metadata: GroupMeta) -> None:
        self._store = store
        self._path = path
        self._metadata = metadata
        self._adoptions = 0

    @property
    def metadata(self) -> GroupMeta:
        """The content of the group's metadata document."""
        return self._metadata

    @property
    def attrs(self) -> Attributes:
        """The attributes of the group; changes are stored at once."""
        return Attributes(self)

    @property
    def info(self) -> GroupInfo:
        """What there is to know about the group; prints as a table."""
        children = self._children(0)
        arrays = sum(isinstance(child.meta, ArrayMeta) for child in children)
        groups = sum(isinstance(child.meta, GroupMeta) for child in children)
        from blizzarr.group_info import GroupInfo

        return GroupInfo(
            name=self.name,
            store=str(self._store),
            read_only=self.read_only,
            zarr_format=self._metadata.format,
            arrays=arrays,
            groups=groups,
            unreadable=len(children) - arrays - groups,
            attributes=len(self._metadata.attributes),
            consolidated=self._metadata.consolidated is not None,
        )

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            shown = f"{type(self).__name__!r} object"
            if name.startswith("_"):  # notebooks look for many of them
                raise AttributeError(f"{shown} has no attribute {name!r}", name=name, obj=self)
            from blizzarr.renamed import GROUP, no_attribute

            raise no_attribute(self, shown, name, GROUP)

    def __repr__(self) -> str:
        return f"<Group {printable(self.name)} in {self._store}>"

    def _repr_html_(self) -> str:
        # Only a notebook asks, and only then is it loaded.
        from blizzarr.display.html import group_html

        return group_html(self._store, self._path, self._metadata)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self._path == other._path and self._store == other._store

    def __hash__(self) -> int:
        return hash((Group, self._path))

    def __reduce__(self) -> tuple[object, ...]:
        return Group, (self._store, self._path, self._metadata)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store. Only zip files need this: it is what makes them complete."""
        close = getattr(self._store, "close", None)
        if close is not None:
            close()

    def cached(self, pool: CachePool, *, recheck: Recheck = True) -> Self:
        """The same group, with a pool that keeps the chunks that are read from its arrays: see `blizzarr.Array.cached`.

        Examples
        --------
        >>> import blizzarr
        >>> group = create_root({}).cached(blizzarr.CachePool(1 << 20), recheck=False)
        >>> z = group.create_array("z", data=[1, 2, 3])
        >>> z[1], z[2], z.store.pool.info().hits
        (np.int64(2), np.int64(3), 1)
        """
        return type(self)(CachedStore(self._store, pool, recheck), self._path, self._metadata)

    def refresh(self) -> Self:
        """Read the metadata again, as it is stored now."""
        return self._renew(lambda: _as_group(read_node(self._store, self._path), self._path))

    def update_attributes(self, new_attributes: dict[str, Any]) -> Self:
        """Set several attributes in one step; the others stay."""
        self.attrs.update(new_attributes)
        return self

    @exact_keywords
    def create_group(
        self,
        name: str,
        *,
        attributes: dict[str, Any] | None = None,
        overwrite: bool = False,
        zarr_format: ZarrFormat = None,
        **unknown: Never,
    ) -> Group:
        """Create a group, of the same format as this one; groups on the way to it are created, too."""
        if unknown:
            raise unknown_keywords(Group.create_group, unknown)
        path = join(self._path, member_path(name, self._metadata))
        metadata = describe_group(attributes, self._metadata.format if zarr_format is None else zarr_format)
        place_node(self._store, path, metadata, overwrite=overwrite)
        self._forget()
        return Group(self._store, path, metadata)

    def require_group(self, name: str, **options: Any) -> Group:
        """Return the group of this name; it is created if there is none."""
        node = self._found(name)
        if node is None:
            return self.create_group(name, **options)
        if not isinstance(node, Group):
            raise NodeTypeError("expected a group, found an array", array=f"/{node.path}", store=str(self._store))
        return node

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Return the groups of these names; those that do not exist are created."""
        return tuple(self.require_group(name) for name in names)

    def create_array(
        self, name: str, *, shape: ShapeLike | None = None, dtype: Any = None, data: Any = None, **options: Any
    ) -> Array:
        """Create an array, filled with `data` if given; groups on the way to it are created, too.

        All other arguments are those of `blizzarr.create_array`.

        Examples
        --------
        >>> root = create_root({})
        >>> array = root.create_array("x", shape=(100, 100), dtype="uint8", chunks=(50, 50), fill_value=7)
        >>> array.shape, array.chunks
        ((100, 100), (50, 50))
        """
        path = join(self._path, member_path(name, self._metadata))
        if options.get("zarr_format") is None:
            options["zarr_format"] = self._metadata.format
        array = make_array(self._store, path, shape=shape, dtype=dtype, data=data, **options)
        self._forget()
        return array

    def require_array(
        self, name: str, *, shape: ShapeLike, dtype: Any = None, exact: bool = False, **options: Any
    ) -> Array:
        """Return the array of this name; it is created if there is none.

        Parameters
        ----------
        name, shape, dtype
            What is required. If there is an array of another shape, or of a data type that `dtype` cannot be cast to
            safely, that is a `TypeError`.
        exact
            The data type must be the same.
        **options
            As for `create_array`; they are ignored if the array is there already.
        """
        check_option_names(options)
        node = self._found(name)
        if node is None:
            return self.create_array(name, shape=shape, dtype="float64" if dtype is None else dtype, **options)
        if not isinstance(node, Array):
            raise NodeTypeError("expected an array, found a group", array=f"/{node.path}", store=str(self._store))
        wanted = lengths_of(shape)
        if node.shape != wanted:
            raise TypeError(f"expected {name!r} to have shape {wanted}, found {node.shape}")
        if dtype is not None:
            kind = np.dtype(dtype)
            if not (node.dtype == kind if exact else np.can_cast(kind, node.dtype)):
                raise TypeError(f"expected {name!r} to have data type {kind}, found {node.dtype}")
        return node

    def empty(self, name: str, shape: ShapeLike, **options: Any) -> Array:
        """Create an array whose elements are not set; they read as the fill value."""
        return self.create_array(name, shape=shape, **{"dtype": "float64", **options})

    def zeros(self, name: str, shape: ShapeLike, **options: Any) -> Array:
        """Create an array of zeros."""
        return self.full(name, shape, 0, **options)

    def ones(self, name: str, shape: ShapeLike, **options: Any) -> Array:
        """Create an array of ones."""
        return self.full(name, shape, 1, **options)

    def full(self, name: str, shape: ShapeLike, fill_value: Any, **options: Any) -> Array:
        """Create an array in which every element is `fill_value`."""
        return self.create_array(name, shape=shape, **{"dtype": "float64", **options, "fill_value": fill_value})

    def empty_like(self, name: str, data: Any, **options: Any) -> Array:
        """Create an array with the shape, data type and layout of another one; its elements are not set."""
        return self.create_array(name, **like(data, options))

    def zeros_like(self, name: str, data: Any, **options: Any) -> Array:
        """Create an array of zeros with the shape, data type and layout of another one."""
        return self.full_like(name, data, 0, **options)

    def ones_like(self, name: str, data: Any, **options: Any) -> Array:
        """Create an array of ones with the shape, data type and layout of another one."""
        return self.full_like(name, data, 1, **options)

    def full_like(self, name: str, data: Any, fill_value: Any, **options: Any) -> Array:
        """Create an array with the shape, data type and layout of another one, filled with `fill_value`."""
        return self.create_array(name, **like(data, options | {"fill_value": fill_value}))

    def __setitem__(self, name: str, value: Any) -> None:
        """Store an array of these values under the name, in place of an array that has it."""
        if isinstance(self._found(name), Group):
            raise NodeExistsError(
                "a group is here already; delete it first to put an array in its place",
                array=f"/{join(self._path, name)}",
                store=str(self._store),
            )
        self.create_array(name, data=value, overwrite=True)

    def __delitem__(self, name: str) -> None:
        """Remove a member and everything in it; refused where files that are not ours lie among it."""
        path = join(self._path, member_path(name, self._metadata))
        if name not in self:
            raise NodeNotFoundError(f"there is no member {name!r} to remove", array=f"/{path}", store=str(self._store))
        remove_node(self._store, path)
        self._forget()

    def _group(self, path: str, metadata: GroupMeta) -> Group:
        return Group(self._store, path, metadata)

    def _found(self, name: str) -> Array | Group | None:
        """The member as it is stored, whatever consolidated metadata say."""
        path = join(self._path, member_path(name, self._metadata))
        try:
            return node_of(self._store, path, read_node(self._store, path))
        except NodeNotFoundError:
            return None

    def _adopt(self, metadata: GroupMeta, since: int | None = None) -> bool:
        with self._adopting:
            if since is not None and since != self._adoptions:
                return False
            self._metadata = metadata
            self._adoptions += 1
            return True

    def _forget(self) -> None:
        """Look into the store from now on: what was consolidated is no longer what there is."""
        if self._metadata.consolidated is not None:
            self._adopt(self._metadata.with_consolidated(None))


def node_of(store: Store, path: str, metadata: ArrayMeta | GroupMeta) -> Array | Group:
    """The array or group with this metadata."""
    return Array(store, path, metadata) if isinstance(metadata, ArrayMeta) else Group(store, path, metadata)


def create_root(target: Any, attributes: dict[str, Any] | None = None) -> Group:
    """A new group at the root of a store, for examples and tests.

    Examples
    --------
    >>> create_root({}, {"title": "brain"}).attrs["title"]
    'brain'
    """
    store, path = resolve(target, "a")
    metadata = describe_group(attributes)
    place_node(store, path, metadata)
    return Group(store, path, metadata)


def _as_group(metadata: ArrayMeta | GroupMeta, path: str) -> GroupMeta:
    if isinstance(metadata, ArrayMeta):
        raise NodeTypeError("expected a group, found an array", array=f"/{path}")
    return metadata
