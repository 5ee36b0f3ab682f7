"""Arrays in transactions: created, replaced, resized, written while others write, of every kind of store and format."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, ConflictError, StoreError
from blizzarr.stores import LocalStore
from blizzarr.stores.generation import generation_of
from blizzarr.transactions import changes
from tensorstore_face import ours, outcome, same, theirs

URLS = ["memory://", "file"]


@pytest.fixture(params=URLS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Where the arrays of both are."""
    return lambda ts: "memory://" if request.param == "memory://" else f"file://{tmp_path}/{ts.__name__}/"


def made(ts: Any, url: str, context: Any, txn: Any = None, **more: Any) -> Any:
    """An array of 4 x 6 elements in chunks of 2 x 3, which count from one unless it is made in a transaction."""
    given = {"dtype": "int32", "shape": [4, 6], "chunk_layout": ts.ChunkLayout(chunk_shape=[2, 3]), "create": True}
    spec = {"driver": "zarr3", "kvstore": url}
    store = ts.open(spec, context=context, transaction=txn, **{**given, **more}).result()
    if txn is None:
        store[...] = np.arange(1, 25, dtype="i4").reshape(4, 6)
    return store


def test_created(url: Any) -> None:
    """There in the transaction at once, and for others when it is committed; aborted, nothing is left."""

    def seen(ts: Any) -> Any:
        found = []
        for end in ("abort", "commit_sync"):
            context, txn = ts.Context(), ts.Transaction()
            kv = ts.KvStore.open(url(ts), context=context).result()
            store = made(ts, url(ts), context, txn)
            store[0, 1] = 5
            found.append((str(store.domain), store.read().result().tolist(), kv.list().result()))
            spec = {"driver": "zarr3", "kvstore": url(ts)}
            found.append(outcome(lambda spec=spec, context=context: ts.open(spec, context=context).result()))
            inside = ts.open(spec, context=context, transaction=txn).result()
            found.append(inside[0, :3].read().result().tolist())
            found.append(outcome(getattr(txn, end)))
            txn.future.exception()  # TensorStore may still read in what is just being aborted
            found.append((sorted(kv.list().result()), outcome(lambda inside=inside: inside.read().result())))
        return str(found).replace(ts.__name__, "")

    same(seen)


def test_replaced(url: Any) -> None:
    """`delete_existing`: the old one is there for others until it is committed."""

    def seen(ts: Any) -> Any:
        found = []
        for end in ("abort", "commit_sync"):
            context, txn = ts.Context(), ts.Transaction()
            store = made(ts, url(ts), context, delete_existing=True)
            kv = ts.KvStore.open(url(ts), context=context).result()
            inside = made(ts, url(ts), context, txn, delete_existing=True, shape=[2, 9])
            inside[1, 8] = 7
            found.append((inside.read().result().tolist(), store.read().result().tolist()))
            getattr(txn, end)()
            found.append(sorted(kv.list().result()))
            again = ts.open({"driver": "zarr3", "kvstore": url(ts)}, context=context).result()
            found.append(again.read().result().tolist())
        return found

    same(seen)


def test_keys_of_chunks(url: Any) -> None:
    """They are listed, read and replaced as they are to be; one of nothing but the fill value is none."""
    store = made(ours, url(ours), ours.Context())
    txn = ours.Transaction()
    inside = store.with_transaction(txn)
    kv = inside.kvstore
    inside[:2, :3] = 0
    inside[2, 0] = 50
    assert sorted(kv.list().result()) == [b"c/0/1", b"c/1/0", b"c/1/1", b"zarr.json"]
    assert ("c/0/0" in kv, "c/0/0" in store.kvstore) == (False, True)
    assert np.frombuffer(kv["c/1/0"], "<i4").tolist() == [50, 14, 15, 19, 20, 21]
    kv["c/1/0"] = store.kvstore["c/0/1"]
    kv.delete_range(ours.KvStore.KeyRange("c/1/1", "c/1/2")).result()
    inside[3, 0] = 60
    assert inside.read().result()[2:].tolist() == [[4, 5, 6, 0, 0, 0], [60, 11, 12, 0, 0, 0]]
    statistics = [
        view.storage_statistics(query_not_stored=True, query_fully_stored=True).result()
        for view in (inside[:2, :3], inside[2:, :3])
    ]
    assert [(each.not_stored, each.fully_stored) for each in statistics] == [(True, False), (False, True)]
    txn.commit_sync()
    assert store.read().result()[2:].tolist() == [[4, 5, 6, 0, 0, 0], [60, 11, 12, 0, 0, 0]]
    assert sorted(store.kvstore.list().result()) == [b"c/0/1", b"c/1/0", b"zarr.json"]


