"""Key-value stores: the same calls give what they give with TensorStore, in memory and in directories."""

from __future__ import annotations

import asyncio
import copy
import pickle
from _thread import start_new_thread
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorstore as ts

import blizzarr.tensorstore as ours
from blizzarr.errors import ArchiveError, ConflictError, PathError, SpecError, UnsupportedOperationError
from blizzarr.futures import pool
from blizzarr.spec.context import Context
from blizzarr.spec.kvstore import KvStore
from blizzarr.transactions import Transaction
from unit.spec.oracle import refusal_of

Kv = Any


def told(call: Callable[[], Any]) -> Any:
    """What comes of a call, in plain values; of an error its class, and its text up to what the system says."""
    try:
        value = call()
        value = value.result() if hasattr(value, "result") else value
    except (ValueError, KeyError, TypeError) as error:
        kinds = (ValueError, KeyError, TypeError)
        text = refusal_of(error) if isinstance(error, ValueError) else ""
        return next(kind.__name__ for kind in kinds if isinstance(error, kind)), text
    if hasattr(value, "stamp"):
        return value.state, value.value, value.stamp.time > 0
    if hasattr(value, "generation"):
        return bool(value.generation), value.time > 0
    return sorted(value) if isinstance(value, list) else value


def script(kv: Kv, key_range: Any) -> list[Any]:
    """One call after the other."""
    steps: list[Callable[[], Any]] = [
        lambda: kv.write("a", b"0123456789"),
        lambda: kv.read(b"a"),
        lambda: kv.read("missing"),
        lambda: kv["a"],
        lambda: kv["missing"],
        lambda: "a" in kv,
        lambda: "missing" in kv,
        lambda: kv[5],
        lambda: kv.write(5, "x"),
        *(
            lambda part=part: kv.read("a", byte_range=slice(*part))
            for part in (
                (1, 5),
                (1, None),
                (None, 5),
                (None, None),
                (-3, None),
                (-3, -1),
                (None, -1),
                (0, 100),
                (5, 2),
                (-100, None),
                (3, 3),
                (10, None),
                (11, None),
            )
        ),
        lambda: kv.read("a", byte_range=slice(0, 1, 1)),
        lambda: kv.read("a", byte_range=5),
        lambda: kv.read("a", if_not_equal=kv.read("a").result().stamp.generation),
        lambda: kv.read("a", if_not_equal=b"other"),
        lambda: kv.read("missing", if_not_equal=b"\2"),
        lambda: kv.write("a", "new", if_equal=b"bad"),
        lambda: kv["a"],
        lambda: kv.write("a", "new", if_equal=kv.read("a").result().stamp.generation),
        lambda: kv["a"],
        lambda: kv.write("b/c", "new", if_equal=b"\2"),
        lambda: kv.write("b/c", "newer", if_equal=b"\2"),
        lambda: kv["b/c"],
        lambda: kv.__setitem__("b/d", "2"),
        lambda: kv.__setitem__("é", "3"),
        lambda: kv.__setitem__("bb", "4"),
        lambda: kv.__setitem__("q/r/s", "5"),
        lambda: kv.list(),
        lambda: kv.list(key_range("b", "c")),
        lambda: kv.list(key_range(inclusive_min="b/d")),
        lambda: kv.list(strip_prefix_length=1),
        lambda: (kv / "b").list(),
        lambda: (kv / "b/").list(),
        lambda: (kv + "b").list(),
        lambda: (kv + "b")["b"],
        lambda: (kv / "q/r")["s"] if kv.path else None,
        lambda: (kv + "q/").list(key_range("r/", "r0")),
        lambda: kv.delete_range(key_range("b", "bc")),
        lambda: kv.list(),
        lambda: (kv + "q").delete_range(key_range()),
        lambda: kv.list(),
        lambda: kv.__delitem__("a"),
        lambda: kv.__delitem__("a"),
        lambda: kv.write("a", None),
        lambda: kv.list(),
        lambda: kv["a"],
        lambda: kv.delete_range(5),
    ]
    return [told(step) for step in steps]


