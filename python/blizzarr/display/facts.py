"""The facts about an array or a group that notebooks, ``blizzarr info`` and its JSON show."""

from __future__ import annotations

import json
import math
from typing import Any

from blizzarr.display.sizes import Stored, grid_text, ratio_text, shape_text
from blizzarr.dtypes import Kind
from blizzarr.json_values import mapped
from blizzarr.model import ArrayMeta, ChunkGrid, GroupMeta
from blizzarr.size_text import bytes_text, count_text


def raw_bytes(meta: ArrayMeta) -> int | None:
    """Return the bytes that the elements take in memory; None for Python objects, whose size is unknown."""
    return None if meta.dtype.kind is Kind.OBJECT else math.prod(meta.shape) * meta.dtype.itemsize


def codec_text(document: Any) -> str:
    """Return a codec in a few words, from its JSON in a document.

    >>> codec_text({"name": "zstd", "configuration": {"level": 3, "checksum": False}})
    'zstd(level 3)'
    >>> codec_text({"name": "zstd", "configuration": {"level": 0, "checksum": False}})
    'zstd(level 0: the default)'
    >>> codec_text("crc32c")
    'crc32c'
    """
    if isinstance(document, str):
        return document
    if "name" not in document:
        # A codec of numcodecs that runs together with others, as in v2, has its options beside its id.
        given = {name: value for name, value in document.items() if name != "id"}
        return codec_text({"name": document["id"], "configuration": given})
    options = []
    for name, value in document.get("configuration", {}).items():
        if name == "codecs":
            options.append(" \N{RIGHTWARDS ARROW} ".join(map(codec_text, value)))
        elif name in ("index_codecs", "chunk_shape") or value is False or value is None:
            # The index concerns no user, and the shape has a row of its own.
            continue
        elif value is True:
            options.append(name)
        elif isinstance(value, str):
            options.append(value)
        elif document["name"] == "zstd" and name == "level" and value == 0:
            options.append("level 0: the default")
        else:
            options.append(f"{name} {json.dumps(value)}")
    return f"{document['name']}({', '.join(options)})" if options else str(document["name"])


def rows(meta: ArrayMeta, size_stored: Stored | None) -> list[tuple[str, str]]:
    """Return the facts about an array as pairs of text."""
    raw = raw_bytes(meta)
    grid = meta.chunk_grid.shape(meta.shape)
    chunks = math.prod(meta.read_grid.shape(meta.shape))
    listed = [("Shape", shape_text(meta.shape)), ("Data type", str(meta.dtype))]
    if meta.dimension_names is not None and any(meta.dimension_names):
        listed.append(("Dimensions", ", ".join("-" if name is None else name for name in meta.dimension_names)))
    listed.append(("Chunks", _parts(meta, meta.read_grid, chunks)))
    if meta.codecs.is_sharded:
        listed.append(("Shards", _parts(meta, meta.chunk_grid, math.prod(grid))))
    codecs = meta.codecs.to_json()
    listed.append(("Codecs", " \N{RIGHTWARDS ARROW} ".join(map(codec_text, codecs))))
    if meta.storage_transformers:
        stack = [codec_text(transformer.to_json()) for transformer in meta.storage_transformers]
        listed.append(("Transformers", " \N{RIGHTWARDS ARROW} ".join(stack)))
    if meta.order != "C":
        listed.append(("Order", meta.order))
    listed += [("Fill value", _fill_text(meta)), ("Format", format_text(meta.format))]
    if raw is not None:
        listed.append(("Raw size", bytes_text(raw)))
    if size_stored is not None:
        listed.append(("Stored size", _stored(meta, size_stored, math.prod(grid))))
    return listed


def objects_text(size: Stored) -> str:
    """Return the number and size of the stored objects as text, if the largest possible number is unknown."""
    more = "" if size.complete else "more than "
    return f"{more}{bytes_text(size.bytes)} in {more}{count_text(size.objects, 'object')}"


def _stored(meta: ArrayMeta, size: Stored, total: int) -> str:
    if not size.objects:
        return "nothing is stored, all elements are the fill value" if total else "nothing"
    if not size.complete:
        return objects_text(size)
    noun = "shard" if meta.codecs.is_sharded else "chunk"
    count = f"{size.objects:,} of {total:,} {noun}s" if total > 1 else f"1 {noun}"
    ratio = ratio_text(raw_bytes(meta), size)
    return f"{bytes_text(size.bytes)} in {count}" + (f", ratio {ratio}" if ratio else "")


def _parts(meta: ArrayMeta, grid: ChunkGrid, count: int) -> str:
    largest = bytes_text(math.prod(grid.inside(meta.shape)) * meta.dtype.itemsize)
    size = "" if raw_bytes(meta) is None else f" of {'' if grid.is_even else 'up to '}{largest}"
    return f"{grid_text(grid)} ({count:,}{size})"


def format_text(name: str) -> str:
    """Return the name of a format as people say it.

    >>> format_text("v2"), format_text("n5"), format_text("precomputed")
    ('Zarr v2', 'N5', 'precomputed')
    """
    if name == "n5":
        return "N5"
    return f"Zarr {name}" if name[:1] == "v" and name[1:2].isdigit() else name


def as_document(path: str, meta: ArrayMeta | GroupMeta, size: Stored | None) -> dict[str, Any]:
    """Return the facts about a node as JSON; programs may rely on these members."""
    common: dict[str, Any] = {
        "path": f"/{path}",
        "node_type": "array" if isinstance(meta, ArrayMeta) else "group",
        "format": meta.format,
    }
    if isinstance(meta, ArrayMeta):
        common |= {
            "shape": list(meta.shape),
            "data_type": meta.dtype.to_json(),
            "dimension_names": None if meta.dimension_names is None else list(meta.dimension_names),
            "chunks": meta.read_grid.spelling,
            "shards": meta.chunk_grid.spelling if meta.codecs.is_sharded else None,
            "codecs": meta.codecs.to_json(),
            "storage_transformers": [transformer.to_json() for transformer in meta.storage_transformers],
            "order": meta.order,
            "fill_value": _fill_value(meta),
            "raw_bytes": raw_bytes(meta),
        }
    else:
        common["consolidated"] = meta.consolidated is not None
    common["attributes"] = mapped(meta.attributes, _strict)
    common["stored"] = (
        None if size is None else {"objects": size.objects, "bytes": size.bytes, "complete": size.complete}
    )
    return common


def _fill_value(meta: ArrayMeta) -> Any:
    """Return the fill value as JSON; null where the documents leave it open."""
    return None if meta.fill_undefined else meta.dtype.fill_to_json(meta.fill_value)


def _fill_text(meta: ArrayMeta) -> str:
    """Return the fill value as people write it: JSON, whose numbers that are not finite are texts in quotes."""
    text = json.dumps(_fill_value(meta))
    return text.replace('"', "") if meta.dtype.kind in (Kind.FLOAT, Kind.COMPLEX) else text


def _strict(value: Any) -> Any:
    """Return the name of a number for which JSON has no token, as attributes may have it and other parsers refuse it.

    >>> _strict(1.5), _strict(float("nan")), _strict(-float("inf"))
    (1.5, 'NaN', '-Infinity')
    """
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
