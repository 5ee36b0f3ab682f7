"""Attributes in a separate document, as in v1 and v2, and attributes packed to be copied."""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from blizzarr.formats.dimension_names import names_in
from blizzarr.formats.document import Stored, check_depth, dump, load
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.problems import Notice, Problems

N = TypeVar("N", bound=ArrayMeta | GroupMeta)


def load_attributes(raw: bytes, problems: Problems) -> dict[str, Any]:
    """Return the attributes in a document; an empty dictionary if a problem was added."""
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


def with_own_document(
    meta: N | None, document: dict[str, Any] | None, raws: Mapping[str, bytes], prefix: str, problems: Problems
) -> N:
    """Return a node with the attributes in a document of their own, and with the dimension names among them.

    Raise `MetadataError` if one of the two documents does not conform; the error has the problems of both.

    - `meta`, `document`: the node and the parsed document without attributes; None if a problem was added.
    - `raws`: the bytes of that document, and then those of the attributes, if there are any, by the last part of their
      keys, which begin with `prefix`.
    """
    name, *beside = raws
    others = Problems(problems.notices)
    attributes = load_attributes(raws[beside[0]], others) if beside else {}
    if problems.items or problems.limits:
        problems.adopt(others, "".join(beside))
        whole = None if document is None else {**document, "attributes": attributes}
        problems.raise_any(key=prefix + name, document=whole)
    others.raise_any(key=prefix + "".join(beside))
    assert meta is not None
    assert document is not None
    return complete(meta, attributes, Stored(document, raws))


def complete(meta: N, attributes: dict[str, Any], source: Mapping[str, Any] | None) -> N:
    """Return the node with its attributes, and with the dimension names that are among them."""
    if isinstance(meta, ArrayMeta):
        names = names_in(attributes, len(meta.shape))
        meta = replace(meta, dimension_names=names)
    return replace(meta, attributes=attributes, source=source)


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
    """
    return None if _PLAIN.issuperset(map(type, attributes.values())) else marshal.dumps(attributes)


unpack: Final = marshal.loads