@pytest.mark.parametrize("path", ["", "base/", "base"])
def test_memory(path: str) -> None:
    """In memory."""
    ours = script(KvStore.open(f"memory://{path}").result(), KvStore.KeyRange)
    assert ours == script(ts.KvStore.open(f"memory://{path}").result(), ts.KvStore.KeyRange)


def test_nothing_is_below_a_path_with_two_slashes() -> None:
    kv = KvStore.open("memory://").result()
    kv["a/x"] = b"1"
    assert (kv / "a//").list().result() == []


@pytest.mark.parametrize("path", ["base/", "base/x"])
def test_directory(tmp_path: Path, path: str) -> None:
    """In a directory; each finds what the other has left."""
    ours = script(KvStore.open(f"file://{tmp_path}/ours/{path}").result(), KvStore.KeyRange)
    assert ours == script(ts.KvStore.open(f"file://{tmp_path}/theirs/{path}").result(), ts.KvStore.KeyRange)
    for name in ("ours", "theirs"):
        spec = f"file://{tmp_path}/{name}/"
        values = [(found, store[found]) for store in (KvStore.open(spec).result(),) for found in store.list().result()]
        assert values == [(f"{path}é".encode(), b"3")]
        assert ts.KvStore.open(spec).result()[values[0][0]] == b"3"


KEYS = ["", "/x", "x/", "a//b", "..", ".", "a/../b", "a\0b", "a\\b", "plain"]


@pytest.mark.parametrize("key", KEYS[:-1], ids=repr)
def test_memory_has_the_keys_of_files(key: str) -> None:
    """Memory refuses what could not be the name of a file, where TensorStore takes any key."""
    kv = KvStore.open("memory://").result()
    with pytest.raises(PathError, match="Invalid key"):
        kv[key] = b"value"
    with pytest.raises(PathError, match="Invalid key"):
        kv.read(key).result()


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_that_are_no_files(tmp_path: Path, key: str) -> None:
    """A directory refuses what is no name of a file, in TensorStore's words."""
    ours = KvStore.open(f"file://{tmp_path}/").result()
    theirs = ts.KvStore.open(f"file://{tmp_path}/").result()
    if key == "plain":
        ours[key] = b"1"
        assert theirs[key] == b"1"
    elif "\\" in key:
        with pytest.raises(PathError, match="Invalid key"):
            ours[key] = b"1"
    else:
        with pytest.raises(ValueError, match="Invalid key") as their_error:
            theirs[key] = b"1"
        with pytest.raises(PathError) as our_error:
            ours[key] = b"1"
        with pytest.raises(PathError, match="Invalid key"):
            ours.read(key).result()
        assert str(our_error.value).endswith(str(their_error.value))


def test_directories_are_no_values(tmp_path: Path) -> None:
    """A key that is a directory has no value; one below a file neither."""
    kv = KvStore.open(f"file://{tmp_path}/").result()
    kv["a/b"] = b"1"
    assert kv.read("a").result().state == "missing"
    assert kv.read("a/b/c").result().state == "missing"


def test_zip(tmp_path: Path) -> None:
    """A zip file in a directory: what we write TensorStore reads, and the reverse; nothing in it can be deleted."""
    url = f"file://{tmp_path}/a.zip|zip:"
    kv = KvStore.open(url).result()
    kv["x/y"] = b"1"
    kv["z"] = b"2"
    theirs = ts.KvStore.open(url).result()
    assert sorted(theirs.list().result()) == kv.list().result() == [b"x/y", b"z"]
    assert theirs["x/y"] == b"1"
    other = f"file://{tmp_path}/b.zip|zip:in/"
    ts.KvStore.open(other).result()["x"] = b"3"
    again = KvStore.open(other).result()
    assert again["x"] == b"3"
    ts.KvStore.open(other).result()["y"] = b"4"
    assert KvStore.open(other).result()["y"] == b"4"
    with pytest.raises(UnsupportedOperationError, match="zip file cannot delete"):
        del kv["z"]
    with pytest.raises(UnsupportedOperationError, match="zip files in directories"):
        KvStore.open("memory://a|zip:").result()


