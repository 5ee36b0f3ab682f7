"""Transactions in stores that are not changed in one step, and others who write the same values meanwhile."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import GenerationMismatchError
from blizzarr.stores import LocalStore, MappingStore
from blizzarr.stores.generation import NO_VALUE, generation_of
from blizzarr.stores.requests import present
from blizzarr.transactions.changes import Changes
from blizzarr.transactions.overlay import GuardedStore
from blizzarr.transactions.transaction import Outcome
from tensorstore_face import ours, same, theirs

THREADS, STEPS = 4, 12


@pytest.fixture
def often() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(step: Callable[[int, int], None], *, again: bool = True) -> None:
    """Take steps in several threads at once, each until it succeeds."""

    def work(thread: int) -> None:
        for number in range(STEPS):
            while True:
                try:
                    step(thread, number)
                except ValueError:
                    assert again
                    continue
                break

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What others do after a transaction has found that it can be committed, and before it stores anything."""
    acts: list[Callable[[], None]] = []
    commit = Changes.commit

    def commit_late(self: Changes, outcome: Outcome) -> None:
        while acts:
            acts.pop()()
        commit(self, outcome)

    monkeypatch.setattr(Changes, "commit", commit_late)
    return acts


@pytest.mark.parametrize("ts", [ours, theirs])
@pytest.mark.parametrize("kind", ["if_equal", "repeatable_read"])
@pytest.mark.usefixtures("often")
def test_counting(ts: Any, kind: str, tmp_path: Path) -> None:
    """Threads that count together lose no count."""
    kv = ts.KvStore.open(f"file://{tmp_path}/").result()
    kv["n"] = b"0"

    def count(thread: int, number: int) -> None:
        transaction = ts.Transaction(repeatable_read=kind == "repeatable_read")
        inside = kv.with_transaction(transaction)
        found = inside.read("n").result()
        known = found.stamp.generation if kind == "if_equal" else None
        inside.write("n", b"%d" % (int(found.value) + 1), if_equal=known).result()
        transaction.commit_sync()

    together(count)
    assert int(kv["n"]) == THREADS * STEPS


@pytest.mark.parametrize("ts", [ours, theirs])
@pytest.mark.parametrize("part", [..., 0])
@pytest.mark.usefixtures("often")
def test_counting_in_an_array(ts: Any, part: Any, tmp_path: Path) -> None:
    """The same with elements, of whole chunks and of parts of them; also where chunks go as they are all zeros."""
    store = ts.open(f"file://{tmp_path}/|zarr3:", create=True, dtype="int32", shape=[4]).result()
    store[...] = -THREADS * STEPS // 2

    def count(thread: int, number: int) -> None:
        transaction = ts.Transaction(repeatable_read=True)
        inside = store.with_transaction(transaction)
        inside[part] = inside[part].read().result() + 1
        transaction.commit_sync()

    together(count)
    assert int(store[0].read().result()) == THREADS * STEPS // 2


@pytest.mark.parametrize("ts", [ours, theirs])
@pytest.mark.usefixtures("often")
def test_members_of_a_document(ts: Any, tmp_path: Path) -> None:
    """Transactions that write members of their own to a JSON document keep those of others."""
    (tmp_path / "a.json").write_text("{}")

    def add(thread: int, number: int) -> None:
        with ts.Transaction() as transaction:
            spec = {"driver": "json", "kvstore": f"file://{tmp_path}/a.json", "json_pointer": f"/{thread}_{number}"}
            ts.open(spec, transaction=transaction).result().write(np.array(number, object)).result()

    together(add, again=False)
    assert len(json.loads((tmp_path / "a.json").read_text())) == THREADS * STEPS


@pytest.mark.parametrize("value", [b"mine", None])
@pytest.mark.parametrize("kind", ["if_equal", "repeatable_read", "new"])
def test_stored_before_the_values_of_a_transaction(
    kind: str, value: bytes | None, tmp_path: Path, late: list[Callable[[], None]]
) -> None:
    """A value that must not have changed is neither replaced nor deleted; the commit fails."""
    kv = ours.KvStore.open(f"file://{tmp_path}/").result()
    if kind != "new":
        kv["n"] = b"0"
    transaction = ours.Transaction(repeatable_read=kind == "repeatable_read")
    inside = kv.with_transaction(transaction)
    known = inside.read("n").result().stamp.generation
    inside.write("n", value, if_equal=None if kind == "repeatable_read" else known).result()
    late.append(lambda: kv.__setitem__("n", b"of another"))
    with pytest.raises(GenerationMismatchError, match="Generation mismatch"):
        transaction.commit_sync()
    assert kv["n"] == b"of another"
    assert transaction.stored == ()
    assert transaction.not_stored == (f"{tmp_path}/n",)


