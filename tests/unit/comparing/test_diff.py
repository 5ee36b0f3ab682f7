"""`diff`: every difference with its values, and nothing where there is none, across formats and layouts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import blizzarr
from blizzarr.comparing import Comparison
from blizzarr.comparing.comparison import Elements
from blizzarr.equality import Tolerance, differing, largest
from blizzarr.errors import MetadataError, StoreError
from blizzarr.stores import MappingStore, StoreWrapper
from blizzarr.stores.protocol import Value

LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (4, 3)},
    {"chunks": (2, 3), "shards": (4, 6)},
    {"chunks": (3, 5), "zarr_format": "v2"},
    {"chunks": (5, 2), "zarr_format": "v3_draft"},
    {"chunks": (7, 1), "zarr_format": "v1"},
]


def elements(found: Comparison) -> Elements:
    (difference,) = found.differences
    assert difference.kind == "elements"
    assert difference.elements is not None
    return difference.elements


@pytest.mark.parametrize("b", LAYOUTS, ids=str)
@pytest.mark.parametrize("a", LAYOUTS, ids=str)
def test_the_same_and_not_the_same_in_any_two_layouts(a: dict[str, Any], b: dict[str, Any]) -> None:
    data = np.arange(1, 78, dtype="int16").reshape(7, 11)
    one = blizzarr.create_array({}, data=data, **a)
    other = blizzarr.create_array({}, data=data, **b)
    found = blizzarr.diff(one, other)
    assert (found.same, found.differences, found.unreadable) == (True, [], [])
    assert (found.arrays, found.elements) == (1, 77)
    other[2:4, 5] = -1
    other[6, 9] = 1000
    said = elements(blizzarr.diff(one, other))
    where = np.argwhere(data != other[:])
    steps = one.chunks
    assert said.to_dict() == {
        "compared": 77,
        "different": 3,
        "chunks": len({tuple(index // steps) for index in where}),
        "box": [[2, 7], [5, 10]],
        "largest": 1000 - 76,
        "first": said.to_dict()["first"],
        "unread": 0,
    }
    assert sorted(said.first) == [((2, 5), 28, -1), ((3, 5), 39, -1), ((6, 9), 76, 1000)]


def test_only_so_many_are_kept() -> None:
    a, b = (blizzarr.create_array({}, data=np.full((50, 50), value), chunks=(10, 10)) for value in (1.5, 2.0))
    said = elements(blizzarr.diff(a, b, shown=3))
    assert said.first == [((0, 0), 1.5, 2.0), ((0, 1), 1.5, 2.0), ((0, 2), 1.5, 2.0)]
    assert (said.different, said.chunks, said.box, said.largest) == (2500, 25, ((0, 50), (0, 50)), 0.5)
    assert str(said) == "2,500 of 2,500 differ, in 25 chunks, within [0:50, 0:50], by at most 0.5"


@pytest.mark.parametrize(
    ("a", "b", "different", "largest"),
    [
        (np.array([np.nan, 1.0, np.inf, -0.0]), np.array([np.nan, 1.0, np.inf, 0.0]), 0, None),
        (np.array([np.nan, 1.0, np.inf]), np.array([0.0, np.nan, -np.inf]), 3, np.inf),
        (np.array([np.nan]), np.array([0.0]), 1, None),
        (np.array([1 + 2j, complex(0, np.nan)]), np.array([1 - 1j, complex(1, np.nan)]), 2, 3.0),
        (np.array([0, 255], "u1"), np.array([255, 0], "u1"), 2, 255),
        (np.array([-(2**63), 5], "i8"), np.array([2**63 - 1, 5], "i8"), 1, 2**64 - 1),
        (np.array([True, False]), np.array([True, True]), 1, None),
        (np.array(["NaT", "2020-01-01"], "M8[D]"), np.array(["NaT", "2020-01-02"], "M8[D]"), 1, None),
        (np.array(["a", "bc"], "U2"), np.array(["a", "bd"], "U2"), 1, None),
        (np.array([b"a", b"bc"], "S2"), np.array([b"a", b"bd"], "S2"), 1, None),
        (np.array([(1, np.nan), (2, 3)], "i4,f8"), np.array([(1, np.nan), (2, 4)], "i4,f8"), 1, None),
        (np.array([b"\1\2", b"\3\4"], "V2"), np.array([b"\1\2", b"\3\5"], "V2"), 1, None),
        (np.array([1, np.nan, 3], ml_dtypes.bfloat16), np.array([1, np.nan, 5], ml_dtypes.bfloat16), 1, 2.0),
        (np.array([1, 3], ml_dtypes.float8_e5m2), np.array([1, 2], ml_dtypes.float8_e5m2), 1, 1.0),
        (np.array(5, "i4"), np.array(7, "i4"), 1, 2),
    ],
    ids=lambda value: str(value).replace("\n", " ")[:30],
)
def test_values_of_all_types(a: Any, b: Any, different: int, largest: Any) -> None:
    one, other = (blizzarr.create_array({}, data=data) for data in (a, b))
    found = blizzarr.diff(one, other)
    assert blizzarr.diff(one, one).same
    if not different:
        assert found.same
        return
    said = elements(found)
    assert (said.different, said.compared, said.largest) == (different, a.size, largest)


@pytest.mark.filterwarnings("ignore")
def test_text_and_objects() -> None:
    words = np.array(["one", "two", "three"], dtype=object)
    one = blizzarr.create_array({}, data=words, dtype="string", chunks=2)
    other = blizzarr.create_array({}, data=words, dtype="string", chunks=3)
    assert blizzarr.diff(one, other).same
    other[1] = "2"
    said = elements(blizzarr.diff(one, other))
    assert (said.different, said.first, said.box) == (1, [((1,), "two", "2")], ((1, 2),))


def test_tolerances() -> None:
    a, b = (blizzarr.create_array({}, data=np.array(data)) for data in ([1.0, 100.0, np.nan], [1.01, 101.0, np.nan]))
    assert elements(blizzarr.diff(a, b)).different == 2
    assert elements(blizzarr.diff(a, b, atol=0.02)).first == [((1,), 100.0, 101.0)]
    assert blizzarr.diff(a, b, rtol=0.0101).same
    with pytest.raises(ValueError, match="expected tolerances of zero or more"):
        blizzarr.diff(a, b, rtol=-1)
    with pytest.raises(ValueError, match="expected tolerances of zero or more"):
        blizzarr.diff(a, b, atol=np.nan)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_tolerances_of_long_integers(dtype: str) -> None:
    """As floats these would be equal."""
    a, b = np.array([2**60, 2**60, 7, 9], dtype), np.array([2**60 + 100, 2**60 - 1, 8, 5], dtype)
    assert differing(a, b, Tolerance(atol=1)).tolist() == [True, False, False, True]
    assert differing(b, a, Tolerance(rtol=0.5)).tolist() == [False, False, False, False]
    assert differing(a[0], b[0], Tolerance(atol=1)).tolist()


@pytest.mark.parametrize("dtype", ["string", "bytes"])
def test_a_nul_at_the_end_of_the_only_element(dtype: str) -> None:
    """NumPy drops it from a text that becomes an array."""
    nul = "\0" if dtype == "string" else b"\0"
    a, b = (blizzarr.create_array({}, shape=(), dtype=dtype) for _ in range(2))
    a[...] = nul
    found = elements(blizzarr.diff(a, b))
    assert (found.different, found.first) == (1, [((), nul, nul[:0])])


def test_numbers_of_different_types_are_compared_by_value() -> None:
    a = blizzarr.create_array({}, data=np.array([1, 2, -3], "i2"))
    b = blizzarr.create_array({}, data=np.array([1, 2, 3], "u4"))
    found = blizzarr.diff(a, b)
    assert [(found.kind, found.message) for found in found.differences] == [
        ("data-type", "int16 against uint32"),
        ("elements", "1 of 3 differ, in 1 chunk, within [2:3], by at most 6"),
    ]
    text = blizzarr.create_array({}, data=np.array([b"a", b"b", b"c"]))
    assert [found.kind for found in blizzarr.diff(a, text).differences] == ["data-type"]


@pytest.mark.parametrize("zarr_format", [3, 2, 1])
def test_records_of_both_byte_orders_are_compared_by_value(zarr_format: int) -> None:
    mixed = np.dtype([("a", "<i4"), ("b", [("c", ">f8"), ("d", ">M8[s]")])])
    record = np.array((1, (2.5, 3)), mixed)[()]
    a = blizzarr.create_array({}, shape=4, chunks=2, dtype=mixed, fill_value=record, zarr_format=2)
    assert a.dtype == mixed
    a[2] = 0
    b = blizzarr.copy(a, {}, zarr_format=zarr_format, compressors=None)
    assert blizzarr.diff(a, b).same
    assert blizzarr.diff(b, a).same
    b[3] = (1, (2.75, 3))
    found = elements(blizzarr.diff(a, b))
    assert (found.different, found.box) == (1, ((3, 4),))
    other = blizzarr.create_array({}, shape=4, chunks=2, dtype=mixed, fill_value=np.zeros((), mixed)[()], zarr_format=2)
    assert next(found.kind for found in blizzarr.diff(b, other).differences) == "fill-value"


@pytest.mark.parametrize("zarr_format", [3, 2, "v3_draft"])
def test_names_that_are_all_null_are_no_names(zarr_format: Any) -> None:
    a = blizzarr.create_array({}, shape=(2, 3), dtype="int8", dimension_names=(None, None))
    b = blizzarr.copy(a, {}, zarr_format=zarr_format)
    assert blizzarr.diff(a, b).same
    assert blizzarr.diff(b, a).same
    named = blizzarr.create_array({}, shape=(2, 3), dtype="int8", dimension_names=(None, ""))
    assert str(blizzarr.diff(a, named).differences[0]) == "/: dimension names: (none, none) against (none, )"


@pytest.mark.parametrize(
    ("a", "b", "differ"),
    [
        (np.array([2**53 + 1, 2**53, -3]), np.array([2.0**53, 2.0**53, -3]), [True, False, False]),
        (np.array([2**53 + 1, 2**53]), np.array([2.0**53, 2.0**53], "c16"), [True, False]),
        (np.array([2**63 - 1, -(2**63), 5]), np.array([2.0**63, -(2.0**63), np.nan]), [True, False, True]),
        (np.array([2**64 - 1, 2**63, 0], "u8"), np.array([2.0**64, 2.0**63, -0.0]), [True, False, False]),
        (np.array([256, 257]), np.array([256, 257]).astype(ml_dtypes.bfloat16), [False, True]),
    ],
    ids=str,
)
def test_integers_of_64_bits_are_not_rounded_to_floats(a: Any, b: Any, differ: list[bool]) -> None:
    assert differing(a, b).tolist() == differ
    assert differing(b, a).tolist() == differ


@pytest.mark.parametrize("other", ["f8", "c16", "u8"])
def test_distances_of_integers_of_64_bits_are_not_rounded_to_floats(other: str) -> None:
    a, b = np.array([2**62 + 1, 2**62 + 3]), np.array([2**62, 2**62]).astype(other)
    assert [differing(a, b, Tolerance(atol=atol)).tolist() for atol in (0.5, 1, 3)] == [
        [True, True],
        [False, True],
        [False, False],
    ]
    assert largest(a, b) == largest(b, a) == 3
    assert differing(np.array([1, 2]), np.array([np.inf, np.nan]), Tolerance(1, 1)).all()
    if other != "u8":
        # Both are rounded to floats that are 2 apart.
        a, b = np.array([2**53 + 1, 2**63 - 1]), np.array([2**53 + 2, 2.0**63]).astype(other)
        for sides in ((a, b), (b, a)):
            assert not differing(*sides, Tolerance(atol=1)).any()
            assert differing(*sides, Tolerance(atol=0.5)).all()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(2, ml_dtypes.int4), np.zeros(2, "V1")),
        (np.zeros(2, "m8[Y]"), np.zeros(2, "m8[s]")),
        (np.zeros(2, "M8[Y]"), np.zeros(2, "M8[as]")),
        (np.zeros(2, [("a", "m8[M]")]), np.zeros(2, [("a", "m8[D]")])),
    ],
    ids=str,
)
def test_types_that_numpy_does_not_compare(a: Any, b: Any) -> None:
    found = blizzarr.diff(blizzarr.create_array({}, data=a), blizzarr.create_array({}, data=b))
    assert [difference.kind for difference in found.differences] == ["data-type"]


def test_tolerances_of_small_floats() -> None:
    """Differences beyond float16 are larger than any tolerance, without a warning."""
    a, b = (blizzarr.create_array({}, data=np.array([sign * 60000, 1], "f2")) for sign in (1, -1))
    found = elements(blizzarr.diff(a, b, atol=1))
    assert (found.different, found.largest) == (1, 120000)


def test_documents() -> None:
    options: dict[str, Any] = {"shape": (2, 3), "chunks": (2, 2), "dtype": "int8"}
    a = blizzarr.create_array({}, **options, dimension_names=("y", "x"), attributes={"a": 1, "b": 1, "n": [1, None]})
    b = blizzarr.create_array({}, **options, fill_value=3, attributes={"b": True, "c": 2, "n": [1, None]})
    assert [str(found) for found in blizzarr.diff(a, b).differences] == [
        "/: fill value: 0 against 3",
        "/: dimension names: (y, x) against none",
        "/: attributes: only in A: 'a'; only in B: 'c'; differ: 'b'",
        "/: elements: 6 of 6 differ, in 2 chunks, within [0:2, 0:3], by at most 3\n    [0, 0]  0 against 3",
    ]
    c = blizzarr.create_array({}, shape=(3, 2), dtype="int8", chunks=(2, 2))
    assert blizzarr.diff(a, c).differences[0].message == "(2, 3) against (3, 2); elements were not compared"


def test_hierarchies(tmp_path: Path) -> None:
    root = blizzarr.create_group(tmp_path / "a.zarr", attributes={"title": "one"})
    root.create_array("g/x", data=np.arange(10), chunks=5, dimension_names=("t",), attributes={"units": "m"})
    root.create_array("y", data=np.linspace(0, 1, 7))
    for form in ("v2", "v3_draft"):
        blizzarr.copy(root, tmp_path / form, zarr_format=form)
        found = blizzarr.diff(root, tmp_path / form)
        assert found.same, str(found)
        assert (found.arrays, found.groups, found.elements) == (2, 2, 17)
        assert {note.kind for note in found.notes} >= {"format"}
    other = blizzarr.copy(root, tmp_path / "b.zarr")
    del other["y"]
    other.create_group("y")
    other.create_array("z", data=[1])
    other["g"].attrs["a"] = 1
    found = blizzarr.diff(tmp_path, tmp_path, path_a="a.zarr", path_b="b.zarr")
    assert [str(difference) for difference in found.differences] == [
        "/g: attributes: only in B: 'a'",
        "/y: node type: an array (7,) float64 against a group",
        "/z: only in B: an array (1,) int64",
    ]
    assert str(found).endswith(" s: 3 differences")


def test_what_cannot_be_read_is_told_and_the_rest_compared(tmp_path: Path) -> None:
    data = np.arange(1, 101).reshape(10, 10)
    a = blizzarr.create_array(tmp_path / "a", data=data, chunks=(5, 5))
    b = blizzarr.create_array(tmp_path / "b", data=data, chunks=(2, 2), shards=(10, 10), zarr_format="v3")
    b[9, 9] = 0
    (tmp_path / "a/c/0/1").write_bytes(b"")
    found = blizzarr.diff(a, b)
    assert [(difference.key, difference.chunk) for difference in found.unreadable] == [("c/0/1", (0, 1))]
    said = elements(found)
    assert (said.compared, said.unread, said.different, said.first) == (75, 25, 1, [((9, 9), 100, 0)])
    assert not found.same
    (tmp_path / "b/c/0/0").write_bytes((tmp_path / "b/c/0/0").read_bytes()[:-1])
    found = blizzarr.diff(a, b)
    assert [difference.key for difference in found.unreadable] == ["c/0/0", "c/0/1"]
    assert found.elements == 0


def test_nodes_that_cannot_be_opened_are_told(tmp_path: Path) -> None:
    root = blizzarr.create_group(tmp_path / "a")
    root.create_array("x", data=[1])
    root.create_array("y", data=[1])
    blizzarr.copy(root, tmp_path / "b")
    (tmp_path / "b/x/zarr.json").write_text("{")
    found = blizzarr.diff(tmp_path / "a", tmp_path / "b")
    assert [(difference.path, difference.message[:2]) for difference in found.unreadable] == [("/x", "B:")]
    assert (found.arrays, found.elements) == (1, 1)


class Counting(StoreWrapper):
    """Counts what is read, and fails where chunks would be."""

    def __init__(self, values: dict[str, bytes], broken: bool = False) -> None:
        super().__init__(MappingStore(values))
        self.read: list[str] = []
        self.broken = broken

    def get(self, key: str) -> Value | None:
        self.read.append(key)
        if self.broken and key.startswith("c/"):
            raise StoreError("it burns", key=key)
        return super().get(key)


def test_equal_bytes_of_one_layout_are_not_decoded() -> None:
    values: dict[str, bytes] = {}
    blizzarr.create_array(MappingStore(values), data=np.arange(1, 9), chunks=2)
    # Nobody can decode this, but it is the same on both sides.
    values["c/1"] = b"?"
    changed = values | {"c/2": values["c/0"]}
    found = blizzarr.diff(MappingStore(values), MappingStore(changed))
    assert (found.unreadable, elements(found).first[0]) == ([], ((4,), 5, 1))
    assert (elements(found).compared, elements(found).chunks) == (8, 1)
    store = Counting(values)
    blizzarr.diff(blizzarr.open(store), MappingStore(values))
    assert sorted(key for key in store.read if key.startswith("c/")) == ["c/0", "c/1", "c/2", "c/3"]
    found = blizzarr.diff(blizzarr.open(Counting(values, broken=True)), MappingStore(values))
    assert [difference.key for difference in found.unreadable] == ["c/0", "c/1", "c/2", "c/3"]


@pytest.mark.parametrize("chunks", [(1000, 1000, 1000), (999, 1001, 1000)])
def test_what_neither_has_stored_is_not_looked_at(chunks: tuple[int, ...]) -> None:
    shape = (10**6, 10**6, 10**6)
    stores = Counting({}), Counting({})
    a = blizzarr.create_array(stores[0], shape=shape, chunks=(1000, 1000, 1000), dtype="int8")
    b = blizzarr.create_array(stores[1], shape=shape, chunks=chunks, dtype="int8")
    found = blizzarr.diff(a, b)
    assert (found.same, found.elements) == (True, 10**18)
    # One element stands for all of them.
    assert [[key for key in store.read if key.startswith("c/")] for store in stores] == [["c/0/0/0"]] * 2


@pytest.mark.parametrize("chunks", [10, 7])
def test_fill_values_that_differ_where_nothing_is_stored(chunks: int) -> None:
    a = blizzarr.create_array({}, shape=10**12, chunks=10, dtype="int32", fill_value=1)
    b = blizzarr.create_array({}, shape=10**12, chunks=chunks, dtype="int32", fill_value=4)
    a[:20], b[:20] = 5, 5
    b[-15:] = 1
    found = blizzarr.diff(a, b)
    assert [difference.kind for difference in found.differences] == ["fill-value", "elements"]
    said = found.differences[1].elements
    assert said is not None
    assert (said.compared, said.different, said.largest) == (10**12, 10**12 - 35, 3)
    assert said.box == ((20, 10**12 - 15),)
    assert said.chunks == 10**11 - 3


def test_memory_is_bounded_by_regions(tmp_path: Path) -> None:
    a = blizzarr.create_array(tmp_path / "a", shape=(3000, 500), chunks=(100, 100), dtype="float64")
    b = blizzarr.create_array(tmp_path / "b", shape=(3000, 500), chunks=(250, 250), dtype="float64")
    a[:] = b[:] = 1.0
    b[2999, 499] = 2.0
    told: list[tuple[int, int]] = []
    with blizzarr.config.set(copy_bytes=1 << 20):
        found = blizzarr.diff(a, b, progress=lambda *done: told.append(done))
    assert elements(found).first == [((2999, 499), 1.0, 2.0)]
    assert told[0] == (0, 12_000_000)
    assert told[-1] == (12_000_000, 12_000_000)
    assert max(later[0] - sooner[0] for sooner, later in pairwise(told)) <= 1 << 20


@pytest.mark.parametrize(
    "dtype", ["bool", "int16", ">f8", "complex64", "M8[ns]", "S3", "U2", [("a", "<i4"), ("b", "<f8")]]
)
def test_a_null_fill_value_is_what_it_reads_as_where_there_is_no_null(dtype: Any) -> None:
    """So a copy is the same as its source; in a format that has null, a value is not the same as null."""
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=np.ones(4, "int8").astype(dtype), chunks=2, zarr_format="v2")
    document = json.loads(values[".zarray"])
    values[".zarray"] = json.dumps({**document, "fill_value": None}).encode()
    source = blizzarr.open_array(values, mode="r")
    assert source.fill_value is None
    copied = blizzarr.copy(source, {}, zarr_format="v3")
    assert blizzarr.diff(source, copied).same
    assert blizzarr.diff(copied, source).same
    assert blizzarr.diff(source, blizzarr.copy(source, {})).same
    filled = blizzarr.create_array({}, data=source[...], chunks=2, zarr_format="v2")
    assert [found.kind for found in blizzarr.diff(source, filled).differences] == ["fill-value"]


def test_an_empty_fill_value_is_seen() -> None:
    a, b = (blizzarr.create_array({}, shape=2, dtype="string", fill_value=fill) for fill in ("", "None"))
    assert str(blizzarr.diff(a, b).differences[0]) == "/: fill value: '' against 'None'"


def test_records_are_shown_without_their_type() -> None:
    a, b = (
        blizzarr.create_array({}, data=np.array([(1, last)], "i4,S2"), fill_value=(2, last)) for last in (b"c", b"")
    )
    assert str(blizzarr.diff(a, b)).splitlines()[:3] == [
        "/: fill value: (2, b'c') against (2, b'')",
        "/: elements: 1 of 1 differ, in 1 chunk, within [0:1]",
        "    [0]  (1, b'c') against (1, b'')",
    ]


def test_a_null_fill_value_is_no_other_value() -> None:
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=np.ones(4, "int8"), zarr_format="v2")
    values[".zarray"] = json.dumps({**json.loads(values[".zarray"]), "fill_value": None}).encode()
    found = blizzarr.diff(values, blizzarr.create_array({}, data=np.ones(4, "int8"), fill_value=7))
    assert [str(difference) for difference in found.differences] == ["/: fill value: 0 against 7"]


def test_bytes_are_shown_without_the_name_of_their_type() -> None:
    a, b = (blizzarr.create_array({}, data=np.array([b"ab", last], "S3")) for last in (b"c", b"d"))
    assert "[1]  b'c' against b'd'" in str(blizzarr.diff(a, b))
    with pytest.raises(MetadataError, match=r"found b'x'$"):
        blizzarr.create_array({}, shape=1, dtype="i4", attributes={"a": np.bytes_(b"x")})