@pytest.mark.parametrize("content", [b"\x89HDF\r\n\x1a\n" + bytes(99), b"PK\3\4" + bytes(99), b"x"])
def test_no_zip(content: bytes, tmp_path: Path) -> None:
    """A file that is none is an error of the value, as in TensorStore, for places and for arrays in them."""
    url = f"file://{tmp_path}/a.zip|zip:"
    (tmp_path / "a.zip").write_bytes(content)
    opened: list[Callable[[Any], Any]] = [
        lambda face: face.KvStore.open(url).result().list().result(),
        lambda face: face.KvStore.open(url).result().read("a").result(),
        lambda face: face.open({"driver": "zarr3", "kvstore": url}).result(),
    ]
    for call in opened:
        with pytest.raises(ValueError, match="valid ZIP EOCD"):
            call(ts)
        with pytest.raises(ArchiveError, match=rf"{tmp_path}/a\.zip: expected a zip file, found no valid ZIP EOCD"):
            call(ours)


def test_shared_memory() -> None:
    """Memory is that of the context."""
    context = Context()
    KvStore.open("memory://a/", context=context).result()["x"] = b"1"
    assert KvStore.open("memory://", context=context).result()["a/x"] == b"1"
    assert "a/x" not in KvStore.open("memory://").result()


def test_what_it_tells() -> None:
    """Repr, spec, URL, base and path are TensorStore's, and paths can be changed."""
    for url in ("memory://a/b", "file:///tmp/a"):
        ours, theirs = KvStore.open(url).result(), ts.KvStore.open(url).result()
        for one, other in ((ours, theirs), (ours / "x", theirs / "x"), (ours + "x", theirs + "x")):
            assert (repr(one), one.url, one.path) == (repr(other), other.url, other.path)
            for how in ({}, {"unbind_context": True}, {"retain_context": True}):
                assert repr(one.spec(**how)) == repr(other.spec(**how))
        assert ours.base is theirs.base is None
    ours.path = b"/q"
    assert ours.url == "file:///q"
    zipped = KvStore.open("file:///tmp/none.zip|zip:").result()
    assert repr(zipped.base) == repr(ts.KvStore.open("file:///tmp/none.zip").result())
    with pytest.raises(TypeError):
        KvStore()
    with pytest.raises(TypeError):
        iter(ours)


def test_copies(tmp_path: Path) -> None:
    """Copies share the place; deep copies and pickles have memory of their own."""
    kv = KvStore.open(f"file://{tmp_path}/").result()
    kv["a"] = b"1"
    assert [other["a"] for other in (copy.copy(kv), kv.copy(), copy.deepcopy(kv))] == [b"1"] * 3
    assert pickle.loads(pickle.dumps(kv))["a"] == b"1"
    kv = KvStore.open("memory://").result()
    kv["a"] = b"1"
    assert copy.copy(kv)["a"] == b"1"
    assert "a" not in copy.deepcopy(kv)
    again = KvStore.open(kv.spec(retain_context=True)).result()
    assert again["a"] == b"1"
    with pytest.raises(NotImplementedError, match="CopyRange not supported"):
        kv.experimental_copy_range_to(kv / "x").result()


def test_awaited(tmp_path: Path) -> None:
    """Everything can be awaited."""

    async def work() -> bytes:
        kv = await KvStore.open(f"file://{tmp_path}/")
        await kv.write("a", b"1")
        return (await kv.read("a")).value

    assert asyncio.run(work()) == b"1"


