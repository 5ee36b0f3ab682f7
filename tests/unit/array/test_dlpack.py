"""Arrays of other libraries that only DLPack exchanges: written as NumPy's are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import blizzarr


class Tensor:
    """An array that has no more than DLPack wants."""

    def __init__(self, elements: Any) -> None:
        self.elements = np.asarray(elements)

    def __dlpack__(self, **options: Any) -> Any:
        return self.elements.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.elements.__dlpack_device__()


class Shaped(Tensor):
    """One that has a shape, too, as most have."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape


class Elsewhere(Shaped):
    """One whose elements are in the memory of another device."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("they are on another device")


ROWS = np.arange(6).reshape(2, 3)

WRITES: list[tuple[Callable[[blizzarr.Array, Any], Any], Any, Any]] = [
    (lambda array, data: array.__setitem__(..., data), ROWS, ROWS),
    (lambda array, data: array.__setitem__(1, data), [7.9, 8, 9], [[0, 0, 0], [7, 8, 9]]),
    (lambda array, data: array.__setitem__((0, 1), data), 5, [[0, 5, 0], [0, 0, 0]]),
    (lambda array, data: array.oindex.__setitem__(([1, 0], slice(None)), data), ROWS, ROWS[::-1]),
    (lambda array, data: array.vindex.__setitem__(([1, 0], [2, 0]), data), [4, 5], [[5, 0, 0], [0, 0, 4]]),
    (lambda array, data: array.blocks.__setitem__((0, 0), data), [[1, 2], [3, 4]], [[1, 2, 0], [3, 4, 0]]),
    (lambda array, data: array.append(data), ROWS[:1], [[0, 0, 0], [0, 0, 0], [0, 1, 2]]),
]


@pytest.mark.parametrize("kind", [Tensor, Shaped])
@pytest.mark.parametrize(("write", "data", "expected"), WRITES)
def test_written(kind: type[Tensor], write: Callable[[blizzarr.Array, Any], Any], data: Any, expected: Any) -> None:
    array = blizzarr.create_array({}, shape=(2, 3), dtype="int16", chunks=(2, 2))
    write(array, kind(data))
    assert array[...].tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize("kind", [Tensor, Shaped])
def test_created(kind: type[Tensor]) -> None:
    array = blizzarr.create_array({}, data=kind(ROWS.astype("f4")))
    assert (array.dtype, array[...].tolist()) == (np.dtype("f4"), ROWS.tolist())
    array = blizzarr.create_array({}, data=kind(ROWS), dtype="f8", shape=(2, 3))
    assert (array.dtype, array[...].tolist()) == (np.dtype("f8"), ROWS.tolist())
    group = blizzarr.create_group({})
    group["a"] = kind(ROWS)
    blizzarr.save(store := {}, b=kind(ROWS))
    assert group["a"][...].tolist() == blizzarr.load(store)["b"].tolist() == ROWS.tolist()


def test_elements_of_another_device_are_refused() -> None:
    array = blizzarr.create_array({}, shape=(2, 3), dtype="int16")
    with pytest.raises(TypeError, match=r"expected an array in the memory of the CPU.*found Elsewhere \(they are on"):
        array[...] = Elsewhere(ROWS)
    with pytest.raises(TypeError, match="found Elsewhere"):
        blizzarr.create_array({}, data=Elsewhere(ROWS))
    assert not array[...].any()


def test_numbers_are_no_texts() -> None:
    array = blizzarr.create_array({}, shape=(3,), dtype="string")
    with pytest.raises(TypeError, match=r"expected str at index \(0,\), found int 1"):
        array[...] = Tensor([1, 2, 3])
