"""What a transaction keeps of what was written: any selection, no more memory than it takes, and none twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.tensorstore_face import ours, theirs

from blizzarr.tensorstore.picking import Pieces
from blizzarr.tensorstore.staging import Staged
from blizzarr.tensorstore.store import driver_of
from blizzarr.tensorstore.write_buffer import ChunkBuffer

_CHUNK = (5, 7, 4)


def _open(face: Any, shape: tuple[int, ...] = (13, 15, 6), **options: Any) -> Any:
    spec = {"driver": "zarr3", "kvstore": options.pop("place", "memory://"), "metadata": options.pop("metadata", {})}
    layout = face.ChunkLayout(chunk_shape=options.pop("chunk", _CHUNK))
    return face.open(spec, dtype="int32", shape=shape, chunk_layout=layout, create=True, **options).result()


def _selected(face: Any, store: Any, rng: np.random.Generator) -> Any:
    """A view by a random way of indexing."""
    shape = store.shape
    some = lambda axis, count: rng.integers(0, shape[axis], count).tolist()  # noqa: E731
    low = [int(rng.integers(0, length)) for length in shape]
    high = [int(rng.integers(at + 1, length + 1)) for at, length in zip(low, shape, strict=True)]
    slices = [slice(*ends) for ends in zip(low, high, strict=True)]
    steps = [int(rng.choice([-2, -1, 2, 3])) for _ in shape]
    backwards = [slice(up - 1, down - 1 if down else None, step) if step < 0 else slice(down, up, step)
                 for down, up, step in zip(low, high, steps, strict=True)]  # fmt: skip
    ways = (
        lambda: store[tuple(slices)],
        lambda: store[tuple(slices)],
        lambda: store[low[0], slices[1], slices[2]],
        lambda: store[tuple(backwards)] if all(step > 0 for step in steps) else store[tuple(slices)][:, ::-1],
        lambda: store[:, low[1]][backwards[0]] if steps[0] > 0 else store[:, low[1]],
        lambda: store.oindex[some(0, 3), slices[1], some(2, 2)],
        lambda: store.oindex[:, some(1, 4)],
        lambda: store.vindex[some(0, 6), some(1, 6), some(2, 6)],
        lambda: store.vindex[some(0, 5), :, some(2, 5)],
        lambda: store[face.d[0, 1].diagonal][2:9],
        lambda: store[face.newaxis, slices[0], low[1]],
        lambda: store[face.d[2, 0].transpose[0, 1]][slices[2]],
        lambda: store.oindex[np.arange(shape[0]) % 3 == 1],
        lambda: store[low[0], low[1], low[2]],
        lambda: store[3:3],
    )
    return ways[int(rng.integers(0, len(ways)))]()


@pytest.mark.parametrize("seed", range(25))
def test_any_selection(seed: int) -> None:
    """Written and read in a transaction, and stored by it, as TensorStore does."""
    seen = []
    for face in (ours, theirs):
        rng = np.random.default_rng(seed)
        store = _open(face)
        store.write(np.arange(13 * 15 * 6, dtype=np.int32).reshape(13, 15, 6)).result()
        found: list[Any] = []
        txn = face.Transaction()
        inside = store.with_transaction(txn)
        for step in range(8):
            view = _selected(face, inside, rng)
            values = rng.integers(0, 10, view.shape, dtype=np.int32) + 1000 * (step + 1)
            view.write(values).result()
            found.append(_selected(face, inside, rng).read().result())
            found.append(inside.read(order="F").result())
        found.append(store.read().result())
        txn.commit_sync()
        found.append(store.read().result())
        seen.append(found)
    for mine, expected in zip(*seen, strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_chunks_by_chunks_of_the_grid(place: str, tmp_path: Any) -> None:
    """Elements of chunks that are written as a whole are kept once, without a mask, and go when the chunk is made."""
    kvstore = "memory://" if place == "memory" else f"file://{tmp_path}/array/"
    store = _open(ours, (20, 14, 4), place=kvstore)
    with ours.Transaction() as txn:
        inside = store.with_transaction(txn)
        values = np.arange(20 * 14 * 4, dtype=np.int32).reshape(20, 14, 4)
        inside.write(values).result()
        chunks = driver_of(inside)._staged().buffer.chunks
        assert len(chunks) == 8
        assert all(chunk.mask is None and chunk.is_whole for chunk in chunks.values())
        assert sum(chunk.data.nbytes for chunk in chunks.values()) == values.nbytes
    assert not [chunk for chunk in chunks.values() if chunk.data is not None]
    np.testing.assert_array_equal(store.read().result(), values)


def test_elements_go_as_chunks_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a commit needs no more memory than what was written."""
    store = _open(ours, (100, 7, 4))
    left = []
    before = Staged._write

    def noted(self: Staged, binding: Any, positions: list[tuple[int, ...]]) -> None:
        left.append(sum(chunk.data is not None for chunk in list(self.buffer.chunks.values())))
        before(self, binding, positions)

    monkeypatch.setattr(Staged, "_write", noted)
    with ours.Transaction() as txn:
        store.with_transaction(txn)[...] = 7
    assert len(left) == 20
    assert min(left) < 8
    assert (store.read().result() == 7).all()


