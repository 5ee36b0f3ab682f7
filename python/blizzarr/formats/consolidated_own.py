"""Comparing the documents of a group with the copies of them in its own consolidated metadata.

Only v2 has such copies; some readers use them in place of the documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from blizzarr.formats.v2_names import ARRAY, ATTRIBUTES, CONSOLIDATED, GROUP


def own_copies_differ(documents: Mapping[str, bytes]) -> bool:
    """Return whether the consolidated metadata among these documents of a group differ from the other documents.

    >>> own_copies_differ({".zgroup": b'{"zarr_format": 2}', ".zattrs": b'{"a": 1}', ".zmetadata":
    ...                    b'{"metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"a": 2}}}'})
    True
    """
    last = {key.rpartition("/")[2]: value for key, value in documents.items()}
    if CONSOLIDATED not in last:
        return False
    try:
        copies = json.loads(last[CONSOLIDATED])["metadata"]
        own = {name: json.loads(last[name]) for name in (GROUP, ATTRIBUTES) if name in last}
    except (ValueError, RecursionError, LookupError, TypeError):
        # Damage is reported where the document is decoded.
        return False
    if not isinstance(copies, dict) or ARRAY in last:
        return False
    there = {name: copies[name] for name in (GROUP, ATTRIBUTES) if name in copies}
    # Missing attributes mean the same as empty ones.
    return {ATTRIBUTES: {}, **there} != {ATTRIBUTES: {}, **own}
