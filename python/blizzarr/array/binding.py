"""From what an array is to what the engine needs: one handle, made when an array is first read or written."""

from __future__ import annotations

from blizzarr import _native
from blizzarr.formats import chunk_prefix, document_keys
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.transfer import Binding

__all__ = ["bind", "same_chunks"]


def bind(store: Store, path: str, metadata: ArrayMeta) -> Binding:
    """The array as the engine knows it."""
    chain = _native.Chain(
        metadata.write_shape,
        metadata.dtype.itemsize,
        metadata.fill_value.tobytes(),
        metadata.dtype.boolean,
        metadata.codecs.steps(metadata.dtype, metadata.write_shape),
    )
    keys = metadata.chunk_keys
    handle = _native.ArrayHandle(
        getattr(store, "native", store),
        "/" + path,
        chunk_prefix(path, metadata),
        document_keys(path)[0],
        metadata.shape,
        chain,
        keys.head,
        keys.separator,
        keys.scalar,
    )
    return Binding(handle, metadata.dtype.numpy)


def same_chunks(one: ArrayMeta, other: ArrayMeta) -> bool:
    """Whether the same stored bytes mean the same elements in both, so that only the shape need be changed."""
    return (
        one.chunk_grid == other.chunk_grid
        and one.chunk_keys == other.chunk_keys
        and one.dtype == other.dtype
        and one.codecs == other.codecs
        and one.fill_value.tobytes() == other.fill_value.tobytes()
        and one.format == other.format
    )
