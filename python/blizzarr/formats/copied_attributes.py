"""Copying the attributes of remembered nodes: users may change the attributes that they get."""

from __future__ import annotations

import marshal
from typing import Any, Final

_PLAIN: Final = (str, int, float, bool, type(None))


def pack(attributes: dict[str, Any]) -> bytes | None:
    """Pack attributes for copying; `None` if a shallow copy suffices, as they hold neither lists nor objects.

    >>> pack({"a": 1}), unpack(pack({"a": [1]}))
    (None, {'a': [1]})
    """
    flat = all(type(value) in _PLAIN for value in attributes.values())
    return None if flat else marshal.dumps(attributes)


unpack: Final = marshal.loads
