"""Zarr v3 documents as data: what conforming ones mean, and everything that is wrong with the others.

Each file below ``v3/good`` and ``v3/bad`` is a list of cases. A case is a document of ``v3/base.json`` with some
members dropped or set, or a raw text; `ids` are lines of the requirements or rows of the fault catalogue.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from blizzarr.dtypes.byte_order import in_order
from blizzarr.errors import BlizzarrError, LimitError, MetadataError, UnknownExtensionError
from blizzarr.formats import v3
from blizzarr.model import ArrayMeta, GroupMeta

HERE = Path(__file__).parent / "v3"
BASE = json.loads((HERE / "base.json").read_text())


def cases(folder: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}: {case['name']}")
        for file in sorted((HERE / folder).glob("*.json"))
        for case in json.loads(file.read_text())
    ]


def document(case: dict[str, Any]) -> bytes:
    if "text" in case:
        return case["text"].encode()
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    made = copy.deepcopy(BASE[case.get("base", "array")])
    for member in case.get("drop", ()):
        del made[member]
    made.update(case.get("set", {}))
    return json.dumps(made).encode()


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


LOOK = {
    "kind": lambda meta: type(meta).__name__,
    "dtype": lambda meta: meta.dtype.name,
    "fill": lambda meta: in_order(meta.dtype.fill_bytes(meta.fill_value), meta.dtype.swap, "little").hex(),
    "steps": lambda meta: as_json(meta.codecs.steps(meta.dtype, meta.write_shape)),
    "said_type": lambda meta: LOOK["written"](meta)["data_type"],
    "said_fill": lambda meta: meta.dtype.fill_to_json(meta.fill_value),
    "key": lambda meta: meta.chunk_keys.key((1, 2) if meta.shape else ()),
    "members": lambda meta: None if meta.consolidated is None else list(meta.consolidated),
    "written": lambda meta: json.loads(v3.encode(meta, "")["zarr.json"]),
}


@pytest.mark.parametrize("case", cases("good"))
def test_good(case: dict[str, Any]) -> None:
    """A conforming document is read as what it means, and survives being written again."""
    meta = v3.decode("", {"zarr.json": document(case)})
    assert isinstance(meta, ArrayMeta | GroupMeta)
    for name, expected in case["expect"].items():
        found = LOOK[name](meta) if name in LOOK else as_json(getattr(meta, name))
        assert found == expected, name
    again = v3.decode("", v3.encode(meta, ""))
    if isinstance(meta, ArrayMeta):
        assert again == meta


@pytest.mark.parametrize("case", cases("bad"))
def test_bad(case: dict[str, Any]) -> None:
    """A document that does not conform is refused, with all its problems at once and in their places."""
    error = {"MetadataError": MetadataError, "UnknownExtensionError": UnknownExtensionError, "LimitError": LimitError}
    with pytest.raises(BlizzarrError) as caught:
        v3.decode("a/b", {"a/b/zarr.json": document(case)})
    assert type(caught.value) is error[case["error"]]
    assert caught.value.key == "a/b/zarr.json"
    assert "a/b/zarr.json" in str(caught.value)
    if isinstance(caught.value, MetadataError):
        assert [list(problem) for problem in caught.value.problems] == case["problems"]
    else:
        assert caught.value.reason == case["says"]


def test_the_corpus_is_large() -> None:
    """At least 60 conforming and 150 other documents, each with a name of its own."""
    for folder, least in (("good", 60), ("bad", 150)):
        names = [case.id for case in cases(folder)]
        assert len(names) >= least
        assert len(set(names)) == len(names)