@pytest.mark.parametrize("part", [..., 0])
@pytest.mark.parametrize("new", [5, 0])
def test_stored_before_the_elements_of_a_transaction(
    part: Any, new: int, tmp_path: Path, late: list[Callable[[], None]]
) -> None:
    """A chunk that was read, and has changed since, is neither replaced nor deleted."""
    store = ours.open(f"file://{tmp_path}/|zarr3:", create=True, dtype="int32", shape=[4]).result()
    store[0] = 1
    transaction = ours.Transaction(repeatable_read=True)
    inside = store.with_transaction(transaction)
    inside[0].read().result()
    inside[part] = new
    late.append(lambda: store[0].write(9).result())
    with pytest.raises(GenerationMismatchError):
        transaction.commit_sync()
    assert store.read().result().tolist() == [9, 0, 0, 0]


def test_chunks_that_were_not_read(tmp_path: Path, late: list[Callable[[], None]]) -> None:
    """Elements of others in a chunk that is only written stay, and are no conflict."""
    store = ours.open(f"file://{tmp_path}/|zarr3:", create=True, dtype="int32", shape=[4]).result()
    transaction = ours.Transaction(repeatable_read=True)
    store.with_transaction(transaction)[0] = 5
    late.append(lambda: store[1].write(9).result())
    transaction.commit_sync()
    assert store.read().result().tolist() == [5, 9, 0, 0]


def test_others_delete_what_is_to_become_zeros(tmp_path: Path, late: list[Callable[[], None]]) -> None:
    """A chunk that was read, and is gone since, is a conflict, too, where the transaction would delete it."""
    store = ours.open(f"file://{tmp_path}/|zarr3:", create=True, dtype="int32", shape=[4]).result()
    store[...] = 1
    transaction = ours.Transaction(repeatable_read=True)
    inside = store.with_transaction(transaction)
    inside[...] = inside.read().result() - 1
    late.append(lambda: store[...].write(0).result())
    with pytest.raises(GenerationMismatchError):
        transaction.commit_sync()


def resized(ts: Any, spec: Any, context: Any, transaction: Any) -> None:
    """Make the array longer, and write what is new."""
    inside = ts.open(spec, context=context, transaction=transaction).result()
    inside = inside.resize(exclusive_max=[9], expand_only=True).result()
    inside[8] = 1
    inside[0].read().result()


def shrunk(ts: Any, spec: Any, context: Any, transaction: Any) -> None:
    """Read a chunk, make the array shorter within it, and write to it."""
    inside = ts.open(spec, context=context, transaction=transaction).result()
    inside[4].read().result()
    inside = inside.resize(exclusive_max=[5], shrink_only=True).result()
    inside[4] = 3


def documented(ts: Any, spec: Any, context: Any, transaction: Any) -> None:
    """Write the document as a value, and elements."""
    inside = ts.open(spec, context=context, transaction=transaction).result()
    inside[0] = 3
    kv = inside.kvstore
    document = json.loads(kv["zarr.json"])
    kv["zarr.json"] = json.dumps({**document, "attributes": {"a": 1}}).encode()
    inside[1].read().result()
    inside[5] = 4


def replaced(ts: Any, spec: Any, context: Any, transaction: Any) -> None:
    """Read, and then create another array."""
    ts.open(spec, context=context, transaction=transaction).result()[0].read().result()
    given = {"create": True, "delete_existing": True, "dtype": "int32", "shape": [3], "transaction": transaction}
    ts.open(spec, context=context, **given).result()[1] = 2


EXPECTED = {resized: [7] * 6 + [0, 0, 1], shrunk: [7] * 4 + [3], documented: [3, 7, 7, 7, 7, 4], replaced: [0, 2, 0]}


