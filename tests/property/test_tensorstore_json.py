"""TensorStore as the judge: values of JSON documents, found and replaced by pointers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from blizzarr.errors import BlizzarrError
from blizzarr.printable import printable
from unit.spec.oracle import refusal_of

theirs = pytest.importorskip("tensorstore")

NAMES = ["a", "b", "0", "1", "01", "-", "", "a/b", "m~n", "é"]
LEAVES = [None, True, 0, -5, 1.5, 1e300, 2**63, 2**64 - 1, "x", "é\u2028", "", [], {}]


def value(random: Random, depth: int = 3) -> Any:
    """Any JSON."""
    match random.random():
        case chance if depth == 0 or chance < 0.3:
            return random.choice(LEAVES)
        case chance if chance < 0.65:
            return [value(random, depth - 1) for _ in range(random.randint(0, 3))]
        case _:
            return {random.choice(NAMES): value(random, depth - 1) for _ in range(random.randint(0, 3))}


def pointer(random: Random, document: Any) -> str:
    """One into the document, as a rule, and on from there now and then."""
    steps: list[str] = []
    while random.random() < 0.8 and isinstance(document, dict | list) and document:
        if isinstance(document, dict):
            name = random.choice(list(document))
            document = document[name]
        else:
            position = random.randrange(len(document))
            document, name = document[position], str(position)
        steps.append(name)
    while random.random() < 0.3:
        steps.append(random.choice([*NAMES, "2", "3", "99", str(2**64 - 1), str(2**64), "9" * 30]))
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def answer(call: Callable[[], Any], place: Path) -> Any:
    """What is given, or the text of the error."""
    try:
        found = call()
    except ValueError as error:
        return "error", str(error).split(" [source")[0].split(" [tensorstore")[0].replace(str(place), "")
    return json.dumps(found.tolist() if isinstance(found, np.ndarray) else found)


@pytest.mark.parametrize("block", range(4))
def test_documents(block: int, tmp_path: Path) -> None:
    """The same values, errors and documents, byte by byte."""
    gave = set()
    for seed in range(100 * block, 100 * (block + 1)):
        random = Random(seed)
        document = value(random)
        text = json.dumps(document) if random.random() < 0.9 else random.choice(["", "{", '{"a":NaN}', "[1]x", "\x00"])
        steps = [(random.choice(["read", "write"]), pointer(random, document), value(random)) for _ in range(4)]
        told = []
        for library in (theirs, ours):
            place = tmp_path / f"{seed}{library.__name__}"
            place.mkdir()
            file = place / "x.json"
            if seed % 10:
                file.write_text(text, encoding="utf-8")
            history = []
            for what, at, new in steps:
                spec = {"driver": "json", "kvstore": f"file://{file}", "json_pointer": at}
                store = library.open(spec).result()
                if what == "read":
                    history.append(answer(lambda: store.read().result(), place))  # noqa: B023
                else:
                    history.append(answer(lambda: store.write(new).result(), place))  # noqa: B023
                history.append(file.read_bytes() if file.exists() else None)
            told.append(history)
        # Our texts show no control characters.
        shown = [
            [(*one[:-1], printable(one[-1])) if type(one) is tuple else one for one in history] for history in told
        ]
        assert shown[0] == shown[1], (seed, text, steps)
        gave.update(step[1][:14] if isinstance(step, tuple) else "value" for step in told[0])
    assert len(gave) >= 4


ODD = [
    b'{"x":1e400}',
    b'{"x":[-1e999]}',
    b'{"x":-1e-999}',
    b'{"x":"\\ud800"}',
    b'{"x":"\\uDC00\\uD800"}',
    b'{"\\ud800":1}',
    b'{"x":"\\ud83d\\ude00\\\\ud800"}',
    b'\xef\xbb\xbf{"x":1}',
    b"\xef\xbb\xbf",
    b'\xef\xbb\xbf\xef\xbb\xbf{"x":1}',
    b'{"x":"\xef\xbb\xbf"}',
]


@pytest.mark.parametrize("text", ODD, ids=repr)
def test_odd_documents(text: bytes, tmp_path: Path) -> None:
    """What JSON can say and Python's parser takes otherwise; nothing else of a document changes when it is written."""
    told = []
    for library in (theirs, ours):
        file = tmp_path / f"{library.__name__}.json"
        file.write_bytes(text)
        stores = [
            library.open({"driver": "json", "kvstore": f"file://{file}", "json_pointer": at}).result()
            for at in ("/x", "/a")
        ]
        calls = (stores[0].read, lambda stores=stores: stores[1].write(5))
        told.append([answer(lambda call=call: call().result(), file) for call in calls] + [file.read_bytes()])
    assert told[0] == told[1]


