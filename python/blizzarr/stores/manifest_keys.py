"""The keys of VirtualiZarr's manifests, which it does not list where they have slashes, as they have by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def manifest_keys(group: Any, prefix: str = "") -> Iterator[str]:
    """Yield the keys of all documents and chunks in a `ManifestGroup`, which is at this prefix.

    >>> from types import SimpleNamespace
    >>> [*manifest_keys(SimpleNamespace(arrays={}, groups={"a": SimpleNamespace(arrays={}, groups={})}))]
    ['zarr.json', 'a/zarr.json']
    """
    yield f"{prefix}zarr.json"
    for name, array in group.arrays.items():
        yield f"{prefix}{name}/zarr.json"
        encoded = array.metadata.chunk_key_encoding.encode_chunk_key
        for numbers in array.manifest.keys():  # noqa: SIM118  # it is no mapping of its own
            position = tuple(map(int, numbers.split("."))) if array.shape else ()
            yield f"{prefix}{name}/{encoded(position)}"
    for name, below in group.groups.items():
        yield from manifest_keys(below, f"{prefix}{name}/")
