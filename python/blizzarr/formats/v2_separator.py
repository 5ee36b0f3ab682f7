"""What stands between the indices in chunk keys of Zarr v2, where the document does not say: the chunks tell.

By the specification it is a dot when ``dimension_separator`` is missing. But zarr-python before 2.8 never stored that
member, whatever it did: its `NestedDirectoryStore`, and `FSStore` when it was told to, put slashes there, and arrays
were opened by the same class again. Whoever takes the specification at its word finds no chunk in them, and reads
nothing but the fill value. Most arrays with dots lack the member too, those of zarr-python 2.18 and GDAL among them, so
looking must be cheap: the first chunk of an array is looked up, and more only where there is none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeGuard

from blizzarr.formats.v2_names import ARRAY
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import join
from blizzarr.stores.glimpse import glimpse
from blizzarr.stores.threads import Threads

__all__ = ["as_documented", "is_unsaid", "settled", "settled_many", "warn_of_slashes"]

Node: TypeAlias = ArrayMeta | GroupMeta

_MEMBER: Final = "dimension_separator"
_DOTS: Final = ChunkKeys.v2(".")
_SLASHES: Final = ChunkKeys.v2("/")
_GLIMPSE: Final = 64
"""So many names of a directory are looked at: its documents, and among the others any chunk will do."""
_AT_ONCE: Final = 16
_INDEX: Final = re.compile(INDEX)
_DOTTED: Final = re.compile(rf"{INDEX}(?:\.{INDEX})+")


def is_unsaid(meta: Node) -> TypeGuard[ArrayMeta]:
    """Whether it makes a difference what is between indices, and the document leaves it open."""
    return (
        type(meta) is ArrayMeta
        and meta.format == "v2"
        and len(meta.shape) > 1
        and meta.source is not None
        # zarr-java writes null, which says as little.
        and meta.source.get(_MEMBER) is None
    )


def settled(store: Any, path: str, meta: ArrayMeta) -> ArrayMeta:
    """The array, with the separator that its chunks have where its document says nothing of it.

    An array without any chunk that shows otherwise has dots, as the specification says. So has one with chunks of both
    kinds: that is how every reader has it that knows only the document.
    """
    slashes = is_unsaid(meta) and _has_slashes(store, join(path, ""), meta)
    return replace(meta, chunk_keys=_SLASHES) if slashes else meta


def settled_many(store: Any, arrays: Sequence[tuple[str, ArrayMeta]]) -> list[ArrayMeta]:
    """The same for many arrays, each with its path; several at a time where each may take a request."""
    if len(arrays) > 1 and not _is_near(store):
        with Threads(_AT_ONCE) as pool:
            return list(pool.map(lambda array: settled(store, *array), arrays))
    return [settled(store, path, meta) for path, meta in arrays]


def as_documented(meta: Node) -> Node:
    """The node as its document alone has it."""
    return replace(meta, chunk_keys=_DOTS) if is_unsaid(meta) else meta


def warn_of_slashes(store: Any, path: str, meta: Node, stacklevel: int) -> None:
    """Say of an array whose chunks had to be asked that other readers may not ask them."""
    if is_unsaid(meta) and meta.chunk_keys == _SLASHES:
        warnings.warn(
            f"/{path} in {store} has chunks with keys like {_SLASHES.key((0,) * len(meta.shape))}, and its document "
            f'does not say so, as it has no "{_MEMBER}" (zarr-python before 2.8 wrote none). It is read as it is, but '
            f'other readers find nothing in it: blizzarr.upgrade, or "{_MEMBER}": "/" in {join(path, ARRAY)}, '
            "helps them",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def _has_slashes(store: Any, prefix: str, meta: ArrayMeta) -> bool:
    first = (0,) * len(meta.shape)
    if 0 in meta.shape or _present(store, [prefix + _DOTS.key(first)]):
        return False
    grid = meta.chunk_grid.shape(meta.shape)
    # There may be holes: so also what is at the end and in the middle.
    cells = dict.fromkeys((first, tuple(count - 1 for count in grid), tuple(count // 2 for count in grid)))
    if _present(store, [prefix + _DOTS.key(cell) for cell in cells if cell != first]):
        return False
    return _present(store, [prefix + _SLASHES.key(cell) for cell in cells]) or _shows_slashes(store, prefix, len(grid))


def _present(store: Any, keys: list[str]) -> bool:
    """Whether there is a value under any of these keys."""
    if _is_near(store):
        return bool(store.present(keys))
    return any(store.get_ranges(key, [(0, 1)]) is not None for key in keys)


def _is_near(store: Any) -> bool:
    """Whether the store is on this machine, and so quick to ask."""
    return getattr(store, "native", None) is not None


def _shows_slashes(store: Any, prefix: str, rank: int) -> bool:
    """Whether there are chunks with slashes below a prefix, and none with dots, as far as a glimpse shows."""
    names = glimpse(store, prefix, _GLIMPSE) or []
    if any(_DOTTED.fullmatch(name) for name, is_prefix in names if not is_prefix):
        return False
    return _leads_to_chunk(store, prefix, rank, names)


def _leads_to_chunk(store: Any, prefix: str, depth: int, names: list[tuple[str, bool]]) -> bool:
    """Whether so many indices, the first of them among these names, lead from a prefix to a chunk."""
    inner = [name for name, is_prefix in names if is_prefix == (depth > 1) and _INDEX.fullmatch(name)]
    if depth == 1:
        return bool(inner)
    below = (f"{prefix}{name}/" for name in inner)
    return any(_leads_to_chunk(store, place, depth - 1, glimpse(store, place, _GLIMPSE) or []) for place in below)
