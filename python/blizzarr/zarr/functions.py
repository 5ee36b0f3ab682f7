"""The functions of ``zarr``: those of blizzarr with the keywords and the defaults of zarr-python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import blizzarr
from blizzarr.api.open import advice_on_modes
from blizzarr.creation.json_values import AsZarrPython
from blizzarr.formats import detect
from blizzarr.hierarchy.place import format_above, place_node
from blizzarr.model import GroupMeta
from blizzarr.model.names import ancestors, depth
from blizzarr.stores.requests import ARRAYS_AT_ONCE, each
from blizzarr.zarr.arguments import (
    IGNORED,
    array_options,
    check_data,
    choose_format,
    engine_data,
    given_format,
    warn_ignored,
)
from blizzarr.zarr.array import Array
from blizzarr.zarr.errors import ArrayNotFoundError, GroupNotFoundError, ZarrUserWarning, deprecated, translated
from blizzarr.zarr.group import Group, node_of
from blizzarr.zarr.likes import NONE_HAS_A_MEANING, chunks_of, like_options
from blizzarr.zarr.metadata import GroupMetadata
from blizzarr.zarr.node import creating, described
from blizzarr.zarr.storage.store_path import StorePath, engine_place, join_paths, normalize_path

__all__ = [
    *("array", "consolidate_metadata", "copy", "create", "create_array", "create_group", "create_hierarchy", "empty"),
    "empty_like",
    *("from_array", "full", "full_like", "group", "load", "ones", "ones_like", "open", "open_array"),
    *("open_consolidated", "open_group", "open_like", "save", "save_array", "save_group", "tree", "zeros"),
    "zeros_like",
]


def _place(options: dict[str, Any], store: Any, mode: str = "a") -> tuple[Any, str]:
    """Take the place out of the options: the store of the engine, and the path in it."""
    path, name = options.pop("path", None), options.pop("name", None)
    return engine_place(store, path if name is None else name, mode, options.pop("storage_options", None))


def _mode(store: Any, mode: str | None) -> str:
    inner = store.store if isinstance(store, StorePath) else store
    return mode or ("r" if getattr(inner, "read_only", False) else "a")


@translated(GroupNotFoundError)
def open(
    store: Any = None, *, mode: Any = None, zarr_format: Any = None, path: str | None = None, **options: Any
) -> Any:
    """Open the array or group that is there; with mode ``"a"``, the default, create a group if there is none.

    Raises
    ------
    GroupNotFoundError
        If there is nothing to open.
    """
    mode = _mode(store, mode)
    if "shape" in options:
        return open_array(store, mode=mode, zarr_format=zarr_format, path=path, **options)
    resolved, node_path = engine_place(store, path, mode, options.pop("storage_options", None))
    zarr_format = given_format(zarr_format, options.pop("zarr_version", None))
    if mode in ("r", "r+", "a"):
        try:
            engine = blizzarr.open(resolved, mode="r" if mode == "r" else "r+", path=node_path, zarr_format=zarr_format)
        except blizzarr.errors.NodeNotFoundError:
            if mode != "a":
                raise
        else:
            if isinstance(engine, blizzarr.Array):
                return Array(engine, options.get("config"))
            if not options:
                return Group(engine)
    return open_group(resolved, mode=mode, zarr_format=zarr_format, path=node_path, **options)


def open_array(store: Any = None, *, mode: Any = None, zarr_format: Any = None, **options: Any) -> Array:
    """Open an array; with ``shape`` and modes ``"a"``, ``"w"`` and ``"w-"``, create one if there is none.

    Raises
    ------
    ArrayNotFoundError
        If there is nothing to open.
    """
    makes = mode is not None or "shape" in options
    mode = _mode(store, mode)
    zarr_format = given_format(zarr_format, options.pop("zarr_version", None))
    config = options.get("config")
    resolved, node_path = _place(options, store, mode)
    with translated(ArrayNotFoundError, resolved):
        if mode in ("r", "r+", "a"):
            try:
                engine = blizzarr.open_array(
                    resolved, mode="r" if mode == "r" else "r+", path=node_path, zarr_format=zarr_format
                )
            except blizzarr.errors.NodeNotFoundError:
                if mode != "a" or not makes:
                    raise
            else:
                return Array(engine, config)
    with advice_on_modes():
        return create(store=resolved, path=node_path, zarr_format=zarr_format, overwrite=mode == "w", **options)


@translated(GroupNotFoundError)
def open_group(
    store: Any = None,
    *,
    mode: str = "a",
    path: str | None = None,
    zarr_format: Any = None,
    zarr_version: Any = None,
    storage_options: Any = None,
    attributes: Any = None,
    use_consolidated: Any = None,
    **ignored: Any,
) -> Group:
    """Open a group; with mode ``"a"``, the default, create it if there is none.

    Raises
    ------
    GroupNotFoundError
        If there is nothing to open.
    ContainsArrayError
        If an array is there.
    """
    _check(open_group, ignored)
    zarr_format = given_format(zarr_format, zarr_version)
    resolved, node_path = engine_place(store, path, mode, storage_options)

    def opened(mode: Any) -> Group:
        options: Any = {"zarr_format": zarr_format, "use_consolidated": use_consolidated}
        return Group(blizzarr.open_group(resolved, mode=mode, path=node_path, **options))

    if mode == "a":
        try:
            return opened("r+")
        except blizzarr.errors.NodeNotFoundError:
            pass
    if mode in ("a", "w", "w-"):
        with advice_on_modes():
            return create_group(
                resolved, path=node_path, zarr_format=zarr_format, attributes=attributes, overwrite=mode == "w"
            )
    return opened(mode)


def open_consolidated(*args: Any, use_consolidated: bool = True, **options: Any) -> Group:
    """Open a group that must have consolidated metadata.

    Raises
    ------
    ValueError
        If it has none.
    """
    if use_consolidated is not True:
        raise TypeError(
            "'use_consolidated' must be 'True' in 'open_consolidated'. Use 'open' with 'use_consolidated=False' to "
            "bypass consolidated metadata."
        )
    return open_group(*args, use_consolidated=True, **{"mode": "r+", **options})


@translated(GroupNotFoundError)
def create_group(
    store: Any = None,
    *,
    path: str | None = None,
    overwrite: bool = False,
    zarr_format: Any = None,
    attributes: Any = None,
    storage_options: Any = None,
) -> Group:
    """Create a group.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If something is there.
    """
    resolved, node_path = engine_place(store, path, "w" if overwrite else "a", storage_options)
    number = choose_format({"zarr_format": zarr_format}, partial(_format_above, resolved, node_path))
    with creating(resolved):
        return Group(
            blizzarr.create_group(
                resolved,
                path=node_path,
                overwrite=overwrite,
                zarr_format=number,
                attributes=AsZarrPython(attributes or {}),
            )
        )


def group(store: Any = None, *, overwrite: bool = False, **options: Any) -> Group:
    """Open the group that is there, or create one."""
    return open_group(store, mode="w" if overwrite else "a", **options)


def create(shape: Any, *, store: Any = None, **options: Any) -> Array:
    """Create an array, of float64 by default."""
    if options.get("dtype") is None:
        options["dtype"] = "float64"
    mode = options.pop("mode", None)
    if mode not in (None, "a", "r+", "w", "w-"):
        raise ValueError(f"expected mode='a', 'r+', 'w' or 'w-' to create an array, found {mode!r}")
    if mode == "w":
        options["overwrite"] = True
    chunks = options.setdefault("chunks", None)
    if isinstance(chunks, tuple | list) and hasattr(shape, "__len__"):
        # Axes behind those that are named are not divided.
        options["chunks"] = (*chunks, *[None] * (len(shape) - len(chunks)))
    return _created(store, shape=shape, stores_order=True, **options)


def create_array(store: Any = None, **options: Any) -> Array:
    """Create an array, filled with ``data`` if given.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If something is there.
    ValueError
        If ``shape`` or ``dtype`` is given beside ``data``.
    """
    check_data(options)
    return _created(store, **options)


def _created(
    store: Any = None, *, name: str | None = None, write_data: bool = True, stores_order: bool = False, **options: Any
) -> Array:
    data = options.get("data")
    if data is not None and not write_data:
        options |= {"data": None, "shape": data.shape, "dtype": data.dtype}
    options["name"] = name if name is not None else options.pop("path", None)
    overwrite = bool(options.get("overwrite"))
    resolved, node_path = _place(options, store, "w" if overwrite else "a")
    number = choose_format(options, partial(_format_above, resolved, node_path))
    made, settings = array_options(options, number, stores_order=stores_order)
    with creating(resolved):
        return Array(blizzarr.create_array(resolved, name=node_path, zarr_format=number, **made), settings)


def from_array(store: Any = None, *, data: Any, name: str | None = None, **options: Any) -> Array:
    """Create an array from another one; what is ``"keep"``, the default, is as it is there."""
    kept = {option: value for option, value in options.items() if not (isinstance(value, str) and value == "keep")}
    if not isinstance(data, Array):
        data = np.asarray(data)
        return _created(store, name=name, data=data, **kept)
    kept = {option: value for option, value in kept.items() if option in NONE_HAS_A_MEANING or value is not None}
    write = kept.pop("write_data", True)
    made = like_options(data, {"zarr_format": data.metadata.zarr_format, "attributes": dict(data.attrs), **kept})
    if write:
        made["data"] = data
    return _created(store, name=name, **made)


def array(data: Any, **options: Any) -> Array:
    """Create an array from data."""
    if isinstance(data, Array):
        return from_array(data=data, **options)
    values = data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asanyarray(data)
    if options.get("chunks") is None:
        options["chunks"] = chunks_of(data)
    if options.get("dtype") is None:
        options["dtype"] = values.dtype
    return _created(options.pop("store", None), data=values, stores_order=True, **options)


def full(shape: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array in which every element is `fill_value`."""
    return create(shape, **{**options, "fill_value": fill_value})


