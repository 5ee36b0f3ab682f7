"""Views that few have, as TensorStore reads and writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError
from tensorstore_face import ours, outcome, theirs


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize("stored", [False, True])
def test_the_element_of_an_array_without_dimensions_repeats(library: Any, stored: bool) -> None:
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    store = (
        library.open(spec, create=True, dtype="int32", shape=[]).result()
        if stored
        else library.array(np.array(0, "int32"))
    )
    store.write(7).result()
    twice = store[library.newaxis][library.d[0].vindex[[2, 0]]]
    assert twice.read().result().tolist() == [7, 7]
    assert library.cast(twice, "float32").read(order="F").result().tolist() == [7.0, 7.0]
    # The last one counts.
    twice.write([4, 5]).result()
    assert store.read().result() == 5
    if library is ours and stored:
        with ours.Transaction() as transaction:
            bound = twice.with_transaction(transaction)
            bound.write([8, 9]).result()
            assert bound.read().result().tolist() == [9, 9]
        assert store.read().result() == 9


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"offset": -3}, "Index -3 is outside valid range"),
        ({"input_dimension": 0}, "are incompatible with existing bounds"),
    ],
)
def test_transforms_of_specs_that_lead_outside(library: Any, output: dict[str, int], said: str) -> None:
    transform = {"input_inclusive_min": [3], "input_exclusive_max": [4], "output": [output]}
    spec = {"driver": "array", "array": [4], "dtype": "int16", "transform": transform}
    with pytest.raises(ValueError, match=rf'^OUT_OF_RANGE: Error opening "array" driver: .*{said}'):
        library.open(spec).result()


_ODD: list[Any] = [
    *(2**31, -1.5, "a", b"a", b"\xff", None, object(), [np.nan], [10**400], [2**64], 1 + 2j, np.int64(300)),
    *([[1], [2, 3]], [[[1]]], [[["a"]]], [[[2**40]]], np.zeros((1, 1, 1)), np.zeros((1, 1, 1), "S1")),
    np.zeros((2, 1), "i8"),
]


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize("value", [[[None]], [[2**70]], [[1, None], [1, 2]]])
def test_dimensions_are_counted_before_elements(library: Any, value: Any) -> None:
    view = library.array(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match=r"object too deep|maximum number of dimension"):
        view[:] = value


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64", "string", "ustring"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_values_that_do_not_convert(dtype: str, shape: tuple[int, ...]) -> None:
    pair: list[Any] = []
    for library in (theirs, ours):
        kind = library.dtype(dtype)
        empty = {"string": b"", "ustring": ""}.get(dtype, 0)
        pair.append(library.array(np.full(shape, empty, kind.numpy_dtype), dtype=dtype))
    for value in _ODD:
        expected, found = (outcome(lambda: store.write(value).result()) for store in pair)  # noqa: B023
        # Lists that are too deep are told of before or after what is in them.
        assert found[0] == expected[0], value
        assert found[1] == expected[1] or isinstance(value, list), value
        if found[0] == "error" and found[1] == "ValueError":
            with pytest.raises(BlizzarrError):
                pair[1].write(value).result()
        assert outcome(lambda: pair[1].read().result()) == outcome(lambda: pair[0].read().result())