def test_created_twice(url: Any) -> None:
    """Somebody else is faster: the commit fails, and nothing of the array is stored over his."""
    context, txn = ours.Context(), ours.Transaction()
    inside = made(ours, url(ours), context, txn)
    inside[...] = 100
    outside = made(ours, url(ours), context)
    with pytest.raises(ValueError, match=r"ALREADY_EXISTS.*zarr.json"):
        txn.commit_sync()
    assert outside.read().result().sum() == 300
    assert not txn.stored
    assert len(txn.not_stored) == 5
    # In the transaction the document cannot be told any more, as in TensorStore.
    txn = ours.Transaction()
    for _ in range(2):
        with pytest.raises(ValueError, match="ALREADY_EXISTS"):
            made(ours, url(ours), context, txn)
    with pytest.raises(ValueError, match="ALREADY_EXISTS"):
        ours.open({"driver": "zarr3", "kvstore": url(ours)}, context=context, transaction=txn).result()
    with pytest.raises(ValueError, match="ALREADY_EXISTS"):
        txn.commit_sync()


def test_resized(url: Any) -> None:
    """Larger in the transaction at once, for others when it is committed; bounds that others change are kept."""

    def seen(ts: Any) -> Any:
        context, txn = ts.Context(), ts.Transaction()
        store = made(ts, url(ts), context)
        inside = store.with_transaction(txn)
        larger = inside.resize(exclusive_max=[3, 9]).result()
        larger[2, 8] = 77
        found = [str(larger.domain), larger.read().result().tolist(), str(inside.domain)]
        found += [str(inside.resolve().result().domain), str(store.resolve().result().domain)]
        store[0, 0] = 50
        inside.resize(exclusive_max=[None, 10], expand_only=True).result()
        found.append(str(inside.resolve().result().domain))
        txn.commit_sync()
        found += [str(store.resolve().result().domain), store.resolve().result().read().result().tolist()]
        # Of two bounds each changes one.
        txn = ts.Transaction()
        store.with_transaction(txn).resize(exclusive_max=[None, 12]).result()
        store.resize(exclusive_max=[5, None]).result()
        found.append(str(store.with_transaction(txn).resolve().result().domain))
        txn.commit_sync()
        found.append(str(store.resolve().result().domain))
        # What must only grow would shrink what others have made of it.
        txn = ts.Transaction()
        store.with_transaction(txn).resize(exclusive_max=[None, 13], expand_only=True).result()
        store.resize(exclusive_max=[None, 15]).result()
        found += [outcome(txn.commit_sync)[1], str(store.resolve().result().domain)]
        return found

    same(seen)


