"""Specs of random members, changed and indexed at random: both libraries tell the same of them, or give the same error.

Metadata are left to the tests of creation: TensorStore dies of some that contradict the rank of a schema.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
import tensorstore

import blizzarr.tensorstore as ours
from blizzarr.errors import BlizzarrError
from tensorstore_face import without_hint
from unit.spec.oracle import Refusal

SPECS = 1200
STEPS = 4

PLACES: list[Any] = [
    "memory://a/",
    "memory://a b",
    "file:///tmp/x/y",
    "file:///tmp/x.zip|zip:a/b",
    {"driver": "memory", "path": "p", "memory_key_value_store": "memory_key_value_store#a"},
    {
        "driver": "memory",
        "context": {"memory_key_value_store#a": {}},
        "memory_key_value_store": "memory_key_value_store#a",
    },
    {"driver": "file", "path": "relative/x", "file_io_sync": False},
    {"driver": "zip", "base": "memory://z", "path": "q/"},
    "gs://bucket/a/b",
    "s3://bucket/a",
    "https://example.org/a?b",
]
NO_PLACES: list[Any] = [{"driver": "memory", "bad": 1}, "memory://a?b", "nowhere://a", 5]
DOMAINS: list[Any] = [
    {"shape": [3, 4]},
    {"inclusive_min": [1, 0], "exclusive_max": [[9], "+inf"]},
    {"labels": ["x", "y"]},
    {"rank": 2},
]
NO_DOMAINS: list[Any] = [{"shape": [5]}, {"labels": ["x", "x"]}]
LAYOUTS: list[Any] = [
    {"read_chunk": {"shape": [2, 3]}},
    {"write_chunk": {"elements": 10}, "inner_order_soft_constraint": [1, 0]},
    {"grid_origin": [0, 0], "chunk": {"aspect_ratio": [1, 2]}},
    {"inner_order": [1, 0]},
]
NO_LAYOUTS: list[Any] = [{"inner_order": [0, 0]}, {"read_chunk": {"shape": [5]}}]
TRANSFORMS: list[Any] = [
    {"input_rank": 2},
    {"input_shape": [3, 4]},
    {"input_inclusive_min": [1, 1], "input_exclusive_max": [2, [5]], "input_labels": ["a", ""]},
    {"input_shape": [4], "output": [{"input_dimension": 0, "stride": 2}, {"offset": 1}]},
    {"input_rank": 2, "output": [{"input_dimension": 1}, {"input_dimension": 0}]},
]
NO_TRANSFORMS: list[Any] = [{"input_rank": 1}, {"input_rank": "x"}]
CONTEXTS: list[Any] = [
    {},
    {"cache_pool": {"total_bytes_limit": 1000}},
    {"cache_pool#a": {}, "cache_pool": "cache_pool#a", "memory_key_value_store#a": {}},
    {"data_copy_concurrency": {"limit": 2}, "file_io_sync": False},
]


def pick(random: Random, values: list[Any], bad: list[Any]) -> Any:
    """One of these, seldom one that is refused."""
    return random.choice(bad if bad and random.random() < 0.04 else values)


AUTO = ("kvstore", "path", "dtype", "rank", "schema", "transform", "context", "cache_pool", "data_copy_concurrency")


def schema(random: Random) -> Any:
    """Some constraints."""
    parts: dict[str, Any] = {
        "rank": pick(random, [2], [1]),
        "dtype": pick(random, ["int16"], ["uint16", "float32"]),
        "domain": pick(random, DOMAINS, NO_DOMAINS),
        "chunk_layout": pick(random, LAYOUTS, NO_LAYOUTS),
        "fill_value": pick(random, [0, 5, [1, 2, 3, 4]], ["x"]),
        "dimension_units": pick(random, [["4nm", None], [None, "s"], [[4, "nm"], "s"]], [["m"]]),
        "other": 1,
    }
    wanted = [name for name in parts if random.random() < (0.02 if name == "other" else 0.3)]
    return {name: parts[name] for name in wanted}


def spec(random: Random) -> Any:
    """Some members."""
    parts: dict[str, Any] = {
        "kvstore": pick(random, PLACES, NO_PLACES),
        "path": pick(random, ["", "b", "/b/"], [5]),
        "dtype": pick(random, ["int16"], ["uint16", "nothing"]),
        "rank": pick(random, [2], [1, 40]),
        "schema": schema(random),
        "transform": pick(random, TRANSFORMS, NO_TRANSFORMS),
        "context": pick(random, CONTEXTS, [{"nothing": {}}]),
        "cache_pool": pick(random, [{}, "cache_pool#a", {"total_bytes_limit": 7}], ["data_copy_concurrency"]),
        "data_copy_concurrency": pick(random, [{"limit": 3}, "data_copy_concurrency#b"], [{"limit": 0}]),
        "recheck_cached_data": pick(random, [True, False, "open", 4], ["x"]),
        "recheck_cached_metadata": random.choice([True, False, "open", 4.5]),
        "fill_missing_data_reads": random.choice([True, False]),
        "store_data_equal_to_fill_value": pick(random, [True, False], [1]),
        **{name: random.choice([True, False]) for name in ("open", "create", "delete_existing", "assume_metadata")},
        "metadata_cache_pool": {},
        "nothing": 0,
    }
    rare = {"nothing": 0.02, "path": 0.1, "kvstore": 0.8, "metadata_cache_pool": 0.1, "transform": 0.25}
    found = {name: value for name, value in parts.items() if random.random() < rare.get(name, 0.2)}
    driver = random.choice(["zarr3", "zarr3", "zarr", "auto"])
    if driver == "auto":
        found = {name: value for name, value in found.items() if name in AUTO or random.random() < 0.05}
    return {"driver": driver, **found}


def change(random: Random, ts: Any) -> Any:
    """A change by keyword, or an indexing."""
    kind = random.randrange(10)
    if kind < 5:
        name, values = random.choice(
            [
                ("shape", [[3, 4], [3, 4], [5]]),
                ("rank", [2, 2, 1]),
                ("dtype", ["int16", "int16", "uint16"]),
                ("fill_value", [3, 0]),
                ("dimension_units", [["4nm", None], [None, "s"]]),
                ("chunk_layout", [ts.ChunkLayout(read_chunk_elements=5), ts.ChunkLayout(inner_order=[1, 0])]),
                ("domain", [ts.IndexDomain(labels=["x", "y"]), ts.IndexDomain(shape=[3, 4])]),
                ("open_mode", [ts.OpenMode(create=True), ts.OpenMode(open=True, create=True)]),
                ("create", [True]),
                ("assume_cached_metadata", [True]),
                ("recheck_cached", [False, "open"]),
                ("strip_context", [True]),
                ("schema", [ts.Schema(rank=2), ts.Schema(dtype="int16", fill_value=5)]),
            ]
        )
        value = random.choice(values)
        return lambda spec: (spec.update(**{name: value}), spec)[1]
    if kind == 5:
        context = ts.Context({"cache_pool#a": {}, "memory_key_value_store#a": {}, "data_copy_concurrency#b": {}})
        return lambda spec: bound(spec, context)
    if kind == 6:
        # Read again, as what TensorStore has unbound and binds at once is not shared any more.
        return lambda spec: (spec.update(unbind_context=True), ts.Spec(spec.to_json()))[1]
    if kind == 7 and random.random() < 0.3:
        # Before anything is bound: TensorStore does not bind the store of a spec that is bound already.
        return lambda spec: stored(ts.Spec(spec.to_json()), ts)
    start, stop = sorted((random.randrange(4), random.randrange(5)))
    return random.choice(
        [
            lambda spec: spec.T,
            lambda spec: spec[start],
            lambda spec: spec[start:stop],
            lambda spec: spec[..., start:stop],
            lambda spec: spec[..., None],
            lambda spec: spec[ts.d[0].translate_by[start]],
            lambda spec: spec[ts.d[0].label["q"]],
            lambda spec: spec.translate_to[start],
        ]
    )


def stored(spec: Any, ts: Any) -> Any:
    """The spec with a store, if it had none."""
    spec.update(kvstore=ts.KvStore.Spec("memory://k/"))
    return spec


def bound(spec: Any, context: Any) -> Any:
    """The spec bound to a context; not one of a format to be found out, which TensorStore has say kinds we lack."""
    if spec.to_json()["driver"] != "auto":
        spec.update(context=context)
    return spec


def told(spec: Any) -> Any:
    """What a spec tells, in plain values."""
    found: list[Any] = [repr(spec), spec.to_json()]
    for name in ("rank", "dtype", "domain", "transform", "chunk_layout", "codec", "dimension_units", "kvstore", "url"):
        try:
            found.append(repr(getattr(spec, name)))
        except (ValueError, NotImplementedError) as error:
            found.append(Refusal(str(error), isinstance(error, BlizzarrError)))
    return found


def run(ts: Any, seed: int) -> list[Any]:
    """What a spec tells after each step, to the first error."""
    random = Random(seed)
    results: list[Any] = []
    try:
        said = ts.Spec(spec(random))
        results.append(told(said))
        for _ in range(STEPS):
            said = change(random, ts)(said)
            results.append(told(said))
    except TypeError:
        results.append("TypeError")
    except (ValueError, IndexError) as error:
        # What TensorStore adds about domains and transforms.
        text = re.sub(r" \[[a-z_ ]+='.*$", "", without_hint(str(error)), flags=re.DOTALL)
        results.append((isinstance(error, IndexError), Refusal(text, isinstance(error, BlizzarrError))))
    return results


@pytest.mark.parametrize("part", range(4))
def test_random_specs(part: int) -> None:
    """K-1 to K-13, K-15 to K-18: each tells the same after every step."""
    for seed in range(part * SPECS // 4, (part + 1) * SPECS // 4):
        assert run(ours, seed) == run(tensorstore, seed), seed
