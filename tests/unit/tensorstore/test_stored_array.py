"""From specs to arrays in stores: opened, created, replaced, assumed and refused as TensorStore does it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr
import blizzarr.tensorstore
from blizzarr.array.facts import binding_of
from blizzarr.errors import (
    ArrayExistsError,
    ArrayNotFoundError,
    ConstraintError,
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    SpecError,
)
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import raise_opening
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import Context, resource_of
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.metadata.zarr3 import Zarr3Constraints
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec, node_of, spec_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.driver import Request
from blizzarr.tensorstore.opening import find_stored, open_stored
from blizzarr.tensorstore.store import driver_of
from blizzarr.tensorstore.stored_array import StoredArray
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from unit.spec.oracle import Refusal, refusal_of

OURS: dict[str, Any] = {"ChunkLayout": ChunkLayout, "CodecSpec": CodecSpec, "Schema": Schema}
THEIRS: dict[str, Any] = {name: getattr(ts, name) for name in OURS}


def opened(spec: Any, context: Context, **changes: Any) -> StoredArray:
    """An array by our opening."""
    said = Spec(spec)
    said.update(context=context, **changes)
    try:
        node = node_of(said)
        return stored_of(find_stored(node) if node.driver == "auto" else node)
    except (SpecError, MetadataError) as error:
        raise_opening(node_of(said).driver, error)


def stored_of(node: SpecNode) -> StoredArray:
    """The array of a bound spec."""
    driver = driver_of(open_stored(node, Request()))
    assert isinstance(driver, StoredArrayDriver)
    return driver._array


def schema_of(array: StoredArray) -> Schema:
    """The schema of a stored array."""
    return array.constraints.schema_of(array.metadata, array.node.options)


def outcome(spec: Any, context: Context, module: dict[str, Any], step: Any) -> Any:
    """What comes of a step with our opening."""
    try:
        return shown(schema_of(opened({**spec, **step.get("spec", {})}, context, **keywords(module, step))))
    except SpecError as error:
        return refusal_of(error)


def their_outcome(spec: Any, context: Any, module: dict[str, Any], step: Any) -> Any:
    """What comes of a step with TensorStore."""
    try:
        store = ts.open({**spec, **step.get("spec", {})}, context=context, **keywords(module, step)).result()
        return shown(store.schema)
    except ValueError as error:
        return refusal_of(error)


def keywords(module: dict[str, Any], step: Any) -> dict[str, Any]:
    """The keyword arguments of a step; those that are objects are made."""
    return {
        name: value(module) if callable(value) else value for name, value in step.items() if name not in ("spec", "do")
    }


def shown(schema: Any) -> Any:
    """A schema, without labels that a spec gives to those that have none."""
    found = schema.to_json()
    found.get("domain", {}).pop("labels", None)
    return json.loads(json.dumps(found))


STEPS: list[dict[str, Any]] = [
    {},
    {"create": True},
    {"create": True, "dtype": "int8"},
    {"create": True, "shape": [4]},
    {"create": True, "dtype": "string", "shape": [4]},
    {"create": True, "dtype": "int8", "shape": [4]},
    {"create": True, "dtype": "int8", "shape": [4]},
    {"create": True, "open": True, "dtype": "int8", "shape": [4]},
    {"create": True, "open": True, "dtype": "int8", "shape": [5]},
    {"open": True, "dtype": "int16"},
    {"rank": 2},
    {"rank": 1},
    {"fill_value": 5},
    {"fill_value": 0},
    {"shape": [4]},
    {"shape": [3]},
    {"dimension_units": ["nm"]},
    {"chunk_layout": lambda module: module["ChunkLayout"](read_chunk_shape=[3])},
    {"chunk_layout": lambda module: module["ChunkLayout"](read_chunk_shape=[4])},
    {"chunk_layout": lambda module: module["ChunkLayout"](read_chunk_shape_soft_constraint=[3])},
    {"chunk_layout": lambda module: module["ChunkLayout"](grid_origin=[1])},
    {"codec": lambda module: module["CodecSpec"]({"driver": "zarr3", "codecs": ["gzip"]})},
    {"codec": lambda module: module["CodecSpec"]({"driver": "zarr3", "codecs": ["bytes"]})},
    {"schema": lambda module: module["Schema"](rank=1, dtype="int8", fill_value=0)},
    {"spec": {"metadata": {"shape": [5]}}},
    {"spec": {"metadata": {"shape": [4]}}},
    {"spec": {"metadata": {"data_type": "int16"}}},
    {"spec": {"metadata": {"attributes": {"a": 1}}}},
    {"spec": {"metadata": {"attributes": {}}}},
    {"spec": {"metadata": {"chunk_key_encoding": {"name": "v2"}}}},
    {"delete_existing": True},
    {"delete_existing": True, "create": True, "open": True},
    {"delete_existing": True, "create": True, "dtype": "int16", "shape": [3]},
    {"dtype": "int16"},
    {"create": True, "open": True},
    {"assume_metadata": True},
    {"assume_metadata": True, "dtype": "int32", "shape": [7]},
    {"assume_cached_metadata": True, "dtype": "int32", "shape": [7]},
    {"assume_metadata": True, "create": True},
    {},
]


@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_history(tmp_path: Path, place: str, driver: str) -> None:
    """K-7 K-9 K-10 K-11 K-12 K-13 K-19: each step of a history gives what it gives with TensorStore."""
    context, theirs = Context(), ts.Context()
    for number, step in enumerate(STEPS):
        if driver != "zarr3" and not {"codec", "spec", "schema"}.isdisjoint(step):
            continue  # in the terms of zarr3
        urls = {
            name: f"memory://{name}/a/" if place == "memory" else f"file://{tmp_path}/{name}"
            for name in ("ours", "theirs")
        }
        found = outcome({"driver": driver, "kvstore": urls["ours"]}, context, OURS, step)
        expected = their_outcome({"driver": driver, "kvstore": urls["theirs"]}, theirs, THEIRS, step)
        if isinstance(expected, Refusal):
            expected = Refusal(expected.text.replace("theirs", "ours"), expected.is_ours)
        assert found == expected, (number, step)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_errors_can_be_told_apart(tmp_path: Path, place: str) -> None:
    """What is missing, what is there already, and what is otherwise are errors of their own, and all ValueErrors."""
    spec = {"driver": "zarr3", "kvstore": "memory://a/" if place == "memory" else f"file://{tmp_path}/a"}
    context = Context()
    with pytest.raises(ArrayNotFoundError, match=r"NOT_FOUND: .*Metadata at .*zarr.json.* does not exist") as missing:
        opened(spec, context)
    assert isinstance(missing.value, NodeNotFoundError)
    array = opened(spec, context, create=True, dtype="int8", shape=[4])
    array[...] = 5
    with pytest.raises(ArrayExistsError, match=r"ALREADY_EXISTS: .*Error writing .*zarr.json") as there:
        opened(spec, context, create=True, dtype="int8", shape=[4])
    assert isinstance(there.value, NodeExistsError)
    with pytest.raises(ConstraintError, match=r"FAILED_PRECONDITION: .*expected dtype int16 .*, found data_type int8"):
        opened(spec, context, dtype="int16")
    assert opened(spec, context)[...].tolist() == [5] * 4


def test_replaced(tmp_path: Path) -> None:
    """K-11: what is replaced is gone, chunks and all; other arrays stay; files that are not ours are not lost."""
    context = Context()
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a"}
    opened(spec, context, create=True, dtype="int8", shape=[4])[...] = 5
    opened({**spec, "kvstore": f"file://{tmp_path}/b"}, context, create=True, dtype="int8", shape=[4])[...] = 6
    new = opened(spec, context, create=True, delete_existing=True, dtype="int8", shape=[8])
    assert new[...].tolist() == [0] * 8
    assert opened({**spec, "kvstore": f"file://{tmp_path}/b"}, context)[...].tolist() == [6] * 4
    (tmp_path / "a" / "notes.txt").write_text("mine")
    with pytest.raises(NodeExistsError, match=r"notes\.txt"):
        opened(spec, context, create=True, delete_existing=True, dtype="int8", shape=[8])
    # What a killed removal has left is no part of the new array.
    (tmp_path / "a" / "notes.txt").unlink()
    new[...] = 7
    (tmp_path / "a" / "zarr.json").unlink()
    again = opened(spec, context, create=True, delete_existing=True, dtype="int8", shape=[8])
    assert again[...].tolist() == [0] * 8


def test_assumed() -> None:
    """K-12 K-13: assumed metadata need not be there, and are not stored."""
    context = Context()
    spec = {"driver": "zarr3", "kvstore": "memory://a/"}
    for mode in ("assume_metadata", "assume_cached_metadata"):
        found = opened(spec, context, dtype="int8", shape=[3], **{mode: True})
        assert found[...].tolist() == [0, 0, 0]
        assert found.assumed == (mode == "assume_metadata")
    assert KvStore.open("memory://", context=context).result().list().result() == []


def test_each_reads_the_other(tmp_path: Path) -> None:
    """Arrays that one created the other opens, with the same schema and elements, whatever the format."""
    for driver in ("zarr3", "zarr"):
        spec = {"driver": driver, "kvstore": f"file://{tmp_path}/{driver}/ours"}
        ours = opened(spec, Context(), create=True, dtype="uint16", shape=[30, 40])
        ours[...] = np.arange(1200, dtype="uint16").reshape(30, 40)
        theirs = ts.open(spec).result()
        np.testing.assert_array_equal(theirs.read().result(), ours[...])
        spec = {"driver": driver, "kvstore": f"file://{tmp_path}/{driver}/theirs"}
        store = ts.open(
            spec, create=True, dtype=ts.uint16, shape=[30, 40], chunk_layout=ts.ChunkLayout(chunk_shape=[7, 9])
        ).result()
        store.write(np.arange(1200, dtype="uint16").reshape(30, 40)).result()
        found = opened(spec, Context())
        np.testing.assert_array_equal(found[...], store.read().result())
        assert schema_of(found).chunk_layout.to_json() == store.chunk_layout.to_json()


@pytest.mark.parametrize("driver", ["zarr1", "zarr3_draft", "zarr", "zarr3"])
def test_every_format(tmp_path: Path, driver: str) -> None:
    """Each driver creates and opens its format, and finds it again when nobody says which it is."""
    context = Context()
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/a"}
    with pytest.raises(ArrayNotFoundError):
        opened(spec, context)
    with pytest.raises(SpecError, match=r'dtype"? must be specified'):
        opened(spec, context, create=True)
    with pytest.raises(SpecError, match="domain must be specified"):
        opened(spec, context, create=True, dtype="int16")
    array = opened(
        spec,
        context,
        create=True,
        dtype="int16",
        shape=[5, 6],
        fill_value=3,
        chunk_layout=ChunkLayout(chunk_shape=[2, 3]),
    )
    assert array.chunks == (2, 3)
    array[2:] = 1
    assert blizzarr.open(tmp_path / "a").metadata == array.metadata
    for json_ in (spec, f"file://{tmp_path}/a", f"file://{tmp_path}/a/|auto"):
        found = opened(json_, context)
        assert found.node.driver == driver
        assert found[:, 0].tolist() == [3, 3, 1, 1, 1]
        schema = schema_of(found)
        assert (schema.dtype, schema.domain.shape, schema.fill_value) == ("int16", (5, 6), 3)  # type: ignore[union-attr]
    again = Spec(json.loads(json.dumps(spec_of(found.spec_node()).to_json())))
    again.update(strip_context=True, context=context)
    assert stored_of(node_of(again)).metadata == array.metadata
    for wrong in ({"dtype": "int8"}, {"rank": 3}, {"shape": [5, 7]}, {"fill_value": 4}):
        with pytest.raises(SpecError, match=r"expected (rank|dtype|the fill_value)|match"):
            opened(spec, context, **wrong)
    with pytest.raises(SpecError, match="chunk"):
        opened(spec, context, chunk_layout=ChunkLayout(read_chunk_shape=[2, 4]))


def test_nodes_of_the_draft(tmp_path: Path) -> None:
    """An array of the draft is named by its path in the hierarchy, or by where it would be if it had a directory."""
    root = blizzarr.open_group(tmp_path / "h", mode="w", zarr_format="v3_draft")
    array = root.create_array("a/b", shape=(3,), dtype="int8")
    array[...] = 4
    context = Context()
    by_option = opened({"driver": "zarr3_draft", "kvstore": f"file://{tmp_path}/h", "node": "a/b"}, context)
    by_path = opened({"driver": "zarr3_draft", "kvstore": f"file://{tmp_path}/h/a/b"}, context)
    assert by_option[...].tolist() == by_path[...].tolist() == [4, 4, 4]
    with pytest.raises(SpecError, match="URL syntax not supported with node"):
        _ = Spec({"driver": "zarr3_draft", "kvstore": f"file://{tmp_path}/h", "node": "a/b"}).url


def test_found_out(tmp_path: Path) -> None:
    """Formats are found out, in zip files too; none and several are errors in TensorStore's words."""
    context, theirs = Context(), ts.Context()

    def both(url: str) -> tuple[str, str]:
        with pytest.raises(ValueError, match="format") as expected:
            ts.open(url, context=theirs).result()
        with pytest.raises(ConstraintError) as found:
            opened(url, context)
        return str(found.value), re.sub(r" \[tensorstore_spec=.*", "", str(expected.value), flags=re.S)

    for url in ("memory://q/", "memory://q", f"file://{tmp_path}/none"):
        found, expected = both(url)
        assert found == expected
    for driver in ("zarr3", "zarr"):
        opened({"driver": driver, "kvstore": f"file://{tmp_path}/two/"}, context, create=True, dtype="int8", shape=[1])
    found, expected = both(f"file://{tmp_path}/two/")
    assert found == expected
    opened(
        {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a.zip|zip:"}, context, create=True, dtype="int8", shape=[1]
    )
    assert opened(f"file://{tmp_path}/a.zip", context).node.kvstore.driver == "zip"  # type: ignore[union-attr]
    with pytest.raises(SpecError, match='"kvstore" must be specified'):
        opened({"driver": "auto"}, context)


def test_damaged_documents() -> None:
    """Documents that do not conform are errors that name them, whether they are to be opened or found out."""
    context = Context()
    kv = KvStore.open("memory://a/", context=context).result()
    for document in (b"{bad", b"{}", b"[]", b'{"zarr_format":3,"node_type":"group"}'):
        kv["zarr.json"] = document
        for spec in ({"driver": "zarr3", "kvstore": "memory://a/"}, "memory://a/"):
            with pytest.raises(ConstraintError, match=r"Error reading .*a/zarr\.json"):
                opened(spec, context)


def test_settings_arrive(tmp_path: Path) -> None:
    """K-15 K-16 K-17 K-18: pools, bounds and what is done to files are those of the spec and its context."""
    context = Context({"cache_pool": {"total_bytes_limit": 1 << 20}, "file_io_sync": False})
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a"}
    found = opened(spec, context, create=True, dtype="int8", shape=[4], recheck_cached_data=False)
    found[...] = 1
    pool = resource_of(context, "cache_pool").value
    assert found[1] == 1
    assert found[2] == 1
    assert pool.info().hits == 1
    assert found.store.store.durability is None
    assert found.since <= math.inf
    assert opened(spec, context, recheck_cached_metadata=False).since == -math.inf
    assert opened(spec, context, recheck_cached_metadata=5.0).since == 5.0
    plain = opened({**spec, "cache_pool": {}}, Context())
    assert plain.store.durability == "full"
    assert plain.store.locking == "required"
    free = opened({**spec, "cache_pool": {}}, Context({"file_io_locking": {"mode": "none"}}))
    assert free.store.locking == "threads"


def test_concurrency(tmp_path: Path) -> None:
    """K-16: no request is worked on by more threads than the context allows, whoever has resized the array."""
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a"}
    opened(spec, Context(), create=True, dtype="int8", shape=[4])
    for limits, threads in (
        ({"data_copy_concurrency": {"limit": 3}}, 3),
        ({"data_copy_concurrency": {"limit": 3}, "file_io_concurrency": {"limit": 2}}, 2),
        ({"file_io_concurrency": {"limit": 1}}, 1),
    ):
        array = opened(spec, Context(limits))
        for _ in range(2):
            handles = binding_of(array).handle, array.binding_by_bytes.handle, binding_of(array).beyond().handle
            assert [handle.threads for handle in handles] == [threads] * 3
            assert binding_of(array).handle.resized((9,)).threads == threads
            array[...] = 1
            assert array[...].tolist() == [1] * array.shape[0]
            blizzarr.open_array(tmp_path / "a").resize(array.shape[0] + 1)
            array.refresh()
    assert binding_of(opened(spec, Context())).handle.threads == 0


def test_a_schema_is_made_once_until_the_metadata_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs ask for the chunk layout in loops, and copies do for each store that they write."""
    made: list[ArrayMeta] = []
    schema = Zarr3Constraints.schema_of

    def noted(meta: ArrayMeta, options: Any) -> Schema:
        made.append(meta)
        return schema(meta, options)

    monkeypatch.setattr(Zarr3Constraints, "schema_of", noted)
    metadata = {"shape": [8], "data_type": "int32"}
    spec = {"driver": "zarr3", "kvstore": "memory://asked-often/", "metadata": metadata}
    store = blizzarr.tensorstore.open(spec, create=True).result()
    made.clear()
    for _ in range(3):
        assert store.chunk_layout.read_chunk.shape == (8,)
        assert (store.fill_value, store[2:].schema.domain.shape) == (0, (6,))
    assert len(made) == 1
    assert store.resize(exclusive_max=[9]).result().schema.domain.shape == (9,)
    assert len(made) == 2
