"""Codecs for objects, elements of variable length: text, byte strings, arrays, anything that JSON or a pickle can hold.

They are serializers of arrays whose NumPy data type is ``object``. In v2 documents, where that type is ``|O``, the
first filter is one of them; in v3 there are ``vlen-utf8`` for the data type ``string``, ``vlen-bytes`` for ``bytes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.codecs.objects.codec import ObjectCodec, Table
from blizzarr.lazy_imports import LazyTable, lazy_names

if TYPE_CHECKING:
    from blizzarr.codecs.objects.categorize import CategorizeCodec
    from blizzarr.codecs.objects.nested import JsonCodec, MsgpackCodec
    from blizzarr.codecs.objects.pickle import PickleCodec
    from blizzarr.codecs.objects.vlen import VlenBytesCodec, VlenUtf8Codec
    from blizzarr.codecs.objects.vlen_array import VlenArrayCodec

NAMED: Final = {
    "categorize": "blizzarr.codecs.objects.categorize:CategorizeCodec",
    "numcodecs.json2": "blizzarr.codecs.objects.nested:JsonCodec",
    "numcodecs.msgpack2": "blizzarr.codecs.objects.nested:MsgpackCodec",
    "numcodecs.pickle": "blizzarr.codecs.objects.pickle:PickleCodec",
    "numcodecs.vlen-array": "blizzarr.codecs.objects.vlen_array:VlenArrayCodec",
    "vlen-bytes": "blizzarr.codecs.objects.vlen:VlenBytesCodec",
    "vlen-utf8": "blizzarr.codecs.objects.vlen:VlenUtf8Codec",
}
"""The classes, as ``module:name``, by their names in v3 documents."""

OBJECT_CODECS: Final = LazyTable[type[ObjectCodec]]({name.removeprefix(PREFIX): there for name, there in NAMED.items()})
"""The classes by their id in numcodecs."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, NAMED.values())
