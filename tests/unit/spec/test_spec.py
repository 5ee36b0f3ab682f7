"""Specs of arrays: equal to TensorStore's, from JSON and URLs and back, changed, indexed, bound and unbound."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr.views as views
from blizzarr.errors import SpecError
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import Context
from blizzarr.spec.kvstore import KvStoreSpec
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec
from unit.spec.oracle import refusal_of

PROPERTIES = [
    "rank",
    "ndim",
    "dtype",
    "transform",
    "domain",
    "chunk_layout",
    "codec",
    "fill_value",
    "dimension_units",
    "kvstore",
    "base",
    "schema",
    "open_mode",
    "url",
]
MEMORY = "memory://a/"
ARRAY = {"driver": "array", "array": [[1, 2], [3, 4]], "dtype": "int32"}


def told(spec: Any) -> dict[str, Any]:
    """All that a spec tells; members in the same order."""
    found = {"repr": repr(spec), "json": str(spec.to_json()), "all": str(spec.to_json(include_defaults=True))}
    for name in PROPERTIES:
        try:
            found[name] = repr(getattr(spec, name))
        except (ValueError, NotImplementedError) as error:
            found[name] = refusal_of(error)
    return found


def outcome(make: Callable[[], Any]) -> Any:
    """What a spec tells, or the error."""
    try:
        return told(make())
    except (ValueError, TypeError) as error:
        return refusal_of(error)


def forget_what_tensorstore_cannot(ours: Any, theirs: Any) -> None:
    """Where a view has another rank TensorStore has no schema of it, and fill values of ``zarr3`` are not seen so."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if "does not match existing rank specified by schema" in theirs.get("schema", ""):
            ours.pop("schema", None)
            del theirs["schema"]
        if "array([" in theirs.get("fill_value", ""):
            ours.pop("fill_value", None)
            ours.pop("schema", None)
            del theirs["fill_value"]
            theirs.pop("schema", None)


def stored(driver: str) -> list[dict[str, Any]]:
    """Specs of arrays in a store, whatever the format."""
    spec = {"driver": driver, "kvstore": MEMORY}
    return [
        spec,
        {"driver": driver},
        {"driver": driver, "kvstore": {"driver": "memory"}, "path": "b"},
        {"driver": driver, "kvstore": "memory://a", "path": "/b/"},
        {"driver": driver, "path": "b"},
        *(
            {**spec, **more}
            for more in (
                {"rank": 3},
                {"rank": 33},
                {"rank": -1},
                {"rank": 1, "schema": {"rank": 3}},
                {"rank": 2, "transform": {"input_rank": 3}},
                {"rank": 3, "transform": {"input_rank": 3}},
                {"dtype": "int8"},
                {"dtype": "foo"},
                {"dtype": 5},
                {"dtype": "int8", "schema": {"dtype": "int16"}},
                {"schema": {"fill_value": 5}, "dtype": "int8"},
                {"schema": {"dimension_units": ["4nm", None]}},
                {"schema": 5},
                {"schema": {"x": 1}},
                {"transform": 5},
                {"transform": {"input_inclusive_min": [1, 1], "input_exclusive_max": [2, 2]}},
                {"transform": {"input_shape": [4], "output": [{"offset": 2, "stride": 3, "input_dimension": 0}, {}]}},
                *(
                    dict.fromkeys(names.split("+"), True)
                    for names in (
                        "open",
                        "create",
                        "open+create",
                        "delete_existing",
                        "create+delete_existing",
                        "open+create+delete_existing",
                        "assume_metadata",
                        "assume_cached_metadata",
                        "assume_metadata+assume_cached_metadata",
                        "assume_metadata+create",
                    )
                ),
                {"open": False},
                {"open": False, "create": False},
                {"open": False, "create": True},
                {"open": 1},
                {"allow_metadata_mismatch": False},
                {"allow_metadata_mismatch": True},
                *({"recheck_cached_data": bound} for bound in (True, False, "open", 5.5, 0, "x", None, -3)),
                *({"recheck_cached_metadata": bound} for bound in (True, False, "open", 5)),
                {"cache_pool": {"total_bytes_limit": 5}},
                {"data_copy_concurrency": {"limit": 2}},
                {"metadata_cache_pool": {}},
                {"context": {"cache_pool": {"total_bytes_limit": 9}}},
                {"context": 5},
                {"fill_missing_data_reads": False},
                {"store_data_equal_to_fill_value": True},
                {"foo": 1, "bar": 2},
                {"kvstore": 5},
                {"kvstore": {"driver": "zarr3"}},
                {"metadata": 5},
            )
        ),
    ]


