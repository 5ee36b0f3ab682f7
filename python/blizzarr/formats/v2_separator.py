"""Inferring the separator in chunk keys of Zarr v2 from the chunks, if the document does not have it.

By the specification, it is a dot if ``dimension_separator`` is missing. But zarr-python before 2.8 never stored that
member, although its `NestedDirectoryStore`, and `FSStore` on request, used slashes; arrays were opened again by the
same class. A reader that follows the specification finds no chunks in such arrays, and reads only fill values. Most
arrays with dots lack the member too, also those of zarr-python 2.18 and GDAL, so looking must be cheap: the first chunk
of an array is looked up, and more only if it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from blizzarr.formats.format import Node
from blizzarr.model import ArrayMeta, ChunkKeys
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import join
from blizzarr.problems import warn
from blizzarr.stores.confined import scanned
from blizzarr.stores.failures import failures
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.requests import each, present
from blizzarr.stores.wrapper import StoreHandle, unwrapped

if TYPE_CHECKING:
    from blizzarr.stores.zip import ZipStore

_MEMBER: Final = "dimension_separator"
_DOTS: Final = ChunkKeys.v2(".")
_SLASHES: Final = ChunkKeys.v2("/")
_SAMPLE: Final = 64
"""The number of names of a directory that are examined: besides its documents, any chunk suffices."""
_AT_ONCE: Final = 16
_INDEX: Final = re.compile(INDEX)
_DOTTED: Final = re.compile(rf"{INDEX}(?:\.{INDEX})+")


def lacks_separator(meta: Node) -> TypeGuard[ArrayMeta]:
    """Return whether an array has a separator in its chunk keys that its document does not specify."""
    return (
        type(meta) is ArrayMeta
        and meta.format == "v2"
        and len(meta.shape) > 1
        and meta.source is not None
        # zarr-java writes null, which means the same.
        and meta.source.get(_MEMBER) is None
    )


def with_separator(store: Any, path: str, meta: ArrayMeta) -> ArrayMeta:
    """Return the array with the separator that its chunks have, if its document does not specify one.

    Without a chunk that shows slashes, the separator is a dot, as in the specification; and also with chunks of both
    kinds, since that is how readers interpret the document.
    """
    slashes = lacks_separator(meta) and _has_slashes(store, f"{path}/" if path else "", meta)
    return replace(meta, chunk_keys=_SLASHES) if slashes else meta


def with_separators(store: Any, nodes: Sequence[tuple[str, Node]]) -> list[Node]:
    """Do the same for many nodes with their paths, in parallel if requests are slow."""
    arrays = [(path, meta) for path, meta in nodes if lacks_separator(meta)]
    is_near = getattr(store, "native", None) is not None
    threads = 1 if is_near else _AT_ONCE
    completed = iter(each(store, lambda array: with_separator(store, *array), arrays, otherwise=threads))
    return [next(completed) if lacks_separator(meta) else meta for _, meta in nodes]


def as_documented(meta: Node) -> Node:
    """Return the node as its document alone describes it."""
    return replace(meta, chunk_keys=_DOTS) if lacks_separator(meta) else meta


def warn_of_slashes(store: Any, path: str, meta: Node) -> None:
    """Warn that other readers may not find the chunks of an array whose separator was inferred."""
    if lacks_separator(meta) and meta.chunk_keys == _SLASHES:
        warn(
            f"/{path} in {store} has chunks with keys like {_SLASHES.key((0,) * len(meta.shape))}, and its document "
            f'does not say so, as it has no "{_MEMBER}" (zarr-python before 2.8 wrote none). It is read as it is, but '
            f'other readers find nothing in it: blizzarr.upgrade, or "{_MEMBER}": "/" in '
            f"{join(path, '.zarray')}, helps them"
        )


def shows_dots(store: Any, path: str, meta: ArrayMeta) -> bool:
    """Return whether an array without a separator in its document has dots, and its first chunk shows them."""
    return meta.chunk_keys == _DOTS and bool(present(store, [join(path, _DOTS.key((0,) * len(meta.shape)))]))


def _has_slashes(store: Any, prefix: str, meta: ArrayMeta) -> bool:
    first = (0,) * len(meta.shape)
    if 0 in meta.shape or present(store, [prefix + _DOTS.key(first)]):
        return False
    grid = meta.chunk_grid.shape(meta.shape)
    # Chunks may be missing: so the last one and one in the middle are looked up as well.
    cells = dict.fromkeys((first, tuple(count - 1 for count in grid), tuple(count // 2 for count in grid)))
    if present(store, [prefix + _DOTS.key(cell) for cell in cells if cell != first]):
        return False
    with_slashes = present(store, [prefix + _SLASHES.key(cell) for cell in cells])
    return bool(with_slashes) or _shows_slashes(store, prefix, len(grid))


def _shows_slashes(store: Any, prefix: str, rank: int) -> bool:
    """Return whether some names below a prefix include chunks with slashes and none with dots."""
    names = sample_names(store, prefix, _SAMPLE) or []
    if any(_DOTTED.fullmatch(name) for name, is_prefix in names if not is_prefix):
        return False
    return _leads_to_chunk(store, prefix, rank, names)


def _leads_to_chunk(store: Any, prefix: str, depth: int, names: list[tuple[str, bool]]) -> bool:
    """Return whether a path of `depth` indices, the first of them among `names`, leads from a prefix to a chunk."""
    inner = [name for name, is_prefix in names if is_prefix == (depth > 1) and _INDEX.fullmatch(name)]
    if depth == 1:
        return bool(inner)
    below = (f"{prefix}{name}/" for name in inner)
    return any(
        _leads_to_chunk(store, prefix_below, depth - 1, sample_names(store, prefix_below, _SAMPLE) or [])
        for prefix_below in below
    )


def sample_names(store: Any, prefix: str, most: int) -> list[tuple[str, bool]] | None:
    """Return up to `most` names below a prefix, in any order, each with whether it is a prefix itself.

    Return None for stores that may take long, because they are, or may be, on another machine.
    """
    store = unwrapped(store, StoreHandle)
    if isinstance(store, LocalStore):
        with failures("list", prefix, store):
            try:
                with scanned(store, prefix) as (_, found):
                    return [(entry.name, entry.is_directory) for entry in islice(found, most)]
            except (FileNotFoundError, NotADirectoryError):
                return []
    if isinstance(store, MemoryStore) or (isinstance(store, MappingStore) and type(store.mapping) is dict):
        return list(islice(_listed(store, prefix), most))
    from blizzarr.stores.zip import ZipStore

    if isinstance(store, ZipStore):
        return list(islice(_listed(store, prefix), most))
    return None


def _listed(store: MemoryStore | ZipStore | MappingStore, prefix: str) -> Iterator[tuple[str, bool]]:
    keys, prefixes = store.list_dir(prefix)
    yield from ((key[len(prefix) :], False) for key in keys)
    yield from ((inner[len(prefix) :].rstrip("/"), True) for inner in prefixes)
