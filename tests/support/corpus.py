"""Documents as data: the cases below a folder of `conformance`, their documents, and what is asked of all.

`drop` and `set` of a case change members of a document of ``base.json``; `text` and `hex` stand in its place.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError, LimitError, MetadataError, UnknownExtensionError
from blizzarr.model import ArrayMeta

__all__ = ["Corpus", "as_json", "changed", "check_refused", "fill_bytes", "in_bytes", "raw_documents"]

ERRORS = {error.__name__: error for error in (MetadataError, UnknownExtensionError, LimitError)}


class Corpus:
    """The cases of one format."""

    def __init__(self, name: str) -> None:
        self.folder = Path(__file__).parents[1] / "conformance" / name
        self.base: dict[str, Any] = json.loads((self.folder / "base.json").read_text())

    def cases(self, kind: str) -> list[Any]:
        """The cases of a kind as parameters, with the names of their files and their own."""
        return [
            pytest.param(case, id=f"{file.stem}: {case['name']}")
            for file in sorted((self.folder / kind).glob("*.json"))
            for case in json.loads(file.read_text())
        ]

    def all(self) -> list[dict[str, Any]]:
        """The cases of all kinds."""
        files = sorted(self.folder.glob("*/*.json"))
        return [case for file in files for case in json.loads(file.read_text())]

    def document(self, case: Mapping[str, Any]) -> bytes:
        """The document of a case, where nodes have one."""
        if "hex" in case:
            return bytes.fromhex(case["hex"])
        return in_bytes(case["text"] if "text" in case else changed(self.base[case.get("base", "array")], case))

    def check_size(self, **least: int) -> None:
        """At least so many cases of each kind, each with a name of its own."""
        for kind, count in least.items():
            names = [case.id for case in self.cases(kind)]
            assert len(names) >= count
            assert len(set(names)) == len(names)


def changed(document: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a document without the members that a case drops, and with those that it sets."""
    made = copy.deepcopy(dict(document))
    for member in case.get("drop", ()):
        del made[member]
    return {**made, **case.get("set", {})}


def raw_documents(documents: Mapping[str, Any], case: Mapping[str, Any], prefix: str) -> dict[str, bytes]:
    """The documents of a node that has several, by key; `texts` and `hex` of a case stand in the place of some."""
    raw = {name: in_bytes(document) for name, document in {**documents, **case.get("texts", {})}.items()}
    raw.update({name: bytes.fromhex(text) for name, text in case.get("hex", {}).items()})
    return {prefix + name: value for name, value in raw.items()}


def in_bytes(document: Any) -> bytes:
    """A text, or a value as JSON."""
    return (document if isinstance(document, str) else json.dumps(document)).encode()


def as_json(value: Any) -> Any:
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value))


def fill_bytes(meta: ArrayMeta) -> str:
    """The fill value, little-endian, in hexadecimal digits."""
    fill = np.frombuffer(meta.dtype.fill_bytes(meta.fill_value), meta.dtype.numpy)
    return fill.astype(meta.dtype.numpy.newbyteorder("<")).tobytes().hex()


def check_refused(error: BlizzarrError, case: Mapping[str, Any], key: str) -> None:
    """The error is of the class that the case says, and names the document and all of its problems.

    `newer` of a case has the problems as Python 3.13 and later find them, whose parser has other words and limits.
    """
    assert type(error) is ERRORS[case["error"]]
    assert error.key == key
    assert key in str(error)
    if isinstance(error, MetadataError):
        problems = case["newer"] if "newer" in case and sys.version_info >= (3, 13) else case["problems"]
        assert [list(problem) for problem in error.problems] == problems
    else:
        assert error.reason == case["says"]
