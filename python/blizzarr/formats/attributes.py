"""Attributes in a document of their own, as v1 and v2 have them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from blizzarr.errors import Problem
from blizzarr.formats.document import MAX_DEPTH, dump, is_deeper, load
from blizzarr.problems import Problems

__all__ = ["check_depth", "dump_attributes", "load_attributes"]


def load_attributes(raw: bytes, problems: Problems) -> dict[str, Any]:
    """The attributes in a document; none when a problem was added.

    Examples
    --------
    >>> load_attributes(b'{"title": "brain"}', Problems())
    {'title': 'brain'}
    """
    attributes = load(raw, problems, attributes=True, marked=True)
    if attributes is None:
        return {}
    check_depth(attributes, "", problems)
    return attributes


def check_depth(attributes: Mapping[str, Any], path: str, problems: Problems) -> None:
    """Adds a problem where attributes are nested too deeply."""
    if is_deeper(attributes, MAX_DEPTH):
        problems.items.append(Problem(path, f"values at most {MAX_DEPTH} levels deep", "deeper ones"))


def dump_attributes(
    attributes: Mapping[str, Any],
    key: str,
    stored: bytes | None,
    dump: Callable[[Mapping[str, Any], str], bytes] = dump,
) -> bytes:
    """The bytes of a document with these attributes: those that are stored, where they say the same.

    `dump` is how this format writes documents.

    Examples
    --------
    >>> dump_attributes({"a": 1}, ".zattrs", b'{"a":1}'), dump_attributes({"a": 1.0}, ".zattrs", b'{"a":1}')
    (b'{"a":1}', b'{\\n  "a": 1.0\\n}')
    """
    made = dump(attributes, key)
    # Compared as text, which unlike equality tells `true` from 1 and 1 from 1.0, and takes NaN for the same as NaN.
    return stored if stored is not None and dump(json.loads(stored), key) == made else made