OTHERS: list[Any] = [
    *(
        f"memory://{rest}"
        for rest in (
            "",
            "a/",
            "a",
            "a/|zarr3:",
            "a|zarr3:b/c",
            "|zarr3",
            "a/|auto:",
            "a|zip:b|zarr3:",
            "a|zip:b|zarr2:",
        )
    ),
    *(
        f"memory://a|{rest}"
        for rest in ("zarr:", "foo:", "zarr3:x?y", "zarr3:#a", "zarr3:b|zarr3:c", "auto:y", "zarr3:b%20c")
    ),
    *(
        f"memory://a|{rest}"
        for base in ("", "zarr3|", "auto|", "zarr3:b|cast:int64|")
        for end in ("", ":", ":int8", "://int8", ":int4", ":i1", ":int%38", ":int8?x", ":int8#x", ":int8/")
        for rest in (f"{base}cast{end}",)
    ),
    {"driver": "zarr2", "kvstore": MEMORY, "metadata": {"dtype": "<i2"}, "schema": {"codec": {"driver": "zarr2"}}},
    {"driver": "cast", "dtype": "int8", "base": {"driver": "zarr2", "kvstore": MEMORY}},
    "cast:int8",
    "memory://a|zarr3|cast:int8|auto",
    "memory://a|zarr3|stack:",
    {"driver": "cast", "dtype": "int8", "base": {"driver": "zarr3", "kvstore": "memory://a/"}},
    {"driver": "cast", "base": {"driver": "zarr3", "kvstore": "memory://a/"}},
    {"driver": "cast", "dtype": "int8", "base": {"driver": "array", "array": [1], "dtype": "int16"}},
    "",
    "foo",
    "zarr3:",
    "file:///tmp/x",
    "memory://a|memory://b",
    {"driver": "memory"},
    {"driver": "file", "path": "/tmp/x"},
    {"driver": "auto"},
    {"driver": "auto", "kvstore": MEMORY},
    {"driver": "auto", "kvstore": MEMORY, "path": "b"},
    {"driver": "auto", "kvstore": "memory://", "create": True},
    {"driver": "auto", "kvstore": "memory://", "schema": {"rank": 2}},
    {"driver": "auto", "kvstore": "memory://", "context": {"cache_pool": {}}},
    {"driver": "auto", "kvstore": "memory://", "cache_pool#a": {}},
    ARRAY,
    {"driver": "array", "array": [1, 2]},
    {**ARRAY, "array": 5},
    {**ARRAY, "array": []},
    {**ARRAY, "array": [[]]},
    {**ARRAY, "array": [[1], [2, 3]]},
    {**ARRAY, "array": [[1, 2], 3]},
    {**ARRAY, "array": [1, [2]]},
    {**ARRAY, "array": [1.0, 300.5]},
    {**ARRAY, "schema": {"fill_value": 5}},
    {**ARRAY, "schema": {"chunk_layout": {"inner_order": [1, 0]}}},
    {**ARRAY, "transform": {"input_shape": [2, 2], "output": [{"input_dimension": 1}, {"input_dimension": 0}]}},
    {**ARRAY, "kvstore": "memory://"},
    {**ARRAY, "rank": 3},
    {**ARRAY, "data_copy_concurrency": {"limit": 3}},
    {"driver": "array", "dtype": "bool", "array": [True, False]},
    {"driver": "array", "dtype": "bool", "array": [1]},
    {"driver": "array", "dtype": "string", "array": ["a", "é"]},
    {"driver": "array", "dtype": "ustring", "array": ["a", "é"]},
    {"driver": "array", "dtype": "json", "array": [{"a": 1}, None, 1.5]},
    {"driver": "array", "dtype": "int4", "array": [-8, 7]},
    {"driver": "array", "dtype": "int4", "array": [8]},
    {"driver": "array", "dtype": "uint64", "array": [2**63]},
    {"driver": "array", "dtype": "bfloat16", "array": [1.001, 3]},
    {"driver": "array", "dtype": "float16", "array": [0.1, 70000, "-Infinity"]},
    {"driver": "array", "dtype": "float8_e4m3fn", "array": [1.1]},
    {"driver": "array", "dtype": "complex64", "array": [1]},
    {"driver": "foo"},
    {"driver": 5},
    {},
    5,
    None,
]


