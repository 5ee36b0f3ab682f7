"""``json2`` and ``msgpack2`` (array -> bytes): chunks of objects as nested lists, in JSON or MessagePack.

https://numcodecs.readthedocs.io/en/stable/other/json.html
https://numcodecs.readthedocs.io/en/stable/other/msgpacks.html

After the members along the first axis, the list of a chunk has two more: the data type, ``"|O"``, and the shape. The
axes are always in C order, also if the array is in F order.

>>> nest([1, 2, 3, 4, 5, 6], (3, 2))
[[1, 2], [3, 4], [5, 6], '|O', [3, 2]]
>>> flatten([[1, 2], [3, 4], [5, 6], "|O", [3, 2]], (3, 2))
[1, 2, 3, 4, 5, 6]
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from blizzarr.codecs.codec import Option, flag
from blizzarr.codecs.objects.codec import Refusal
from blizzarr.codecs.objects.python_table import PythonObjectCodec
from blizzarr.errors import CodecError
from blizzarr.problems import describe


def nest(elements: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return the list for the objects of a chunk, which are given in C order."""
    items: list[Any] = list(elements)
    for length in reversed(shape[1:]):
        items = [items[start : start + length] for start in range(0, len(items), length)]
    return [*items, "|O", list(shape)]


def flatten(items: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return the objects of a chunk of this shape, in C order; objects may be lists themselves.

    Raise `CodecError` if the list does not have this shape.
    """
    if not isinstance(items, list) or len(items) < 2 or items[-1] != list(shape):
        found = describe(items[-1]) if isinstance(items, list) and items else describe(items)
        raise CodecError(f"expected a list that ends with the shape {list(shape)}, found {found}")
    level = items[:-2]
    _check(level, shape[0] if shape else 1)
    for length in shape[1:]:
        for item in level:
            _check(item, length)
        level = [element for item in level for element in item]
    return level


def _check(items: Any, length: int) -> None:
    if not isinstance(items, list) or len(items) != length:
        found = f"{len(items)}" if isinstance(items, list) else describe(items)
        raise CodecError(f"expected a list of {length} elements, found {found}")


@dataclass(frozen=True, slots=True)
class MsgpackCodec(PythonObjectCodec):
    """Any objects that MessagePack can say, by the package ``msgpack``; with `raw`, texts come back as bytes.

    >>> MsgpackCodec().config()
    {'id': 'msgpack2', 'use_single_float': False, 'use_bin_type': True, 'raw': False}
    """

    name: ClassVar[str] = "numcodecs.msgpack2"
    needs: ClassVar[tuple[str, str] | None] = ("msgpack", "blizzarr[codecs]")
    lays_out: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        flag("use_single_float", required=False),
        flag("use_bin_type", required=False),
        flag("raw", required=False),
    )

    use_single_float: bool = False
    use_bin_type: bool = True
    raw: bool = False

    def refuses(self, element: Any) -> Refusal | None:
        try:
            self._packed(element)
        except (TypeError, ValueError, OverflowError) as error:
            return "what MessagePack can say", f"{type(element).__name__} ({error})"
        return None

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        return self._packed(nest(elements, shape))

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        items = import_module("msgpack").unpackb(encoded, raw=self.raw, strict_map_key=False)
        return flatten(items, shape)

    def _packed(self, value: Any) -> bytes:
        return import_module("msgpack").packb(
            value, use_bin_type=self.use_bin_type, use_single_float=self.use_single_float
        )


_SIMPLE = (type(None), bool, int, float, str)
"""Types of which JSON takes all values."""


def _is_encoding(value: Any) -> bool:
    try:
        return type(value) is str and "".encode(value) is not None and codecs.lookup(value) is not None
    except (LookupError, ValueError):
        return False


def _is_indent(value: Any) -> bool:
    return value is True or (type(value) is int and 0 <= value <= 64)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(item) is str for item in value)


@dataclass(frozen=True, slots=True)
class JsonCodec(PythonObjectCodec):
    """Any objects that JSON can say, with the options of Python's encoder and decoder.

    What JSON does to objects, the codec does, too: tuples come back as lists, keys of objects as texts.

    >>> JsonCodec().config()["id"], JsonCodec().encode(["a", None, {"b": [1]}], (3,))
    ('json2', b'["a",null,{"b":[1]},"|O",[3]]')
    """

    name: ClassVar[str] = "numcodecs.json2"
    lays_out: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option("encoding", "the name of an encoding of text", _is_encoding, required=False),
        flag("skipkeys", required=False),
        flag("ensure_ascii", required=False),
        flag("check_circular", required=False),
        flag("allow_nan", required=False),
        Option("indent", "an integer in [0, 64], or true", _is_indent, required=False),
        Option("separators", "two texts", _is_pair, required=False),
        flag("sort_keys", required=False),
        flag("strict", required=False),
    )

    encoding: str = "utf-8"
    skipkeys: bool = False
    ensure_ascii: bool = True
    check_circular: bool = True
    allow_nan: bool = True
    indent: int | bool | None = None
    separators: tuple[str, str] = (",", ":")
    sort_keys: bool = True
    strict: bool = True

    def takes(self, elements: list[Any]) -> bool:
        if self.ensure_ascii and self.allow_nan:
            elements = [element for element in elements if type(element) not in _SIMPLE]
        return super(JsonCodec, self).takes(elements)

    def refuses(self, element: Any) -> Refusal | None:
        try:
            self._text(element).encode(self.encoding)
        except (TypeError, ValueError, RecursionError) as error:
            return "what JSON can say", f"{type(element).__name__} ({error})"
        return None

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        return self._text(nest(elements, shape)).encode(self.encoding)

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        return flatten(json.loads(encoded.decode(self.encoding), strict=self.strict), shape)

    def _text(self, value: Any) -> str:
        return json.dumps(
            value,
            skipkeys=self.skipkeys,
            ensure_ascii=self.ensure_ascii,
            # Without the check, an object that contains itself would end the process.
            check_circular=True,
            allow_nan=self.allow_nan,
            indent=self.indent,
            separators=self.separators,
            sort_keys=self.sort_keys,
        )
