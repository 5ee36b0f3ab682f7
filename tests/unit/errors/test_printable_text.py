"""No text of ours obeys whoever wrote the data: escape sequences, line breaks and marks of direction are escaped."""

from __future__ import annotations

import json
import re
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import errors
from blizzarr.errors import BlizzarrError, MetadataError, Problem
from blizzarr.problems import Notice, warn_of
from blizzarr.stores import MappingStore

EVIL = "a\x1b[2J\x1b]8;;http://x\x07\x9b31m\u202e\u2028\r\nforged: all is well\x00\ud800"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800]")
"""Of control characters, only line breaks may be there, and those are ours."""


def check(text: str) -> None:
    assert not RAW.search(text), ascii(text)
    assert not any(line.lstrip().startswith("forged") for line in text.splitlines()), ascii(text)


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name != "Problem"])
def test_errors(name: str) -> None:
    """Whichever of its fields says it."""
    kind = getattr(errors, name)
    texts = [field for field in ("store", "array", "key", "codec", "direction") if field in kind.fields]
    problems = [Problem(EVIL, EVIL, EVIL)] * 2
    more: dict[str, Any] = {"problems": problems} if issubclass(kind, MetadataError) else {}
    for error in (kind(EVIL, **dict.fromkeys(texts, EVIL)), kind(EVIL, key=EVIL, store=EVIL, **more)):
        error.add_note(EVIL.replace("\n", ""))
        for text in (str(error), repr(error), error.line, "".join(traceback.format_exception(error))):
            check(text)
        # The fields are for programs.
        assert error.reason == EVIL


def hostile(zarr_format: int) -> MappingStore:
    """A member that cannot be read, one that can, and keys that belong to nothing, all with such names."""
    # What names of members cannot hold is in attributes, dimension names and codecs.
    name = EVIL.translate({0: None, ord("/"): "|", 0xD800: None})
    store = MappingStore({})
    group = blizzarr.create_group(store, zarr_format=zarr_format, attributes={"x": name, name: 1})
    array = group.create_array(name, data=np.arange(3), dimension_names=[name], attributes={name: name})
    key = f"broken {name}/" + ("zarr.json" if zarr_format == 3 else ".zarray")
    document = json.loads(bytes(store.get(f"{array.path}/" + key.rpartition("/")[2])))
    member, value = ("codecs", [{"name": name}]) if zarr_format == 3 else ("compressor", {"id": name})
    store.set(key, json.dumps({**document, member: value, name: EVIL}).encode())
    store.set(f"{array.path}/c/{name}", b"x")
    store.set(f"{array.path}/{'c/0' if zarr_format == 3 else '0'}", b"damaged")
    store.set(name, b"x")
    return store


def said(store: MappingStore) -> Iterator[str]:
    group = blizzarr.open_group(store, mode="r+")
    members = dict(group.members())
    for node in (group, *members.values()):
        yield from (repr(node), str(node), str(node.info), repr(node.info), repr(node.attrs))
    yield from (str(group.tree()), repr(group.tree()))
    report = blizzarr.check(store)
    yield from (str(report), report.summary(), *map(str, report.findings), *map(str, report.repairs))
    yield str(blizzarr.check(store, repair=True, quarantine={}))
    yield str(blizzarr.diff(store, MappingStore(dict(hostile(3).mapping))))
    yield str(blizzarr.upgrade(store, to="v3", dry_run=True))
    yield from map(str, group.unreadable().values())
    for path in ("absent", *group, "\x1b[2J", "a\nforged"):
        try:
            group[path][...]
        except BlizzarrError as error:
            yield from (str(error), "".join(traceback.format_exception_only(error)))
    for node in (group, *members.values()):
        # Line breaks are white space there.
        yield node._repr_html_().replace("\n", " ")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_hierarchies(zarr_format: int) -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        texts = list(said(hostile(zarr_format)))
    assert len(texts) > 20
    assert issued
    for text in (*texts, *(str(warning.message) for warning in issued)):
        check(text)
    assert sum("\\x1b[2J" in text for text in texts) > 10


def test_notices() -> None:
    """They are warnings about the line that called what found them."""

    def finding() -> None:
        warn_of([Notice("fallback", EVIL)])

    with pytest.warns(UserWarning, match=r"a\\x1b") as issued:
        finding()
    (warning,) = issued
    check(str(warning.message))
    assert warning.filename == __file__