@pytest.mark.parametrize("spec", [*stored("zarr3"), *stored("zarr")], ids=repr)
def test_stored(spec: Any) -> None:
    """K-1 to K-13, K-15 to K-18: the members of the drivers of formats are understood, shown, refused as there."""
    ours, theirs = outcome(lambda: Spec(spec)), outcome(lambda: ts.Spec(spec))
    forget_what_tensorstore_cannot(ours, theirs)
    assert ours == theirs


@pytest.mark.parametrize("spec", OTHERS, ids=repr)
def test_others(spec: Any) -> None:
    """URLs, formats to be found out, and arrays in memory are understood, shown and refused as TensorStore does it."""
    ours, theirs = outcome(lambda: Spec(spec)), outcome(lambda: ts.Spec(spec))
    assert ours == theirs


@pytest.mark.parametrize("driver", ["zarr1", "zarr3_draft"])
def test_formats_that_tensorstore_does_not_have(driver: str) -> None:
    """The drivers of v1 and the draft say what the others say."""
    spec = Spec({"driver": driver, "kvstore": MEMORY, "dtype": "int8", "metadata": {"shape": [3, 4]}, "create": True})
    assert spec.domain == views.IndexDomain(shape=[3, 4], implicit_upper_bounds=[True, True])
    assert spec.url == f"memory://a/|{driver}:"
    assert Spec(spec.url) == Spec({"driver": driver, "kvstore": MEMORY})
    assert Spec(spec.to_json()) == spec


def changes(module: Any) -> list[dict[str, Any]]:
    """Changes by keyword."""
    kv, mode = module["KvStoreSpec"], module["OpenMode"]
    return [
        {"open": True},
        {"create": True, "delete_existing": True},
        {"open": False},
        {"open": None},
        {"assume_metadata": True, "assume_cached_metadata": True},
        {"open_mode": mode(create=True), "open": True},
        {"open_mode": mode()},
        {"recheck_cached": True},
        {"recheck_cached": False},
        {"recheck_cached_data": "open", "recheck_cached_metadata": 5},
        {"recheck_cached_data": "x"},
        {"kvstore": kv("memory://b/")},
        {"kvstore": "memory://"},
        {"minimal_spec": True},
        {"minimal_spec": False},
        {"rank": 2},
        {"rank": 40},
        {"rank": 3, "shape": [1, 2]},
        {"dtype": "int16"},
        {"dtype": "int32"},
        {"dtype": "foo"},
        {"shape": [1, 2]},
        {"shape": [2, 2]},
        {"domain": module["IndexDomain"](labels=["x", "y"])},
        {"schema": module["Schema"](rank=2, fill_value=5)},
        {"schema": {"rank": 2}},
        {"chunk_layout": module["ChunkLayout"](read_chunk_elements=4)},
        {"chunk_layout": module["ChunkLayout"](read_chunk_shape=[None, 4])},
        {"codec": module["CodecSpec"]({"driver": "zarr3"})},
        {"fill_value": 5},
        {"fill_value": [1, 2]},
        {"dimension_units": ["nm", None]},
        {"dimension_units": ["nm"]},
        {"unbind_context": True},
        {"strip_context": True},
        {"context": 5},
        {"foo": 1},
    ]


OURS: dict[str, Any] = {
    "KvStoreSpec": KvStoreSpec,
    "OpenMode": OpenMode,
    "Schema": Schema,
    "ChunkLayout": ChunkLayout,
    "CodecSpec": CodecSpec,
    "IndexDomain": views.IndexDomain,
}
THEIRS: dict[str, Any] = {
    "KvStoreSpec": ts.KvStore.Spec,
    **{name: getattr(ts, name) for name in ("OpenMode", "Schema", "ChunkLayout", "CodecSpec", "IndexDomain")},
}