@pytest.mark.parametrize("attempts", [1, 3])
def test_chunks_that_others_replace_while_they_are_committed(attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are made again over what is there then; those that are written as a whole stay as they are."""
    store = _open(ours, (5, 14, 4), metadata={"codecs": ["bytes"]}, fill_value=-1)
    before, left = Staged.put, list(range(attempts))

    def put(self: Staged, *given: Any) -> Any:
        found = before(self, *given)
        if left:
            # The transaction has the lock of the array, not that of values.
            other = np.full(_CHUNK, 100 + left.pop(), np.int32)
            store.kvstore["c/0/0/0"] = other.tobytes()
        return found

    monkeypatch.setattr(Staged, "put", put)
    with ours.Transaction() as txn:
        inside = store.with_transaction(txn)
        inside[:, 7:] = 5
        inside[1:3, 2:4] = 6
        inside[4, ::2, 1] = 8
        inside[3, 3, 3] = -1
    expected = np.full((5, 14, 4), 100, np.int32)
    expected[:, 7:] = 5
    expected[1:3, 2:4] = 6
    expected[4, :7:2, 1] = 8
    expected[3, 3, 3] = -1
    expected[4, 8::2, 1] = 8
    np.testing.assert_array_equal(store.read().result(), expected)
    assert not left


def test_chunks_that_come_to_be_nothing_but_fill_are_deleted() -> None:
    """In memory, where chunks are made beside what is stored."""
    store = _open(ours, (5, 14, 4))
    store[...] = 3
    with ours.Transaction() as txn:
        inside = store.with_transaction(txn)
        inside[:, :7] = 0
        inside[0, 8] = 0
    assert store.kvstore.list().result() == [b"c/0/1/0", b"zarr.json"]
    assert int(store.read().result().sum()) == 3 * (5 * 7 * 4 - 4)


def test_objects_that_change_after_they_were_written() -> None:
    """Are as they were when they were written, and what was read is nobody else's."""
    from blizzarr.tensorstore.write_buffer import WriteBuffer

    buffer = WriteBuffer((3,), np.dtype(object))
    document = {"a": [1]}
    values = np.empty(2, object)
    values[:] = [document, document]
    selection: Any = ((2,), ((0, 0, 1),), False)
    buffer.write(selection, values)
    buffer.write(((1,), ((0, 2, 1),), False), values[:1])
    document["a"].append(2)
    found = buffer.read(selection, lambda out: values)
    assert found[0] == {"a": [1]}
    found[0]["a"].append(3)
    assert buffer.read(selection, lambda out: values)[0] == {"a": [1]}


def test_a_chunk_buffer_knows_what_was_written() -> None:
    """Until all of it is written at once, there is a mask, which is no longer than it must be."""
    chunk = ChunkBuffer((6, 8), np.dtype("int16"))
    row = np.arange(8, dtype=np.int16)[None]
    for index in (2, 3, 1):
        chunk.put((slice(index, index + 1, 1), slice(0, 8, 1)), row)
    assert chunk.written_lines() == ([range(1, 4), range(8)], True)
    assert chunk.mask is not None
    assert chunk.mask.shape == (6, 1)
    assert chunk.written((slice(1, 3, 1), slice(2, 5, 1))) is True
    assert chunk.written((slice(4, 6, 1), slice(2, 5, 1))) is False
    assert chunk.written((slice(3, 5, 1), slice(2, 3, 1))).tolist() == [[True], [False]]  # type: ignore[union-attr]
    chunk.put((slice(5, 6, 1), slice(0, 8, 1)), row)
    assert chunk.mask.any(axis=1).tolist() == [False, True, True, True, False, True]
    chunk.put((slice(0, 6, 5), slice(7, 8, 1)), row[:, :1])
    assert chunk.mask.tolist() == [[False] * 7 + [True], *[[True] * 8] * 3, [False] * 8, [True] * 8]
    assert chunk.cut((5, 3))
    assert chunk.first_outside((4, 3)) is None
    assert chunk.first_outside((2, 3)) == (2, 0)
    assert not chunk.cut((0, 3))
    assert not chunk.is_whole
    chunk.put((slice(0, 6, 1), slice(0, 8, 1)), np.zeros((6, 8), np.int16))
    assert chunk.is_whole
    assert chunk.mask is None
    assert chunk.cut((5, 3))
    assert chunk.written_lines() == ([range(5), range(3)], True)


@pytest.mark.parametrize("seed", range(10))
def test_pieces_have_each_element_once(seed: int) -> None:
    """However the axes go, and along whatever chunks; of all chunks or of those that are asked for."""
    rng = np.random.default_rng(seed)
    array = np.arange(11 * 9 * 8).reshape(11, 9, 8)
    chunks = tuple(int(length) for length in rng.integers(1, 9, 3))
    rows: npt.NDArray[np.int64] = rng.integers(0, 11, 4)
    columns: npt.NDArray[np.int64] = rng.integers(0, 9, 4)
    selections: list[Any] = [
        (((4, 3, 5), ((0, 9, -2), (1, 1, 3), (2, 0, 1)), False), array[9:1:-2, 1:9:3, :5]),
        (((5, 3), (7, (1, 1, 3), (0, 6, -1)), False), array[7, 1:9:3, 6:1:-1].T),
        (((4, 2, 4), (((2,), rows), (1, 3, 1), ((0,), columns[:4] % 8)), False), None),
        (((2, 2, 3), (((0, 1), rows.reshape(2, 2)), ((0, 1), columns.reshape(2, 2)), (2, 1, 2)), False), None),
    ]
    selections[2] = selections[2][0], array[np.ix_(rows, [3, 4], columns % 8)].transpose(2, 1, 0)
    selections[3] = selections[3][0], array[rows.reshape(2, 2), columns.reshape(2, 2)][..., 1:7:2]
    for lowered, expected in selections:
        pieces = Pieces(lowered, chunks)
        found = np.full(expected.shape, -1)
        elements = pieces.arranged(found)
        wanted = [position for position, _, _ in pieces]
        assert len(set(wanted)) == len(wanted)
        half = set(wanted[::2])
        for position, where, index in pieces:
            chunk = array[tuple(slice(at * n, (at + 1) * n) for at, n in zip(position, chunks, strict=True))]
            whole = np.zeros(chunks, array.dtype)
            whole[tuple(map(slice, chunk.shape))] = chunk
            made = ChunkBuffer(chunks, whole.dtype)
            made.put(tuple([slice(0, length, 1) for length in chunks]), whole)
            elements[index] = made.take(where)
        np.testing.assert_array_equal(found, expected)
        assert {position for position, _, _ in pieces.within(half)} == half
