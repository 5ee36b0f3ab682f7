"""Some of the fuzzing of what reads documents, without atheris: the corpus, and inputs made at random."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import blizzarr
from blizzarr import Array, Group
from blizzarr.errors import MetadataError
from blizzarr.stores import MappingStore
from fuzz.__main__ import PACKED
from fuzz.bases import bases, zipped
from fuzz.choices import Choices
from fuzz.damage import Case, damaged
from fuzz.reading import one, read_everything


def test_the_corpus() -> None:
    with zipfile.ZipFile(PACKED) as packed:
        names = packed.namelist()
        made = {one(packed.read(name)) for name in names}
    assert len(names) > 50
    assert {name.removeprefix("zip of ") for name in made} == bases().keys()


@pytest.mark.parametrize("seed", range(4))
def test_inputs_made_at_random(seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(150):
        one(generator.randbytes(generator.randrange(4, 256)))


@pytest.mark.parametrize("name", bases())
def test_what_is_not_damaged_is_read(name: str) -> None:
    """The bases hold what they say, or nothing is tested at all."""
    store = MappingStore(dict(bases()[name]))
    node = blizzarr.open(store, mode="r")
    arrays = [node] if isinstance(node, Array) else [array for _, array in node.arrays()]
    assert arrays
    for array in arrays:
        assert array[...].shape == array.shape
    if isinstance(node, Group):
        assert not list(node.unreadable())
    read_everything(Case(name, bases()[name]))
    read_everything(Case(name, zipped(name)))


def test_an_input_is_the_same_hierarchy_each_time() -> None:
    data = random.Random(7).randbytes(200)
    assert damaged(Choices(data)) == damaged(Choices(data))
    made = {damaged(Choices(bytes([first, second]) * 9)).name for first in range(8) for second in range(6)}
    assert made == {*bases(), *(f"zip of {name}" for name in bases())}


def _raising(error: BaseException) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise error

    return call


@pytest.mark.parametrize("error", [KeyError("name"), RecursionError(), OverflowError(), MetadataError("nowhere")])
def test_what_is_not_ours_comes_out(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Also one of ours that does not say where."""
    monkeypatch.setattr(blizzarr, "open_group", _raising(error))
    with pytest.raises(AssertionError if isinstance(error, MetadataError) else type(error)):
        read_everything(Case("v3", bases()["v3"]))


def test_what_takes_too_long_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.reading.SECONDS", 0.0)
    with pytest.raises(AssertionError, match=r"0\.0 s"):
        read_everything(Case("v3", bases()["v3"]))
