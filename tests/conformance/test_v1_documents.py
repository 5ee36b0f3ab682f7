"""Zarr v1 documents as data: what conforming ones mean, and everything that is wrong with the others.

Each file below ``v1/good``, ``v1/bad`` and ``v1/none`` is a list of cases. A case is the documents of ``v1/base.json``:
`drop` and `set` change members of ``meta``, `attrs` replaces the other (null leaves it out), `texts` and `hex` have raw
ones. `ids` are lines of the requirements or rows of the fault catalogue. `fill` is the fill value as zarr-python 1.1.0
had it in memory, little-endian.
"""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError, LimitError, MetadataError, UnknownExtensionError
from blizzarr.formats import v1
from blizzarr.model import ArrayMeta

HERE = Path(__file__).parent / "v1"
BASE = json.loads((HERE / "base.json").read_text())


def cases(folder: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}: {case['name']}")
        for file in sorted((HERE / folder).glob("*.json"))
        for case in json.loads(file.read_text())
    ]


def documents(case: dict[str, Any], prefix: str = "") -> dict[str, bytes]:
    made = copy.deepcopy(BASE)
    for member in case.get("drop", ()):
        del made["meta"][member]
    made["meta"].update(case.get("set", {}))
    made["attrs"] = case.get("attrs", made["attrs"])
    raw = {name: json.dumps(document).encode() for name, document in made.items() if document is not None}
    raw.update({name: text.encode() for name, text in case.get("texts", {}).items()})
    raw.update({name: bytes.fromhex(text) for name, text in case.get("hex", {}).items()})
    return {prefix + name: value for name, value in raw.items()}


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def fill_bytes(meta: ArrayMeta) -> str:
    fill = np.frombuffer(meta.dtype.fill_bytes(meta.fill_value), meta.dtype.numpy)
    return fill.astype(meta.dtype.numpy.newbyteorder("<")).tobytes().hex()


LOOK = {
    "dtype": lambda meta: meta.dtype.name,
    "numpy": lambda meta: str(meta.dtype.numpy),
    "fill": fill_bytes,
    "codecs": lambda meta: [as_json(codec.to_json()) for codec in meta.codecs.all],
    "endian": lambda meta: meta.codecs.serializer.endian,
    "key": lambda meta: meta.chunk_keys.key((1, 2, 3)[: len(meta.shape)]),
    "resized": lambda meta: json.loads(v1.encode(meta.with_shape((3, *meta.shape[1:])), "")["meta"]),
}


@pytest.mark.parametrize("case", cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """Conforming documents are read as what they mean, and are stored again as they were, byte by byte."""
    raw = documents(case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meta = v1.decode("", raw)
    assert isinstance(meta, ArrayMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    assert v1.encode(meta, "") == {"attrs": b"{}", **raw}
    # From the model alone, as if it had come from nowhere.
    assert v1.decode("", v1.encode(replace(meta, source=None), "")) == meta


@pytest.mark.parametrize("case", cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """Documents that do not conform are refused, with all their problems at once and in their places."""
    error = {"MetadataError": MetadataError, "UnknownExtensionError": UnknownExtensionError, "LimitError": LimitError}
    with pytest.raises(BlizzarrError) as caught:
        v1.decode("a/b", documents(case, "a/b/"))
    key = f"a/b/{case.get('key', 'meta')}"
    assert type(caught.value) is error[case["error"]]
    assert caught.value.key == key
    assert key in str(caught.value)
    if isinstance(caught.value, MetadataError):
        assert [list(problem) for problem in caught.value.problems] == case["problems"]
    else:
        assert caught.value.reason == case["says"]


@pytest.mark.parametrize("case", cases("none"))
def test_none(case: dict[str, Any]) -> None:
    """Documents of anybody else that have the same key make no node."""
    assert v1.decode("a/b", documents(case, "a/b/")) is None


def test_the_corpus_is_large() -> None:
    """At least 100 conforming and 150 other documents, each with a name of its own."""
    for folder, least in (("good", 100), ("bad", 150), ("none", 15)):
        names = [case.id for case in cases(folder)]
        assert len(names) >= least
        assert len(set(names)) == len(names)
