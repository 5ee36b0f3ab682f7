"""``transpose`` (array -> array): the axes in another order.

Older documents have "C" or "F" for `order`; they are read, and written as the permutation that they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.problems import Problems


def _is_order(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(type(axis) is int for axis in value)


@dataclass(frozen=True, slots=True)
class TransposeCodec(Codec):
    """The codec ``transpose`` (array -> array): stores the axes of a chunk in another order.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/

    Parameters
    ----------
    order
        A permutation of ``0 ... rank - 1``: axis ``i`` of the result is axis ``order[i]`` of the chunk.

    Examples
    --------
    >>> TransposeCodec(order=(2, 0, 1)).to_json()
    {'name': 'transpose', 'configuration': {'order': [2, 0, 1]}}
    """

    name: ClassVar[str] = "transpose"
    stage: ClassVar[Stage] = Stage.FILTER
    options: ClassVar[tuple[Option, ...]] = (Option("order", "a permutation of the axes", _is_order),)
    fixed_size: ClassVar[bool] = True

    order: tuple[int, ...]

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        order = configuration.get("order")
        if order in ("C", "F") and chunk.shape is not None:
            axes = range(len(chunk.shape))
            configuration = {**configuration, "order": list(axes if order == "C" else reversed(axes))}
        return super(TransposeCodec, cls).from_json(configuration, path, problems, chunk)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.shape is None or sorted(self.order) == list(range(len(chunk.shape))):
            return True
        expected = f"a permutation of {list(range(len(chunk.shape)))}"
        problems.add(f"{path}.configuration.order", expected, list(self.order))
        return False

    def after(self, chunk: Chunk) -> Chunk:
        if chunk.shape is None or sorted(self.order) != list(range(len(chunk.shape))):
            return chunk._replace(shape=None)
        return chunk._replace(shape=tuple(chunk.shape[axis] for axis in self.order))

    def before(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape with its axes in the order before this codec; `shape` has them in the order after it."""
        lengths = dict(zip(self.order, shape, strict=True))
        return tuple(lengths[axis] for axis in range(len(shape)))

    def step(self, chunk: Chunk) -> Step:
        return ("transpose", self.order)
