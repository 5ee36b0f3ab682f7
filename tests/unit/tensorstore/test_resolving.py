"""`resolve` on views of every kind, after somebody else has changed the shape."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import OutOfBoundsError
from blizzarr.tensorstore.stored_array import StoredArray
from tensorstore_face import ours, theirs

VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda ts, a: a,
    "a new axis": lambda ts, a: a[ts.newaxis],
    "a new axis inside": lambda ts, a: a[:, ts.newaxis],
    "a new axis moved": lambda ts, a: a[ts.newaxis][ts.d[0].translate_to[5]],
    "a new axis with bounds": lambda ts, a: a[ts.newaxis][ts.d[0].mark_bounds_implicit[False]],
    "a part left open": lambda ts, a: a[1:3][ts.d[:].mark_bounds_implicit[True]],
    "a part": lambda ts, a: a[1:3],
    "both": lambda ts, a: a[ts.newaxis, 1:3][ts.d[:].mark_bounds_implicit[True]],
    "indices": lambda ts, a: a[[1, 2], ts.newaxis],
    "one row": lambda ts, a: a[1][ts.newaxis],
    "transposed": lambda ts, a: a.T[ts.newaxis],
    "backwards": lambda ts, a: a[::-1],
    "every other": lambda ts, a: a[::2],
    "cast": lambda ts, a: ts.cast(a, "float64")[ts.newaxis],
    "stacked": lambda ts, a: ts.stack([a, a])[ts.newaxis],
    "downsampled": lambda ts, a: ts.downsample(a, [2, 1], "mean")[ts.newaxis],
    "diagonal": lambda ts, a: a[:4, :4][ts.d[0, 1].diagonal][ts.newaxis],
}


@pytest.mark.parametrize("fix", [False, True])
@pytest.mark.parametrize("driver", ["array", "zarr3", "zarr", "n5"])
@pytest.mark.parametrize("name", VIEWS)
def test_bounds_that_stay_open(name: str, driver: str, fix: bool, tmp_path: Path) -> None:
    """Only those of dimensions that the view has made itself."""
    found = {}
    for ts in (ours, theirs):
        if driver == "array":
            array = ts.array(np.arange(24).reshape(4, 6))
        else:
            spec = {"driver": driver, "kvstore": f"file://{tmp_path / ts.__name__}/"}
            array = ts.open(spec, create=True, shape=[4, 6], dtype="int32").result()
        found[ts] = str(VIEWS[name](ts, array).resolve(fix_resizable_bounds=fix).result().domain)
    assert found[ours] == found[theirs]


@pytest.mark.parametrize("fix", [False, True])
def test_functions_have_nothing_to_tell_anew(fix: bool) -> None:
    found = {}
    for ts in (ours, theirs):
        made = ts.virtual_chunked(lambda domain, out, how: None, dtype="int8", shape=[3])
        view = made[ts.d[:].mark_bounds_implicit[True]]
        found[ts] = str(view.resolve(fix_resizable_bounds=fix).result().domain)
    assert found[ours] == found[theirs] == "{ [0*, 3*) }"


_RESIZE = """
import sys
import blizzarr.tensorstore as ts
spec = {"driver": sys.argv[1], "kvstore": {"driver": "file", "path": sys.argv[2]}}
ts.open(spec).result().resize(exclusive_max=list(map(int, sys.argv[3:]))).result()
"""


@pytest.mark.parametrize("shape", [(2, 6), pytest.param((9, 3), marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "driver", ["zarr3", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("zarr", "n5"))]
)
def test_another_process_has_changed_the_shape(driver: str, shape: tuple[int, int], tmp_path: Path) -> None:
    """With TensorStore's answer for each view, and the elements that are there."""
    opened = {}
    for ts in (ours, theirs):
        place = str(tmp_path / ts.__name__)
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": place}}
        ts.open(spec, create=True, shape=[4, 6], dtype="int32").result()[...] = 7
        opened[ts] = ts.open(spec).result()
        subprocess.run([sys.executable, "-c", _RESIZE, driver, place, *map(str, shape)], check=True)
    for name, view in VIEWS.items():
        for fix in (False, True):
            told = []
            for ts, array in opened.items():
                try:
                    resolved = view(ts, array).resolve(fix_resizable_bounds=fix).result()
                    told.append((str(resolved.domain), resolved.read().result().tolist()))
                except ValueError as error:
                    told.append((str(error).split(" [")[0].replace(ts.__name__, "ts"), None))
            assert told[0] == told[1], (name, fix)