def full_like(a: Any, **options: Any) -> Array:
    """Create an array with the shape, data type, layout and, unless another is given, fill value of another one."""
    made = like_options(a, options)
    return create(made.pop("shape"), **made)


def _filled(name: str, function: Callable[..., Array], value: int | None, text: str) -> Callable[..., Array]:
    def call(*first: Any, **options: Any) -> Array:
        return function(*first, **(options if value is None else {**options, "fill_value": value}))

    return described(call, name, text)


empty = _filled("empty", create, None, "Create an array without setting its elements.")
empty_like = _filled("empty_like", full_like, None, "Create an array like another one.")
zeros = _filled("zeros", create, 0, "Create an array of zeros.")
ones = _filled("ones", create, 1, "Create an array of ones.")
zeros_like = _filled("zeros_like", full_like, 0, "Create an array of zeros like another one.")
ones_like = _filled("ones_like", full_like, 1, "Create an array of ones like another one.")


def open_like(a: Any, path: str, **options: Any) -> Array:
    """Open an array, or create one like another."""
    return open_array(path=path, **like_options(a, options))


@translated()
def consolidate_metadata(store: Any, path: str | None = None, zarr_format: Any = None) -> Group:
    """Copy the metadata of everything below a group into the group's document."""
    resolved, node_path = engine_place(store, path, "r+")
    group = Group(blizzarr.consolidate_metadata(resolved, path=node_path, zarr_format=zarr_format))
    consolidated = group.metadata.consolidated_metadata
    if group.metadata.zarr_format == 3 and consolidated and consolidated.metadata:
        warnings.warn(
            "Consolidated metadata is currently not part in the Zarr format 3 specification. It may not be supported "
            "by other zarr implementations and may change in the future.",
            ZarrUserWarning,
            stacklevel=3,
        )
    return group


