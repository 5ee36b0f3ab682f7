"""Specs of key-value stores: equal to TensorStore's, from JSON and URLs and back, bound and unbound."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.spec.context import Context
from blizzarr.spec.kvstore import KvStoreSpec
from unit.spec.oracle import refusal_of

URLS = [
    "memory://",
    "memory://a/b",
    "memory:///a",
    "memory://a?x=1",
    "memory://a#b",
    "memory://a%20b",
    "memory://%zz",
    "memory://a%fa",
    "file:///tmp/%fa",
    "memory:",
    "memory:a",
    "MEMORY://x",
    "file:///tmp/x",
    "file:///tmp/x/",
    "file://tmp/x",
    "file:/tmp/x",
    "file://localhost/tmp/x",
    "file:///a%2Fb",
    "file:///",
    "file://",
    "file:///a?b",
    "/tmp/x",
    "tmp/x",
    "./x",
    "foo",
    "foo://x",
    "gcs://x/y",
    "zip://x",
    "zip:x",
    "|zip:",
    "memory://a|",
    "memory://a||zip:",
    "file:///tmp/x.zip|zip:a/b",
    "file:///tmp/x.zip|zip",
    "memory://a|zip:",
    "memory://a|zip:p|zip:q",
    "memory://x|foo:",
    "memory://a|zarr3:",
    "memory://a|zarr2:",
    "memory://a|memory://b",
    "memory://a|zip:b?c",
    "memory://a|zip:b#c",
    "memory://a|zip:%20",
    "memory://a|zip://b",
    "memory://a|zip:/b",
    "file:///tmp/x/|ocdbt:a/b",
    "file:///tmp/x/|ocdbt:@v5/a%20b",
    "file:///tmp/x/|ocdbt:@v5",
    "file:///tmp/x/|ocdbt:@x/a",
    "file:///tmp/x|ocdbt:@v0/a",
    "file:///tmp/x|ocdbt:@v18446744073709551616/a",
    "file:///tmp/x|ocdbt:%40v5/@a",
    "file:///tmp/x|ocdbt:@v5/@v6/a",
    "file:///tmp/x|ocdbt:@v%35/a",
    "file:///tmp/x.zip|zip:a/|ocdbt:b",
    "ocdbt:a",
    "http://h/a|zip:b",
    "gs://b/p",
    "gs://abc/p",
    "gs://abc",
    "gs://abc/",
    "gs://abc/a%20b",
    "gs://abc?x",
    "gs://abc/a#x",
    "s3://b/p",
    "s3://abc/a/b",
    "s3://abc",
    "http://h/p",
    "https://h/p?q=1",
    "http://user@h:80/p",
    "https://",
    "http:x",
    "http://h#x",
]

SPECS: list[Any] = [
    "",
    *URLS,
    5,
    None,
    [],
    {},
    {"path": "x"},
    {"driver": "foo"},
    {"driver": 5},
    {"driver": "zarr3"},
    {"driver": "array"},
    {"driver": "memory"},
    {"driver": "memory", "path": "a b"},
    {"driver": "memory", "path": "é"},
    {"driver": "memory", "path": 5},
    {"driver": "memory", "foo": 1},
    {"driver": "memory", "cache_pool": {}},
    {"driver": "memory", "atomic": False},
    {"driver": "memory", "atomic": 1},
    {"driver": "memory", "memory_key_value_store": {}},
    {"driver": "memory", "memory_key_value_store": None},
    {"driver": "memory", "memory_key_value_store": "x"},
    {"driver": "memory", "memory_key_value_store": []},
    {"driver": "memory", "memory_key_value_store": ["memory_key_value_store"]},
    {"driver": "memory", "memory_key_value_store": ["memory_key_value_store#a"]},
    {"driver": "memory", "memory_key_value_store": "memory_key_value_store#a"},
    {"driver": "memory", "context": {}},
    {"driver": "memory", "context": 5},
    {"driver": "memory", "context": {"abc": {}}},
    {"driver": "memory", "context": {"memory_key_value_store": {}}},
    {
        "driver": "memory",
        "context": {"memory_key_value_store#a": {}},
        "memory_key_value_store": "memory_key_value_store#a",
    },
    {"driver": "memory", "context": {"cache_pool": {"total_bytes_limit": 5}}},
    {"driver": "file"},
    {"driver": "file", "path": "rel/x"},
    {"driver": "file", "path": "/tmp/a b#c"},
    {"driver": "file", "path": "/tmp/x", "file_io_sync": False, "file_io_concurrency": {"limit": 4}},
    {"driver": "file", "path": "/x", "file_io_sync": [True]},
    {"driver": "file", "path": "/x", "file_io_sync": "x"},
    *(
        {"driver": "file", "path": path}
        for path in ("/a/../b", "/a//b", "/a/./b", "//x", "../x", "~x", "/x\0", ".", "./x")
    ),
    *({"driver": "file", "path": path} for path in ("/a.__lock", "/a.__lock/b", "/x/..", "/", "/x/", "x/")),
    {"driver": "zip"},
    {"driver": "zip", "base": 5},
    {"driver": "zip", "base": "foo"},
    {"driver": "zip", "base": {"driver": "zarr"}},
    {"driver": "zip", "base": "memory://x", "path": "/a/../b"},
    {"driver": "zip", "base": "memory://", "compression": "x"},
    {"driver": "ocdbt", "base": "memory://x/", "path": "a/b"},
    {"driver": "ocdbt", "base": "memory://x", "path": "@v5/a@b", "manifest": "memory://y"},
    {"driver": "ocdbt", "base": {"driver": "file", "path": "/tmp/x"}, "path": "@v5/a@b"},
    {"driver": "ocdbt", "base": "memory://x/", "version": 5, "manifest": "memory://y/"},
    {"driver": "ocdbt", "base": "memory://x/", "assume_config": True, "value_data_prefix": "v/", "path": "a"},
    {"driver": "ocdbt", "base": "memory://x/", "target_data_file_size": 5, "cache_pool": "cache_pool#a"},
    {"driver": "ocdbt", "base": "memory://x/", "version": 0},
    {"driver": "ocdbt", "base": "memory://x/", "config": 5},
    {"driver": "ocdbt", "manifest": "memory://x/"},
    {"driver": "ocdbt", "base": "memory://x/", "coordinator": {"address": "localhost:5", "lease_duration": "5s"}},
    {"driver": "zip", "base": "memory://", "compression": "store"},
    {"driver": "zip", "base": "file:///tmp/x.zip", "path": "a/b", "cache_pool": "cache_pool#x"},
    {"driver": "gcs"},
    {"driver": "gcs", "bucket": "b"},
    {"driver": "gcs", "bucket": "a_b-c.d", "path": "a b"},
    {"driver": "gcs", "bucket": "abc", "experimental_gcs_rate_limiter": {"read_rate": 4}},
    {"driver": "s3", "bucket": "abc", "aws_region": "us", "requester_pays": True},
    {"driver": "s3", "bucket": "abc", "aws_region": "us", "requester_pays": True, "host_header": "y"},
    {"driver": "http"},
    {"driver": "http", "base_url": "x"},
    {"driver": "http", "base_url": "http://h"},
    {"driver": "http", "base_url": "http://h/a?b", "headers": ["a: b"]},
    {"driver": "http", "base_url": "http://h", "path": "x"},
    {"driver": "http", "base_url": "http://h/a/", "path": "/x y"},
    *(
        {"driver": "http", "base_url": f"http://h{base}", "path": path}
        for base in ("", "/", "/a", "/a/?b")
        for path in ("", "/", "/x", "x", "//")
    ),
    {"driver": "zarr2"},
]


def said(spec: Any) -> list[Any]:
    """All that a spec tells."""
    told = [repr(spec), spec.to_json(), spec.to_json(include_defaults=True), spec.path, repr(spec.base)]
    try:
        told.append(spec.url)
    except ValueError as error:
        told.append(refusal_of(error))
    return told


def outcome(make: Callable[[], Any]) -> Any:
    """What a spec tells, or the error."""
    try:
        return said(make())
    except ValueError as error:
        return refusal_of(error)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_says_what_tensorstore_says(spec: Any) -> None:
    """K-2: an object or a URL is understood, shown and refused as TensorStore does it."""
    assert outcome(lambda: KvStoreSpec(spec)) == outcome(lambda: ts.KvStore.Spec(spec))


def test_a_place_without_url() -> None:
    """S3 at an explicit endpoint has no URL."""
    with pytest.raises(UnsupportedOperationError, match="not supported with explicit endpoint"):
        _ = KvStoreSpec({"driver": "s3", "bucket": "abc", "endpoint": "http://x"}).url


BOUND: list[tuple[Any, Any]] = [
    ("memory://a", {}),
    ("memory://a", {"memory_key_value_store": "memory_key_value_store#a", "memory_key_value_store#a": {}}),
    ({"driver": "memory", "memory_key_value_store": "memory_key_value_store#b"}, {"memory_key_value_store#b": {}}),
    ({"driver": "memory", "memory_key_value_store": {}}, {}),
    ({"driver": "file", "path": "/x", "context": {"file_io_concurrency": {"limit": 2}, "file_io_sync": False}}, {}),
    (
        {
            "driver": "zip",
            "base": {
                "driver": "memory",
                "context": {"memory_key_value_store#a": {}},
                "memory_key_value_store": "memory_key_value_store#a",
            },
            "context": {"cache_pool": {"total_bytes_limit": 9}},
        },
        {},
    ),
    ("memory://|zip:", {"memory_key_value_store": "memory_key_value_store#a", "memory_key_value_store#a": {}}),
    ("memory://a|zip:b|zip:c", {"cache_pool#b": {}, "cache_pool": "cache_pool#b"}),
    (
        {
            "driver": "zip",
            "base": {"driver": "zip", "base": "memory://", "context": {"cache_pool": {"total_bytes_limit": 5}}},
        },
        {"cache_pool": {"total_bytes_limit": 9}},
    ),
    ({"driver": "zip", "base": {"driver": "memory", "memory_key_value_store": {}}}, {}),
]


@pytest.mark.parametrize(("spec", "context"), BOUND, ids=repr)
def test_bound_and_unbound(spec: Any, context: Any) -> None:
    """Binding, showing, unbinding and forgetting resources gives what TensorStore gives at each step."""
    ours, theirs = KvStoreSpec(spec), ts.KvStore.Spec(spec)
    ours.update(context=Context(context))
    theirs.update(context=ts.Context(context))
    assert said(ours) == said(theirs)
    for change in ({"unbind_context": True}, {"strip_context": True}):
        ours.update(**change)
        theirs.update(**change)
        assert said(ours) == said(theirs)


def test_equality() -> None:
    """Specs are equal if they say the same and are bound to the very same resources."""
    spec, context = KvStoreSpec("memory://a"), Context()
    assert spec == KvStoreSpec({"driver": "memory", "path": "a"})
    one, other, third = spec.copy(), spec.copy(), spec.copy()
    one.update(context=context)
    other.update(context=context)
    third.update(context=Context())
    assert one == other
    assert one != third
    assert one != spec
    with pytest.raises(TypeError):
        hash(spec)


def test_paths() -> None:
    """Paths are joined and changed as TensorStore does it."""
    for path in ("", "a", "a/", "/"):
        for more in ("", "b", "/b", "b/", b"c"):
            ours, theirs = KvStoreSpec(f"memory://{path}"), ts.KvStore.Spec(f"memory://{path}")
            assert (ours / more).path == (theirs / more).path
            assert (ours + more).path == (theirs + more).path
    ours.path = b"q"
    assert repr(ours) == "KvStore.Spec({'driver': 'memory', 'path': 'q'})"
    ours.path = b"\xff"
    with pytest.raises(UnicodeDecodeError):
        _ = ours.path
    with pytest.raises(TypeError):
        ours.path = 5  # type: ignore[assignment]


def test_copies() -> None:
    """Copies say the same and change alone; pickled specs share what they shared."""
    spec = KvStoreSpec("memory://a|zip:b")
    for other in (copy.copy(spec), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec)), KvStoreSpec(spec)):
        assert other == spec
        other.path = "c"
        assert spec.path == "b"
    context = Context()
    spec.update(context=context)
    again, other = pickle.loads(pickle.dumps((spec, context)))
    expected = KvStoreSpec("memory://a|zip:b")
    expected.update(context=other)
    assert again == expected


def test_wrong_arguments() -> None:
    """What is no context is refused."""
    with pytest.raises(TypeError):
        KvStoreSpec("memory://").update(context={})  # type: ignore[arg-type]
    with pytest.raises(SpecError):
        KvStoreSpec("memory://" + "|zip:" * 3 + "|foo")