SPECS: list[Any] = [
    {"driver": "json"},
    {"driver": "json", "kvstore": "memory://x"},
    {"driver": "json", "kvstore": "memory://"},
    {"driver": "json", "kvstore": "memory://x/", "json_pointer": "/a/b"},
    {"driver": "json", "kvstore": "memory://", "path": "x"},
    {"driver": "json", "kvstore": "memory://x", "json_pointer": 5},
    {"driver": "json", "kvstore": "memory://x", "json_pointer": "a"},
    {"driver": "json", "kvstore": "memory://x", "json_pointer": "/a~2"},
    {"driver": "json", "kvstore": "memory://x", "dtype": "int8"},
    {"driver": "json", "kvstore": "memory://x", "dtype": "json", "rank": 0},
    {"driver": "json", "kvstore": "memory://x", "rank": 1},
    {"driver": "json", "kvstore": "memory://x", "schema": {"fill_value": 3, "dtype": "json"}},
    {"driver": "json", "kvstore": "memory://x", "schema": {"codec": {"driver": "zarr"}}},
    {"driver": "json", "kvstore": "memory://x", "schema": {"domain": {"shape": [3]}}},
    {"driver": "json", "kvstore": "memory://x", "schema": {"dimension_units": []}},
    {"driver": "json", "kvstore": "memory://x", "create": True},
    {"driver": "json", "kvstore": "memory://x", "metadata": {}},
    {"driver": "json", "kvstore": "memory://x", "recheck_cached_data": False},
    {"driver": "json", "kvstore": "memory://x", "cache_pool": {}, "data_copy_concurrency": {}},
    {"driver": "json", "kvstore": "memory://x", "transform": {"input_shape": [3], "output": []}},
    {"driver": "json", "kvstore": "memory://x", "transform": {"input_shape": [3]}},
    "memory://x|json:a/b",
    "memory://x|json:/a~3",
    "memory://x|json:?q",
    "memory://x|json:#a",
]


def facts(library: Any, said: Any) -> list[Any]:
    spec = library.Spec(said)
    return [
        json.dumps(spec.to_json()),
        json.dumps(spec.to_json(include_defaults=True)),
        *map(repr, (spec.domain, spec.rank, spec.dtype, spec.chunk_layout, spec.fill_value, spec.codec)),
        repr(spec.open_mode),
        spec.url if spec.kvstore is not None else None,
    ]


@pytest.mark.parametrize("said", SPECS, ids=repr)
def test_specs(said: Any, tmp_path: Path) -> None:
    """The same of all that a spec tells, or the same error."""
    told = []
    for library in (theirs, ours):
        try:
            told.append(facts(library, said))
        except ValueError as error:
            told.append(refusal_of(error))
    assert told[0] == told[1]


def test_urls() -> None:
    """The pointer is behind the scheme."""
    for url in ("memory://x|json:", "memory://x|json:/a/b", "memory://x|json:/a%20b", "memory://x|json"):
        told = []
        for library in (theirs, ours):
            spec = library.Spec(url)
            told.append((spec.url, spec.to_json().get("json_pointer"), repr(spec.domain)))
        assert told[0] == told[1]


CHANGES: list[dict[str, Any]] = [
    *({name: True} for name in ("open", "create", "delete_existing", "minimal_spec")),
    *({"rank": 0}, {"rank": 1}, {"dtype": "int8"}, {"shape": []}, {"fill_value": 1}, {"recheck_cached": False}),
]


@pytest.mark.parametrize("change", CHANGES, ids=repr)
def test_changes(change: dict[str, Any]) -> None:
    told = []
    for library in (theirs, ours):
        spec = library.Spec({"driver": "json", "kvstore": "memory://x"})
        try:
            spec.update(**change)
            told.append(spec.to_json())
        except ValueError as error:
            told.append(refusal_of(error))
    assert told[0] == told[1]


def calls(library: Any, spec: Any, file: Path) -> list[Callable[[], Any]]:
    """What can be asked of an opened value, and what cannot."""
    store = library.open(spec).result()
    return [
        lambda: [store.mode, store.dtype.name, str(store.domain), store.url, repr(store.chunk_layout)],
        lambda: [store.fill_value, store.codec, store.readable, store.writable, store.kvstore.path],
        lambda: json.dumps(store.spec().to_json()),
        lambda: store[library.newaxis].read().result().tolist(),
        lambda: store[library.newaxis].write([5]).result(),
        lambda: library.cast(store, "string").read().result(),
        lambda: str(store.resolve().result().domain),
        lambda: store.resize(exclusive_max=[]).result(),
        lambda: store.storage_statistics(query_not_stored=True).result(),
        lambda: store.write(2**70).result(),
        lambda: store.write(b"\xff").result(),
        lambda: pickle.loads(pickle.dumps(store)).read().result().tolist(),
        lambda: library.open(spec, read=True).result().write(1).result(),
        lambda: library.open({"driver": "json"}).result(),
        file.read_bytes,
    ]