@translated()
def load(store: Any, path: str | None = None, zarr_format: Any = None, zarr_version: Any = None) -> Any:
    """Read a whole array into memory, or all arrays below a group, by path."""
    resolved, node_path = engine_place(store, path, "r")
    node = blizzarr.open(resolved, mode="r", path=node_path, zarr_format=given_format(zarr_format, zarr_version))
    if isinstance(node, blizzarr.Array):
        return Array(node)[...]
    arrays = {name: Array(member) for name, member in node.walk() if isinstance(member, blizzarr.Array)}
    return dict(zip(arrays, each(resolved, lambda array: array[...], arrays.values(), ARRAYS_AT_ONCE), strict=True))


def save(
    store: Any, *args: Any, zarr_format: Any = None, path: str | None = None, storage_options: Any = None, **named: Any
) -> None:
    """Store one array, or several in a group."""
    if not args and not named:
        raise ValueError("at least one array must be provided")
    if len(args) == 1 and not named:
        save_array(store, args[0], zarr_format=zarr_format, path=path, storage_options=storage_options)
    else:
        save_group(store, *args, zarr_format=zarr_format, path=path, storage_options=storage_options, **named)


def save_array(store: Any, arr: Any, *, mode: str = "a", **options: Any) -> None:
    """Store one array."""
    if not hasattr(arr, "shape"):
        raise TypeError("arr argument must be numpy or other NDArrayLike array")
    options.setdefault("overwrite", mode == "w")
    array = create_array(store, data=engine_data(arr), **options)
    _flush(store, array)


