"""The metadata of a whole hierarchy in one document."""

from __future__ import annotations

from blizzarr.api.open import open_group
from blizzarr.creation.describe import ZarrFormat
from blizzarr.errors import NodeTypeError
from blizzarr.group import Group
from blizzarr.hierarchy.consolidate import consolidate
from blizzarr.keywords import exact_keywords
from blizzarr.stores import StoreLike


@exact_keywords
def consolidate_metadata(store: StoreLike | Group, *, path: str | None = "", zarr_format: ZarrFormat = None) -> Group:
    """Copy the metadata of everything below a group into the group's document, so that it opens with one request.

    The copies become stale when something below the group changes. Changes made through this library remove them; other
    programs may not.

    Parameters
    ----------
    store
        A path, URL, store or mapping; or the group.
    path
        The path of the group in the store, or below the group.
    zarr_format
        The format that the group must have; see `create_array`.

    Raises
    ------
    NodeNotFoundError
        If there is nothing.
    NodeTypeError
        If an array is there.
    MetadataError
        If the document of a member does not conform, or the format has no consolidated metadata; nothing is stored.
    ReadOnlyError
        If the store was opened for reading.
    StoreError
        If the store fails, or cannot list.

    Examples
    --------
    >>> from blizzarr.api import create_group
    >>> root = create_group(memory := {})
    >>> a = root.create_array("a/x", shape=(2,), dtype="int8")
    >>> list(consolidate_metadata(memory).metadata.consolidated)
    ['a', 'a/x']
    """
    if isinstance(store, Group):
        group = store[path] if path else store
        if not isinstance(group, Group):
            raise NodeTypeError("expected a group, found an array", array=group.name, store=str(group.store))
        if zarr_format is not None:
            group = open_group(group.store, mode="r+", path=group.path, zarr_format=zarr_format)
    else:
        group = open_group(store, mode="r+", path=path, zarr_format=zarr_format)
    consolidate(group.store, group.path, group.metadata)
    return Group(group.store, group.path, group.metadata).refresh()