def steps(view: Any) -> list[Callable[[], Any]]:
    """What takes over bounds, and what does not."""
    return [
        lambda: str(view.domain),
        lambda: view.read().result().shape,
        lambda: view.storage_statistics(query_not_stored=True, query_fully_stored=True).result().fully_stored,
        lambda: view.write(6).result(),
        lambda: view.resolve().result().domain.shape,
    ]


def answer(step: Callable[[], Any]) -> Any:
    try:
        return step()
    except (ValueError, NotImplementedError) as error:
        return next(kind for kind in (NotImplementedError, ValueError) if isinstance(error, kind))
    except OutOfBoundsError:
        # TensorStore acknowledges writes to what was cut off, and they are lost.
        return None


@pytest.mark.parametrize("shape", [(8, 8), (2, 6)])
@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_what_another_handle_has_seen(driver: str, shares: bool, shape: tuple[int, int], tmp_path: Path) -> None:
    """Within one context, views take over the bounds that they leave open when they are read and written."""
    told: list[list[Any]] = []
    for ts in (ours, theirs):
        context = ts.Context()
        spec = {"driver": driver, "kvstore": f"file://{tmp_path / ts.__name__}/", "recheck_cached_metadata": "open"}
        layout = ts.ChunkLayout(chunk_shape=[3, 3])
        first = ts.open(spec, create=True, shape=[4, 6], dtype="int32", chunk_layout=layout, context=context).result()
        first[...] = 5
        second = ts.open(spec, context=context if shares else ts.Context()).result()
        views = {name: make(ts, first) for name, make in VIEWS.items() if name not in ("stacked", "one row")}
        second.resize(exclusive_max=shape).result()
        told.append([(name, [answer(step) for step in steps(view)]) for name, view in views.items()])
        if shape[0] < 4:
            # How much is stored of what is not there any more TensorStore tells of some views, and fails for others.
            for name, answers in told[-1]:
                if name != "all":
                    answers[2] = None
    for mine, other in zip(*told, strict=True):
        assert mine == other


@pytest.mark.parametrize("length", [16, 24])
@pytest.mark.parametrize("early", [True, False])
def test_transactions_know_what_another_handle_has_seen(early: bool, length: int) -> None:
    """Also when the array was smaller in between, and whether they began before or after that."""
    told = []
    for ts in (ours, theirs):
        context, spec = ts.Context(), {"driver": "zarr3", "kvstore": "memory://"}
        first = ts.open(spec, create=True, shape=[16], dtype=ts.int32, context=context).result()
        second = ts.open(spec, context=context).result()
        transaction = ts.Transaction()
        inside = first.with_transaction(transaction) if early else None
        second.resize(exclusive_max=[8]).result()
        shapes = [first.read().result().shape]
        second.resize(exclusive_max=[length]).result()
        view = (inside or first.with_transaction(transaction))[length - 6 : length - 4]
        view.write(5).result()
        transaction.commit_sync()
        told.append((shapes, second.read().result().tolist()))
    assert told[0] == told[1] == ([(8,)], [5 if length - 6 <= index < length - 4 else 0 for index in range(length)])


@pytest.mark.parametrize("resizes", [True, False])
def test_transactions_that_have_read_the_metadata_see_what_changes_later(resizes: bool) -> None:
    """The array may be changed again by others, whether or not the transaction has changed it."""
    told = []
    for ts in (ours, theirs):
        context, spec = ts.Context(), {"driver": "zarr3", "kvstore": "memory://"}
        store = ts.open(spec, create=True, shape=[2, 3], dtype=ts.int32, context=context).result()
        transaction = ts.Transaction()
        inside = store.with_transaction(transaction).resolve().result()
        if resizes:
            inside = inside.resize(exclusive_max=[3, None]).result()
        inside[0, 0] = 3
        store = store.resize(exclusive_max=[4, 5]).result()
        inside[2, 4].write(5).result()
        told.append([inside.read().result().tolist()])
        transaction.commit_sync()
        told[-1].append(store.resolve().result().read().result().tolist())
    height = 3 if resizes else 4
    expected = np.zeros((4, 5), "i4")
    expected[0, 0], expected[2, 4] = 3, 5
    assert told[0] == told[1] == [expected[:height].tolist()] * 2