def test_smaller(url: Any) -> None:
    """Chunks go when it is committed; TensorStore waits for ever. What was cut off is fill value when it grows."""
    context, txn = ours.Context(), ours.Transaction()
    store = made(ours, url(ours), context)
    inside = store.with_transaction(txn)
    inside[3, 5] = 99
    smaller = inside.resize(exclusive_max=[3, 4]).result()
    assert smaller.read().result().tolist() == [[1, 2, 3, 4], [7, 8, 9, 10], [13, 14, 15, 16]]
    again = smaller.resize(exclusive_max=[4, 6]).result()
    assert again.read().result().tolist() == [[1, 2, 3, 4, 0, 0], [7, 8, 9, 10, 0, 0], [13, 14, 15, 16, 0, 0], [0] * 6]
    assert store.read().result().sum() == 300
    smaller = again.resize(exclusive_max=[2, 3]).result()
    assert inside.kvstore.list().result() == [b"c/0/0", b"zarr.json"]
    txn.commit_sync()
    assert sorted(store.kvstore.list().result()) == [b"c/0/0", b"zarr.json"]
    assert store.resolve().result().read().result().tolist() == [[1, 2, 3], [7, 8, 9]]


def test_made_smaller_by_others(url: Any) -> None:
    """What would be outside is nowhere to be stored, which is an error and not lost; TensorStore drops it."""
    context, txn = ours.Context(), ours.Transaction()
    store = made(ours, url(ours), context)
    inside = store.with_transaction(txn)
    inside[1, 2], inside[3, 1] = 98, 99
    spec = {"driver": "zarr3", "kvstore": url(ours)}
    other = ours.open(spec, context=context).result()
    other.resize(exclusive_max=[3, 4]).result()
    with pytest.raises(ValueError, match=r"made smaller meanwhile, \(3, 4\): nowhere to store .* at \(3, 1\)"):
        txn.commit_sync()
    assert other.read().result().tolist() == [[1, 2, 3, 4], [7, 8, 9, 10], [13, 14, 15, 16]]
    with ours.Transaction() as txn:
        inside = store.with_transaction(txn)
        inside[1, 2], inside[2, 3] = 98, 99
        other.resize(exclusive_max=[3, 7]).result()
    assert other.resolve().result()[:, 2:].read().result().tolist() == [
        [3, 4, 0, 0, 0],
        [98, 10, 0, 0, 0],
        [15, 99, 0, 0, 0],
    ]


def test_created_and_resized(url: Any) -> None:
    """In one transaction, which TensorStore refuses."""
    context = ours.Context()
    with ours.Transaction() as txn:
        inside = made(ours, url(ours), context, txn).resize(exclusive_max=[2, 7]).result()
        inside[1, 6] = 3
    store = ours.open({"driver": "zarr3", "kvstore": url(ours)}, context=context).result()
    assert store.read().result().tolist() == [[0] * 7, [0] * 6 + [3]]
    assert sorted(store.kvstore.list().result()) == [b"c/0/2", b"zarr.json"]


def test_what_others_do_meanwhile(url: Any) -> None:
    """Their elements of a chunk stay when parts of it are committed, and are seen before."""

    def seen(ts: Any) -> Any:
        context, txn = ts.Context(), ts.Transaction()
        store = made(ts, url(ts), context)
        inside = store.with_transaction(txn)
        inside[0, 0] = 100
        inside[2:4, 0:3] = 200
        store[0, 1] = 101
        store[2, 0] = 201
        found = [inside.read().result().tolist()]
        store[1, 1] = 102
        txn.commit_sync()
        return [*found, store.read().result().tolist()]

    assert same(seen)


