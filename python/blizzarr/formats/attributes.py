"""Attributes in a separate document, as in v1 and v2."""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Mapping
from typing import Any, Final

from blizzarr.formats.document import check_depth, dump, load
from blizzarr.problems import Notice, Problems


def load_attributes(raw: bytes, problems: Problems) -> dict[str, Any]:
    """Return the attributes in a document; an empty dictionary if a problem was added.

    >>> load_attributes(b'{"title": "brain"}', Problems())
    {'title': 'brain'}
    """
    if not raw.strip():
        problems.notices.append(
            Notice("empty-document", "the document of attributes is empty; there are no attributes")
        )
        return {}
    attributes = load(raw, problems, attributes=True, marked=True)
    if attributes is None:
        return {}
    check_depth(attributes, "", problems)
    return attributes


def dump_attributes(
    attributes: Mapping[str, Any],
    key: str,
    stored: bytes | None,
    dump: Callable[[Mapping[str, Any], str], bytes] = dump,
) -> bytes:
    """Return the bytes of a document with these attributes: the stored bytes, if they mean the same.

    `dump` is the function by which the format writes documents.

    >>> dump_attributes({"a": 1}, ".zattrs", b'{"a":1}'), dump_attributes({"a": 1.0}, ".zattrs", b'{"a":1}')
    (b'{"a":1}', b'{\\n  "a": 1.0\\n}')
    """
    made = dump(attributes, key)
    # Compared as text: unlike equality, this distinguishes `true`, 1 and 1.0, and NaN equals NaN.
    return stored if stored is not None and dump(json.loads(stored.strip() or b"{}"), key) == made else made


_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


def pack(attributes: dict[str, Any]) -> bytes | None:
    """Pack the attributes of a node that is remembered, as users may change those that they get.

    `None` if a shallow copy suffices, as they hold neither lists nor objects.

    >>> pack({"a": 1}), unpack(pack({"a": [1]}))
    (None, {'a': [1]})
    """
    return None if _PLAIN.issuperset(map(type, attributes.values())) else marshal.dumps(attributes)


unpack: Final = marshal.loads
