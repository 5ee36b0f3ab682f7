"""Arrays of Zarr v2 whose documents do not say what is between indices in chunk keys: their chunks are asked."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import blizzarr
from blizzarr.formats.v2_separator import sample_names
from blizzarr.stores import ForeignStore, LocalStore, MemoryStore

Values: TypeAlias = dict[str, bytes]
VALUES = np.arange(1, 61, dtype="<i4").reshape(3, 4, 5)
UNSAID = 'ignore:.* has no "dimension_separator"'
# Of a grid of 3 x 2 x 3 chunks those that are looked up one by one: the first, the last, that in the middle.
LOOKED_UP = {"0/0/0", "2/1/2", "1/1/1"}


def old_array(separator: str = "/", path: str = "a", member: Any = ..., without: Sequence[str] = ()) -> Values:
    """Return a hierarchy with one array as zarr-python stored it before 2.8: without the member."""
    store: Values = {}
    root = blizzarr.create_group(store, zarr_format=2)
    root.create_array(path, data=VALUES, chunks=(1, 2, 2), chunk_key_encoding=("v2", separator), fill_value=-1)
    document = json.loads(store[f"{path}/.zarray"])
    del document["dimension_separator"]
    if member is not ...:
        document["dimension_separator"] = member
    store[f"{path}/.zarray"] = json.dumps(document).encode()
    for name in without:
        del store[f"{path}/{name}"]
    return store


def on_disk(store: Values, folder: Path) -> Path:
    for key, value in store.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(value)
    return folder


class Distant:
    """What is far away: each request is noted, and nothing is listed."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.asked: list[str] = []

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def get_ranges(self, key: str, ranges: list[tuple[int, int]]) -> list[bytes] | None:
        self.asked.append(key)
        value = self.values.get(key)
        return None if value is None else [value[start : start + length] for start, length in ranges]


def test_v1_values_are_read_and_a_warning_says_what_to_do() -> None:
    """V-1: zarr-python before 2.8 put slashes into keys and did not say so."""
    store = old_array()
    with pytest.warns(UserWarning, match='/a in .* chunks with keys like 0/0/0, .* "/" in a/.zarray') as caught:
        array = blizzarr.open_array(store, path="a", mode="r")
    assert len(caught) == 1
    np.testing.assert_array_equal(array[...], VALUES)
    assert array.metadata.chunk_keys.separator == "/"


@pytest.mark.filterwarnings(UNSAID)
@pytest.mark.parametrize("member", [..., None])
@pytest.mark.parametrize("kind", ["dict", "memory", "local", "zip", "wrapped", "distant"])
def test_every_kind_of_store(kind: str, member: Any, tmp_path: Path) -> None:
    values = old_array(member=member)
    place: Any = {
        "dict": lambda: values,
        "memory": lambda: filled(MemoryStore(), values),
        "local": lambda: on_disk(values, tmp_path),
        "zip": lambda: zipped(values, tmp_path / "a.zip"),
        "wrapped": lambda: blizzarr.stores.StoreWrapper(LocalStore(on_disk(values, tmp_path))),
        "distant": lambda: Distant(values),
    }[kind]()
    np.testing.assert_array_equal(blizzarr.open_array(place, path="a", mode="r")[...], VALUES)


def filled(store: Any, values: Values) -> Any:
    for key, value in values.items():
        store.set(key, value)
    return store


def zipped(values: Values, path: Path) -> Path:
    with blizzarr.stores.ZipStore(path, mode="w") as store:
        filled(store, values)
    return path


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("separator", [".", "/"])
def test_what_a_document_says_counts_whatever_is_there(separator: str, near: bool, tmp_path: Path) -> None:
    """The other chunks are not looked at, and nothing is asked."""
    other = {".": "/", "/": "."}[separator]
    store = old_array(other, member=separator)
    distant = Distant(store)
    array = blizzarr.open_array(on_disk(store, tmp_path) if near else distant, path="a", mode="r")
    assert distant.asked == []
    assert (array[...] == -1).all()


def test_dots_are_one_request_and_no_warning() -> None:
    distant = Distant(old_array("."))
    array = blizzarr.open_array(distant, path="a", mode="r")
    assert distant.asked == ["a/0.0.0"]
    np.testing.assert_array_equal(array[...], VALUES)


