"""Structs whose fields have both byte orders, at any depth: no element is swapped unless it should be."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import BytesCodec
from blizzarr.dtypes import DataType
from blizzarr.dtypes.typestr import from_typestr, to_typestr
from blizzarr.problems import Problems

SIMPLE = ("<i4", ">i4", ">f8", "<u2", "|S3", ">U2", "|u1", "<c8", ">M8[s]")


def some_fields(rng: random.Random, depth: int = 3) -> list[Any]:
    made = []
    for number in range(rng.randint(1, 3)):
        inner = some_fields(rng, depth - 1) if depth and rng.random() < 0.4 else rng.choice(SIMPLE)
        made.append([f"f{number}", inner, *([[2]] if rng.random() < 0.25 else [])])
    return made


def numpy_form(spelled: Any) -> Any:
    if isinstance(spelled, str):
        return spelled
    return [(field[0], numpy_form(field[1]), *map(tuple, field[2:])) for field in spelled]


def fill_all(elements: Any, rng: random.Random) -> None:
    for name in elements.dtype.names:
        base = elements.dtype[name].base
        if base.names:
            fill_all(elements[name], rng)
        else:
            elements[name] = np.int64(rng.randrange(90)) if base.kind == "M" else rng.randrange(90)


@pytest.mark.parametrize("seed", range(100))
def test_structs_of_both_orders(seed: int) -> None:
    """O-13, O-26, V-1: spelled as they were, read as NumPy has them, stored as the same bytes."""
    rng = random.Random(seed)
    spelled = some_fields(rng)
    typed = from_typestr(spelled, "dtype", Problems())
    assert typed is not None
    assert to_typestr(typed.dtype, typed.endian) == spelled
    elements = np.zeros(3, numpy_form(spelled))
    fill_all(elements, rng)
    document = {"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": spelled, "order": "C"}
    document |= {"compressor": None, "filters": None, "fill_value": None}
    store = {".zarray": json.dumps(document).encode(), "0": elements.tobytes()}
    found = blizzarr.open_array(store, mode="r")[:]
    assert found.astype(elements.dtype).tobytes() == elements.tobytes()
    del store["0"]
    blizzarr.open_array(store, mode="r+")[:] = elements
    assert store["0"] == elements.tobytes()


def test_one_order_around_a_struct_of_both() -> None:
    """The outer fields agree with each other, and still each field has its own order."""
    spelled = [["id", ">i4"], ["at", [["x", "<f4"], ["y", [["deep", ">u2", [2]]]]]]]
    typed = from_typestr(spelled, "dtype", Problems())
    assert typed is not None
    assert typed.endian is None
    assert typed.dtype.swap == 0
    assert not typed.dtype.is_native
    assert typed.dtype.numpy == np.dtype(numpy_form(spelled))


@pytest.mark.parametrize(
    "dtype",
    [
        {"name": "int16"},
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}},
        {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int16"}]}},
    ],
    ids=str,
)
def test_data_types_as_in_documents_have_no_order(dtype: dict[str, Any]) -> None:
    array = blizzarr.create_array({}, shape=3, dtype=dtype)
    assert array.metadata.dtype == DataType.parse(dtype)
    assert array.serializer == BytesCodec("little")
    assert array[...].tobytes() == np.full(3, array.fill_value, array.dtype).tobytes()


SPECIAL: list[tuple[str, Any]] = [
    (">f4", np.nan),
    (">f8", "0x7ff8000000000001"),
    (">f2", float("-inf")),
    (">c8", 2 + 1j),
    (">c16", [1.5, "NaN"]),
    (">c8", complex(np.nan, np.inf)),
    (">M8[s]", "NaT"),
    (">m8[s]", 5),
    (">M8[s]", None),
]


@pytest.mark.parametrize("zarr_format", ["v1", "v2"])
@pytest.mark.parametrize(("order", "value"), SPECIAL)
def test_fill_values_for_structs_of_both_orders(zarr_format: str, order: str, value: Any) -> None:
    """A field in the other byte order gets the value that the same field in the machine's order gets."""
    mixed, plain = ([("a", "<i2"), ("b", each)] for each in (order, order.replace(">", "<")))
    expected = blizzarr.create_array(
        {}, shape=1, dtype=plain, fill_value={"a": 1, "b": value}, zarr_format=zarr_format
    )[:]
    store: dict[str, bytes] = {}
    made = blizzarr.create_array(
        store, shape=1, dtype=np.dtype(mixed), fill_value={"a": 1, "b": value}, zarr_format=zarr_format
    )
    for found in (made, blizzarr.open_array(store)):
        assert found.dtype["b"].str == order
        assert found[:].astype(expected.dtype).tobytes() == expected.tobytes()


def test_fill_values_with_padding_for_structs_of_both_orders() -> None:
    padded = np.dtype([("a", "u1"), ("b", "<f8"), ("c", ">c8")], align=True)
    value = np.array([(1, 2, 3 + 4j)], padded)[0]
    found = blizzarr.create_array({}, shape=1, dtype=padded, fill_value=value, zarr_format="v2")
    assert found[0].item() == (1, 2.0, 3 + 4j)
