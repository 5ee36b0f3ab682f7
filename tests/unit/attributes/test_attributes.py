"""Attributes: a mutable mapping whose changes are stored at once, or not at all."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blizzarr import api
from blizzarr.errors import ConflictError, MetadataError, NodeNotFoundError, NodeTypeError, StoreError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", ["group", "array"])
def test_a_mutable_mapping(kind: str) -> None:
    """Every method of a mapping does what it does for a dict, and what it leaves is what is stored."""
    values: dict[str, bytes] = {}
    node = api.create_group(values) if kind == "group" else api.create_array(values, shape=3, dtype="u1")
    attrs = node.attrs
    attrs["a"] = 1
    attrs.update({"b": 2}, c=[3])
    assert attrs.setdefault("a", 9) == 1
    assert attrs.setdefault("d", {"e": None}) == {"e": None}
    assert attrs.pop("b") == 2
    assert attrs.pop("b", "default") == "default"
    del attrs["c"]
    for missing in (lambda: attrs["c"], lambda: attrs.pop("c"), lambda: attrs.__delitem__("c")):
        with pytest.raises(KeyError):
            missing()
    assert attrs == {"a": 1, "d": {"e": None}}
    assert (len(attrs), list(attrs), "a" in attrs, "c" in attrs) == (2, ["a", "d"], True, False)
    assert json.loads(values["zarr.json"])["attributes"] == {"a": 1, "d": {"e": None}}
    attrs.put({"z": 1})
    assert api.open(values).attrs.asdict() == {"z": 1}
    attrs.clear()
    assert api.open(values).attrs.asdict() == node.attrs.asdict() == {}


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_what_json_can_say_comes_back(attributes: dict[str, Any]) -> None:
    """Row 50: also large integers and floats, exactly, with their types."""
    values: dict[str, bytes] = {}
    api.create_group(values).attrs.put(attributes)
    found = api.open_group(values).attrs.asdict()
    assert found == attributes
    assert repr(sorted(found.items(), key=repr)) == repr(sorted(attributes.items(), key=repr))


def test_integers_and_floats_beyond_64_bits() -> None:
    """Row 50: digits are kept."""
    group = api.create_group(values := {}, attributes={"big": 2**200, "small": 5e-324, "digits": 0.1 + 0.2})
    assert group.attrs["big"] == 2**200
    assert api.open_group(values).attrs.asdict() == {"big": 2**200, "small": 5e-324, "digits": 0.1 + 0.2}


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (float("nan"), "finite number"),
        ([1, float("-inf")], r"attributes\.x\[1\]: expected a finite number"),
        (np.arange(3), "tolist"),
        (b"bytes", r"bytes have \.decode\(\); other bytes can be stored in an array"),
        ({1: 2}, "keys that are strings"),
        ({"y": {1, 2}}, r"attributes\.x\.y: expected a string, number"),
        (1j, "expected a string, number"),
        (np.datetime64("2020"), "expected a string, number"),
        ("\ud800", "valid Unicode"),
        ({"\ud800": 1}, r"attributes\.x: expected keys that are valid Unicode, found '\\ud800'"),
    ],
)
def test_what_json_cannot_say_is_refused(value: Any, match: str) -> None:
    """Nothing changes, neither in the store nor in memory, also when other values of the update are fine."""
    values: dict[str, bytes] = {}
    group = api.create_group(values, attributes={"old": 1})
    before = dict(values)
    for change in (
        lambda: group.attrs.__setitem__("x", value),
        lambda: group.attrs.update(good=1, x=value),
        lambda: group.attrs.put({"x": value}),
        lambda: api.create_group(values, attributes={"x": value}, overwrite=True),
    ):
        with pytest.raises(MetadataError, match=match):
            change()
    assert values == before
    assert group.attrs == {"old": 1}


def test_names_that_no_file_can_hold_are_refused() -> None:
    """JSON has an escape for half of a surrogate pair, but many readers refuse the whole document for it."""
    values: dict[str, bytes] = {}
    group = api.create_group(values, attributes={"old": 1, "\U0001f600": 2})
    before = dict(values)
    for change in (
        lambda: group.attrs.__setitem__("\ud800", 5),
        lambda: group.attrs.update({"good": 1, "a\udfff": 5}),
        lambda: group.attrs.put({"\udc80": 5}),
        lambda: group.attrs.setdefault("\ud83d", 5),
        lambda: api.create_group(values, attributes={"\ud800": 5}, overwrite=True),
    ):
        with pytest.raises(MetadataError, match=r"attributes: expected keys that are valid Unicode, found '(a)?\\ud"):
            change()
    with pytest.raises(MetadataError, match=r"dimension_names\[1\]: expected valid Unicode, found '\\ud800'"):
        api.create_array(values, name="a", shape=(1, 1), dtype="i1", dimension_names=["\U0001f600", "\ud800"])
    assert values == before
    assert group.attrs == {"old": 1, "\U0001f600": 2}


def test_a_value_within_itself() -> None:
    """A list that holds itself is refused, not followed."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(MetadataError, match="at most 100 levels"):
        api.create_group({}, attributes={"x": endless})