@pytest.mark.parametrize("act", EXPECTED)
@pytest.mark.parametrize("repeatable", [False, True])
@pytest.mark.parametrize("place", ["file", "memory"])
def test_what_a_transaction_changes_itself(act: Any, repeatable: bool, place: str, tmp_path: Path) -> None:
    """Documents and chunks that were read may be changed by the transaction itself, several times."""

    def seen(ts: Any) -> Any:
        context = ts.Context()
        kvstore = "memory://" if place == "memory" else f"file://{tmp_path}/{ts.__name__}/"
        spec = {"driver": "zarr3", "kvstore": kvstore}
        layout = ts.ChunkLayout(chunk_shape=[4])
        made = {"create": True, "delete_existing": True, "dtype": "int32", "shape": [6], "chunk_layout": layout}
        ts.open(spec, context=context, **made).result()[...] = 7
        transaction = ts.Transaction(repeatable_read=repeatable)
        act(ts, spec, context, transaction)
        transaction.commit_sync()
        return ts.open(spec, context=context).result().read().result().tolist()

    found = seen(ours)
    assert found == EXPECTED[act]
    if act is not replaced and (act is not documented or not repeatable):
        # TensorStore refuses what it has read itself to be written as something else.
        assert seen(theirs) == found


def test_replaced_where_files_of_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that were read are removed one by one there, by somebody who has locked them."""
    monkeypatch.setattr(blizzarr.config, "keep_foreign_files", True)
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}
    ours.open(spec, create=True, dtype="int32", shape=[4]).result()[...] = 7
    (tmp_path / "notes.txt").write_text("mine")
    transaction = ours.Transaction(repeatable_read=True)
    replaced(ours, spec, None, transaction)
    transaction.commit_sync()
    assert ours.open(spec).result().read().result().tolist() == [0, 2, 0]
    assert (tmp_path / "notes.txt").read_text() == "mine"


class TestGuardedStore:
    """Each method, while values are of the generations that are relied on, and when they are not any more."""

    @pytest.fixture(params=["file", "mapping"])
    def store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
        """A store with two values."""
        store = LocalStore(tmp_path) if request.param == "file" else MappingStore({})
        store.set("d/a", b"1")
        store.set("d/b", b"1")
        return store

    @pytest.mark.parametrize("holds_locks", [False, True])
    @pytest.mark.parametrize(
        "change",
        [
            lambda store: store.set("d/a", b"2"),
            lambda store: store.delete("d/a"),
            lambda store: store.replace("d/a", b"1", b"2"),
            lambda store: store.discard("d/a", b"1"),
            lambda store: store.delete_prefix("d"),
        ],
    )
    def test_changes(self, store: Any, change: Callable[[Any], object], holds_locks: bool) -> None:
        """What has changed is not touched; what has not is changed, and may then be changed by anybody."""
        prefix = f"{store}/" if isinstance(store, LocalStore) else ""
        relied = {prefix + "d/a": (store, "d/a", generation_of(store, "d/a"))}
        guarded = GuardedStore(store, [{}, relied], holds_locks=holds_locks)
        store.set("d/a", b"of another")
        with pytest.raises(GenerationMismatchError):
            change(guarded)
        assert store.get("d/a") == b"of another"
        assert relied
        store.set("d/a", b"1")
        relied[prefix + "d/a"] = store, "d/a", generation_of(store, "d/a")
        change(guarded)
        assert store.get("d/a") in (b"2", None)
        assert not relied
        store.set("d/a", b"of another")
        guarded.set("d/a", b"3")
        assert store.get("d/a") == b"3"

    def test_reads(self, store: Any) -> None:
        """Of values that have not changed, and of those that nobody relies on."""
        prefix = f"{store}/" if isinstance(store, LocalStore) else ""
        relied = {prefix + "d/a": (store, "d/a", NO_VALUE)}
        guarded = GuardedStore(store, [relied])
        reads: list[Callable[[str], Any]] = [
            guarded.get,
            guarded.size,
            lambda key: guarded.get_many([key])[0],
            lambda key: guarded.get_ranges(key, [(0, None)]),
            lambda key: present(guarded, [key]),
        ]
        for read in reads:
            assert read("d/b") in (b"1", [b"1"], 1, ["d/b"])
            with pytest.raises(GenerationMismatchError, match="reading"):
                read("d/a")
        assert not guarded.replace("d/b", b"another", b"2")
        assert hasattr(guarded, "others") == hasattr(guarded, "linked") == isinstance(store, LocalStore)


def test_same_outcome_as_theirs(tmp_path: Path) -> None:
    """Conflicts that are there before the commit begins."""

    def seen(ts: Any) -> Any:
        kv = ts.KvStore.open(f"file://{tmp_path}/{ts.__name__}/").result()
        kv["a"] = kv["b"] = b"0"
        transaction = ts.Transaction()
        inside = kv.with_transaction(transaction)
        inside.write("a", b"1", if_equal=kv.read("a").result().stamp.generation).result()
        kv["a"] = b"2"
        with pytest.raises(ValueError, match="ABORTED"):
            transaction.commit_sync()
        return kv["a"]

    same(seen)


def test_groups_above_are_shown_as_others_have_made_them() -> None:
    """Also where a change of an array has removed their consolidated metadata."""
    context, transaction = ours.Context(), ours.Transaction()
    spec = {"driver": "zarr3", "kvstore": "memory://group/array/"}
    array = ours.open(spec, context=context, create=True, dtype="int8", shape=[6, 7]).result()
    kvstore = ours.KvStore.open("memory://group/", context=context).result()
    member = json.loads(kvstore["array/zarr.json"])
    consolidated = {"kind": "inline", "must_understand": False, "metadata": {"array": member}}

    def store(name: str) -> None:
        document = {"zarr_format": 3, "node_type": "group", "attributes": {"name": name}}
        kvstore["zarr.json"] = json.dumps({**document, "consolidated_metadata": consolidated}).encode()

    store("first")
    array.with_transaction(transaction).resize(exclusive_max=[8, None]).result()
    within = kvstore.with_transaction(transaction)
    for name in ("first", "second"):
        store(name)
        shown = json.loads(within["zarr.json"])
        assert (shown["attributes"], "consolidated_metadata" in shown) == ({"name": name}, False)


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
@pytest.mark.parametrize("url", ["memory://", "memory://a/", "file"])
def test_chunks_of_others_are_not_those_of_a_new_array(url: str, driver: str, tmp_path: Path) -> None:
    """What others write to an array that a transaction has replaced is not seen in the transaction."""
    told = []
    for ts in (ours, theirs):
        context = ts.Context()
        spec = {"driver": driver, "kvstore": f"file://{tmp_path / ts.__name__}/" if url == "file" else url}
        given = {"create": True, "context": context, "chunk_layout": ts.ChunkLayout(chunk_shape=[2, 3])}
        old = ts.open(spec, dtype="int32", shape=[4, 6], **given).result()
        old[0, 0] = 5
        transaction = ts.Transaction()
        given |= {"delete_existing": True, "transaction": transaction}
        new = ts.open(spec, dtype="int32", shape=[4, 6], **given).result()
        old[...] = 7
        told.append([new.read().result().tolist()])
        new[3, 4] = 1
        told[-1] += [new.read().result().tolist(), old.read().result().tolist()]
        transaction.commit_sync()
        told[-1].append(ts.open(spec, context=context).result().read().result().tolist())
    one = np.zeros((4, 6), "i4")
    one[3, 4] = 1
    assert told[0] == told[1] == [[[0] * 6] * 4, one.tolist(), [[7] * 6] * 4, one.tolist()]


@pytest.mark.parametrize("first", ["memory", "file"])
def test_nothing_is_stored_in_one_store_if_a_change_of_another_must_fail(first: str, tmp_path: Path) -> None:
    """Whatever the order in which the stores joined the transaction."""
    context = ours.Context()
    specs = [{"driver": "zarr3", "kvstore": url} for url in ("memory://", f"file://{tmp_path}/")]
    for spec in specs:
        ours.open(spec, create=True, dtype="int8", shape=[4], context=context).result()
    transaction = ours.Transaction()
    for spec in specs if first == "memory" else reversed(specs):
        ours.open(spec, context=context, transaction=transaction).result()[:2] = 5
    other = ours.open(specs[0], create=True, delete_existing=True, dtype="int16", shape=[4], context=context).result()
    with pytest.raises(GenerationMismatchError, match="Metadata is inconsistent"):
        transaction.commit_sync()
    assert transaction.stored == ()
    assert f"{tmp_path}/c/0" in transaction.not_stored
    stored = ours.open(specs[1], context=context).result()
    assert [view.read().result().tolist() for view in (stored, other)] == [[0] * 4, [0] * 4]
