"""Arguments of other types are refused as such, and not found out when something is missing in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from tensorstore_face import ours, theirs

_SPEC = {"driver": "array", "array": [1], "dtype": "int8"}
_CALLS = [
    "ts.Dim(5).hull(value)",
    "ts.Dim(5).intersect(value)",
    "ts.OutputIndexMap(index_array=[1, 2], index_range=value)",
    "ts.cast(value, 'int8')",
    "ts.downsample(value, [1], 'mean')",
    "ts.open(spec, transaction=value)",
    "ts.open(spec, context=value)",
    "ts.open(spec).result().with_transaction(value)",
    "ts.Batch(value)",
]


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize("text", _CALLS)
def test_other_types(library: Any, text: str) -> None:
    for value in (object(), slice(None), [1.5], (), np.array([]), 7, "x"):
        with pytest.raises(TypeError):
            eval(text, {"ts": library, "value": value, "spec": _SPEC})


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_two_flags_are_a_slice(library: Any) -> None:
    """A tuple or list of flags would count as true, whatever is in it."""
    view = library.IndexTransform(3)
    for key in ((False, True), (False,), [False], "x", slice((), None), slice(False, True, 1)):
        for marked in (
            lambda key=key: view.mark_bounds_implicit[key],
            lambda key=key: library.d[0].mark_bounds_implicit[key],
        ):
            with pytest.raises(TypeError):
                marked()
    assert view.mark_bounds_implicit[np.False_ : 1].domain[0] == library.Dim(implicit_lower=False, implicit_upper=True)


def test_domains_of_no_dimensions_in_an_array() -> None:
    for library in (theirs, ours):
        assert library.IndexDomain(np.array([])).rank == 0


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_halves_of_characters_are_shown_in_errors(text: str) -> None:
    for call in (lambda: ours.dtype(text), lambda: ours.IndexDomain(labels=["x"])[ours.d[text].diagonal]):
        with pytest.raises((ValueError, IndexError, TypeError), match=r"\\xed|\\xff"):
            call()


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_what_has_json_is_taken_for_it(library: Any) -> None:
    domain = library.IndexDomain(inclusive_min=[1], shape=[2], labels=["x"])
    transform = library.IndexTransform(domain)
    assert library.IndexDomain(json=domain) == domain
    assert library.IndexTransform(json=transform) == transform
    assert library.Schema({"domain": domain}).domain == domain


def test_first_guesses_are_answered(tmp_path: Path) -> None:
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a/"}
    store = ours.open(spec, create=True, dtype="int8", shape=[3]).result()
    with pytest.raises(IndexError, match=r"Index -1 is outside valid range \[0, \+inf\); no index counts from the end"):
        store[-1]
    with pytest.raises(ValueError, match="open=True opens an array, delete_existing=True replaces it"):
        ours.open(spec, create=True, dtype="int8", shape=[3]).result()
    with pytest.raises(ValueError, match=r'do not support authority: "a"; write file:///path, or .*"path": "a/b"}'):
        ours.open("file://a/b").result()
    with pytest.raises(ValueError, match='Object includes extra members: "kvstor"; did you mean "kvstore"\\?'):
        ours.open({"driver": "zarr3", "kvstor": "memory://"})
    with pytest.raises(TypeError, match=r"Path' does not support conversion to JSON; convert it with str\(\)"):
        ours.open(tmp_path)


def test_arrays_are_no_specs() -> None:
    with pytest.raises(TypeError, match=r"'Array' does not support conversion to JSON; name the place of"):
        ours.open(blizzarr.create_array({}, data=[[1, 2]]))
    # Without axes, one is a number, as NumPy's are.
    spec = {"driver": "array", "array": blizzarr.create_array({}, data=np.int8(5)), "dtype": "int8"}
    assert int(ours.open(spec).result().read().result()) == 5
