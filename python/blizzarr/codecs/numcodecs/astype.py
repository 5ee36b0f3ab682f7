"""``numcodecs.astype`` (array -> array): the elements as another type.

https://numcodecs.readthedocs.io/en/stable/filter/astype.html

>>> AsTypeCodec(encode_dtype="<f4", decode_dtype="<f8").config()
{'id': 'astype', 'encode_dtype': '<f4', 'decode_dtype': '<f8'}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Option
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import type_option

__all__ = ["AsTypeCodec"]


@dataclass(frozen=True, slots=True)
class AsTypeCodec(ArrayFilter):
    """Elements of type `decode_dtype`, the array's own unless it is given, kept as `encode_dtype`."""

    name: ClassVar[str] = "numcodecs.astype"
    options: ClassVar[tuple[Option, ...]] = (type_option("encode_dtype"), type_option("decode_dtype", required=False))
    type_options: ClassVar[tuple[str, ...]] = ("decode_dtype", "encode_dtype")
    elementwise: ClassVar[bool] = True

    encode_dtype: str
    decode_dtype: str | None = None
