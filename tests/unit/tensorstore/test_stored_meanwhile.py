"""What others do to an array that is open, and chunks that nobody has written: noticed, in TensorStore's words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore

import blizzarr.tensorstore

BOTH: tuple[Any, Any] = (tensorstore, blizzarr.tensorstore)
DOCUMENT = {"zarr3": "zarr.json", "zarr": ".zarray"}
Step = Callable[[Any], Any]


def spec(driver: str, place: str, tmp_path: Path, module: Any) -> dict[str, Any]:
    """A spec of an array that only this module uses."""
    if place == "memory":
        return {"driver": driver, "kvstore": "memory://a/"}
    # Paths have one length, and no error tells the modules apart.
    return {"driver": driver, "kvstore": f"file://{tmp_path}/{'ours' if module is BOTH[1] else 'them'}/"}


def outcome(store: Any, step: Step) -> Any:
    """What a step gives: values, or the text of the error."""
    try:
        found = step(store)
        return found.tolist() if isinstance(found, np.ndarray) else None
    except ValueError as error:
        text = re.sub(r" \[[a-z_]+=.*", "", str(error), flags=re.S)
        text = text.replace("Updated zarr metadata", "Updated metadata")
        # Of Zarr v2, TensorStore shows the shape that the array was created with, whatever it became.
        return re.sub(r"/(ours|them)/", "/a/", re.sub(r'"shape":\[[0-9,]+\],', "", text))


def compared(
    driver: str, place: str, tmp_path: Path, steps: dict[str, Step], options: dict[str, Any], **changes: Any
) -> list[Any]:
    """What all steps give; with both modules the same."""
    found = []
    for module in BOTH:
        store = module.open(
            {**spec(driver, place, tmp_path, module), **options},
            create=True,
            dtype=module.int8,
            shape=[10, 3],
            chunk_layout=module.ChunkLayout(chunk_shape=[4, 2]),
            context=module.Context(),
            **changes,
        ).result()
        found.append({name: outcome(store, step) for name, step in steps.items()})
    assert found[0] == found[1]
    return list(found[1].values())


def replace_document(driver: str, **members: Any) -> Step:
    """Store another document, as somebody else would."""

    def step(store: Any) -> None:
        document = json.loads(store.kvstore[DOCUMENT[driver]])
        store.kvstore[DOCUMENT[driver]] = json.dumps({**document, **members}).encode()

    return step


def remove(name: str) -> Step:
    """Erase a key, as somebody else would."""

    def step(store: Any) -> None:
        del store.kvstore[name]

    return step


def put(value: int, *rows: int) -> Step:
    """Write rows."""
    return lambda store: store[slice(*rows)].write(value).result()


@pytest.mark.parametrize("place", ["memory", "file"])
@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
def test_chunks_that_must_be_stored(tmp_path: Path, driver: str, place: str) -> None:
    """K-9: with ``fill_missing_data_reads: false`` a chunk that is not stored is an error that names it."""
    steps: dict[str, Step] = {
        "none": lambda store: store[:4, :2].read().result(),
        "write a part": put(1, 0, 4),
        "it": lambda store: store[:4].read().result(),
        "one more": lambda store: store[:5, 2].read().result(),
        "another": lambda store: store[9, 2].read().result(),
        "an index array": lambda store: store.vindex[[0, 9], [1, 2]].read().result(),
        "outer": lambda store: store.oindex[[0, 9], [2]].read().result(),
        "backwards": lambda store: store[3:1:-1].read().result(),
        "nothing": lambda store: store[5:5].read().result(),
        "write it": put(2, 4, 10),
        "all": lambda store: store.read().result(),
    }
    found = compared(driver, place, tmp_path, steps, {"fill_missing_data_reads": False})
    assert found[0].startswith("NOT_FOUND: chunk {0, 0} stored at ")
    assert found[-1] == [[1] * 3] * 4 + [[2] * 3] * 6


def test_inner_chunks_that_must_be_stored(tmp_path: Path) -> None:
    """K-9: an inner chunk that is missing in a shard that is stored is an error, too; it read as the fill value."""
    outcomes = []
    for module in BOTH:
        shards = {"chunk_layout": {"read_chunk": {"shape": [2, 2]}, "write_chunk": {"shape": [4, 4]}}}
        metadata = {"shape": [8, 8], "data_type": "uint8"}
        options = {"metadata": metadata, "schema": shards, "fill_missing_data_reads": False, "create": True}
        store = module.open(spec("zarr3", "file", tmp_path, module) | options).result()
        store[4:6, 0:2] = 1
        keys = [(slice(4, 6), slice(0, 2)), (slice(4, 6), slice(4)), (5, 2), (7, 7), (0, 7)]
        outcomes.append([outcome(store[key], lambda view: view.read().result()) for key in keys])
    assert outcomes[0] == outcomes[1]
    assert outcomes[1][0] == [[1, 1], [1, 1]]
    assert outcomes[1][2].startswith("NOT_FOUND: chunk {0, 1} stored at shard entry {0, 1}/{2, 2} in local file ")


@pytest.mark.parametrize("place", ["memory", "file"])
@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
@pytest.mark.parametrize("recheck", [True, None])
def test_documents_of_others(tmp_path: Path, driver: str, place: str, recheck: bool | None) -> None:
    """K-15 K-19: another shape is taken over, another array is an error that shows both, and so is none."""
    other = {"data_type": "uint8"} if driver == "zarr3" else {"dtype": "|u1"}
    steps: dict[str, Step] = {
        "write": put(1, 0, 10),
        "other attributes": replace_document(driver, **({"attributes": {"a": 1}} if driver == "zarr3" else {})),
        "read": lambda store: store.read().result(),
        "enlarged": replace_document(driver, shape=[12, 3]),
        "resized": lambda store: store.resize(exclusive_max=[11, 3]).result(),
        "of 11": lambda store: store[10:].write(2).result(),
        "another": replace_document(driver, **other),
        "resize": lambda store: store.resize(exclusive_max=[13, 3]).result(),
    }
    if recheck:
        steps |= {
            "read another": lambda store: store.read().result(),
            "write another": lambda store: store.write(3).result(),
            "resolve another": lambda store: store.resolve().result(),
        }
    steps |= {
        "gone": remove(DOCUMENT[driver]),
        "resize nothing": lambda store: store.resize(exclusive_max=[13, 3]).result(),
    }
    if recheck:
        steps |= {
            "read nothing": lambda store: store.read().result(),
            "write nothing": lambda store: store.write(3).result(),
        }
    found = compared(driver, place, tmp_path, steps, {} if recheck is None else {"recheck_cached_metadata": recheck})
    assert "incompatible with existing metadata" in found[7]
    assert "does not exist" in found[-1]
