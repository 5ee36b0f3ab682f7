"""Documents of Zarr v1 as zarr-python 1 wrote them: ASCII, sorted names, indented by four, every number on its line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blizzarr.formats import document

__all__ = ["dump"]


def dump(content: Mapping[str, Any], key: str) -> bytes:
    """The bytes of a document.

    Raises
    ------
    MetadataError
        When there is a value in it that JSON has not.

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
    # What can be written, and what a value that cannot is called, is the same for all formats.
    plain = json.loads(document.dump(content, key))
    return json.dumps(plain, indent=4, sort_keys=True).encode("ascii")