BASES: list[tuple[dict[str, Any], Callable[[Any, Any], Any]]] = [
    ({"driver": "zarr3", "kvstore": MEMORY}, lambda spec, d: spec),
    ({"driver": "zarr3"}, lambda spec, d: spec),
    ({"driver": "zarr3", "kvstore": MEMORY, "create": True, "rank": 2}, lambda spec, d: spec),
    ({"driver": "zarr3", "kvstore": MEMORY, "rank": 2}, lambda spec, d: spec.T),
    ({"driver": "zarr3", "kvstore": MEMORY, "rank": 2}, lambda spec, d: spec[3, None]),
    ({"driver": "zarr3", "kvstore": MEMORY, "rank": 2}, lambda spec, d: spec[d[0].translate_by[5]]),
    (
        {
            "driver": "zarr3",
            "kvstore": MEMORY,
            "schema": {"domain": {"shape": [2, 9]}, "dimension_units": ["2nm", "s"]},
        },
        lambda spec, d: spec[..., ::2],
    ),
    ({"driver": "auto", "kvstore": MEMORY}, lambda spec, d: spec),
    (ARRAY, lambda spec, d: spec),
    (ARRAY, lambda spec, d: spec[1]),
    (ARRAY, lambda spec, d: spec.T),
]


@pytest.mark.parametrize("number", range(len(changes(OURS))), ids=lambda number: repr(changes(THEIRS)[number]))
@pytest.mark.parametrize(("json", "view"), BASES, ids=lambda part: repr(part) if isinstance(part, dict) else "")
def test_changed(json: Any, view: Any, number: int) -> None:
    """A change of a spec, or of that of a view, gives what it gives with TensorStore, or the same error."""
    ours, theirs = view(Spec(json), views.d), view(ts.Spec(json), ts.d)
    results = []
    for spec, module in ((ours, OURS), (theirs, THEIRS)):
        try:
            spec.update(**changes(module)[number])
            results.append(told(spec))
        except TypeError:
            results.append({"TypeError": True})
        except ValueError as error:
            results.append({"ValueError": refusal_of(error)})
    forget_what_tensorstore_cannot(*results)
    assert results[0] == results[1]


def test_indexing_needs_a_rank() -> None:
    """A spec whose rank nobody knows cannot be indexed."""
    spec = Spec({"driver": "zarr3", "kvstore": MEMORY})
    for use in (
        lambda: spec[0],
        lambda: spec.T,
        lambda: spec.shape,
        lambda: spec.oindex[0],
        lambda: spec[views.IndexTransform(input_rank=2)],
    ):
        with pytest.raises(ValueError, match="Cannot perform indexing operations on Spec with unspecified rank"):
            use()


def test_views() -> None:
    """A view of a spec is the spec of the view."""
    json = {
        "driver": "zarr3",
        "kvstore": MEMORY,
        "schema": {"domain": {"shape": [10, 20]}, "fill_value": 3},
        "dtype": "int8",
    }
    for use in (
        lambda spec, d: spec[3],
        lambda spec, d: spec[2:5, ::3],
        lambda spec, d: spec.oindex[[1, 2], 3],
        lambda spec, d: spec.vindex[[1, 2], [3, 4]],
        lambda spec, d: spec[d[1].label["x"].translate_to[5]],
        lambda spec, d: spec.translate_to[3, 4].label["x", "y"],
        lambda spec, d: spec.mark_bounds_implicit[False],
        lambda spec, d: spec.transpose([1, 0])[..., None],
        lambda spec, d: (spec.origin, spec.shape, spec.size),
    ):
        ours, theirs = use(Spec(json), views.d), use(ts.Spec(json), ts.d)
        if isinstance(ours, tuple):
            assert ours == theirs
            continue
        ours, theirs = told(ours), told(theirs)
        forget_what_tensorstore_cannot(ours, theirs)
        assert ours == theirs


