"""Hierarchies with members that are right around one that may not be: a document of the corpora, with parts changed."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any, NamedTuple

import blizzarr
from blizzarr.formats import FORMATS
from fuzz.damage import ODD, WORDS
from support.corpus import Corpus, changed
from support.mutated import mutated

__all__ = ["BAD", "GOOD", "NAMES", "Planted", "documents", "placed", "planted"]

BAD = "bad"
GOOD = ("good", "sub", "sub/better", "z")
NAMES = ("v3", "v2", "v3_draft", "v3_draft_zarr_python")
"""The formats that have groups."""


class Planted(NamedTuple):
    """A hierarchy with a member named `BAD`, and those in `GOOD`."""

    zarr_format: str
    content: dict[str, bytes]


@cache
def documents(zarr_format: str) -> list[dict[str, Any]]:
    """The conforming documents of nodes of a format, by the last part of their keys, or by their kind."""
    corpus = Corpus("draft" if zarr_format.startswith("v3_draft") else zarr_format)
    found = []
    for file in sorted((corpus.folder / "good").glob("*.json")):
        for case in json.loads(file.read_text()):
            base = case.get("base", "array")
            if case.keys() & {"text", "hex", "texts"}:
                continue
            if zarr_format == "v2":
                named = dict(corpus.base[base])
                first = next(iter(named))
                found.append({**named, first: changed(named[first], case), **case.get("documents", {})})
            elif zarr_format == "v3":
                found.append({"zarr.json": changed(corpus.base[base], case)})
            elif base.startswith("zarr_python") == (zarr_format == "v3_draft_zarr_python"):
                kind = base.rpartition(" ")[2]
                if kind in ("array", "group"):
                    found.append({kind: changed(corpus.base[base], case)})
    return found


def placed(zarr_format: str, node: dict[str, Any], path: str) -> dict[str, bytes]:
    """The documents of a node by their keys."""
    raw = {name: json.dumps(document).encode() for name, document in node.items()}
    if zarr_format.startswith("v3_draft"):
        keys = FORMATS[zarr_format].node_keys(path)
        return {keys[name == "group"]: value for name, value in raw.items()}
    return {f"{path}/{name}" if path else name: value for name, value in raw.items()}


@cache
def _around(zarr_format: str) -> dict[str, bytes]:
    store: dict[str, Any] = {}
    group = blizzarr.create_group(store, zarr_format=zarr_format)
    for name in GOOD:
        if name == "sub":
            group.create_group(name)
        else:
            group.create_array(name, data=[1, 2, 3])
    return {key: bytes(value) for key, value in store.items()}


def planted(seed: int) -> Planted:
    """A hierarchy made of a number, always the same one."""
    rng = random.Random(seed)
    zarr_format = rng.choice(NAMES)
    others = documents(zarr_format)
    node = mutated(rng.choice(others), others, [*ODD, *WORDS], rng, depth=2)
    content = dict(_around(zarr_format))
    content.update(placed(zarr_format, node, BAD))
    if zarr_format in ("v2", "v3") and rng.random() < 0.3:
        _consolidate(zarr_format, content)
    return Planted(zarr_format, content)


def _consolidate(zarr_format: str, content: dict[str, bytes]) -> None:
    """Add consolidated metadata as other writers would, who do not look at what they copy."""
    if zarr_format == "v2":
        names = [key for key in content if key.rpartition("/")[2] in (".zarray", ".zgroup", ".zattrs")]
        copies = {key: json.loads(content[key]) for key in names}
        content[".zmetadata"] = json.dumps({"zarr_consolidated_format": 1, "metadata": copies}).encode()
        return
    names = [key for key in content if key.endswith("/zarr.json")]
    copies = {key.removesuffix("/zarr.json"): json.loads(content[key]) for key in names}
    inline = {"kind": "inline", "must_understand": False, "metadata": copies}
    content["zarr.json"] = json.dumps({**json.loads(content["zarr.json"]), "consolidated_metadata": inline}).encode()
