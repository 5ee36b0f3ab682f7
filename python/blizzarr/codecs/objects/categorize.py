"""``categorize`` (array -> bytes): texts of a few kinds, as numbers.

https://numcodecs.readthedocs.io/en/stable/filter/categorize.html

The number of a text is its position among the labels, counted from 1; 0 is the empty text. numcodecs stores 0 for any
other text, too, which is then lost; here it is refused.

>>> CategorizeCodec(labels=("female", "male")).encode(["male", "", "female"], (3,))
b'\\x02\\x00\\x01'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from blizzarr.codecs.codec import Chunk, Option, one_of, texts
from blizzarr.codecs.numcodecs.element_type import element_type
from blizzarr.codecs.objects.codec import Refusal
from blizzarr.codecs.objects.python_table import PythonObjectCodec
from blizzarr.errors import CodecError
from blizzarr.problems import Problems


def _is_number(value: Any) -> bool:
    dtype = element_type(value) if type(value) is str else None
    return dtype is not None and dtype.kind in "iu"


@dataclass(frozen=True, slots=True)
class CategorizeCodec(PythonObjectCodec):
    """Each text as its number among `labels`, of the type `astype`."""

    name: ClassVar[str] = "categorize"
    element_type: ClassVar[str] = "string"
    options: ClassVar[tuple[Option, ...]] = (
        texts("labels"),
        one_of("dtype", ("|O",), required=False),
        Option("astype", 'an integer type of NumPy, like "|u1"', _is_number, required=False),
    )

    labels: tuple[str, ...]
    dtype: str = "|O"
    astype: str = "|u1"

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        most = np.iinfo(np.dtype(self.astype)).max
        if len(self.labels) > most:
            expected = f"at most {most} labels, which is as far as {self.astype} counts"
            problems.add(f"{path}.configuration.labels", expected, len(self.labels))
            return False
        return super(CategorizeCodec, self).fits(chunk, path, problems)

    def takes(self, elements: list[Any]) -> bool:
        try:
            return {"", *self.labels}.issuperset(elements)
        except TypeError:
            # What cannot be in a set is no text.
            return False

    def refuses(self, element: Any) -> Refusal | None:
        if isinstance(element, str) and (element == "" or element in self.labels):
            return None
        return f"one of the {len(self.labels)} labels of the codec, or an empty text", repr(element)

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        numbers = {label: number for number, label in enumerate(self.labels, 1)}
        numbers.setdefault("", 0)
        try:
            listed = [numbers[element] for element in elements]
        except KeyError as unknown:
            # The fill value of the array, which no codec was asked about.
            raise CodecError(f"expected one of the labels, found {unknown.args[0]!r}") from None
        return np.array(listed, np.dtype(self.astype)).tobytes()

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        dtype = np.dtype(self.astype)
        if len(encoded) != prod(shape) * dtype.itemsize:
            raise CodecError(f"expected {prod(shape) * dtype.itemsize:,} bytes, found {len(encoded):,}")
        numbers = np.frombuffer(encoded, dtype)
        texts = np.array(["", *self.labels], object)
        wrong = np.flatnonzero((numbers < 0) | (numbers >= len(texts)))
        if len(wrong):
            position = int(wrong[0])
            raise CodecError(
                f"expected a number in [0, {len(texts)}) for element {position}, found {numbers[position]}"
            )
        return list(texts[numbers])
