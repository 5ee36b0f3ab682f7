"""Hostile documents: only our errors leave the public functions, and a broken member does not hide the others.

With HOSTILE=20 in the environment, twenty times as many are made; `python -m soak hostile` makes them for hours.
"""

from __future__ import annotations

import copy
import itertools
import math
import os
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.errors import BlizzarrError
from blizzarr.formats import FORMATS
from blizzarr.problems import describe
from blizzarr.stores import MappingStore
from fuzz.choices import Choices
from fuzz.damage import damaged
from fuzz.everything import call_everything, call_of_shell, call_tensorstore, laid_out, ours
from fuzz.members import BAD, GOOD, NAMES, Planted, documents, placed, planted
from support.mutated import look, places

TIMES = int(os.environ.get("HOSTILE", "1"))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60 * TIMES, suppress_health_check=SLOW)
@given(st.binary(max_size=200))
def test_only_our_errors_leave_the_package(data: bytes) -> None:
    case = damaged(Choices(data))
    if isinstance(case.content, dict):
        call_everything(case.content)


@settings(max_examples=15 * TIMES, suppress_health_check=SLOW)
@given(st.binary(max_size=200))
def test_only_our_errors_leave_the_shell_and_tensorstore(data: bytes) -> None:
    case = damaged(Choices(data))
    with tempfile.TemporaryDirectory() as directory:
        if isinstance(case.content, dict) and laid_out(case.content, Path(directory)):
            call_tensorstore(Path(directory))
            call_of_shell(Path(directory))


@pytest.mark.parametrize("zarr_format", NAMES)
def test_extreme_values_in_the_place_of_each_number(zarr_format: str) -> None:
    """The node is described, and written again with another attribute, or its document does not conform."""
    refused = 0
    for node in documents(zarr_format):
        numbers = [way for way in places(node) if type(look(node, way)) in (int, float)]
        for way, value in itertools.product(numbers, [10**400, -(10**400), 2**64, math.nan, [None]]):
            changed = copy.deepcopy(node)
            look(changed, way[:-1])[way[-1]] = value
            refused += ours(f"{describe(value)} at {way}", partial(described, zarr_format, changed)) is None
    assert refused > 1000


def described(zarr_format: str, node: dict[str, Any]) -> object:
    form = FORMATS[zarr_format]
    meta = form.decode("", placed(zarr_format, node, "") | form.entry_documents())
    assert meta is not None
    return repr(meta), form.encode(meta.with_attributes({"x": 1}), "")


def check_good(case: Planted) -> None:
    """Whatever lists a hierarchy comes to the members that are right, and names the one that is not."""
    store = MappingStore(dict(case.content))
    group = blizzarr.open_group(store, mode="r")
    assert {name for name, _ in group.members(max_depth=None)} >= set(GOOD)
    assert set(group) >= {"good", "sub", "z"}
    errors = group.unreadable(max_depth=None)
    assert errors.keys() <= {BAD}
    text = str(group.tree())
    assert all(name.rpartition("/")[2] in text for name in GOOD)
    report = blizzarr.check(store)
    readable = 3 + (BAD not in errors and isinstance(group.get(BAD), blizzarr.Array))
    assert report.arrays == readable
    if errors:
        assert BAD in text
        assert any(BAD in str(finding) for finding in report.findings)
        with pytest.raises(BlizzarrError) as refused:
            blizzarr.copy(store, {})
        assert BAD in str(refused.value)
        copied = blizzarr.copy(store, {}, skip_damaged=True)
        assert isinstance(copied, blizzarr.Group)
        assert {name for name, _ in copied.members(max_depth=None)} == set(GOOD)
        if group.metadata.consolidated is None:
            with pytest.raises(BlizzarrError) as caught:
                blizzarr.consolidate_metadata(MappingStore(dict(case.content)))
            assert BAD in str(caught.value) + "".join(caught.value.__notes__)
        if case.zarr_format != "v3":
            planned = blizzarr.upgrade(store, to="v3", dry_run=True)
            assert any(BAD in str(problem) for problem in planned.problems)


@settings(max_examples=150 * TIMES, suppress_health_check=SLOW)
@given(SEEDS)
def test_a_broken_member_stops_nothing(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_good(planted(seed))


@settings(max_examples=8 * TIMES, suppress_health_check=SLOW)
@given(SEEDS)
def test_a_broken_member_stops_no_command(seed: int) -> None:
    case = planted(seed)
    with tempfile.TemporaryDirectory() as directory:
        if laid_out(case.content, Path(directory)):
            printed = call_of_shell(Path(directory))
            call_tensorstore(Path(directory))
            for name in ("good", "sub", "z"):
                assert name in printed["ls"]
                assert name in printed["tree"]
