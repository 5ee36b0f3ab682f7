"""Groups: nodes that hold arrays and other groups."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from blizzarr.array import Array
from blizzarr.attributes import Attributes
from blizzarr.caching import CachedStore, CachePool, Recheck
from blizzarr.creation.describe import (
    CreateOptions,
    ShapeLike,
    ZarrFormat,
    check_option_names,
    describe_group,
    lengths_of,
)
from blizzarr.creation.elements import can_hold
from blizzarr.creation.like import like
from blizzarr.creation.make import make_array
from blizzarr.dtypes import DataType
from blizzarr.errors import NodeExistsError, NodeNotFoundError, NodeTypeError, PathError, UnsupportedOperationError
from blizzarr.formats import format_of, read_member, read_node
from blizzarr.group_members import GroupMembers, member_path
from blizzarr.hierarchy.place import find_or_create, place_node
from blizzarr.hierarchy.remove import remove_node
from blizzarr.keywords import exact_keywords
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.printable import printable
from blizzarr.stores import Store

if TYPE_CHECKING:
    from blizzarr.group_tree import GroupInfo


class Group(GroupMembers):
    """A group in a store: a mapping from names to arrays and groups.

    Created by `create_group` and `open_group`. Members are looked up by name or by path (``group["a/b"]``).

    If the group has consolidated metadata, its members are those that it lists, as they were when it was made.
    Creating, removing or changing a node removes the consolidated metadata above it, so that nobody sees stale
    metadata; call `consolidate_metadata` again when everything is in place.

    All methods raise `StoreError` if the store fails (or cannot list, where members are), `ReadOnlyError` if the group
    was opened for reading and would be changed.

    Examples
    --------
    >>> import blizzarr
    >>> root = blizzarr.create_group({})
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
        """The facts about the group, for which its members are listed, if the store can; prints as a table."""
        arrays = groups = None
        unreadable = 0
        with suppress(UnsupportedOperationError):
            children = self._children(0)
            arrays = sum(isinstance(child.meta, ArrayMeta) for child in children)
            groups = sum(isinstance(child.meta, GroupMeta) for child in children)
            unreadable = len(children) - arrays - groups
        from blizzarr.group_tree import GroupInfo

        return GroupInfo(
            name=self.name,
            store=str(self._store),
            read_only=self.read_only,
            zarr_format=format_of(self._metadata).name,
            arrays=arrays,
            groups=groups,
            unreadable=unreadable,
            attributes=len(self._metadata.attributes),
            consolidated=self._metadata.consolidated is not None,
        )

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            shown = f"{type(self).__name__!r} object"
            if name.startswith("_"):  # notebooks look for many of them
                raise AttributeError(f"{shown} has no attribute {name!r}", name=name, obj=self)
            from blizzarr.renamed import GROUP, no_attribute

            raise no_attribute(self, shown, name, {name: f"if it is a member, use group[{name!r}]"} | GROUP)

    def __repr__(self) -> str:
        return printable(f"<Group {self.name} in {self._store}>")

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        # Imported late, as only notebooks need it.
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

    def cached(self, pool: CachePool, *, recheck: Recheck = True) -> Self:
        """Return the same group with a pool that keeps the chunks read from its arrays; see `blizzarr.Array.cached`.

        Examples
        --------
        >>> import blizzarr
        >>> group = blizzarr.create_group({}).cached(blizzarr.CachePool(1 << 20), recheck=False)
        >>> z = group.create_array("z", data=[1, 2, 3])
        >>> z[1], z[2], z.store.pool.info().hits
        (np.int64(2), np.int64(3), 1)
        """
        return type(self)(CachedStore(self._store, pool, recheck), self._path, self._metadata)

    def refresh(self) -> Self:
        """Read the metadata again, as it is stored now, and return the group.

        Raises
        ------
        NodeNotFoundError
            If there is nothing any more.
        NodeTypeError
            If an array is there now.
        MetadataError
            If the document does not conform.
        """
        form = format_of(self._metadata)
        return self._renew(lambda: _as_group(read_node(self._store, self._path, likely=form), self._path))

    def update_attributes(self, new_attributes: dict[str, Any]) -> Self:
        """Set several attributes in one step, and return the group; the other attributes stay.

        Raises
        ------
        MetadataError
            If JSON cannot express a value. For other errors see `blizzarr.attributes.Attributes`.
        """
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
    ) -> Group:
        """Create a group, of the same format as this one; missing groups on the path are created, too.

        Parameters
        ----------
        name
            The name of the group, or its path below this one.
        attributes
            Anything that JSON can express.
        overwrite
            Replace what is there. This is refused if files of other programs are among it.
        zarr_format
            Another format, see `blizzarr.create_array`; refused unless it may be inside of this one.

        Raises
        ------
        NodeExistsError
            If there is a node already, or files of other programs.
        NodeTypeError
            If an array is on the path, or the group may not have members of this format.
        PathError
            If the name may not be used.
        MetadataError
            If JSON cannot express the attributes.
        """
        path = join(self._path, member_path(name, self._metadata))
        metadata = describe_group(attributes, self._metadata.format if zarr_format is None else zarr_format)
        stored = place_node(self._store, path, metadata, overwrite=overwrite)
        self._forget()
        return Group(self._store, path, stored)

    def require_group(self, name: str, **options: Any) -> Group:
        """Return the group of this name; create it if there is none, with `options` as for `create_group`.

        Raises
        ------
        NodeTypeError
            If it is an array. For other errors see `create_group`.
        """
        node = find_or_create(lambda: self._found(name), lambda: self.create_group(name, **options))
        if not isinstance(node, Group):
            raise NodeTypeError("expected a group, found an array", array=f"/{node.path}", store=str(self._store))
        return node

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Return the groups of these names; create those that do not exist. For errors see `require_group`."""
        return tuple(self.require_group(name) for name in names)

    @exact_keywords
    def create_array(
        self,
        name: str,
        *,
        shape: ShapeLike | None = None,
        dtype: Any = None,
        data: Any = None,
        **options: Unpack[CreateOptions],
    ) -> Array:
        """Create an array, filled with `data` if given; missing groups on the path are created, too.

        Parameters
        ----------
        name
            The name of the array, or its path below this group.
        shape, dtype, data
            As for `blizzarr.create_array`.
        **options
            All other options of `blizzarr.create_array`.

        Raises
        ------
        NodeExistsError
            If there is a node already, and not ``overwrite=True``. For other errors see `blizzarr.create_array`.

        Examples
        --------
        >>> import blizzarr
        >>> root = blizzarr.create_group({})
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

    @exact_keywords
    def require_array(
        self, name: str, *, shape: ShapeLike, dtype: Any = None, exact: bool = False, **options: Unpack[CreateOptions]
    ) -> Array:
        """Return the array of this name; create it if there is none.

        Parameters
        ----------
        name
            The name of the array, or its path below this group.
        shape, dtype
            The shape and the data type that the array must have.
        exact
            True: the data type must be `dtype`. False: it must be one that `dtype` can be cast to safely.
        **options
            As for `create_array`; they are ignored if the array is there already.

        Raises
        ------
        TypeError
            If the array has another shape or data type.
        NodeTypeError
            If it is a group. For other errors see `blizzarr.create_array`.
        """
        check_option_names(options)

        def create() -> Array:
            return self.create_array(name, shape=shape, dtype="float64" if dtype is None else dtype, **options)

        node = find_or_create(lambda: self._found(name), create)
        if not isinstance(node, Array):
            raise NodeTypeError("expected an array, found a group", array=f"/{node.path}", store=str(self._store))
        wanted = lengths_of(shape)
        if node.shape != wanted:
            raise TypeError(f"expected {name!r} to have shape {wanted}, found {node.shape}")
        if dtype is not None:
            kind = DataType.parse(dtype)
            if not can_hold(node.metadata.dtype, kind, exact):
                raise TypeError(f"expected {name!r} to have data type {kind}, found {node.metadata.dtype}")
        return node

    def empty(self, name: str, shape: ShapeLike, *, dtype: Any = None, **options: Any) -> Array:
        """Create an array without setting its elements, by default of float64; `options` as for `create_array`."""
        return self.create_array(name, shape=shape, dtype="float64" if dtype is None else dtype, **options)

    def zeros(self, name: str, shape: ShapeLike, **options: Any) -> Array:
        """Create an array of zeros; `options` as for `create_array`."""
        return self.full(name, shape, 0, **options)

    def ones(self, name: str, shape: ShapeLike, **options: Any) -> Array:
        """Create an array of ones; `options` as for `create_array`."""
        return self.full(name, shape, 1, **options)

    def full(self, name: str, shape: ShapeLike, fill_value: Any, **options: Any) -> Array:
        """Create an array in which every element is `fill_value`; `options` as for `create_array`."""
        return self.empty(name, shape, **{**options, "fill_value": fill_value})

    def empty_like(self, name: str, data: Any, **options: Any) -> Array:
        """Create an array with the shape, data type and layout of another one, without setting its elements."""
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
        """Store an array of these values under the name, replacing an array that has the name.

        Raises
        ------
        NodeExistsError
            If a group has the name. For other errors see `blizzarr.create_array`.
        """
        if isinstance(self._found(name), Group):
            raise NodeExistsError(
                "a group is here already; delete it first to put an array in its place",
                array=f"/{join(self._path, name)}",
                store=str(self._store),
            )
        self.create_array(name, data=value, overwrite=True)

    def __delitem__(self, name: str) -> None:
        """Remove a member and everything in it.

        Raises
        ------
        NodeNotFoundError
            If there is no such member.
        NodeExistsError
            If files of other programs are in it; then nothing is removed (see `config.keep_foreign_files`).
        UnsupportedOperationError
            If the store cannot delete.
        StoreError
            If the store fails. Part of the member may have been removed then; removing it again goes on.
        """
        path = join(self._path, member_path(name, self._metadata))
        try:
            remove_node(self._store, path, implied=True, required=name, likely=format_of(self._metadata))
        except PathError as error:
            # No node can have such a name, as of one that is too long for a file.
            raise NodeNotFoundError(
                f"there is no member {name!r} to remove", array=f"/{path}", store=str(self._store)
            ) from error
        self._forget()

    def _group(self, path: str, metadata: GroupMeta) -> Group:
        return Group(self._store, path, metadata)

    def _found(self, name: str) -> Array | Group | None:
        """Return the member as it is stored, ignoring consolidated metadata; None if there is none."""
        path = join(self._path, member_path(name, self._metadata))
        meta = read_member(self._store, path, format_of(self._metadata))
        return None if meta is None else node_of(self._store, path, meta)

    def _adopt(self, metadata: GroupMeta, since: int | None = None) -> bool:
        with self._adopting:
            if since is not None and since != self._adoptions:
                return False
            self._metadata = metadata
            self._adoptions += 1
            return True

    def _forget(self) -> None:
        if self._metadata.consolidated is not None:
            self._adopt(self._metadata.with_consolidated(None))
        super()._forget()


def node_of(store: Store, path: str, metadata: ArrayMeta | GroupMeta) -> Array | Group:
    """Return the array or group with this metadata."""
    return Array(store, path, metadata) if isinstance(metadata, ArrayMeta) else Group(store, path, metadata)


def _as_group(metadata: ArrayMeta | GroupMeta, path: str) -> GroupMeta:
    if isinstance(metadata, ArrayMeta):
        raise NodeTypeError("expected a group, found an array", array=f"/{path}")
    return metadata