def test_values() -> None:
    """Ranges, generations and results are shown, compared and refused as TensorStore does it."""
    for make in (
        lambda kv: kv.KeyRange(),
        lambda kv: kv.KeyRange("a", b"b"),
        lambda kv: kv.KeyRange("b", "a").empty,
        lambda kv: kv.KeyRange("a", "a").empty,
        lambda kv: kv.KeyRange("a").empty,
        lambda kv: kv.KeyRange("a") == kv.KeyRange("a"),
        lambda kv: kv.KeyRange("a") == kv.KeyRange("b"),
        lambda kv: kv.TimestampedStorageGeneration(),
        lambda kv: kv.TimestampedStorageGeneration("a", 1.5),
        lambda kv: kv.TimestampedStorageGeneration(b"a", 1) == kv.TimestampedStorageGeneration("a", 1.0),
        lambda kv: kv.ReadResult(),
        lambda kv: kv.ReadResult("value", "q", kv.TimestampedStorageGeneration("a", 2)),
        lambda kv: kv.ReadResult(state="missing", value=b"x"),
        lambda kv: pickle.loads(pickle.dumps(kv.KeyRange("a"))),
        lambda kv: copy.deepcopy(kv.ReadResult("value", "x")),
    ):
        assert repr(make(KvStore)) == repr(make(ts.KvStore))
    for make in (
        lambda kv: kv.ReadResult("x"),
        lambda kv: kv.KeyRange(5),
        lambda kv: hash(kv.KeyRange()),
        lambda kv: hash(kv.TimestampedStorageGeneration()),
    ):
        for kv in (KvStore, ts.KvStore):
            with pytest.raises(TypeError):
                make(kv)
    result = KvStore.ReadResult("value", "x", KvStore.TimestampedStorageGeneration("g", 1))
    result.state, result.value, result.stamp = "missing", b"", KvStore.TimestampedStorageGeneration("h", 2)
    assert repr(result).startswith("KvStore.ReadResult(state='missing', value=b'', stamp=KvStore.Timestamped")
    assert result.stamp == KvStore.TimestampedStorageGeneration("h", 2)


def test_transactions() -> None:
    """What a transaction has gathered is seen by who takes part, and by others when it is committed."""
    kv, transaction = KvStore.open("memory://").result(), Transaction()
    kv["a"] = kv["b"] = b"1"
    within = kv.with_transaction(transaction)
    within["a"] = b"2"
    within["c/d"] = b"3"
    del within["b"]
    assert (within["a"], kv["a"], "b" in within, "b" in kv) == (b"2", b"1", False, True)
    assert (within / "c")["/d"] == b"3"
    assert within.list().result() == [b"a", b"c/d"]
    assert (within / "c/").list().result() == [b"d"]
    assert within.read("a", byte_range=slice(0, 1)).result().value == b"2"
    assert within.read("a", if_not_equal=within.read("a").result().stamp.generation).result().state == "unspecified"
    assert kv.list().result() == [b"a", b"b"]
    transaction.commit_sync()
    assert kv.list().result() == [b"a", b"c/d"]
    assert within.transaction is transaction
    within.transaction = None
    assert within["c/d"] == b"3"


def test_transactions_that_came_too_late() -> None:
    """What a write depends on and others have changed since makes the commit fail; nothing of it is written."""
    kv, transaction = KvStore.open("memory://").result(), Transaction()
    kv["a"] = b"1"
    within = kv.with_transaction(transaction)
    within["b"] = b"1"
    within.write("a", b"3", if_equal=kv.read("a").result().stamp.generation).result()
    kv["a"] = b"2"
    with pytest.raises(ConflictError, match='Error writing "a": Generation mismatch'):
        transaction.commit_sync()
    assert kv.list().result() == [b"a"]
    transaction = Transaction()
    within = kv.with_transaction(transaction)
    within.delete_range(KvStore.KeyRange()).result()
    assert within.list().result() == []
    transaction.abort()
    assert kv["a"] == b"2"


def test_wrong_calls() -> None:
    """What means nothing is refused."""
    with pytest.raises(SpecError):
        KvStore.open(5)
    with pytest.raises(TypeError):
        KvStore.open("memory://", context=5)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="Resource not defined"):
        KvStore.open({"driver": "memory", "memory_key_value_store": "memory_key_value_store#a"}).result()


def test_requests_to_files_start_no_thread_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files were taken for far away: a thread was started for each request, and 100 took five times as long."""
    started = list[Any]()

    def counted(work: Callable[[], None], given: tuple[()]) -> int:
        started.append(work)
        return start_new_thread(work, given)

    monkeypatch.setattr(pool, "start_new_thread", counted)
    kv = ours.KvStore.open({"driver": "file", "path": f"{tmp_path}/"}).result()
    names = [f"k{number}" for number in range(100)]
    for future in [kv.write(name, name.encode()) for name in names]:
        future.result()
    assert [future.result().value for future in [kv.read(name) for name in names]] == [name.encode() for name in names]
    assert len(started) <= pool.POOL._limit
