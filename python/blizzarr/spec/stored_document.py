"""The documents of arrays in specs: as an array would be stored, and parsed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blizzarr import formats
from blizzarr.errors import MetadataError, SpecError
from blizzarr.model import ArrayMeta
from blizzarr.problems import Notice, warn_of


def encoded(meta: ArrayMeta) -> dict[str, Any]:
    """The document that an array would be stored as.

    Examples
    --------
    >>> encoded(array_of("v2", {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|i1", "compressor": None,
    ...     "fill_value": 0, "order": "C", "filters": None}))["shape"]
    [4]
    """
    document: dict[str, Any] = json.loads(formats.encode(meta, "")[formats.lock_key("", meta)])
    return document


def array_of(format_name: str, document: Mapping[str, Any]) -> ArrayMeta:
    """The array that a document of this format means.

    Raises
    ------
    SpecError
        With everything that is wrong with the document.
    """
    form = formats.format_named(format_name)
    raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    notices: list[Notice] = []
    try:
        meta = form.decode("", {form.node_keys("")[0]: raw}, notices)
    except MetadataError as error:
        raise SpecError("; ".join(map(str, error.problems))) from error
    warn_of(notices)
    assert isinstance(meta, ArrayMeta)
    return meta
