"""``numcodecs.categorize`` (array -> array): text of a few kinds as numbers, 0 for any other text.

https://numcodecs.readthedocs.io/en/stable/filter/categorize.html

>>> CategorizeCodec(labels=("female", "male"), dtype="<U6").config()
{'id': 'categorize', 'labels': ['female', 'male'], 'dtype': '<U6', 'astype': '|u1'}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Option
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, memory_type
from blizzarr.codecs.numcodecs.element_type import type_option
from blizzarr.errors import CodecError
from blizzarr.problems import Problems

__all__ = ["CategorizeCodec"]


def _is_labels(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(label) is str for label in value)


@dataclass(frozen=True, slots=True)
class CategorizeCodec(ArrayFilter):
    """The position of each text in `labels`, counted from 1, as `astype`; `dtype` is text of fixed length."""

    name: ClassVar[str] = "numcodecs.categorize"
    options: ClassVar[tuple[Option, ...]] = (
        Option("labels", "a list of texts", _is_labels),
        type_option("dtype", required=False),
        type_option("astype", required=False),
    )
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    labels: tuple[str, ...]
    dtype: str | None = None
    astype: str = "|u1"

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super(CategorizeCodec, cls).from_json(configuration, path, problems, chunk)
        return None if codec is None else replace(codec, labels=tuple(codec.labels))

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        taken = self.decoded_type(memory_type(chunk.dtype))
        if taken.kind != "U":
            problems.add(f"{path}.configuration.dtype", "a type of text of fixed length", taken.str)
            return False
        return super(CategorizeCodec, self).fits(chunk, path, problems)

    def refuse(self, made: npt.NDArray[Any]) -> None:
        # numcodecs takes them for no text at all.
        wrong = np.flatnonzero((made < 0) | (made > len(self.labels)))
        if wrong.size:
            first = int(wrong[0])
            expected = f"a number in [0, {len(self.labels)}] for element {first}"
            raise CodecError(f"expected {expected}, found {made[first]}")

    def configuration(self) -> dict[str, Any]:
        return {**super(CategorizeCodec, self).configuration(), "labels": list(self.labels)}
