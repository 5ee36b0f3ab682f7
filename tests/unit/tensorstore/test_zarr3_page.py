"""The page of TensorStore's driver zarr3, each member of a spec told to both libraries (K-1 to K-19, K-49, K-63)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tensorstore

import blizzarr.tensorstore as ours
from unit.spec.oracle import refusal_of

BOTH = (ours, tensorstore)
AT = {"driver": "zarr3", "kvstore": {"driver": "memory", "path": "brain/"}}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "tensorstore.md"


def told(act: Callable[[ModuleType], Any], library: ModuleType) -> Any:
    """What comes of it; or the class of the error and its text, without the spec that TensorStore adds."""
    try:
        return act(library)
    except (ValueError, NotImplementedError) as error:
        kind = NotImplementedError if isinstance(error, NotImplementedError) else ValueError
        return kind.__name__, refusal_of(error)


def same(act: Callable[[ModuleType], Any]) -> Any:
    """What comes of it with both."""
    mine, theirs = (told(act, library) for library in BOTH)
    assert mine == theirs
    return mine


def made(library: ModuleType, **constraints: Any) -> tuple[Any, Any]:
    """A context, and in it an array of 6 by 10 elements in chunks of 3 by 5."""
    context = library.Context()
    said = {"dtype": "uint16", "shape": [6, 10], "chunk_layout": library.ChunkLayout(chunk_shape=[3, 5])}
    store = library.open(AT, create=True, context=context, **(said | constraints)).result()
    store[...] = [[row * 10 + column for column in range(10)] for row in range(6)]
    return context, store


def read(store: Any) -> Any:
    """The elements, where they are, and what they are."""
    return [repr(store.domain), store.dtype.name, store.read().result().tolist()]


def opened(spec: dict[str, Any], **constraints: Any) -> Callable[[ModuleType], Any]:
    """Open what is stored once more, by a spec and constraints."""

    def act(library: ModuleType) -> Any:
        context, _ = made(library)
        return read(library.open({**AT, **spec}, context=context, **constraints).result())

    return act


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "zarr2", "n5", "auto", "Zarr3", "", None])
def test_driver(driver: Any) -> None:
    """K-1: another driver does not find the array; what no driver is called is an error."""
    found = same(opened({"driver": driver}))
    assert (found[0] == "{ [0, 6*), [0, 10*) }") == (driver in ("zarr3", "auto"))


@pytest.mark.parametrize("kvstore", ["memory://brain/", "memory://brain", {"driver": "memory"}, {}, None, "brain"])
def test_kvstore(kvstore: Any) -> None:
    """K-2: an object or a URL; without one, or with nothing at the place, there is nothing to open."""
    found = same(opened({"kvstore": kvstore}))
    assert (found[0] == "ValueError") == (kvstore not in ("memory://brain/", "memory://brain"))


def test_context() -> None:
    """K-3 K-15 K-16: resources of the spec's context are used instead of those of the context that is given."""
    limits = {"cache_pool": {"total_bytes_limit": 12345}, "data_copy_concurrency": {"limit": 2}}

    def act(library: ModuleType) -> Any:
        context, _ = made(library)
        store = library.open({**AT, "context": limits}, context=context).result()
        named = {"cache_pool#big": {"total_bytes_limit": 99}}
        other = library.open({**AT, "context": named, "cache_pool": "cache_pool#big"}, context=context).result()
        return [one.spec(retain_context=True).to_json()["context"] for one in (store, other)]

    first, second = same(act)
    assert first == {**limits, "memory_key_value_store": {}}
    assert second["cache_pool#big"] == {"total_bytes_limit": 99}
    same(opened({"cache_pool": "cache_pool#none"}))
    same(opened({"context": {"pool": {}}}))


@pytest.mark.parametrize("dtype", ["uint16", "uint8", "<u2", "char", "float8_e5m2", 5, None])
def test_dtype(dtype: Any) -> None:
    """K-4: one that is not that of the array, or none at all, is an error."""
    assert (same(opened({"dtype": dtype}))[1] == "uint16") == (dtype == "uint16")


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 32, 33, -1, 2.5, "2"])
def test_rank(rank: Any) -> None:
    """K-5: from 0 to 32; it must be that of what is stored, of the schema, the shape and the transform."""
    assert (same(opened({"rank": rank}))[0] != "ValueError") == (rank == 2)
    same(lambda library: library.Spec({**AT, "rank": rank, "schema": {"rank": 3}}).to_json())
    same(lambda library: library.Spec({**AT, "rank": rank, "schema": {"domain": {"shape": [1, 2]}}}).to_json())
    same(lambda library: library.Spec({**AT, "rank": rank, "transform": {"input_rank": 2}}).to_json())


@pytest.mark.parametrize(
    "transform",
    [
        {"input_inclusive_min": [1, 2], "input_exclusive_max": [4, 8]},
        {"input_rank": 2, "input_labels": ["y", "x"]},
        {"input_shape": [5], "output": [{"offset": 2}, {"input_dimension": 0, "stride": 2}]},
        {"input_shape": [3], "output": [{"input_dimension": 0}, {"index_array": [9, 0, 4]}]},
        {"input_shape": [7, 10]},
        {"input_rank": 3},
        {"input_rank": 1, "output": [{"input_dimension": 0}]},
        [],
    ],
    ids=repr,
)
def test_transform(transform: Any) -> None:
    """K-6 K-50: a transform is a view; it stays inside the array, and takes as many dimensions as `rank` says."""
    same(opened({"transform": transform}))
    same(opened({"transform": transform, "rank": 2}))


