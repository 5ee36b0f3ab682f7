"""Whether consolidated metadata say of the group itself what its own documents say.

Only v2 keeps copies of those, too, which other readers open instead of the documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from blizzarr.formats.v2_names import ARRAY, ATTRIBUTES, CONSOLIDATED, GROUP

__all__ = ["own_copies_differ"]


def own_copies_differ(documents: Mapping[str, bytes]) -> bool:
    """Whether among these documents of a group, by key, are copies of others that are not what those are.

    Examples
    --------
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
        # Damage is found where the document is read.
        return False
    if not isinstance(copies, dict) or ARRAY in last:
        return False
    there = {name: copies[name] for name in (GROUP, ATTRIBUTES) if name in copies}
    # No attributes are as good as empty ones.
    return {ATTRIBUTES: {}, **there} != {ATTRIBUTES: {}, **own}