def test_bound_and_unbound() -> None:
    """Binding, showing, unbinding and forgetting resources gives what TensorStore gives at each step."""
    for json, context in (
        ({"driver": "zarr3", "kvstore": MEMORY}, {}),
        ({"driver": "zarr3", "kvstore": "file:///tmp/x"}, {"cache_pool": {"total_bytes_limit": 5}}),
        ({"driver": "zarr3", "kvstore": MEMORY, "cache_pool": {"total_bytes_limit": 9}}, {}),
        ({"driver": "zarr3", "kvstore": MEMORY, "cache_pool": "cache_pool#a"}, {"cache_pool#a": {}, "cache_pool": {}}),
        ({"driver": "zarr3", "kvstore": "memory://a|zip:", "context": {"cache_pool": {"total_bytes_limit": 7}}}, {}),
        ({"driver": "zarr3", "kvstore": {"driver": "zip", "base": MEMORY, "cache_pool": {}}}, {"cache_pool": {}}),
        (ARRAY, {"data_copy_concurrency": {"limit": 2}}),
    ):
        ours, theirs = Spec(json), ts.Spec(json)
        ours.update(context=Context(context))
        theirs.update(context=ts.Context(context))
        assert (repr(ours), ours.to_json()) == (repr(theirs), theirs.to_json())
        for change in ({"unbind_context": True}, {"strip_context": True}):
            ours.update(**change)
            theirs.update(**change)
            assert (repr(ours), ours.to_json(True)) == (repr(theirs), theirs.to_json(True))


def test_copies_and_equality() -> None:
    """Copies say the same and change alone; specs are equal if they say the same, bound to the same resources."""
    spec = Spec({"driver": "zarr3", "kvstore": MEMORY, "rank": 2})[1]
    for other in (copy.copy(spec), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec)), spec.copy(), Spec(spec)):
        assert other == spec
        other.update(create=True)
        assert other != spec
    one, other, third = spec.copy(), spec.copy(), spec.copy()
    context = Context()
    for bound, to in ((one, context), (other, context), (third, Context())):
        bound.update(context=to)
    assert one == other
    assert one != third
    assert one != spec
    assert spec != 5
    with pytest.raises(TypeError):
        hash(spec)


def test_objects_in_json() -> None:
    """What has `to_json` may stand in JSON."""
    spec = Spec(
        {
            "driver": "zarr3",
            "kvstore": KvStoreSpec(MEMORY),
            "dtype": np.dtype("int8").name,
            "schema": Schema(rank=2),
            "transform": views.IndexTransform(input_shape=(np.int64(3), 4)),
        }
    )
    assert spec.shape == (3, 4)
    with pytest.raises(SpecError, match="is a TensorStore driver"):
        Spec({"driver": "zarr3", "kvstore": spec})


def test_a_volume_has_four_dimensions_before_anything_is_said_of_it() -> None:
    assert Spec({"driver": "neuroglancer_precomputed", "kvstore": "memory://"}).rank == 4


STORED = {
    "driver": "zarr3",
    "kvstore": MEMORY,
    "metadata": {
        "shape": [10, 21],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "dimension_names": ["x", "y"],
        "attributes": {"dimension_units": ["4 nm", None]},
    },
}
VIEW = {
    **STORED,
    "transform": {
        "input_inclusive_min": [2, 3],
        "input_exclusive_max": [5, 9],
        "output": [{"input_dimension": 1, "stride": 2, "offset": 1}, {"input_dimension": 0}],
    },
}
DOWNSAMPLE = {"driver": "downsample", "downsample_factors": [2, 3], "downsample_method": "mean"}


@pytest.mark.parametrize("base", [STORED, VIEW])
@pytest.mark.parametrize(
    "made",
    [
        lambda base: {"driver": "cast", "dtype": "float32", "base": base},
        lambda base: {
            "driver": "cast",
            "dtype": "float32",
            "base": base,
            "schema": {"dimension_units": ["4nm", "8nm"]},
        },
        lambda base: {**DOWNSAMPLE, "base": base},
        lambda base: {**DOWNSAMPLE, "base": {"driver": "cast", "dtype": "float32", "base": base}},
        lambda base: {"driver": "stack", "layers": [base]},
        lambda base: {"driver": "stack", "layers": [base, STORED]},
    ],
)
def test_what_is_known_of_arrays_made_from_others(made: Callable[[Any], Any], base: Any) -> None:
    """Before they are opened, layout, units and domain are those of the arrays below, as in TensorStore."""
    mine, theirs = Spec(made(base)), ts.Spec(made(base))
    for name in ("rank", "domain", "chunk_layout", "dimension_units"):
        assert repr(getattr(mine, name)) == repr(getattr(theirs, name)), name