def test_numpy_scalars_become_numbers() -> None:
    """What comes out of NumPy is as good as Python's own."""
    group = api.create_group({}, attributes={"a": np.float32(0.5), "b": np.int64(-3), "c": np.bool_(True), "d": (1, 2)})
    assert group.attrs.asdict() == {"a": 0.5, "b": -3, "c": True, "d": [1, 2]}


def test_values_are_copies() -> None:
    """Changing what was read, or what was set, changes nothing that is stored or shown."""
    given_list = [1]
    group = api.create_group({}, attributes={"a": given_list, "b": {"c": [{"d": 1}]}})
    given_list.append(2)
    group.attrs["a"].append(3)
    group.attrs.asdict()["a"].append(4)
    group.attrs["b"]["c"][0]["d"] = 5
    assert group.attrs.asdict() == {"a": [1], "b": {"c": [{"d": 1}]}}


def test_two_handles_do_not_undo_each_other() -> None:
    """Row 102, P8: a change starts from what is stored, not from what its handle has seen."""
    values: dict[str, bytes] = {}
    one = api.create_group(values)
    two = api.open_group(values)
    one.attrs["a"] = 1
    two.attrs["b"] = 2
    assert api.open_group(values).attrs == {"a": 1, "b": 2}
    assert one.attrs == {"a": 1}
    one.attrs.refresh()
    assert one.attrs == {"a": 1, "b": 2}


def test_what_another_handle_has_set_is_not_undone() -> None:
    """`pop` returns what it removes from the store, `setdefault` sets only what is not there either."""
    store: dict[str, bytes] = {}
    mine, yours = api.create_group(store, attributes={"a": 1}), api.open_group(store)
    yours.attrs.update(a=2, b=[3])
    assert mine.attrs.setdefault("b", 0) == [3]
    assert (mine.attrs.setdefault("c", 4), mine.attrs.setdefault("c", 5)) == (4, 4)
    assert yours.attrs.pop("a") == 2
    with pytest.raises(KeyError, match="a"):
        mine.attrs.__delitem__("a")
    assert api.open_group(store).attrs.asdict() == {"b": [3], "c": 4}
    stale = api.open_group(store)
    api.open_group(store).attrs.update(b=6)
    assert stale.attrs.pop("b") == 6
    stale = api.open_group(store)
    del api.open_group(store).attrs["c"]
    assert stale.attrs.pop("c", "gone") == "gone"
    stale = api.open_group(store)
    assert stale.attrs.pop("c", None) is None
    with pytest.raises(KeyError, match="c"):
        stale.attrs.pop("c")
    assert api.open_group(store).attrs.asdict() == {}


def test_an_attribute_and_the_shape() -> None:
    """A change of attributes through an old handle does not bring the old shape back."""
    values: dict[str, bytes] = {}
    one = api.create_array(values, data=[1, 2, 3])
    two = api.open_array(values)
    one.resize(5)
    two.attrs["a"] = 1
    assert api.open_array(values).shape == two.shape == (5,)


def test_many_threads_lose_nothing(tmp_path: Any) -> None:
    """Row 102: all of them are there in the end."""
    api.create_group(tmp_path / "x")

    def work(worker: int) -> None:
        attrs = api.open_group(tmp_path / "x").attrs
        for turn in range(10):
            attrs[f"{worker}-{turn}"] = turn

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(api.open_group(tmp_path / "x").attrs) == 80


def test_a_full_disk_and_a_node_that_is_gone() -> None:
    """Rows 85, 104: an error, and the handle still shows what is stored."""

    class Full(dict[str, bytes]):
        full = False

        def __setitem__(self, key: str, value: bytes) -> None:
            if self.full:
                raise OSError(28, "No space left on device")
            super().__setitem__(key, value)

    values = Full()
    group = api.create_group(values, attributes={"a": 1})
    values.full = True
    with pytest.raises(StoreError, match="No space left"):
        group.attrs["a"] = 2
    assert group.attrs["a"] == api.open_group(values).attrs["a"] == 1
    values.clear()
    with pytest.raises(NodeNotFoundError, match="was removed"):
        group.attrs["a"] = 2


@pytest.mark.parametrize("kind", ["group", "array"])
def test_a_node_that_was_replaced_by_the_other_kind_keeps_its_attributes(kind: str) -> None:
    """They were set on the node that is there now, and then the handle could not be used any more."""
    values: dict[str, bytes] = {}

    def create(kind: str) -> Any:
        options: dict[str, Any] = {"attributes": {"is": kind}, "overwrite": True}
        if kind == "group":
            return api.create_group(values, **options)
        return api.create_array(values, data=[1, 2], **options)

    node = create(kind)
    other = "array" if kind == "group" else "group"
    create(other)
    for change in (
        lambda: node.attrs.update(a=1),
        lambda: node.attrs.clear(),
        lambda: node.attrs.pop("is"),
        lambda: node.update_attributes({"a": 1}),
    ):
        with pytest.raises((NodeTypeError, ConflictError), match=f"found an? {other}"):
            change()
    assert api.open(values, mode="r").attrs.asdict() == {"is": other}
    assert node.attrs.asdict() == {"is": kind}
    if kind == "group":
        assert list(node) == []
    else:
        assert node.shape == (2,)