@pytest.mark.parametrize(
    "schema",
    [
        {"dtype": "uint16", "rank": 2, "domain": {"shape": [[6], [10]]}, "fill_value": 0},
        {"dtype": "uint8"},
        {"rank": 3},
        {"domain": {"shape": [6, 11]}},
        {"domain": {"labels": ["y", "x"]}},
        {"fill_value": 1},
        {"codec": {"driver": "zarr3", "codecs": ["gzip"]}},
        {"codec": {"driver": "zarr"}},
        {"dimension_units": ["4 nm", None]},
        {"chunk_layout": {"chunk": {"shape": [3, 5]}}},
        {"chunk_layout": {"write_chunk": {"shape": [6, 5]}}},
        {"chunk_layout": {"read_chunk": {"shape": [3, 1]}}},
        {"chunk_layout": {"inner_order": [1, 0]}},
        {"chunk_layout": {"grid_origin": [1, 0]}},
        {"chunk_layout": {"chunk": {"shape_soft_constraint": [2, 2], "elements_soft_constraint": 7}}},
        {"chunk_layout": {"inner_order_soft_constraint": [1, 0]}},
        {"chunk_layout": {"chunk": {"elements": 7, "aspect_ratio": [9, 1]}}},
    ],
    ids=repr,
)
def test_schema(schema: Any) -> None:
    """K-7: what does not hold for a stored array is an error; wishes about the layout do not matter to it."""
    found = same(opened({"schema": schema}))
    layout = json.dumps(schema.get("chunk_layout", {}))
    if "soft" in layout or "elements" in layout:
        assert found[0] == "{ [0, 6*), [0, 10*) }"


@pytest.mark.parametrize("path", ["", "brain", "brain/", "/brain", "../brain", 5])
@pytest.mark.parametrize("above", ["", "a", "a/", "a//"])
def test_path(above: str, path: Any) -> None:
    """K-8: an older way to say where in the store the array is."""
    spec = {"driver": "zarr3", "path": path, "kvstore": {"driver": "memory", "path": above}}
    same(lambda library: library.Spec(spec).to_json())
    if path == "brain" and above == "a":
        assert ours.Spec(spec).kvstore.path == "a/brain/"


@pytest.mark.parametrize("word", ["assume_metadata", "assume_cached_metadata"])
def test_what_is_assumed_is_not_checked(word: str) -> None:
    """K-12 K-13 K-14: wrong assumptions read something else and damage what is there; the documentation says so."""

    def act(library: ModuleType) -> Any:
        context, store = made(library)
        grid = {"name": "regular", "configuration": {"chunk_shape": [3, 5]}}
        metadata = {"shape": [6, 10], "data_type": "int16", "chunk_grid": grid, "codecs": ["bytes"], "fill_value": 7}
        wrong = library.open({**AT, "metadata": metadata, word: True, "open": True}, context=context).result()
        before = read(wrong)
        wrong[0, 0] = -1
        return [before, read(store), told(lambda _: repr(wrong.resize(exclusive_max=[7, 7]).result().domain), library)]

    before, after, resized = same(act)
    assert before[1] == "int16"
    assert after[2][0][0] == 65535
    assert ("because assume_metadata was specified" in resized[1]) == (word == "assume_metadata")
    said = PAGE.read_text()
    assert re.search(rf"`{word}: true`[^|#]*Both can damage data", said)


@pytest.mark.parametrize("names", [["x", "x"], ["x", None], ["", ""], ["3 y", "\n"]], ids=repr)
def test_stored_names(names: Any) -> None:
    """K-48 K-49 C-25: null and "" are no labels; the same twice is none at all, which TensorStore refuses."""

    def act(library: ModuleType) -> Any:
        _, store = made(library)
        again = library.Context()
        copy = library.KvStore.open("memory://brain/", context=again).result()
        for key in store.kvstore.list().result():
            copy[key] = store.kvstore[key]
        copy["zarr.json"] = json.dumps(json.loads(copy["zarr.json"]) | {"dimension_names": names}).encode()
        return read(library.open(AT, context=again).result())

    if names == ["x", "x"]:
        assert told(act, ours)[0] == "{ [0, 6*), [0, 10*) }"
        assert "not unique" in told(act, tensorstore)[1]
    else:
        same(act)


def test_chunks_of_fill_values_are_not_there() -> None:
    """K-63: a chunk that becomes the fill value is removed, unless the spec says that it is stored all the same."""

    def act(library: ModuleType) -> Any:
        context, store = made(library)
        store[:3] = 0
        kept = library.open({**AT, "store_data_equal_to_fill_value": True}, context=context).result()
        before = sorted(store.kvstore.list().result())
        kept[3:] = 0
        return [before, sorted(store.kvstore.list().result())]

    before, after = same(act)
    assert before == after == [b"c/1/0", b"c/1/1", b"zarr.json"]


def test_the_page_waits_for_nothing() -> None:
    """K-9 K-10 K-11: opening is awaited like any future; modes that nobody says mean to open what is there."""

    async def walk(library: ModuleType) -> Any:
        context = library.Context()
        new = await library.open(AT, create=True, dtype="uint8", shape=[3], context=context)
        await new.write([1, 2, 3])
        old = await library.open(AT, context=context)
        either = await library.open({**AT, "open": True, "create": True}, dtype="uint8", shape=[3], context=context)
        found = [await one.read() for one in (old, either)]
        mode = {"create": True, "delete_existing": True}
        empty = await library.open({**AT, **mode}, dtype="uint8", shape=[3], context=context)
        return [*found, await empty.read()]

    mine, theirs = ([part.tolist() for part in asyncio.run(walk(library))] for library in BOTH)
    assert mine == theirs
    assert mine == [[1, 2, 3], [1, 2, 3], [0, 0, 0]]
