"""What a user passes as JSON, and how it is quoted, as TensorStore has it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr.tensorstore as bts
from blizzarr.errors import SpecError
from blizzarr.json_members import Members, as_text
from blizzarr.json_values import dump, plain, quote
from blizzarr.spec.pretty import pretty
from unit.spec.oracle import outcome

VALUES: list[Any] = [
    5,
    -(2**63),
    2**64 - 1,
    1.0,
    1e300,
    1.5e-7,
    math.nan,
    b"memory",
    ("a", 1),
    np.float32(1),
    np.int64(1),
    np.array([1, 2]),
    np.bool_(True),
    {"b": 1, "a": [1, None, True]},
    ts.Unit("3nm"),
    'é"\n\x01',
    "a/\\'",
    "\x01a1",
]


def our_driver(value: Any) -> Any:
    """A spec's driver, which is refused whatever it is."""
    text = Members(plain({"driver": value})).take("driver", as_text)
    raise SpecError(f'Error parsing object member "driver": {quote(text)} is not a registered KvStore driver')


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_said_as_tensorstore_says_them(value: Any) -> None:
    """A driver that is no text is quoted in the error, as JSON."""
    with pytest.raises(ValueError, match="driver") as theirs:
        ts.KvStore.Spec({"driver": value})
    with pytest.raises(SpecError) as ours:
        our_driver(value)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    "value",
    [2**64, -(2**63) - 1, object(), {1, 2}, (i for i in range(2))],
    ids=["large", "small", "object", "set", "generator"],
)
def test_values_that_json_does_not_have(value: Any) -> None:
    """They are errors of the same class and text."""
    with pytest.raises((TypeError, OverflowError)) as theirs:
        ts.KvStore.Spec({"driver": value})
    with pytest.raises(theirs.type) as ours:
        plain({"driver": value})
    assert str(ours.value) == str(theirs.value)


def test_dump_sorts_members() -> None:
    """As the C++ library that TensorStore uses does."""
    assert dump({"b": [1, 2.5], "a": None}) == '{"a":null,"b":[1,2.5]}'


@pytest.mark.parametrize("width", range(40, 60))
@pytest.mark.parametrize("deep", [False, True])
def test_shown_as_tensorstore_shows_it(width: int, deep: bool) -> None:
    """Lines are broken where TensorStore breaks them."""
    value: dict[str, Any] = {"driver": "memory", "path": "x" * width}
    if deep:
        value = {"driver": "zip", "base": value, "path": "y" * (width - 5)}
    assert pretty(value, "KvStore.Spec(", ")") == repr(ts.KvStore.Spec(value))


TYPES = {"int8": "|i1", "uint64": "<u8", "float32": "<f4", "bool": "|b1"}


@pytest.mark.parametrize("value", ["5", "NaN", "true", "1e3", "x", True, None, 1.5, 1.0, 1e300, -1, 300])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
def test_a_fill_value_in_json_is_an_element_like_any_other(driver: str, dtype: str, value: Any) -> None:
    """The data type is known from the metadata only, so that the schema has a value of JSON, such as the text "NaN"."""
    metadata = {"data_type": dtype} if driver == "zarr3" else {"dtype": TYPES[dtype]}
    spec = {"driver": driver, "kvstore": "memory://", "metadata": {"shape": [2], **metadata}}

    def fill(face: Any) -> Any:
        store = face.open(spec, schema=face.Schema({"fill_value": value}), create=True).result()
        return store.fill_value.dtype.name, repr(store.fill_value)

    ours, theirs = outcome(lambda: fill(bts)), outcome(lambda: fill(ts))
    assert ours == theirs
