"""Writing v1 documents like zarr-python 1: ASCII, sorted names, indented by four, every number on its own line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blizzarr.formats import document

__all__ = ["dump"]


def dump(content: Mapping[str, Any], key: str) -> bytes:
    """Encode a document.

    Raises
    ------
    MetadataError
        A value cannot be expressed in JSON.

    Examples
    --------
    >>> print(dump({"shape": [2], "fill_value": None, "order": "C"}, "meta").decode())
    {
        "fill_value": null,
        "order": "C",
        "shape": [
            2
        ]
    }
    """
    # The checks of values, and their errors, are the same for all formats.
    plain = json.loads(document.dump(content, key))
    return json.dumps(plain, indent=4, sort_keys=True).encode("ascii")
