"""Opening nodes, or creating them if the mode says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

from blizzarr.array import Array, reopened, without_data
from blizzarr.creation.describe import ZarrFormat, check_option_names, describe_group
from blizzarr.creation.make import choose_format, make_array
from blizzarr.errors import (
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    Problem,
    UnknownExtensionError,
)
from blizzarr.formats import LIKELY_OF_GROUPS, Format, find, find_implied, format_named, is_complete, read_node
from blizzarr.group import Group, node_of
from blizzarr.hierarchy.place import find_or_create, place_node
from blizzarr.keywords import exact_keywords
from blizzarr.stores import Store, StoreLike, resolve

Mode: TypeAlias = Literal["r", "r+", "a", "w", "w-"]
_READING: Final = ("r", "r+")
"""The modes that create nothing."""


def open(
    store: StoreLike | None = None, mode: Mode | None = None, *, path: str | None = "", **options: Any
) -> Array | Group:
    """Open the array or group that is there, or create one.

    Parameters
    ----------
    store
        A directory or zip file, by its path or URL; a store; a mutable mapping; an object with the methods of a store;
        or None for new memory.
    mode
        ``"r"``: read; the node is read-only. ``"r+"``: read and write a node that is there. ``"a"``: open the node that
        is there, or create it. ``"w"``: create it, replacing what is there; refused if files of other programs are
        among that. ``"w-"``: create it; refused if something is there. The default is ``"r+"``, or ``"a"`` with
        `options` other than `zarr_format`: so a mistyped path is an error, and creates nothing.
    path
        The path of the node in the store, like ``a/b``.
    **options
        The options of a node that is created: an array if `shape` or `data` is given (see `create_array`), otherwise a
        group (see `create_group`). A node that is there is opened as it is, whatever the options say, except that
        `zarr_format` must be its format.

    Raises
    ------
    NodeNotFoundError
        If there is nothing to open. The text says what was looked for and what is there.
    MetadataError
        If a document does not conform, or the options do not make a valid node; `problems` lists everything.
    NodeExistsError
        With ``"w-"``, if something is there; with ``"w"``, if files of other programs would be removed.
    TypeError
        If options do not exist, or are given with ``"r"`` or ``"r+"``.
    ValueError
        If there is no such mode.
    PathError
        If the path may not be used.
    StoreError
        If the store fails.

    Examples
    --------
    >>> memory = {}
    >>> open(memory, mode="w", shape=(4, 4), dtype="uint8", fill_value=1).shape
    (4, 4)
    >>> open(memory, mode="r").dtype
    dtype('uint8')
    """
    if mode is None:
        mode = "a" if options and options.keys() - {"zarr_format"} else "r+"
    if options:
        _check_options("open", mode, options)
    resolved, node_path = resolve(store, mode, path)
    if mode in _READING:
        return _opened(resolved, node_path, options.get("zarr_format"))

    def find() -> Array | Group | None:
        return _existing(resolved, node_path, mode, options.get("zarr_format"))

    def create() -> Array | Group:
        if options.get("shape") is not None or options.get("data") is not None:
            return _make_array(resolved, node_path, mode, options)
        return _make_group(resolved, node_path, mode, **options)

    return find_or_create(find, create)


@exact_keywords
def open_array(store: StoreLike | None = None, mode: Mode = "a", *, path: str | None = "", **options: Any) -> Array:
    """Open an array, or create one; see `open` for the modes and `create_array` for the options.

    With mode ``"a"`` (the default) and no options, the array must be there. An array that is there is opened as it is,
    even if its shape or data type differs from the options.

    Raises
    ------
    NodeNotFoundError
        If there is nothing to open.
    NodeTypeError
        If a group is there.
    MetadataError, NodeExistsError, TypeError, ValueError, PathError, StoreError
        As for `open`.

    Examples
    --------
    >>> open_array({}, shape=(4,), dtype="int16").shape
    (4,)
    """
    if options:
        _check_options("open_array", mode, options)
    resolved, node_path = resolve(store, mode, path)
    creates = mode == "a" and not options.keys() - {"zarr_format"}
    if creates:
        mode = "r+"

    def find() -> Array | None:
        node = _existing(resolved, node_path, mode, options.get("zarr_format"))
        if node is None:
            return None
        if not isinstance(node, Array):
            raise NodeTypeError(
                "expected an array, found a group; use open_group", array=f"/{node_path}", store=str(resolved)
            )
        return node

    try:
        return find_or_create(find, lambda: _make_array(resolved, node_path, mode, options))
    except NodeNotFoundError as error:
        if creates:
            error.add_note("open_array creates an array where none is if it is told shape= and dtype=, or data=")
        raise


@exact_keywords
def open_group(
    store: StoreLike | None = None,
    mode: Mode | None = None,
    *,
    path: str | None = "",
    use_consolidated: bool | None = None,
    attributes: dict[str, Any] | None = None,
    zarr_format: ZarrFormat = None,
) -> Group:
    """Open a group, or create one; see `open` for the modes.

    As with `open`, the default mode is ``"r+"``, or ``"a"`` with `attributes` and in new memory: so a mistyped path is
    an error, and creates nothing. Pass ``"a"`` to create a group that is not there, as zarr-python does by default.

    Parameters
    ----------
    store, mode, path
        As for `open`.
    use_consolidated
        True: the group must have consolidated metadata. False: do not use it. None: use it if there is any.
    attributes
        The attributes, if the group is created.
    zarr_format
        Open or create only a group of this format; see `create_array`.

    Raises
    ------
    NodeNotFoundError
        With ``"r"`` or ``"r+"``, if there is nothing; without a mode, the text says how to create one.
    NodeTypeError
        If an array is there.
    MetadataError
        If a document does not conform, or the group has no consolidated metadata although it must.
    TypeError
        If `use_consolidated` is none of these.
    NodeExistsError, ValueError, PathError, StoreError
        As for `open`.

    Examples
    --------
    >>> open_group({}, attributes={"title": "brain"}).attrs["title"]
    'brain'
    """
    is_default = mode is None
    if mode is None:
        mode = "r+" if attributes is None and store is not None else "a"
    if use_consolidated not in (True, False, None):
        # In zarr-python a string is the key of the document.
        raise TypeError(
            f"expected use_consolidated=True, False or None, found {use_consolidated!r}; only .zmetadata of v2 and "
            "the group's own document in v3 are read"
        )
    resolved, node_path = resolve(store, mode, path)

    def find() -> Group | None:
        try:
            node = _existing(resolved, node_path, mode, zarr_format, likely=LIKELY_OF_GROUPS)
        except NodeNotFoundError as error:
            if is_default:
                error.reason += "; mode='a' creates a group"
            raise
        return None if node is None else _as_group(node, use_consolidated)

    return find_or_create(
        find, lambda: _make_group(resolved, node_path, mode, attributes=attributes, zarr_format=zarr_format)
    )


@exact_keywords
def open_consolidated(
    store: StoreLike, mode: Mode = "r+", *, path: str | None = "", zarr_format: ZarrFormat = None
) -> Group:
    """Open a group that must have consolidated metadata; for parameters and errors see `open_group`."""
    return open_group(store, mode=mode, path=path, use_consolidated=True, zarr_format=zarr_format)


def _existing(
    store: Store, path: str, mode: Mode, zarr_format: ZarrFormat, *, likely: Format | None = None
) -> Array | Group | None:
    """Return the node to open; None if the mode says that one is to be created."""
    if mode in _READING:
        return _opened(store, path, zarr_format, likely=likely)
    if mode != "a":
        return None
    form = None if zarr_format is None else format_named(zarr_format)
    try:
        found = find(store, path, form, reading=True, likely=likely)
    except UnknownExtensionError as error:
        return without_data(store, path, error)
    metadata = None if found is None else found.meta
    implied = find_implied(store, path, form) if metadata is None else None
    if implied is not None and is_complete(implied.meta):
        # A new group of another format would hide everything in this one.
        metadata = implied.meta
    return None if metadata is None else node_of(store, path, metadata)


def _opened(store: Store, path: str, zarr_format: ZarrFormat, *, likely: Format | None = None) -> Array | Group:
    """Return the node that is there, or in the hierarchy around the store.

    Raise `NodeNotFoundError` if there is none.
    """
    again = None if zarr_format is not None else reopened(store, path)
    if isinstance(again, Array):
        return again
    try:
        form = None if zarr_format is None else format_named(zarr_format)
        node = node_of(store, path, read_node(store, path, form, likely=likely))
    except UnknownExtensionError as error:
        return without_data(store, path, error)
    except NodeNotFoundError:
        from blizzarr.hierarchy.root_above import root_above

        elsewhere = root_above(store, path)
        if elsewhere is None:
            raise
        return _opened(*elsewhere, zarr_format, likely=likely)
    if again is not None:
        again.remember(node)
    return node


def _as_group(node: Array | Group, use_consolidated: bool | None) -> Group:
    """Return the node that was found, if it is a group with the consolidated metadata that are wanted."""
    path, store = f"/{node.path}", str(node.store)
    if isinstance(node, Array):
        raise NodeTypeError("expected a group, found an array; use open_array", array=path, store=store)
    if use_consolidated and node.metadata.consolidated is None:
        wanted = Problem("consolidated_metadata", "consolidated metadata (consolidate_metadata makes them)", "none")
        raise MetadataError(array=path, store=store, problems=[wanted])
    if use_consolidated is False:
        return Group(node.store, node.path, node.metadata.with_consolidated(None))
    return node


def _make_array(store: Store, path: str, mode: Mode, options: dict[str, Any]) -> Array:
    if "overwrite" in options:
        raise TypeError("overwrite= is for create_array; here the mode says it: mode='w' replaces what is there")
    with advice_on_modes():
        return make_array(store, path, overwrite=mode == "w", **options)


def _make_group(
    store: Store,
    path: str,
    mode: Mode,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: ZarrFormat = None,
    **others: Any,
) -> Group:
    if others:
        check_option_names(others)
        raise TypeError(f"expected shape= or data= with {', '.join(sorted(others))}, which groups do not have")
    metadata = describe_group(attributes, choose_format(store, path, zarr_format))
    with advice_on_modes():
        return Group(store, path, place_node(store, path, metadata, overwrite=mode == "w"))


@contextmanager
def advice_on_modes() -> Iterator[None]:
    """Name the mode in errors that tell to pass ``overwrite=True``, which functions with modes do not have."""
    try:
        yield
    except NodeExistsError as error:
        error.reason = (error.reason or "").replace("overwrite=True", "mode='w'")
        raise


def _check_options(name: str, mode: Mode, options: dict[str, Any]) -> None:
    """Check that there are such options; modes ``"r"`` and ``"r+"``, which create nothing, take only the format.

    This comes before anything is looked for: who misspells an option should hear of that first.
    """
    given = sorted(options.keys() - {"zarr_format"})
    check_option_names(given, name, ("mode", "path", "data", "overwrite"))
    if given and mode in ("r", "r+"):
        raise TypeError(f"mode {mode!r} opens a node that is there; {', '.join(given)} would be for creating one")