def test_what_another_thread_has_made_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has looked at the document before it was changed does not make others see what it was."""
    spec = {"driver": "zarr3", "kvstore": "memory://", "recheck_cached_metadata": True}
    store = ours.open(spec, dtype="uint8", shape=[4], create=True).result()
    look, looks = StoredArray.look, [0]

    def slow(stored: StoredArray, *above: Any) -> Any:
        found = look(stored, *above)
        looks[0] += 1
        if looks[0] == 1:
            thread = threading.Thread(target=lambda: store.resize(exclusive_max=[9]).result())
            thread.start()
            thread.join()
        return found

    monkeypatch.setattr(StoredArray, "look", slow)
    resolved = store.resolve().result()
    assert (resolved.shape, looks[0]) == ((9,), 3)
    store[8] = 7
    assert int(store[8].read().result()) == 7


@pytest.mark.parametrize("shape", [(4, 5), (1, 2)])
def test_what_a_transaction_has_resized_is_known_afterwards(shape: tuple[int, int], tmp_path: Path) -> None:
    """Also to handles that were opened before the transaction, when the array was opened in the transaction."""
    for url in ("memory://", f"file://{tmp_path}/"):
        context, spec = ours.Context(), {"driver": "zarr3", "kvstore": url}
        store = ours.open(spec, create=True, shape=[2, 3], dtype="int32", context=context).result()
        transaction = ours.Transaction()
        inside = ours.open(spec, context=context, transaction=transaction).result()
        inside = inside.resize(exclusive_max=shape).result()
        inside[0, 1] = 7
        assert store.resolve().result().shape == (2, 3)
        transaction.commit_sync()
        assert store.resolve().result().shape == shape
        assert store.read().result()[0].tolist() == [0, 7, 0, 0, 0][: shape[1]]


@pytest.mark.parametrize("kvstore", ["file", "memory"])
@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_handles_see_what_a_transaction_of_this_process_resized(driver: str, kvstore: str, tmp_path: Path) -> None:
    """Without a look of their own: as if it had been resized without a transaction."""

    def seen(ts: Any) -> Any:
        path = f"{tmp_path}/{ts.__name__}/" if kvstore == "file" else "a/"
        spec = {"driver": driver, "kvstore": {"driver": kvstore, "path": path}}
        store = ts.open(spec, create=True, dtype="int32", shape=[5], context=ts.Context()).result()
        with ts.Transaction() as txn:
            store.with_transaction(txn).resize(exclusive_max=[8]).result()[6] = 1
        found = [store.read().result().tolist()]
        with ts.Transaction() as txn:
            found.append(store.with_transaction(txn).read().result().tolist())
        store[7] = 2
        txn = ts.Transaction()
        store.with_transaction(txn).resize(exclusive_max=[9]).result()
        txn.abort()
        return [*found, store.read().result().tolist()]

    assert seen(ours) == seen(theirs) == [[0, 0, 0, 0, 0, 0, 1, 0]] * 2 + [[0, 0, 0, 0, 0, 0, 1, 2]]


@pytest.mark.parametrize(
    ("view", "bounds"),
    [
        (lambda a: a[0:2], {"exclusive_max": [6, None]}),
        (lambda a: a, {"inclusive_min": [1, None]}),
        (lambda a: a.vindex[[0, 1]], {"exclusive_max": [None, 9]}),
    ],
    ids=["explicit", "lower", "indices"],
)
def test_a_transaction_goes_on_after_a_resize_that_no_array_could_take(
    view: Callable[[Any], Any], bounds: dict[str, Any], tmp_path: Path
) -> None:
    """The view is refused, not the array: nothing is left for the commit, and what was written is stored."""

    def seen(ts: Any) -> Any:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/{ts.__name__}/"}}
        store = ts.open(spec, create=True, dtype="int32", shape=[3, 2]).result()
        transaction = ts.Transaction()
        inside = store.with_transaction(transaction)
        inside[0] = 5
        with pytest.raises(ValueError, match=r"^(Invalid resize|Output dimension)") as refused:
            view(inside).resize(**bounds).result()
        inside[1, 0] = 6
        found = [str(refused.value).split("; ")[0], inside.read().result().tolist()]
        transaction.commit_sync()
        return [*found, store.read().result().tolist()]

    found = seen(ours)
    assert found == seen(theirs)
    assert found[1:] == [[[5, 5], [6, 0], [0, 0]]] * 2
