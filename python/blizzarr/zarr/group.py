"""The class ``zarr.Group``: a group of blizzarr with the interface of zarr-python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np

import blizzarr
from blizzarr.creation.json_values import AsZarrPython
from blizzarr.zarr.arguments import BLOSC, ZSTD, array_options, check_data
from blizzarr.zarr.array import Array
from blizzarr.zarr.awaitable import AsyncGroup
from blizzarr.zarr.dtype import ZDType
from blizzarr.zarr.errors import (
    ArrayNotFoundError,
    BaseZarrError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    deprecated,
    translated,
)
from blizzarr.zarr.info import GroupInfo
from blizzarr.zarr.likes import like_options
from blizzarr.zarr.metadata import GroupMetadata
from blizzarr.zarr.node import Node, creating, described
from blizzarr.zarr.storage.store_path import StorePath, engine_place, join_paths, normalize_path
from blizzarr.zarr.sync import in_thread_to_the_end, sync
from blizzarr.zarr.tree import TreeRepr


def _method(name: str) -> Any:
    @wraps(getattr(blizzarr.Group, name))
    def call(self: Group, *args: Any, **named: Any) -> Any:
        return getattr(self.engine, name)(*args, **named)

    return call


def _filled(name: str, method: str, value: int, text: str) -> Any:
    def call(self: Group, **options: Any) -> Array:
        return getattr(self, method)(fill_value=value, **options)

    return described(call, name, text)


class Group(Node):
    """A group in a store, with the interface of zarr-python.

    Parameters
    ----------
    engine
        The group of blizzarr, which `Group.engine` returns.

    Examples
    --------
    >>> from blizzarr import zarr
    >>> root = zarr.create_group({})
    >>> z = root.create_array("a/x", shape=(2, 3), dtype="int16")
    >>> root["a"].metadata.zarr_format, root["a/x"].shape
    (3, (2, 3))
    """

    __slots__ = ()

    passed = frozenset(("basename", "close", "name", "path", "read_only", "refresh"))

    def __init__(self, engine: Any) -> None:
        if isinstance(engine, AsyncGroup):
            engine, self._shown = engine.node.engine, (engine.node.engine.metadata, engine.node.metadata)
        self.engine: blizzarr.Group = engine

    @classmethod
    def from_store(
        cls, store: Any, *, attributes: Any = None, zarr_format: int | None = None, overwrite: bool = False
    ) -> Group:
        """Create a group."""
        from blizzarr.zarr.functions import create_group

        return create_group(store, attributes=attributes, zarr_format=zarr_format, overwrite=overwrite)

    @classmethod
    @translated(GroupNotFoundError)
    def open(cls, store: Any, zarr_format: int | None = None, use_consolidated: Any = None) -> Group:
        """Open a group."""
        engine, path = engine_place(store)
        group = blizzarr.open_group(
            engine, mode="r+", path=path, zarr_format=zarr_format, use_consolidated=use_consolidated
        )
        return cls(group)

    @classmethod
    def from_dict(cls, store_path: Any, data: Mapping[str, Any]) -> Group:
        """Return the group at a place, with the metadata of a document."""
        return cls.from_parts(GroupMetadata.from_dict(data), store_path)

    @classmethod
    def from_parts(cls, metadata: GroupMetadata, store_path: Any) -> Group:
        engine, path = engine_place(store_path)
        return cls(blizzarr.Group(engine, path, metadata.to_engine()))

    # What it is

    @property
    def _async_group(self) -> AsyncGroup:
        return AsyncGroup(self)

    @property
    def synchronizer(self) -> None:
        """None: writers of one chunk wait for each other anyway."""

    @property
    def info(self) -> GroupInfo:
        """The facts about the group; its nodes are counted if consolidated metadata list them."""
        return self._info() if self.engine.metadata.consolidated is None else self.info_complete()

    def info_complete(self) -> GroupInfo:
        """Return the facts about the group with the number of all nodes below it."""
        nodes = [node for _, node in self.engine.members(max_depth=None)]
        arrays = sum(isinstance(node, blizzarr.Array) for node in nodes)
        return self._info(_count_members=len(nodes), _count_arrays=arrays, _count_groups=len(nodes) - arrays)

    def _info(self, **complete: Any) -> GroupInfo:
        return GroupInfo(
            _name=self.engine.path,
            _read_only=self.engine.read_only,
            _store_type=type(self.store).__name__,
            _zarr_format=self._zarr_format,
            **complete,
        )

    # Members

    def __getitem__(self, path: str) -> Array | Group:
        """Return the array or group at a path below this group.

        Raises
        ------
        KeyError
            If there is none.
        """
        inner = normalize_path(path)
        if not inner:
            return self
        with translated(GroupNotFoundError):
            return node_of(self.engine[inner])

    def get(self, path: str, default: Any = None) -> Any:
        """Return the array or group at a path below this group, or `default` if there is none."""
        inner = normalize_path(path)
        if not inner:
            return self
        with translated(GroupNotFoundError):
            node = self.engine.get(inner)
        return default if node is None else node_of(node)

    def get_array(self, path: str) -> Array:
        """Return the array at a path below this group.

        Raises
        ------
        ArrayNotFoundError
            If nothing is there.
        ContainsGroupError
            If a group is there.
        """
        return self._get_kind(path, Array, ArrayNotFoundError, ContainsGroupError)

    def get_group(self, path: str) -> Group:
        """Return the group at a path below this group.

        Raises
        ------
        GroupNotFoundError
            If nothing is there.
        ContainsArrayError
            If an array is there.
        """
        return self._get_kind(path, Group, GroupNotFoundError, ContainsArrayError)

    def _get_kind(self, path: str, kind: Any, absent: type[BaseZarrError], other: type[BaseZarrError]) -> Any:
        node = self.get(path)
        if not isinstance(node, kind):
            raise (absent if node is None else other)(self.store, join_paths([self.engine.path, normalize_path(path)]))
        return node

    def __len__(self) -> int:
        return len(self.engine)

    def __contains__(self, member: object) -> bool:
        if not isinstance(member, str):
            return False
        inner = normalize_path(member)
        return not inner or inner in self.engine

    def __iter__(self) -> Iterator[str]:
        return self.engine.keys()

    keys, array_keys, group_keys = map(_method, ("keys", "array_keys", "group_keys"))
    nmembers = _method("nmembers")

    def items(self) -> Iterator[tuple[str, Array | Group]]:
        """Iterate over the members with their names."""
        return iter(self.members())

    def values(self) -> Iterator[Array | Group]:
        """Iterate over the members."""
        return (node for _, node in self.members())

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Return the members with their names; with `max_depth`, also those of the groups among them, by path."""
        members = self.engine.members(max_depth)
        if not use_consolidated_for_children:
            return tuple(
                (name, node_of(node if isinstance(node, blizzarr.Array) else node.refresh())) for name, node in members
            )
        return tuple((name, node_of(node)) for name, node in members)

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Iterate over the arrays in the group, with their names."""
        return ((name, Array(node)) for name, node in self.engine.arrays())

    def array_values(self) -> Iterator[Array]:
        """Iterate over the arrays in the group."""
        return map(Array, self.engine.array_values())

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Iterate over the groups in the group, with their names."""
        return ((name, Group(node)) for name, node in self.engine.groups())

    def group_values(self) -> Iterator[Group]:
        """Iterate over the groups in the group."""
        return map(Group, self.engine.group_values())

    def tree(
        self, expand: bool | None = None, level: int | None = None, *, max_nodes: int = 500, plain: bool = False
    ) -> Any:
        """Return all nodes below the group, down to `level` levels below its members; it prints as a tree.

        Raises
        ------
        NotImplementedError
            If `expand` is given, as in zarr-python: all nodes are always shown.
        """
        if expand is not None:
            raise NotImplementedError("'expand' is not yet implemented; leave it out: all nodes are shown")
        return TreeRepr(self.engine.tree(None if level is None else level + 1), max_nodes, plain)

    # Creating

    def create_group(self, name: str, **options: Any) -> Group:
        """Create a group below this one."""
        with creating(self.engine.store):
            attributes = AsZarrPython(options.pop("attributes", None) or {})
            return Group(self.engine.create_group(normalize_path(name), attributes=attributes, **options))

    def require_group(self, name: str, overwrite: bool = False, **options: Any) -> Group:
        """Return the group of this name; create it if there is none."""
        if overwrite:
            return self.create_group(name, overwrite=True, **options)
        if not normalize_path(name):
            return self._created_again()
        node = self.get(name)
        if isinstance(node, Array):
            raise TypeError(f"Incompatible object ({Array.__name__}) already exists")
        return self.create_group(name, **options) if node is None else node

    def _created_again(self) -> Group:
        """Return this group, which anndata creates again after it has cleared the store."""
        try:
            self.engine.refresh()
        except blizzarr.errors.NodeNotFoundError:
            self.engine = blizzarr.create_group(
                self.engine.store, path=self.engine.path, zarr_format=self.engine.metadata.format
            )
        return self

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Return the groups of these names; create those that do not exist."""
        return tuple(map(self.require_group, names))

    def create_array(self, name: str, **options: Any) -> Array:
        """Create an array below this group; see ``zarr.create_array``."""
        check_data(options)
        return self._created(name, BLOSC, **options)

    def _created(
        self,
        name: str,
        usual: Mapping[str, Any] = ZSTD,
        /,
        *,
        write_data: bool = True,
        storage_options: Any = None,
        **options: Any,
    ) -> Array:
        data = options.get("data")
        if data is None:
            options["dtype"] = "float64" if options.get("dtype") is None else options["dtype"]
        elif not write_data:
            options |= {"data": None, "shape": data.shape, "dtype": data.dtype}
        number = self._zarr_format
        if (given := options.pop("zarr_format", None)) not in (None, number):
            raise ValueError(f"expected zarr_format={number}, as that of the group, found {given}")
        # Methods like `full` create arrays as ``zarr.create`` does, the others as ``zarr.create_array`` does.
        made, settings = array_options(options, number, usual, stores_order=usual is ZSTD)
        with creating(self.engine.store):
            return Array(self.engine.create_array(normalize_path(name), **made), settings)

    create = create_array

    @deprecated("Use Group.create_array instead.")
    def create_dataset(self, name: str, *, data: Any = None, **options: Any) -> Array:
        """Create an array below this group."""
        values = data if data is None or hasattr(data, "shape") else np.asanyarray(data)
        return self._created(name, BLOSC, data=values, **options)

    array = create_dataset

    def require_array(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **options: Any) -> Array:
        """Return the array of this name; create it if there is none."""
        node = self.get(name)
        if node is None:
            return self.create_array(name, shape=shape, dtype="float64" if dtype is None else dtype, **options)
        if not isinstance(node, Array):
            raise TypeError(f"Incompatible object ({type(node).__name__}) already exists")
        wanted = tuple(np.atleast_1d(shape).tolist())
        dtype = dtype.to_native_dtype() if isinstance(dtype, ZDType) else np.dtype(dtype)
        if node.shape != wanted:
            raise TypeError(f"Incompatible shape ({node.shape} vs {wanted})")
        if node.dtype != dtype if exact else not np.can_cast(node.dtype, dtype):
            raise TypeError(f"Incompatible dtype ({node.dtype} vs {dtype})")
        return node if options.get("config") is None else node.with_config(options["config"])

    @deprecated("Use Group.require_array instead.")
    def require_dataset(self, name: str, **options: Any) -> Array:
        """Return the array of this name; create it if there is none."""
        return self.require_array(name, **options)

    def full(self, *, name: str, shape: Any, **options: Any) -> Array:
        """Create an array in which every element is ``fill_value``."""
        return self._created(name, shape=shape, **options)

    def full_like(self, *, name: str, data: Any, **options: Any) -> Array:
        """Create an array with the shape, data type and layout of another one, filled with ``fill_value``."""
        # The format is that of the group, whatever that of the other array is.
        return self._created(name, **like_options(data, {"zarr_format": self._zarr_format, **options}))

    empty, empty_like = full, full_like
    zeros = _filled("zeros", "full", 0, "Create an array of zeros.")
    ones = _filled("ones", "full", 1, "Create an array of ones.")
    zeros_like = _filled("zeros_like", "full_like", 0, "Create an array of zeros like another one.")
    ones_like = _filled("ones_like", "full_like", 1, "Create an array of ones like another one.")

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Create arrays and groups from their metadata, by path below this group."""
        from blizzarr.zarr.functions import create_hierarchy

        for path, node in create_hierarchy(store=self.store_path, nodes=nodes, overwrite=overwrite):
            yield path.removeprefix(self.engine.path).strip("/"), node

    # Changing

    def __setitem__(self, name: str, value: Any) -> None:
        """Store an array of these values under the name."""
        self._created(name, data=value, overwrite=True)

    @translated()
    def __delitem__(self, name: str) -> None:
        """Remove a member and everything in it, also files of other programs; nothing happens if there is none."""
        inner = normalize_path(name)
        try:
            del self.engine[inner]
        except (blizzarr.errors.NodeNotFoundError, blizzarr.errors.PathError):
            return
        except blizzarr.errors.NodeExistsError:
            with blizzarr.config.set(keep_foreign_files=True):
                del self.engine[inner]
            sync(StorePath(self.store, join_paths([self.engine.path, inner])).delete_dir())

    async def update_attributes_async(self, new_attributes: dict[str, Any]) -> Group:
        """Replace all attributes, as zarr-python does, and return the group."""
        await in_thread_to_the_end(self.attrs.put, new_attributes)
        return self

    def move(self, source: str, dest: str) -> None:
        """Refuse, as zarr-python does.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("copy the member with blizzarr.copy, then delete it")

    def __repr__(self) -> str:
        return f"<Group {self.store_path}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.engine,)


AsyncGroup.view(Group)


def node_of(engine: Any) -> Any:
    """Return the array or group of zarr-python's interface for one of blizzarr."""
    return Array(engine) if isinstance(engine, blizzarr.Array) else Group(engine)
