"""The engine of constraints on metadata: all problems at once, and a stored document that is parsed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blizzarr.tensorstore as ts
from blizzarr.codecs import chain
from blizzarr.errors import ConstraintError, SpecError
from blizzarr.formats import v3
from blizzarr.spec.drivers import DRIVERS
from blizzarr.spec.metadata import reading
from blizzarr.spec.schema import Schema
from support.calls import calls_of

WRONG: dict[str, dict[str, Any]] = {
    "zarr3": {"shape": [-1], "data_type": "foo", "chunk_grid": {"name": "regular"}, "codecs": ["bar"]},
    "zarr": {"shape": [-1], "dtype": "foo", "compressor": {"id": "bar"}, "order": "X"},
    "n5": {"dimensions": [-1], "dataType": "foo", "compression": {"type": "bar"}, "units": [5]},
}
OTHERS: dict[str, dict[str, Any]] = {
    "zarr3": {"shape": [5, 4], "data_type": "int8", "attributes": {"a": 1}, "codecs": ["crc32c"]},
    "zarr": {"shape": [5, 4], "dtype": "|i1", "order": "F", "compressor": None},
    "n5": {"dimensions": [5, 4], "dataType": "int8", "compression": {"type": "raw"}, "title": "a"},
    "zarr1": {"shape": [5, 4], "dtype": "|i1", "order": "F", "compression": None},
}


def constraints_of(driver: str) -> Any:
    stored: Any = DRIVERS[driver]
    return stored.constraints


@pytest.mark.parametrize("driver", WRONG)
def test_every_member_that_is_wrong_is_named(driver: str) -> None:
    with pytest.raises(SpecError) as caught:
        constraints_of(driver).from_json(WRONG[driver])
    for name in WRONG[driver]:
        assert f'"{name}"' in str(caught.value)


@pytest.mark.parametrize("driver", OTHERS)
def test_every_member_that_differs_is_named(driver: str) -> None:
    context, spec = ts.Context(), {"driver": driver, "kvstore": "memory://"}
    ts.open(spec, create=True, dtype="int16", shape=[3, 4], context=context).result()
    with pytest.raises(ConstraintError) as caught:
        ts.open({**spec, "metadata": OTHERS[driver]}, context=context).result()
    for name in OTHERS[driver].keys() - {"attributes", "dtype"}:
        assert name in str(caught.value)
    assert "int8" in str(caught.value) or "|i1" in str(caught.value)


def test_every_reason_that_nothing_can_be_made_is_named() -> None:
    codec = ts.CodecSpec({"driver": "zarr3", "codecs": ["zstd"]})
    schema = Schema(dtype="int8", shape=[3], codec=codec, fill_value=[1, 2, 3])
    with pytest.raises(SpecError) as caught:
        constraints_of("zarr3").from_json({"codecs": ["gzip"]}).create(schema, {})
    assert "fill_value" in str(caught.value)
    assert "zstd" in str(caught.value)


@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
def test_a_reason_is_named_once(driver: str) -> None:
    """The layout is found to be impossible before the order and the shapes of chunks are chosen from it."""
    chunks = {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}}}
    constraints = constraints_of(driver).from_json(chunks if driver == "zarr3" else {"chunks": [3]})
    schema = Schema(dtype="int8", shape=[4], chunk_layout=ts.ChunkLayout(chunk_shape=[2]))
    with pytest.raises(SpecError) as caught:
        constraints.create(schema, {})
    assert str(caught.value) == "Error setting write_chunk shape: dimension 0: expected 2 of a hard constraint, found 3"


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_constraints_of_an_array_make_the_same_one(driver: str) -> None:
    """What is made of an array, as JSON and back, demands that array, and makes it again."""
    kind = constraints_of(driver)
    schema = Schema(dtype="int16", shape=[30, 40])
    meta = kind.from_json({}).create(schema, {})
    again = kind.from_json(kind.of(meta).to_json())
    again.check(meta, schema, {})
    assert again.create(Schema(dtype="int16"), {}) == meta


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5", "zarr1"])
def test_a_stored_document_is_parsed_by_its_format_only(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No member of it is read as one of a spec."""
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/"}
    ts.open(spec, create=True, dtype="int16", shape=[3, 4]).result()

    def read(value: Any, *others: Any) -> Any:
        assert value == {}, "there are no attributes, and the spec has no members"
        return reading.Reading(*others[1:]), {}

    for name in ("constraints", "n5"):
        monkeypatch.setattr(f"blizzarr.spec.metadata.{name}.read", read)
    store = ts.open(spec, dtype="int16", rank=2).result()
    assert store.schema.to_json()["dtype"] == "int16"


def test_calls_of_opening(tmp_path: Path) -> None:
    """Opening takes few layers: with the document remembered, or with nothing remembered."""
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/"}}
    ts.open(spec, create=True, dtype="int16", shape=[3, 4]).result()
    for _ in range(2):
        ts.open(spec).result()
    calls = [calls_of(lambda: ts.open(spec).result())]
    v3.forget()
    chain.forget()
    calls.append(calls_of(lambda: ts.open(spec).result()))
    # Decoding the document, with all of its problems, and remembering what it says twice is the rest.
    assert calls[0] <= 60
    assert calls[0] + 50 < calls[1] <= 125


def test_calls_of_creating() -> None:
    """The document is encoded once, the layout chosen once, and consolidated metadata above looked for once."""
    grid = {"name": "regular", "configuration": {"chunk_shape": [10, 10]}}
    metadata = {"shape": [100, 100], "data_type": "int16", "chunk_grid": grid}

    def create() -> None:
        ts.open({"driver": "zarr3", "kvstore": "memory://", "metadata": metadata}, create=True).result()

    create()
    assert calls_of(create) <= 830


def test_calls_of_parsing_a_schema() -> None:
    """The JSON is copied once, and only what it constrains is merged."""
    json = {"dtype": "int16", "rank": 2, "chunk_layout": {"chunk": {"shape": [10, 10]}}}
    assert calls_of(lambda: Schema(json)) <= 142
