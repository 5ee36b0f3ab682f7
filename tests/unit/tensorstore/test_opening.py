"""`open` gives what it gives with TensorStore: the same store, the same spec of it, or the same error."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import tensorstore

import blizzarr.tensorstore as ours
from blizzarr.errors import SpecError
from unit.spec.oracle import refusal_of

CASES: list[Callable[[Any, Any], Any]] = []
SPEC = {"driver": "zarr3", "kvstore": "memory://a/"}
ARRAY = {"driver": "array", "array": [1, 2, 3], "dtype": "int8"}


def case(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """One way to open: of a module and a context in which there is an array of four int8 at ``a/``."""
    CASES.append(function)
    return function


for spec, changes in [
    (SPEC, {}),
    ("memory://a/", {}),
    ("memory://a", {}),
    ("memory://a/|zarr3:", {}),
    ("memory://|zarr3:a", {}),
    ({"driver": "memory", "path": "a/"}, {}),
    ({"driver": "auto", "kvstore": "memory://a"}, {"dtype": "int8"}),
    (SPEC, {"dtype": "int8", "rank": 1, "shape": [4]}),
    (SPEC, {"read": True}),
    (SPEC, {"write": True}),
    (SPEC, {"read": True, "write": True}),
    (SPEC, {"read": False, "write": False}),
    (SPEC, {"recheck_cached": False}),
    (SPEC, {"recheck_cached_data": "open", "recheck_cached_metadata": 7}),
    (SPEC, {"create": True, "open": True, "dtype": "int8"}),
    ({**SPEC, "transform": {"input_inclusive_min": [1], "input_exclusive_max": [3]}}, {}),
    ({**SPEC, "transform": {"input_inclusive_min": [1], "input_exclusive_max": [9]}}, {}),
    ({**SPEC, "transform": {"input_rank": 2}}, {}),
    ({**SPEC, "transform": {"input_rank": 0, "output": [{"offset": 2}]}}, {}),
    ({**SPEC, "transform": {"input_shape": [2], "output": [{"input_dimension": 0, "stride": 2}]}}, {}),
    ({**SPEC, "transform": {"input_shape": [2], "input_labels": ["x"]}}, {}),
    ({**SPEC, "schema": {"domain": {"labels": ["x"]}}}, {}),
    ({**SPEC, "kvstore": "memory://b/"}, {}),
    ({**SPEC, "kvstore": "memory://b/"}, {"create": True}),
    ({**SPEC, "kvstore": "memory://b/"}, {"create": True, "dtype": "int8"}),
    ({**SPEC, "kvstore": "memory://b/"}, {"create": True, "dtype": "int16", "shape": [2, 3], "fill_value": 5}),
    ({**SPEC, "kvstore": "memory://b/"}, {"open": True, "create": True, "dtype": "int16", "shape": [2, 3]}),
    ({**SPEC, "kvstore": "memory://b/"}, {"assume_metadata": True, "dtype": "int16", "shape": [2, 3]}),
    ({**SPEC, "kvstore": "memory://b/", "create": True, "metadata": {"shape": [2], "data_type": "int4"}}, {}),
    ({**SPEC, "kvstore": "memory://b/"}, {"create": True, "dtype": "int8", "shape": [2], "dimension_units": ["4nm"]}),
    ({"driver": "zarr3", "create": True, "dtype": "int8"}, {"shape": [2]}),
    (SPEC, {"create": True, "dtype": "int8", "shape": [4]}),
    (SPEC, {"delete_existing": True}),
    (SPEC, {"delete_existing": True, "create": True, "dtype": "int32", "shape": [2]}),
    (SPEC, {"dtype": "int16"}),
    (SPEC, {"rank": 2}),
    (SPEC, {"rank": 77}),
    (SPEC, {"shape": [5]}),
    (SPEC, {"fill_value": 1}),
    (SPEC, {"dimension_units": ["m"]}),
    (SPEC, {"foo": 1}),
    (SPEC, {"context": 5}),
    (SPEC, {"kvstore": "memory://"}),
    ("memory://none/", {}),
    ("memory://a/", {"create": True}),
    ("memory://a/", {"dtype": "int16"}),
    ("foo", {}),
    (5, {}),
    ({"driver": "foo"}, {}),
    ({"driver": "zarr3"}, {}),
    ({"driver": "auto"}, {}),
    (ARRAY, {}),
    (ARRAY, {"create": True}),
    (ARRAY, {"delete_existing": True}),
    (ARRAY, {"read": True}),
    (ARRAY, {"dtype": "int16"}),
    (ARRAY, {"shape": [3]}),
    (ARRAY, {"shape": [4]}),
    (ARRAY, {"fill_value": 3}),
    (ARRAY, {"dimension_units": ["nm"]}),
    ({**ARRAY, "schema": {"domain": {"labels": ["x"]}}}, {}),
]:
    case(lambda ts, context, spec=spec, changes=changes: ts.open(spec, **{"context": context, **changes}))
    if isinstance(spec, dict) and spec["driver"] == "zarr3" and "metadata" not in spec:
        other = {**spec, "driver": "zarr", "kvstore": spec.get("kvstore", "").replace("memory://a", "memory://v2")}
        case(lambda ts, context, spec=other, changes=changes: ts.open(spec, **{"context": context, **changes}))

case(lambda ts, context: ts.open(ts.Spec(SPEC), context=context))
case(lambda ts, context: ts.open(ts.Spec({**SPEC, "rank": 1})[2], context=context))
case(lambda ts, context: ts.open(ts.Spec({**SPEC, "rank": 1})[ts.d[0].translate_by[5]], context=context))
case(lambda ts, context: ts.open({"driver": "zarr3"}, kvstore=ts.KvStore.Spec("memory://a/"), context=context))
case(lambda ts, context: ts.open({"driver": "zarr3"}, kvstore=ts.KvStore.open("memory://a/", context=context).result()))
case(lambda ts, context: ts.open(SPEC, kvstore=ts.KvStore.Spec("memory://a/"), context=context))
case(lambda ts, context: ts.open(SPEC, open_mode=ts.OpenMode(create=True, open=True), dtype=ts.int8, context=context))
case(lambda ts, context: ts.open(SPEC, schema=ts.Schema(dtype=ts.int8, fill_value=0), context=context))
case(lambda ts, context: ts.open(SPEC, schema=ts.Schema(fill_value=2), context=context))
case(lambda ts, context: ts.open(SPEC, chunk_layout=ts.ChunkLayout(read_chunk_shape=[3]), context=context))
case(lambda ts, context: ts.open(SPEC, codec=ts.CodecSpec({"driver": "zarr3", "codecs": ["gzip"]}), context=context))
case(lambda ts, context: ts.open(SPEC, domain=ts.IndexDomain(shape=[4], labels=["x"]), context=context))
case(lambda ts, context: ts.open(ARRAY, chunk_layout=ts.ChunkLayout(chunk_shape=[2]), context=context))
case(lambda ts, context: ts.open(ARRAY, chunk_layout=ts.ChunkLayout(chunk_elements=2), context=context))
case(lambda ts, context: ts.open(ARRAY, codec=ts.CodecSpec({"driver": "zarr3"}), context=context))
case(
    lambda ts, context: ts.open(
        {"driver": "cast", "base": ARRAY, "dtype": "float32"}, dimension_units=["4nm"], context=context
    )
)
case(lambda ts, context: ts.open(ts.open(SPEC, context=context).result().spec(), context=context))
case(lambda ts, context: ts.open(ts.open(SPEC, context=context).result()[1:3].spec(minimal_spec=True), context=context))
case(lambda ts, context: ts.open(ts.open(SPEC, context=context).result().spec(retain_context=True)))


def outcome(ts: ModuleType, function: Callable[[Any, Any], Any]) -> Any:
    """What comes of opening: what the store tells, or whether the error came at once, its class and text."""
    context = ts.Context({"cache_pool": {"total_bytes_limit": 1000}})
    for spec in (SPEC, {"driver": "zarr", "kvstore": "memory://v2/"}):
        made = ts.open(spec, create=True, dtype=ts.int8, shape=[4], context=context).result()
        made[...] = [1, 2, 3, 4]
    future = None
    try:
        future = function(ts, context)
        store = future.result()
    except TypeError:
        return "TypeError"
    except ValueError as error:
        return future is not None, refusal_of(error)
    told = [store.domain, store.dtype, store.mode, store.schema, store.chunk_layout, store.codec, store.dimension_units]
    told += [store.spec(), store.spec(minimal_spec=True), store.spec(retain_context=True), store.kvstore, store]
    try:
        told.append(store.url)
    except NotImplementedError as error:
        told.append(str(error))
    everything = store.spec().to_json(include_defaults=True)
    # TensorStore adds the separators that keys have anyway.
    everything.pop("metadata", None)
    return [repr(told), everything, repr(store.fill_value), elements_of(store)]


def elements_of(store: Any) -> Any:
    """The elements, or the word for why there are none."""
    if not store.readable:
        return None
    try:
        return store.read().result().tolist()
    except (ValueError, IndexError) as error:
        return str(error).partition(":")[0]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_opened(number: int) -> None:
    """K-1 to K-13, K-15 to K-19: each way to open gives the same store with both, or the same error as early."""
    assert outcome(ours, CASES[number]) == outcome(tensorstore, CASES[number])


def test_transactions() -> None:
    """What is opened with a transaction belongs to it."""
    context, transaction = ours.Context(), ours.Transaction()
    ours.open(SPEC, create=True, dtype=ours.int8, shape=[4], context=context).result()
    store = ours.open(SPEC, context=context, transaction=transaction).result()
    store[...] = 5
    assert ours.open(SPEC, context=context).result()[0].read().result() == 0
    transaction.commit_sync()
    assert ours.open(SPEC, context=context).result()[0].read().result() == 5


@pytest.mark.parametrize(
    "spec",
    [
        ARRAY,
        {"driver": "cast", "base": ARRAY, "dtype": "float32"},
        {"driver": "downsample", "base": ARRAY, "downsample_factors": [2], "downsample_method": "mean"},
    ],
    ids=lambda spec: spec["driver"],
)
def test_what_has_no_transactions_is_not_opened_with_one(spec: dict[str, Any]) -> None:
    for ts in (ours, tensorstore):
        with pytest.raises(NotImplementedError, match='"array" driver does not support transactions'):
            ts.open(spec, transaction=ts.Transaction()).result()
    assert ours.open(spec).result().read().result().tolist() in ([1, 2, 3], [2, 3])


def test_batches() -> None:
    """What is opened with a batch is there when that is submitted."""
    context = ours.Context()
    ours.open(SPEC, create=True, dtype=ours.int8, shape=[4], context=context).result()
    with ours.Batch() as batch:
        future = ours.open(SPEC, context=context, batch=batch)
        assert not future.done()
    assert future.result().shape == (4,)


def test_limits() -> None:
    """What is opened only to read cannot be written, and the reverse."""
    context = ours.Context()
    ours.open(SPEC, create=True, dtype=ours.int8, shape=[4], context=context).result()
    with pytest.raises(SpecError, match="does not support reading"):
        ours.open(SPEC, write=True, context=context).result().read().result()
    with pytest.raises(SpecError, match="does not support writing"):
        ours.open(SPEC, read=True, context=context).result().write(1).result()
