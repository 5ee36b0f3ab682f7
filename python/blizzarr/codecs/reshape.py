"""``reshape`` and ``zarrs.squeeze`` (array -> array): the same elements, in the same order, along other axes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.problems import Problems


def _is_shape(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(_is_length(item) or _is_axes(item) for item in value)
        and list(value).count(-1) <= 1
        and _axes(value) == sorted(set(_axes(value)))
    )


def _is_length(value: Any) -> bool:
    return type(value) is int and (value > 0 or value == -1)


def _is_axes(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(axis) is int and axis >= 0 for axis in value)


def _axes(shape: Any) -> list[int]:
    return [axis for item in shape if isinstance(item, list | tuple) for axis in item]


@dataclass(frozen=True, slots=True)
class ReshapeCodec(Codec):
    """The codec ``reshape`` (array -> array): gives the next codec chunks of another shape, like ``numpy.reshape``.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape

    Parameters
    ----------
    shape
        For each axis of the result its length, the axes of the chunk that it combines, or -1 for what is left.

    Examples
    --------
    >>> ReshapeCodec([[0, 1], -1]).to_json()
    {'name': 'reshape', 'configuration': {'shape': [[0, 1], -1]}}
    """

    name: ClassVar[str] = "reshape"
    stage: ClassVar[Stage] = Stage.FILTER
    options: ClassVar[tuple[Option, ...]] = (
        Option("shape", "lengths, at most one -1, and lists of axes in order", _is_shape),
    )
    fixed_size: ClassVar[bool] = True

    shape: tuple[Any, ...] | list[Any]

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.shape is None or self._made(chunk.shape) is not None:
            return True
        problems.add(f"{path}.configuration.shape", f"a shape of the {prod(chunk.shape)} elements", list(self.shape))
        return False

    def _made(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the shape of the result; None if the elements do not have it."""
        if any(axis >= len(shape) for axis in _axes(self.shape)):
            return None
        made = [prod(shape[axis] for axis in item) if isinstance(item, tuple) else item for item in self.shape]
        total = prod(shape)
        if total and sum(length > 1 for length in made) >= total.bit_length():
            # A number has no more factors than that, and the product of very many would take long.
            return None
        known = prod(length for length in made if length != -1)
        made = [(total // known if known else 0) if length == -1 else length for length in made]
        if prod(made) != total:
            return None
        for position, item in enumerate(self.shape):
            # Coordinates along these axes must be those along the axis of the result.
            if isinstance(item, tuple) and item:
                if prod(made[:position]) != prod(shape[: item[0]]):
                    return None
                if prod(made[position + 1 :]) != prod(shape[item[-1] + 1 :]):
                    return None
        return tuple(made)

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None if chunk.shape is None else self._made(chunk.shape))

    def steps(self, chunk: Chunk) -> list[Step]:
        # The elements stay where they are.
        return []

    def configuration(self) -> dict[str, Any]:
        return {"shape": [list(item) if isinstance(item, tuple) else item for item in self.shape]}


@dataclass(frozen=True, slots=True)
class SqueezeCodec(Codec):
    """The codec ``zarrs.squeeze`` (array -> array): gives the next codec chunks without their axes of length 1.

    There are no options.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_array/squeeze/

    Examples
    --------
    >>> SqueezeCodec().after(Chunk(None, (1, 20, 1, 30))).shape
    (20, 30)
    """

    name: ClassVar[str] = "zarrs.squeeze"
    stage: ClassVar[Stage] = Stage.FILTER
    fixed_size: ClassVar[bool] = True

    def after(self, chunk: Chunk) -> Chunk:
        shape = chunk.shape
        return chunk._replace(shape=None if shape is None else tuple(length for length in shape if length != 1))

    def steps(self, chunk: Chunk) -> list[Step]:
        # The elements stay where they are.
        return []