def save_group(
    store: Any, *args: Any, zarr_format: Any = None, path: str | None = None, storage_options: Any = None, **named: Any
) -> None:
    """Store arrays in a group, replacing what is there."""
    arrays = {**{f"arr_{number}": data for number, data in enumerate(args)}, **named}
    if not arrays:
        raise ValueError("at least one array must be provided")
    for name, data in arrays.items():
        if not hasattr(data, "shape"):
            raise TypeError(f"Keyword argument {name!r} must be a numpy or other NDArrayLike array")
    root = open_group(store, mode="w", path=path, zarr_format=zarr_format, storage_options=storage_options)

    def make(member: tuple[str, Any]) -> None:
        name, data = member
        # The default codecs of v2 are others in a method of a group.
        create_array(root.store_path, name=name, data=engine_data(data), zarr_format=root.metadata.zarr_format)

    # Of two at once, one of which is below the other, both would be made.
    most = 1 if any("/" in name for name in arrays) else ARRAYS_AT_ONCE
    each(root.engine.store, make, arrays.items(), most)
    _flush(store, root)


def _flush(given: Any, node: Any) -> None:
    """Complete a zip file that was given by its path."""
    finish = getattr(
        node.engine.store, "close" if isinstance(given, str) or hasattr(given, "__fspath__") else "flush", None
    )
    if finish is not None:
        finish()


@deprecated("Use Group.tree instead.")
def tree(
    grp: Any, expand: bool | None = None, level: int | None = None, *, max_nodes: int = 500, plain: bool = False
) -> Any:
    """Return all nodes below a group; it prints as a tree."""
    return grp.tree(expand=expand, level=level, max_nodes=max_nodes, plain=plain)


def copy(source: Any, dest: Any, **options: Any) -> Any:
    """Copy an array or a group; see `blizzarr.copy`."""
    return node_of(blizzarr.copy(getattr(source, "engine", source), getattr(dest, "engine", dest), **options))


def create_hierarchy(*, store: Any, nodes: Mapping[str, Any], overwrite: bool = False) -> Iterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata, by path, and the groups above them; return all of them.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If something is there.
    """
    engine, root = engine_place(store, "", "a")
    named = {join_paths([root, normalize_path(path)]): node for path, node in nodes.items()}
    formats = {node.zarr_format for node in named.values()}
    if len(formats) > 1:
        raise ValueError(f"expected nodes of one zarr_format, found {sorted(formats)}")
    for group in {group for path in named for group in ancestors(path)} - set(named):
        if detect(engine, group) is None:
            named[group] = GroupMetadata(zarr_format=next(iter(formats)))
    for path in sorted(named, key=depth):
        node = named[path]
        with creating(engine):
            stored = place_node(engine, path, node.to_engine(), overwrite=overwrite)
        if isinstance(stored, GroupMeta):
            yield path, Group(blizzarr.Group(engine, path, stored))
        else:
            yield path, Array(blizzarr.Array(engine, path, stored))


def _check(function: Any, given: Mapping[str, Any]) -> None:
    unknown = [name for name in given if name not in IGNORED]
    if unknown:
        from blizzarr.keywords import unknown_keywords

        raise unknown_keywords(function, unknown)
    warn_ignored(given)


def _format_above(store: Any, path: str) -> int | None:
    """Return the number of the format of the groups above a path; None if there are none."""
    above = format_above(store, path)
    if above is None:
        return None
    number = above.zarr_format
    return 3 if number is None else number
