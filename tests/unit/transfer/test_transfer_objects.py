"""Arrays of texts and byte strings: assignments, selections, what is stored, what is refused."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError
from blizzarr.stores import MemoryStore, ZipStore
from support.child import answer

TEXTS = np.array([["a", "", "ccc"], ["\N{SNOWMAN}", "none", "a\0"], ["x" * 300, "\x00", "z"]], object)


def made(store: Any = None, data: Any = TEXTS, **options: Any) -> blizzarr.Array:
    return blizzarr.create_array({} if store is None else store, data=data, **{"chunks": (2, 2)} | options)


def group_of(names: str) -> blizzarr.Group:
    group = blizzarr.create_group({})
    for name in names:
        group.create_group(name)
    return group


def keys(array: blizzarr.Array) -> list[str]:
    return sorted(key for key in array.store.list("") if not key.endswith("zarr.json"))


# Assignments


@pytest.mark.parametrize(
    "value",
    [
        "one",
        np.str_("one"),
        ["a", "b", "c"],
        ("a", "b", "c"),
        [["a"], ["b"]],
        np.array(["a", "b", "c"]),
        np.array([["a", "bb", "c"]]),
        np.array("one"),
        np.array("one", object),
        np.array([["a", "b", "c"], ["d", "e", "f"]], object)[:, ::-1],
        np.array(["a", "b", "c\N{SNOWMAN}"], np.dtypes.StringDType()) if hasattr(np.dtypes, "StringDType") else ["a"],
    ],
)
def test_values_are_broadcast_as_in_an_assignment(value: Any) -> None:
    array, model = made(), TEXTS.copy()
    array[:2] = value
    model[:2] = (
        np.asarray(value, object)
        if isinstance(value, np.ndarray) and value.ndim
        else str(value)
        if np.ndim(value) == 0
        else value
    )
    assert array[...].tolist() == model.tolist()
    assert all(isinstance(element, str) for element in array[...].ravel())


@pytest.mark.parametrize("data", [TEXTS[0], np.array([b"a", b"b\0", b""], object)])
def test_an_element_is_copied_from_a_view(data: Any) -> None:
    array = made(data=data, chunks=2)
    array[2] = array.lazy[1]
    assert array[...].tolist() == [data[0], data[1], data[1]]


def test_what_does_not_broadcast_is_refused() -> None:
    array = made()
    for value in (["a", "b"], [["a"] * 3] * 3, np.array(["a", "b"])):
        with pytest.raises(ValueError, match=r"broadcasts to the selection's shape \(2, 3\)"):
            array[:2] = value
    assert array[...].tolist() == TEXTS.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([["a", "b", "c"], ["d", b"e", "f"]], r"expected str at index \(1, 1\), found bytes b'e'"),
        ([["a", "b", None]], r"expected str at index \(0, 2\), found NoneType None; texts in Zarr cannot be missing"),
        (7, "expected str, found int 7"),
        (b"x", "expected str, found bytes b'x'"),
        (np.arange(3), r"expected str at index \(0, 0\), found int 0"),
        (["a", "\ud800", "c"], r"expected text that UTF-8 can encode at index \(0, 1\), found a lone"),
        (np.array(["NaT", 0, 1], "M8[s]"), r"expected str at index \(0, 0\), found NoneType"),
        (group_of("abc"), "expected str, found Group"),
    ],
)
def test_elements_of_another_type_are_refused_and_nothing_is_stored(value: Any, message: str) -> None:
    """The message names the element; no chunk has changed."""
    array = made()
    with pytest.raises(TypeError, match=message):
        array[:2] = value
    assert array[...].tolist() == TEXTS.tolist()


def test_bytes_are_no_text() -> None:
    array = made(data=np.array([b"a", b"\xff\0", b""], object), chunks=2)
    assert array[...].tolist() == [b"a", b"\xff\0", b""]
    with pytest.raises(TypeError, match="expected bytes, found str 'x'"):
        array[1] = "x"
    array[1:] = np.array([b"ab", b"c"], "S2")
    assert array[...].tolist() == [b"a", b"ab", b"c"]


def test_one_element_is_itself() -> None:
    array = made()
    assert array[0, 2] == "ccc"
    assert type(array[0, 2]) is str
    array[0, 2] = "new"
    array[1, 1] = np.array("zero-dimensional")
    assert array[:2, 1:].tolist() == [["", "new"], ["zero-dimensional", "a\0"]]
    with pytest.raises(TypeError, match="expected str, found list"):
        array[0, 0] = ["a"]


def test_no_axes() -> None:
    array = blizzarr.create_array({}, data="only")
    assert (array.shape, array[()], array[...].shape) == ((), "only", ())
    array[...] = "other"
    assert array[()] == "other"
    array[()] = ""
    assert keys(array) == []


# Selections


def test_every_way_to_select() -> None:
    array = made()
    assert array[::-2, 1].tolist() == TEXTS[::-2, 1].tolist()
    assert array[[2, 0, 2]].tolist() == TEXTS[[2, 0, 2]].tolist()
    assert array[TEXTS == "z"].tolist() == ["z"]
    assert array.oindex[[2, 0], [0, 2]].tolist() == TEXTS[np.ix_([2, 0], [0, 2])].tolist()
    assert array.vindex[[0, 1], [2, 0]].tolist() == ["ccc", "\N{SNOWMAN}"]
    assert array.blocks[1, 1].tolist() == [["z"]]
    array.vindex[[0, 1], [2, 0]] = ["p", "q"]
    array.oindex[[2], [0, 1]] = "r"
    assert array[...].tolist() == [["a", "", "p"], ["q", "none", "a\0"], ["r", "r", "z"]]


def test_masks_of_large_arrays() -> None:
    """They are taken apart slab by slab."""
    model = np.array([f"{number % 1000}" for number in range(600 * 500)], object).reshape(600, 500)
    array = made(data=model, chunks=(100, 100))
    mask = np.arange(model.size).reshape(model.shape) % 7 == 0
    assert array[mask].tolist() == model[mask].tolist()
    array[mask] = "masked"
    model[mask] = "masked"
    assert array[...].tolist() == model.tolist()


def test_into_memory_of_the_caller() -> None:
    array = made()
    for out in (np.empty((3, 3), object), np.empty((3, 3), object, order="F"), np.full((6, 6), 7, object)[::2, ::-2]):
        assert array.get_basic_selection(..., out=out) is out
        assert out.tolist() == TEXTS.tolist()
    with pytest.raises(TypeError, match="expected out= of data type object"):
        array.get_basic_selection(..., out=np.empty((3, 3), "U5"))


def test_references_are_counted() -> None:
    """Results own their elements, and what was in the memory of the caller is let go."""

    class Watched(str):
        __slots__ = ("__weakref__",)

    import weakref

    watched = Watched("old")
    gone = weakref.ref(watched)
    out = np.full((3, 3), watched, object)
    del watched
    array = made(fill_value="a")
    array.get_basic_selection(..., out=out)
    gc.collect()
    assert gone() is None
    fill = out[0, 0]
    del out, array
    assert fill == "a"


def test_characters_of_every_width() -> None:
    """Texts are those that Python makes of UTF-8, and as small: one, two or four bytes for each character."""
    widest = ["", "a", "\x7f", "\x80", "\xff", "\u0100", "\uffff", "\U00010000", "\U0010ffff", "\0"]
    texts = [one + other + "e" * 5 for one in widest for other in widest] + [one * 200 for one in widest] + widest
    array = blizzarr.create_array({}, data=np.array(texts, object), chunks=37)
    for one, expected in zip(array[...], texts, strict=True):
        assert (one, one.isascii(), one.encode()) == (expected, expected.isascii(), expected.encode())
        assert sys.getsizeof(one) == sys.getsizeof(expected.encode().decode())


def test_as_numpy_sees_it() -> None:
    array = made()
    assert np.asarray(array).tolist() == TEXTS.tolist()
    assert [row.tolist() for row in array] == TEXTS.tolist()
    assert "none" in array
    assert "nothing" not in array
    assert (array.dtype, array.itemsize, array.nbytes) == (np.dtype(object), 8, 72)
    assert np.asarray(array, "U3")[0].tolist() == ["a", "", "ccc"]
    assert repr(array).endswith("shape=(3, 3) dtype=object chunks=(2, 2)>")


# What is stored


def test_chunks_of_nothing_but_fill_are_not_stored() -> None:
    array = made(MemoryStore(), data=np.full((4, 4), "none", object), fill_value="none")
    assert keys(array) == []
    array[1, 1] = "x"
    array[2:] = ""
    assert keys(array) == ["c/0/0", "c/1/0", "c/1/1"]
    array[2:, :2] = ["none", "none"]
    assert keys(array) == ["c/0/0", "c/1/1"]
    array[1, 1] = "none"
    assert keys(array) == ["c/1/1"]
    assert array[...].tolist() == [["none"] * 4] * 2 + [["none", "none", "", ""]] * 2
    with blizzarr.config.set(write_empty_chunks=True):
        array[:2] = "none"
    assert keys(array) == ["c/0/0", "c/0/1", "c/1/1"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compressors": None},
        {"compressors": ["gzip", "crc32c"]},
        {"compressors": "blosc"},
        {"order": "F"},
        {"shards": (4, 4)},
        {"shards": (4, 4), "order": "F", "compressors": "crc32c"},
        {"fill_value": "none"},
        {"chunk_key_encoding": ("v2", ".")},
    ],
    ids=str,
)
def test_layouts(options: dict[str, Any]) -> None:
    store = MemoryStore()
    array = made(store, **options)
    array[1:, 1:] = TEXTS[:2, :2]
    model = TEXTS.copy()
    model[1:, 1:] = TEXTS[:2, :2]
    again = blizzarr.open_array(store)
    assert again[...].tolist() == model.tolist()
    assert again.metadata == array.metadata
    assert pickle.loads(pickle.dumps(array))[1].tolist() == model[1].tolist()


def test_long_elements_and_compressible_ones() -> None:
    """A chunk may be many times larger than its shape lets one think, before compression and after."""
    data = np.array(["x" * 1_000_000, "", "\N{SNOWMAN}" * 300_000, "y"], object)
    for compressors in (None, "zstd", ["gzip", "zstd"]):
        array = made(data=data, chunks=3, shards=6 if compressors else None, compressors=compressors)
        assert array[...].tolist() == data.tolist()
        array[1] = "z" * 2_000_000
        assert array[2] == data[2]


def test_bytes_of_a_chunk_are_as_the_format_says() -> None:
    """https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8"""
    array = made(MemoryStore(), data=["ab", "", "\N{SNOWMAN}"], chunks=4, compressors=None)
    encoded = b"\x04\0\0\0" + b"\x02\0\0\0ab" + b"\0\0\0\0" + b"\x03\0\0\0\xe2\x98\x83" + b"\0\0\0\0"
    assert array.store.get("c/0") == encoded


def test_growing_shows_fill_and_shrinking_erases() -> None:
    array = made(MemoryStore(), fill_value="f")
    array.resize((3, 1))
    array.resize((4, 3))
    assert array[...].tolist() == [["a", "f", "f"], ["\N{SNOWMAN}", "f", "f"], ["x" * 300, "f", "f"], ["f"] * 3]
    assert keys(array) == ["c/0/0", "c/1/0"]
    assert array.append([["p", "q", "r"]]) == (5, 3)
    assert array.append(np.array([["s"]] * 5), axis=1) == (5, 4)
    assert array[3:].tolist() == [["f", "f", "f", "s"], ["p", "q", "r", "s"]]
    with pytest.raises(TypeError, match=r"expected str at index \(0, 1\)"):
        array.append([["a", 1, "b", "c"]])
    assert array.shape == (5, 4)


def test_stores_that_cannot_delete(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        array = made(store)
        array[:2, :2] = ""
        assert array[...].tolist() == [["", "", "ccc"], ["", "", "a\0"], ["x" * 300, "\x00", "z"]]


@pytest.mark.parametrize("shards", [None, (100,)])
def test_writers_of_one_chunk_wait_for_each_other(tmp_path: Path, shards: Any) -> None:
    array = blizzarr.create_array(tmp_path, shape=100, dtype=str, chunks=50, shards=shards)

    def write(number: int) -> None:
        for place in range(number, 100, 5):
            array[place] = f"{number}-{place}"

    threads = [threading.Thread(target=write, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert array[...].tolist() == [f"{place % 5}-{place}" for place in range(100)]


def test_memory_follows_what_is_wanted() -> None:
    """Of a chunk of which little is read, little is kept, however many chunks there are: here 128 of a mebibyte."""
    facts = answer(
        """
        array = blizzarr.create_array({}, shape=(128, 64), dtype=str, chunks=(1, 64))
        array[...] = "x" * (1 << 14)
        column = [f"{row}" for row in range(128)]
        array[:, 7] = column
        before = peak()
        tell(right=array[:, 7].tolist() == column and array[:, [7, 7]][3].tolist() == ["3", "3"], grown=peak() - before)
        """
    )
    assert facts["right"]
    assert facts["grown"] < 32


def test_a_damaged_chunk_is_named() -> None:
    array = made(MemoryStore(), compressors=None)
    array.store.set("c/0/1", b"\x04\0\0\0\x01\0\0\0\xff")
    with pytest.raises(
        CodecError, match=r"^cannot decode chunk c/0/1 of <MemoryStore .*>: vlen-utf8: element 0 of 4 is not UTF-8"
    ):
        array[...]
    assert array[2].tolist() == TEXTS[2].tolist()
    array[:2, 2] = ["p", "q"]
    assert array[:2, 2].tolist() == ["p", "q"], "all that can be seen of it was replaced"