def test_nothing_of_others_is_lost(url: Any) -> None:
    """Threads that write elements of their own, and transactions of elements of their own, at the same time."""
    store = made(ours, url(ours), ours.Context())

    def plainly(row: int) -> None:
        for count in range(30):
            store[row, 0] = count

    def together(row: int) -> None:
        for count in range(15):
            with ours.Transaction() as txn:
                inside = store.with_transaction(txn)
                inside[row, 1] = count
                inside[row, 5] = count

    threads = [threading.Thread(target=target, args=(row,)) for row in range(4) for target in (plainly, together)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.read().result()
    assert found[:, [0, 1, 5]].tolist() == [[29, 14, 14]] * 4
    assert found[:, 2:5].tolist() == np.arange(1, 25).reshape(4, 6)[:, 2:5].tolist()


def test_repeatable_reads(url: Any) -> None:
    """Chunks that were read must not have changed; those that were only written may."""

    def seen(ts: Any) -> Any:
        found = []
        for steps in ("r", "w", "wr", "whole", "other"):
            context, txn = ts.Context(), ts.Transaction(repeatable_read=True)
            store = made(ts, url(ts), context, delete_existing=True)
            inside = store.with_transaction(txn)
            if "w" in steps:
                inside[slice(0, 2) if steps == "whole" else 0, slice(0, 3) if steps == "whole" else 0] = 8
            if "r" in steps:
                inside[3, 5].read().result() if steps == "other" else inside[0, 1].read().result()
            store[0, 1] = 9
            call = outcome(lambda inside=inside: inside[0].read().result().tolist())
            # Which of the two is told where it is noticed, and where at the end.
            found.append((call if call[0] != "error" else call[:2], outcome(txn.commit_sync)[:2]))
            found.append(store.read().result().tolist())
        return found

    same(seen)


def test_replaced_by_others(url: Any) -> None:
    """Chunks of an array that is another one by now, or gone, are not written."""
    context = ours.Context()
    layout = ours.ChunkLayout(chunk_shape=[2, 3])
    for text in ("incompatible", "does not exist"):
        store = made(ours, url(ours), context, delete_existing=True)
        txn = ours.Transaction()
        store.with_transaction(txn)[0, 0] = 5
        if text == "incompatible":
            given = {"dtype": "int8", "shape": [4, 6], "chunk_layout": layout, "create": True, "delete_existing": True}
            ours.open({"driver": "zarr3", "kvstore": url(ours)}, context=context, **given).result()
        else:
            store.kvstore.delete_range(ours.KvStore.KeyRange()).result()
        before = store.kvstore.list().result()
        with pytest.raises(ValueError, match=f"FAILED_PRECONDITION.*{text}"):
            txn.commit_sync()
        assert store.kvstore.list().result() == before
    # Opening in a transaction demands that the metadata stay.

    def seen(ts: Any) -> Any:
        context, txn = ts.Context(), ts.Transaction()
        store = made(ts, "memory://", context)
        ts.open({"driver": "zarr3", "kvstore": "memory://"}, context=context, transaction=txn).result()[0, 0] = 9
        store.resize(exclusive_max=[5, 6]).result()
        return outcome(txn.commit_sync), int(store[0, 0].read().result())

    assert same(seen).startswith("(('error', 'ValueError', 'ABORTED: Error writing")


def test_in_memory_all_or_nothing() -> None:
    """A key that is not as demanded keeps everything else of its store from being committed."""

    def seen(ts: Any) -> Any:
        context, txn = ts.Context(), ts.Transaction()
        store = made(ts, "memory://a/", context)
        kv = ts.KvStore.open("memory://", context=context).result()
        store.with_transaction(txn)[...] = 100
        made(ts, "memory://b/", context, txn)[0, 0] = 1
        kv.with_transaction(txn).write("x", b"1", if_equal=b"\0no such generation").result()
        text = outcome(txn.commit_sync)
        return text, sorted(kv.list().result()), store.read().result().tolist()

    same(seen)


def test_failure_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files each chunk is the old or the new one, and which ones are told."""
    store = made(ours, f"file://{tmp_path}/a/", ours.Context())
    (tmp_path / "a/c/1").rename(tmp_path / "a/c/old")
    (tmp_path / "a/c/1").write_text("in the way")
    txn = ours.Transaction()
    store.with_transaction(txn)[...] = 100
    with pytest.raises(BlizzarrError) as caught:
        txn.commit_sync()
    root = f"{tmp_path}/a/"
    assert sorted(txn.stored) == [f"{root}c/0/0", f"{root}c/0/1"]
    assert sorted(txn.not_stored) == [f"{root}c/1/0", f"{root}c/1/1"]
    assert f"{root}c/0/0" in str(caught.value)
    assert f"{root}c/1/1" in str(caught.value)
    assert (txn.open, txn.aborted, txn.commit_started) == (False, False, True)
    (tmp_path / "a/c/1").unlink()
    (tmp_path / "a/c/old").rename(tmp_path / "a/c/1")
    expected = np.arange(1, 25).reshape(4, 6)
    expected[:2] = 100
    assert store.read().result().tolist() == expected.tolist()
    # No room: what was said before stays.
    txn = ours.Transaction()
    store.with_transaction(txn)[0, 0] = 1
    kv = ours.KvStore.open(f"file://{tmp_path}/").result().with_transaction(txn)
    kv["x"] = b"1"

    def full(*_: Any) -> None:
        raise StoreError("No space left on device", errno=28)

    monkeypatch.setattr(LocalStore, "set", full)
    with pytest.raises(StoreError, match="No space left"):
        txn.commit_sync()
    assert [name.removeprefix(f"{tmp_path}/") for name in txn.stored] == ["a/c/0/0"]
    assert [name.removeprefix(f"{tmp_path}/") for name in txn.not_stored] == ["x"]


def test_several_stores(tmp_path: Path) -> None:
    """Arrays in memory and in files in one transaction; views of them put together."""

    def seen(ts: Any) -> Any:
        contexts = [ts.Context(), ts.Context()]
        urls = ["memory://", "memory://", f"file://{tmp_path}/{ts.__name__}/"]
        stores = [made(ts, url, context) for url, context in zip(urls, [*contexts, contexts[0]], strict=True)]
        txn = ts.Transaction()
        inside = [store.with_transaction(txn) for store in stores]
        ts.stack(stores).with_transaction(txn)[:, 0, 0] = 9
        inside[2][1].write(inside[0][0]).result()
        ts.cast(inside[1], "float32")[2] = 5.0
        found = [ts.downsample(each, [2, 2], "max").read().result().tolist() for each in inside]
        found += [store.read().result().tolist() for store in stores]
        txn.commit_sync()
        return [*found, *(store.read().result().tolist() for store in stores)]

    assert same(seen)


@pytest.mark.parametrize("driver", ["zarr", "zarr3", "zarr1", "zarr3_draft", "n5"])
def test_formats(driver: str, url: Any) -> None:
    """Created, written, made larger and smaller in transactions, whatever the format."""
    context = ours.Context()
    spec = {"driver": driver, "kvstore": url(ours) + "x.zarr/"}
    with ours.Transaction() as txn:
        inside = ours.open(
            spec, context=context, transaction=txn, create=True, dtype="int16", shape=[5, 4],
            chunk_layout=ours.ChunkLayout(chunk_shape=[2, 2]),
        ).result()  # fmt: skip
        inside[1:3] = 4
        inside = inside.resize(exclusive_max=[7, 4]).result()
        inside[6, 3] = 5
        assert inside.read().result().sum() == 37
        assert not ours.KvStore.open(url(ours), context=context).result().list().result()
    store = ours.open(spec, context=context).result()
    assert (store.shape, store.read().result().sum()) == ((7, 4), 37)
    with ours.Transaction() as txn:
        store.with_transaction(txn).resize(exclusive_max=[3, 3]).result()
        store[0, 0] = 1
    assert store.resolve().result().read().result().tolist() == [[1, 0, 0], [4, 4, 4], [4, 4, 4]]


def test_shards_and_fields(url: Any) -> None:
    """Parts of shards and of elements, with others who write the other parts."""
    context, layout = ours.Context(), ours.ChunkLayout(read_chunk_shape=[2, 2], write_chunk_shape=[4, 6])
    store = made(ours, url(ours), context, chunk_layout=layout)
    with ours.Transaction() as txn:
        store.with_transaction(txn)[0, :2] = 50
        store[0, 2:4] = 60
        store[3, 5] = 70
        assert store.with_transaction(txn)[0].read().result().tolist() == [50, 50, 60, 60, 5, 6]
    assert store[0].read().result().tolist() == [50, 50, 60, 60, 5, 6]
    assert int(store[3, 5].read().result()) == 70
    spec = {
        "driver": "zarr",
        "kvstore": url(ours) + "fields/",
        "metadata": {"dtype": [["a", "<i2"], ["b", "|u1"]], "shape": [3], "chunks": [2]},
    }
    one, other = (ours.open({**spec, "field": name}, context=context, open=True, create=True).result() for name in "ab")
    with ours.Transaction() as txn:
        one.with_transaction(txn)[1:] = 300
        other[:2] = 7
        assert one.with_transaction(txn).read().result().tolist() == [0, 300, 300]
    assert (one.read().result().tolist(), other.read().result().tolist()) == ([0, 300, 300], [7, 7, 0])


def test_options_of_arrays() -> None:
    """Fill values that are stored, chunks that must be, arrays without documents."""

    def seen(ts: Any) -> Any:
        found = []
        context = ts.Context()
        for options in (
            {},
            {"store_data_equal_to_fill_value": True},
            {"fill_missing_data_reads": False},
            {"assume_metadata": True, "open": True},
        ):
            spec = {"driver": "zarr3", "kvstore": f"memory://{len(found)}/", **options}
            more = {} if "assume_metadata" in options else {"create": True}
            layout = ts.ChunkLayout(chunk_shape=[2])
            store = ts.open(spec, context=context, dtype="int8", shape=[4], chunk_layout=layout, **more).result()
            txn = ts.Transaction()
            inside = store.with_transaction(txn)
            inside[:3] = [0, 0, 5]
            reads = [outcome(lambda view=view: view.read().result().tolist()) for view in (inside[:2], store[:2])]
            txn.commit_sync()
            found.append((reads, sorted(store.kvstore.list().result())))
        return found

    same(seen)


def test_zip(tmp_path: Path) -> None:
    """Nothing can be deleted there, and all is to be seen when it is committed."""
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a.zip|zip:x/"}
    with ours.Transaction() as txn:
        inside = ours.open(spec, dtype="int8", shape=[4], create=True, transaction=txn).result()
        inside[1] = 3
    assert blizzarr.open(f"{tmp_path}/a.zip", path="x")[:].tolist() == [0, 3, 0, 0]
    assert theirs.open(spec, read=True).result().read().result().tolist() == [0, 3, 0, 0]


def test_conflicts_are_errors_of_ours() -> None:
    """What others were faster with is a `ConflictError`, whatever its text."""
    kv = ours.KvStore.open("memory://").result()
    txn = ours.Transaction()
    kv.with_transaction(txn).write("a", b"1", if_equal=b"\0other").result()
    with pytest.raises(ConflictError):
        txn.commit_sync()


def test_others_are_asked_about_few_values(url: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often for each array of a transaction, however many there are: only of what its own values depend on."""
    asked: list[str] = []

    def noted(store: Any, key: str) -> bytes:
        asked.append(key)
        return generation_of(store, key)

    monkeypatch.setattr(changes, "generation_of", noted)
    context, transaction, counts = ours.Context(), ours.Transaction(), []
    first = made(ours, f"{url(ours)}first/", context)
    first.with_transaction(transaction).resize(exclusive_max=[8, None]).result()
    for number in range(6):
        asked.clear()
        array = made(ours, f"{url(ours)}{number}/", context, transaction)
        array.write(number).result()
        assert array[1, 1].read().result() == number
        counts.append(len(asked))
    assert len(set(counts)) == 1
    # What others change is there as soon as it is asked for.
    first.resize(exclusive_max=[None, 9]).result()
    assert json.loads(first.kvstore.with_transaction(transaction)["zarr.json"])["shape"] == [8, 9]
    transaction.commit_sync()
    assert first.resolve().result().shape == (8, 9)
    assert array.with_transaction(None)[3, 5].read().result() == 5
