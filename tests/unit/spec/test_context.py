"""Contexts: equal to TensorStore's, in what they say, share and refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.errors import SpecError
from blizzarr.spec.context import Context, resource_of
from blizzarr.spec.resources import RESOURCES, duration_text, parse_duration
from unit.spec.oracle import refusal_of

SPECS: list[Any] = [
    {},
    None,
    5,
    [],
    "x",
    {1: 2},
    {"abc": {}},
    {"abc#x": {}},
    {"cache_pool": {}},
    {"cache_pool": {"total_bytes_limit": 0}},
    {"cache_pool": {"total_bytes_limit": 5.0}},
    {"cache_pool": {"total_bytes_limit": -1}},
    {"cache_pool": {"total_bytes_limit": "5"}},
    {"cache_pool": {"total_bytes_limit": True}},
    {"cache_pool": {"x": 1}},
    {"cache_pool": None},
    {"cache_pool": 5},
    {"cache_pool": "cache_pool"},
    {"cache_pool": "cache_pool#a"},
    {"cache_pool": "data_copy_concurrency"},
    {"cache_pool": ["cache_pool"]},
    {"cache_pool#a": "cache_pool"},
    {"cache_pool#": {}},
    {"cache_pool#a#b": {}},
    {"data_copy_concurrency": {"limit": "shared"}},
    {"data_copy_concurrency": {"limit": 4}},
    {"data_copy_concurrency": {"limit": 0}},
    {"data_copy_concurrency": {"limit": None}},
    {"file_io_concurrency": {"limit": 3}},
    {"file_io_sync": True},
    {"file_io_sync": False},
    {"file_io_sync": {}},
    {"file_io_sync": "file_io_sync#a"},
    {"file_io_locking": {"mode": "os"}},
    {"file_io_locking": {"mode": "x"}},
    {"file_io_locking": {"mode": "lockfile", "acquire_timeout": "5s"}},
    {"file_io_mode": {"mode": "memmap"}},
    {"file_io_mode": {"mode": 5}},
    {"file_io_retries": {"max_retries": 3, "max_delay": "1m30s"}},
    {"file_io_retries": {"max_delay": "5"}},
    {"memory_key_value_store": {"a": 1}},
    {"http_request_retries": {"initial_delay": "1500ms"}},
    {"gcs_user_project": {"project_id": "x"}},
    {"experimental_gcs_rate_limiter": {"write_rate": 1, "read_rate": 2, "doubling_time": "10m"}},
    {"aws_credentials": {"type": "anonymous"}},
    {"aws_credentials": {"type": "x"}},
    {"aws_credentials": {"type": "default", "profile": "q"}},
]


def outcome(context: Any, spec: Any) -> list[Any]:
    """What comes of a spec: what is shown of it and of its first resource, or the error."""
    try:
        parsed = context.Spec(spec)
        said = [repr(parsed), parsed.to_json(), parsed.to_json(include_defaults=True)]
    except ValueError as error:
        return [refusal_of(error)]
    try:
        said += [(str(made), made.to_json(True)) for made in map(context(spec).__getitem__, spec)]
    except ValueError as error:
        said.append(refusal_of(error))
    return said


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_says_what_tensorstore_says(spec: Any) -> None:
    """Each spec is shown, made or refused as TensorStore does it."""
    assert outcome(Context, spec) == outcome(ts.Context, spec)


@pytest.mark.parametrize("name", sorted(RESOURCES))
def test_every_kind_has_tensorstores_defaults(name: str) -> None:
    """A context that says nothing has everything, with defaults."""
    ours, theirs = Context()[name], ts.Context()[name]
    assert (repr(ours), ours.to_json(), ours.to_json(True)) == (repr(theirs), theirs.to_json(), theirs.to_json(True))


@pytest.mark.parametrize("key", ["abc", "abc#", "#", "", "cache_pool#", "cache_pool#x#", "file_io_sync#q"])
def test_keys_that_mean_nothing(key: str) -> None:
    """They are refused, with what TensorStore names, too."""
    with pytest.raises(ValueError, match="esource") as theirs:
        ts.Context()[key]
    with pytest.raises(SpecError) as ours:
        Context()[key]
    assert refusal_of(ours.value) == refusal_of(theirs.value)


def test_cycles_are_found() -> None:
    """Keys that refer to each other are an error that shows all of them; afterwards the rest of the context works."""
    context = Context({"cache_pool#a": "cache_pool#b", "cache_pool#b": "cache_pool#a", "cache_pool": {}})
    for key in ("cache_pool#a", "cache_pool#b", "cache_pool#a"):
        with pytest.raises(SpecError, match=r'cycle: .*"cache_pool#a":"cache_pool#b"') as ours:
            context[key]
        assert '"cache_pool#b":"cache_pool#a"' in str(ours.value)
    assert context["cache_pool"].to_json() == {}


def test_what_is_shared() -> None:
    """What is not said here comes from above, once; keys that refer to one resource give that one."""
    parent = Context({"memory_key_value_store#c": {}})
    child = Context({"memory_key_value_store": {}, "memory_key_value_store#a": "memory_key_value_store"}, parent)
    assert child["memory_key_value_store#c"] is parent["memory_key_value_store#c"]
    assert child["memory_key_value_store"] is child["memory_key_value_store#a"]
    assert child["memory_key_value_store"] is not parent["memory_key_value_store"]
    assert child["cache_pool"] is parent["cache_pool"]
    assert Context({"cache_pool#q": "cache_pool"}, parent)["cache_pool#q"] is parent["cache_pool"]
    assert Context({"cache_pool": None}, parent)["cache_pool"] is parent["cache_pool"]
    assert child.parent is parent
    assert parent.parent is None
    assert Context().spec is None
    assert Context() != Context()
    assert (
        resource_of(Context(), "memory_key_value_store").value
        is not resource_of(Context(), "memory_key_value_store").value
    )
    spec = Context.Spec({})
    assert Context(spec).spec is spec


def test_pickled_together_shared_together() -> None:
    """Contexts and their resources that are pickled at once are still the same resources afterwards."""
    parent = Context({"memory_key_value_store#c": {}})
    context = Context({"memory_key_value_store": {}, "memory_key_value_store#a": "memory_key_value_store"}, parent)
    for _ in range(3):
        keys = ("memory_key_value_store#a", "memory_key_value_store#c", "cache_pool")
        *made, context, parent = pickle.loads(pickle.dumps([*map(context.__getitem__, keys), context, parent]))
        assert made == list(map(context.__getitem__, keys))
        assert context.parent is parent
        assert made[1:] == list(map(parent.__getitem__, keys[1:]))
    lone = pickle.loads(pickle.dumps(Context({"cache_pool": {"total_bytes_limit": 5}})["cache_pool"]))
    assert lone.to_json() == {"total_bytes_limit": 5}
    spec = Context.Spec({"cache_pool#a": {"total_bytes_limit": 5}, "cache_pool": "cache_pool#a"})
    assert pickle.loads(pickle.dumps(spec)).to_json() == spec.to_json()
    assert copy.deepcopy(context)["cache_pool"] is not context["cache_pool"]


@pytest.mark.parametrize("arguments", [({}, None, 1), ({}, "x"), ({}, {})])
def test_wrong_calls(arguments: tuple[Any, ...]) -> None:
    """A call that means nothing is a TypeError."""
    with pytest.raises(TypeError):
        Context(*arguments)
    with pytest.raises(TypeError):
        Context(parent=Context())


def test_named_arguments() -> None:
    """JSON and specs go by the names that TensorStore gives them."""
    parent = Context()
    assert Context(json={"cache_pool": {}}, parent=parent).parent is parent
    assert Context(spec=Context.Spec({"cache_pool": {}})).spec.to_json() == {"cache_pool": {}}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    ["0", "1ns", "999us", "1.5us", "1500ms", "1h", "-1s", "90s", "1h1ms", "3601.5s", ".5s", "1m1m", "1.000000001s"],
)
def test_lengths_of_time(text: str) -> None:
    """They are normalised as TensorStore does it."""
    theirs = ts.Context({"http_request_retries": {"initial_delay": text}})["http_request_retries"].to_json(True)
    assert duration_text(parse_duration(text)) == theirs["initial_delay"]
