"""``msgpack2`` (array -> bytes): any objects that MessagePack can say; needs the package ``msgpack``.

https://numcodecs.readthedocs.io/en/stable/other/msgpacks.html

>>> MsgpackCodec().config()
{'id': 'msgpack2', 'use_single_float': False, 'use_bin_type': True, 'raw': False}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Self

from blizzarr.codecs.codec import Chunk, Option, flag
from blizzarr.codecs.objects.codec import Refusal
from blizzarr.codecs.objects.nested import flatten, nest
from blizzarr.codecs.objects.python_table import PythonObjectCodec
from blizzarr.problems import Problems


@dataclass(frozen=True, slots=True)
class MsgpackCodec(PythonObjectCodec):
    """MessagePack; with `raw`, texts come back as bytes."""

    name: ClassVar[str] = "numcodecs.msgpack2"
    lays_out: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (
        flag("use_single_float", required=False),
        flag("use_bin_type", required=False),
        flag("raw", required=False),
    )

    use_single_float: bool = False
    use_bin_type: bool = True
    raw: bool = False

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super(MsgpackCodec, cls).from_json(configuration, path, problems, chunk)
        if find_spec("msgpack") is None:
            problems.unknown(path, "codec", cls.name, "install `blizzarr[codecs]`, which brings the msgpack package")
            return None
        return codec

    def refuses(self, element: Any) -> Refusal | None:
        try:
            self._packed(element)
        except (TypeError, ValueError, OverflowError) as error:
            return "what MessagePack can say", f"{type(element).__name__} ({error})"
        return None

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        return self._packed(nest(elements, shape))

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        items = _library().unpackb(encoded, raw=self.raw, strict_map_key=False)
        return flatten(items, shape)

    def _packed(self, value: Any) -> bytes:
        packed: bytes = _library().packb(value, use_bin_type=self.use_bin_type, use_single_float=self.use_single_float)
        return packed


def _library() -> Any:
    return import_module("msgpack")