def test_far_away_holes_are_looked_around() -> None:
    """Without its first chunk; and without those that are looked up one by one, where it cannot be known."""
    distant = Distant(old_array(".", without=["0.0.0"]))
    expected = VALUES.copy()
    expected[0, :2, :2] = -1
    np.testing.assert_array_equal(blizzarr.open_array(distant, path="a", mode="r")[...], expected)
    assert distant.asked[:2] == ["a/0.0.0", "a/2.1.2"]
    distant = Distant(old_array(without=["0/0/0"]))
    with pytest.warns(UserWarning, match="dimension_separator"):
        array = blizzarr.open_array(distant, path="a", mode="r")
    np.testing.assert_array_equal(array[...], expected)
    distant = Distant(old_array(without=sorted(LOOKED_UP)))
    assert blizzarr.open_array(distant, path="a", mode="r").metadata.chunk_keys.separator == "."
    assert len(distant.asked) == 6


@pytest.mark.filterwarnings(UNSAID)
@pytest.mark.parametrize("kind", ["dict", "memory", "local", "zip"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_any_chunk_shows_it_on_this_machine(kind: str, separator: str, tmp_path: Path) -> None:
    """One chunk is left, which is none of those that are looked up."""
    store = old_array(separator)
    left = separator.join("201")
    for key in [key for key in store if key.startswith("a/") and key not in ("a/.zarray", f"a/{left}")]:
        del store[key]
    place: Any = {
        "dict": lambda: store,
        "memory": lambda: filled(MemoryStore(), store),
        "local": lambda: on_disk(store, tmp_path),
        "zip": lambda: zipped(store, tmp_path / "a.zip"),
    }[kind]()
    expected = np.full_like(VALUES, -1)
    expected[2, :2, 2:4] = VALUES[2, :2, 2:4]
    np.testing.assert_array_equal(blizzarr.open_array(place, path="a", mode="r")[...], expected)


@pytest.mark.parametrize("key", ["0/0/x", "00/0/1", "x/0/1", "0/1", "0/0/1/2", "notes/1/1/1"])
def test_what_is_no_chunk_shows_nothing(key: str, tmp_path: Path) -> None:
    store = {key: value for key, value in old_array().items() if "/" not in key or key == "a/.zarray"}
    store[f"a/{key}"] = b"of somebody else"
    array = blizzarr.open_array(on_disk(store, tmp_path), path="a", mode="r")
    assert array.metadata.chunk_keys.separator == "."


def test_no_chunks_at_all_are_dots(tmp_path: Path) -> None:
    """As the specification says; what is written then is where every reader looks."""
    store = {key: value for key, value in old_array().items() if "/" not in key or key == "a/.zarray"}
    array = blizzarr.open_array(on_disk(store, tmp_path), path="a", mode="r+")
    array[0, 0, 0] = 7
    assert (tmp_path / "a/0.0.0").exists()


@pytest.mark.parametrize("left", ["0.0.0", "2.1.2", "1.0.0"])
def test_of_both_kinds_dots_count(left: str, tmp_path: Path) -> None:
    """Every other reader finds these, and whoever wrote them read only these."""
    store = old_array()
    dotted = old_array(".")
    store[f"a/{left}"] = dotted[f"a/{left}"]
    if left == "1.0.0":
        # Not among those that are looked up; they would show slashes.
        for name in LOOKED_UP:
            del store[f"a/{name}"]
    array = blizzarr.open_array(on_disk(store, tmp_path), path="a", mode="r")
    x, y, z = map(int, left.split("."))
    cell = (x, slice(2 * y, 2 * y + 2), slice(2 * z, 2 * z + 2))
    expected = np.full_like(VALUES, -1)
    expected[cell] = VALUES[cell]
    np.testing.assert_array_equal(array[...], expected)


@pytest.mark.filterwarnings(UNSAID)
def test_written_where_the_others_are() -> None:
    store = old_array()
    keys = set(store)
    array = blizzarr.open_array(store, path="a", mode="r+")
    array[1] = 9
    assert set(store) == keys
    assert (blizzarr.open_array(store, path="a", mode="r")[1] == 9).all()


@pytest.mark.filterwarnings(UNSAID)
def test_the_document_is_left_alone_until_it_has_to_change() -> None:
    """Then it says what it did not: the array is one like others, and there is no warning any more."""
    store = old_array()
    before = store["a/.zarray"]
    array = blizzarr.open_array(store, path="a", mode="r+")
    array.attrs["units"] = "m"
    assert store["a/.zarray"] == before
    array.resize((3, 4, 7))
    assert json.loads(store["a/.zarray"])["dimension_separator"] == "/"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = blizzarr.open_array(store, path="a", mode="r")
    np.testing.assert_array_equal(again[:, :, :5], VALUES)
    assert again.attrs.asdict() == {"units": "m"}


def test_upgrade_says_it_and_moves_no_chunk(tmp_path: Path) -> None:
    folder = on_disk(old_array(), tmp_path)
    inode = (folder / "a/2/1/0").stat().st_ino
    upgrade = blizzarr.upgrade(folder)
    assert [node.moves_chunks for node in upgrade.nodes] == [False, False]
    document = json.loads((folder / "a/zarr.json").read_bytes())
    assert document["chunk_key_encoding"] == {"name": "v2", "configuration": {"separator": "/"}}
    assert (folder / "a/2/1/0").stat().st_ino == inode
    np.testing.assert_array_equal(blizzarr.open_array(folder, path="a", mode="r")[...], VALUES)


@pytest.mark.filterwarnings(UNSAID)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("form", "options"), [(2, {}), (3, {}), (2, {"chunks": (3, 4, 5)})])
def test_copies_have_the_values(form: Any, options: dict[str, Any], whole: bool) -> None:
    """Whether chunks are copied as they are or not; a copy in v2 says what is between its indices."""
    store, target = old_array(), Values()
    source = blizzarr.open_group(store, mode="r") if whole else blizzarr.open_array(store, path="a", mode="r")
    blizzarr.copy(source, target, zarr_format=form, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = blizzarr.open_array(target, path="a" if whole else "", mode="r")
    np.testing.assert_array_equal(made[...], VALUES)
    if form == 2:
        assert json.loads(target["a/.zarray" if whole else ".zarray"])["dimension_separator"] == "/"


def test_members_of_a_group_without_a_warning_for_each() -> None:
    store = old_array() | {key: value for key, value in old_array(path="b").items() if key.startswith("b/")}
    members = blizzarr.open_group(store, mode="r").members()
    assert [name for name, _ in members] == ["a", "b"]
    for _, member in members:
        np.testing.assert_array_equal(member[...], VALUES)  # type: ignore[index]  # both are arrays


def test_consolidated_metadata() -> None:
    """Copies of the documents leave it open too, and are no other metadata to a check."""
    store = old_array()
    blizzarr.consolidate_metadata(store)
    assert "dimension_separator" not in json.loads(store[".zmetadata"])["metadata"]["a/.zarray"]
    root = blizzarr.open_consolidated(store, mode="r")
    for array in (root["a"], dict(root.members())["a"]):
        np.testing.assert_array_equal(array[...], VALUES)  # type: ignore[index]  # it is an array
    assert list(blizzarr.check(store).findings) == []


@pytest.mark.filterwarnings(UNSAID)
def test_removed_with_its_chunks(tmp_path: Path) -> None:
    folder = on_disk(old_array(), tmp_path)
    del blizzarr.open_group(folder, mode="r+")["a"]
    assert not (folder / "a").exists()


@pytest.mark.parametrize("rank", [0, 1])
def test_where_it_makes_no_difference_nothing_is_asked(rank: int) -> None:
    store: Values = {}
    blizzarr.create_array(store, data=np.full((3,) * rank, 5), chunks=(2,) * rank, zarr_format=2)
    document = json.loads(store[".zarray"])
    del document["dimension_separator"]
    distant = Distant({**store, ".zarray": json.dumps(document).encode()})
    array = blizzarr.open_array(distant, mode="r")
    assert distant.asked == []
    assert (array[...] == 5).all()


def test_a_store_that_fails_is_no_hole() -> None:
    """As nothing would be read but the fill value, if a chunk that cannot be asked for counted as missing."""

    class Failing(Distant):
        def get_ranges(self, key: str, ranges: list[tuple[int, int]]) -> list[bytes] | None:
            raise TimeoutError("no answer")

    with pytest.raises(blizzarr.errors.StoreError, match="no answer"):
        blizzarr.open_array(Failing(old_array()), path="a", mode="r")


def test_a_sample_of_names_is_no_listing(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    (tmp_path / "file").touch()
    seen = sample_names(LocalStore(tmp_path), "", 10)
    assert seen is not None
    assert len(seen) == 10
    assert sample_names(LocalStore(tmp_path), "nothing/", 10) == []
    assert sample_names(LocalStore(tmp_path), "file/", 10) == []
    assert sample_names(ForeignStore(Distant({})), "", 10) is None
