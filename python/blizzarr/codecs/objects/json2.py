"""``json2`` (array -> bytes): any objects that JSON can say.

https://numcodecs.readthedocs.io/en/stable/other/json.html

What JSON does to them, it does here: tuples come back as lists, keys of objects as texts.

>>> JsonCodec().config()["id"], JsonCodec().encode(["a", None, {"b": [1]}], (3,))
('json2', b'["a",null,{"b":[1]},"|O",[3]]')
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from blizzarr.codecs.codec import Chunk, Option, flag, integer
from blizzarr.codecs.objects.codec import Refusal
from blizzarr.codecs.objects.nested import flatten, nest
from blizzarr.codecs.objects.python_table import PythonObjectCodec
from blizzarr.problems import Problems

_SIMPLE = (type(None), bool, int, float, str)
"""Types of which JSON takes all values."""


def _is_encoding(value: Any) -> bool:
    try:
        return type(value) is str and "".encode(value) is not None and codecs.lookup(value) is not None
    except (LookupError, ValueError):
        return False


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(type(item) is str for item in value)


@dataclass(frozen=True, slots=True)
class JsonCodec(PythonObjectCodec):
    """JSON, with the options of Python's encoder and decoder."""

    name: ClassVar[str] = "numcodecs.json2"
    lays_out: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        Option("encoding", "the name of an encoding of text", _is_encoding, required=False),
        flag("skipkeys", required=False),
        flag("ensure_ascii", required=False),
        flag("check_circular", required=False),
        flag("allow_nan", required=False),
        integer("indent", 0, 64, required=False),
        Option("separators", "two texts", _is_pair, required=False),
        flag("sort_keys", required=False),
        flag("strict", required=False),
    )

    encoding: str = "utf-8"
    skipkeys: bool = False
    ensure_ascii: bool = True
    check_circular: bool = True
    allow_nan: bool = True
    indent: int | None = None
    separators: tuple[str, str] = (",", ":")
    sort_keys: bool = True
    strict: bool = True

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super(JsonCodec, cls).from_json(configuration, path, problems, chunk)
        return None if codec is None else replace(codec, separators=(codec.separators[0], codec.separators[1]))

    def configuration(self) -> dict[str, Any]:
        return {**super(JsonCodec, self).configuration(), "separators": list(self.separators)}

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
