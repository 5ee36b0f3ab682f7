"""Codecs of objects, elements of variable length: texts, byte strings, arrays, whatever JSON or a pickle can hold.

They are serializers of arrays whose NumPy data type is ``object``. In v2 documents, where that type is ``|O``, the
first filter is one of them; in v3 there are ``vlen-utf8`` for the data type ``string``, ``vlen-bytes`` for ``bytes``.
"""

from __future__ import annotations

from typing import Final

from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.codecs.objects.categorize import CategorizeCodec
from blizzarr.codecs.objects.codec import TOKEN_BYTES, ObjectCodec, Table
from blizzarr.codecs.objects.json2 import JsonCodec
from blizzarr.codecs.objects.msgpack2 import MsgpackCodec
from blizzarr.codecs.objects.pickle import PickleCodec
from blizzarr.codecs.objects.vlen import VlenBytesCodec, VlenUtf8Codec
from blizzarr.codecs.objects.vlen_array import VlenArrayCodec

__all__ = [
    "OBJECT_CODECS",
    "TOKEN_BYTES",
    "CategorizeCodec",
    "JsonCodec",
    "MsgpackCodec",
    "ObjectCodec",
    "PickleCodec",
    "Table",
    "VlenArrayCodec",
    "VlenBytesCodec",
    "VlenUtf8Codec",
]

OBJECT_CODECS: Final[dict[str, type[ObjectCodec]]] = {
    row.name.removeprefix(PREFIX): row
    for row in (
        CategorizeCodec,
        JsonCodec,
        MsgpackCodec,
        PickleCodec,
        VlenArrayCodec,
        VlenBytesCodec,
        VlenUtf8Codec,
    )
}
"""By the id that they have in numcodecs."""