def test_what_an_opened_value_tells(tmp_path: Path) -> None:
    """Facts, views, and what cannot be done."""
    told: list[list[Any]] = []
    kinds = (ValueError, NotImplementedError, OverflowError)
    for library in (theirs, ours):
        file = tmp_path / library.__name__
        file.write_text('{"a": {"b": [1, null]}, "c": 1e2}')
        spec = {"driver": "json", "kvstore": f"file://{file}", "json_pointer": "/a/b"}
        history: list[Any] = []
        for call in calls(library, spec, file):
            try:
                history.append(call())
            except kinds as error:
                history.append(next(kind.__name__ for kind in kinds if isinstance(error, kind)))
        told.append(json.loads(json.dumps(history, default=repr).replace(library.__name__, "library")))
    for mine, other in zip(*told, strict=True):
        assert mine == other


def test_transactions(tmp_path: Path) -> None:
    """What others write to other members until it is committed stays."""
    for library in (theirs, ours):
        file = tmp_path / library.__name__
        file.write_text('{"a": 1}')
        spec = {"driver": "json", "kvstore": f"file://{file}"}
        with library.Transaction() as transaction:
            first = library.open({**spec, "json_pointer": "/a/b"}, transaction=transaction).result()
            second = library.open({**spec, "json_pointer": "/z"}).result().with_transaction(transaction)
            file.write_text('{"a": {}}')
            first.write([1]).result()
            second.write(2).result()
            second.write(3).result()
            assert (first.read().result().tolist(), second.read().result().tolist()) == ([1], 3)
            assert file.read_text() == '{"a": {}}'
            file.write_text('{"a": {"q": null}}')
        assert file.read_text() == '{"a":{"b":[1],"q":null},"z":3}'
        transaction = library.Transaction()
        library.open({**spec, "json_pointer": "/z"}, transaction=transaction).result().write(4).result()
        transaction.abort()
        assert json.loads(file.read_text())["z"] == 3


def test_many_writers(tmp_path: Path) -> None:
    """Nobody's member is lost."""
    spec = {"driver": "json", "kvstore": f"file://{tmp_path}/x.json"}
    stores = [ours.open({**spec, "json_pointer": f"/{number}"}).result() for number in range(20)]
    for future in [store.write(number) for number, store in enumerate(stores)]:
        future.result()
    assert json.loads((tmp_path / "x.json").read_text()) == {str(number): number for number in range(20)}


@pytest.mark.parametrize("text", [str(2**64), str(-(2**63) - 1), "9" * 308, "9" * 309, "-" + "9" * 4000, "1e400"])
def test_long_numbers(tmp_path: Path, text: str) -> None:
    """An integer beyond 64 bits is read as a float, and refused if it is beyond those, too."""
    file = tmp_path / "x.json"
    file.write_text(text)
    spec = {"driver": "json", "kvstore": f"file://{file}"}
    mine, real = [answer(lambda ts=ts: ts.open(spec).result().read().result(), tmp_path) for ts in (ours, theirs)]  # type: ignore[misc]
    assert mine == real


def test_depth(tmp_path: Path) -> None:
    """What is too deep is an error, and changes nothing."""
    file = tmp_path / "x.json"
    spec = {"driver": "json", "kvstore": f"file://{file}"}
    file.write_text("[" * 100_000)
    with pytest.raises(BlizzarrError, match=r"FAILED_PRECONDITION: Error reading .*: Invalid JSON"):
        ours.open(spec).result().read().result()
    file.write_text("{}")
    deep = ours.open({**spec, "json_pointer": "/a" * 100_000}).result()
    with pytest.raises(BlizzarrError, match=r"FAILED_PRECONDITION: Error writing .*: expected fewer values within"):
        deep.write(1).result()
    with pytest.raises(BlizzarrError, match=r"NOT_FOUND: .*refers to non-existent object member"):
        deep.read().result()
    assert file.read_text() == "{}"


def test_errors_are_ours(tmp_path: Path) -> None:
    store = ours.open({"driver": "json", "kvstore": f"file://{tmp_path}/none.json"}).result()
    with pytest.raises(BlizzarrError, match=r"^NOT_FOUND: Error reading local file .*/none\.json\"$") as caught:
        store.read().result()
    assert isinstance(caught.value, FileNotFoundError)
