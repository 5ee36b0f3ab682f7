"""``vlen-utf8`` and ``vlen-bytes`` (array -> bytes): texts and byte strings, each after its length.

A chunk is the number of its elements, then for each of them its length and its bytes; numbers are 32-bit little-endian.
v2 has the same codecs under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr import _native
from blizzarr.codecs.objects.codec import ObjectCodec, Refusal, Table


class _Vlen(ObjectCodec):
    """A codec whose elements the engine decodes and encodes."""

    __slots__ = ()

    def table(self, fill: Any) -> Table:
        return _native.ElementTable(self.name, fill)


@dataclass(frozen=True, slots=True)
class VlenUtf8Codec(_Vlen):
    """The codec ``vlen-utf8`` (array -> bytes): stores texts of any length in UTF-8, each after its length.

    There are no options.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8

    Examples
    --------
    >>> VlenUtf8Codec().to_json(), VlenUtf8Codec().config()
    ({'name': 'vlen-utf8'}, {'id': 'vlen-utf8'})
    """

    name: ClassVar[str] = "vlen-utf8"
    element_type: ClassVar[str] = "string"

    def refuses(self, element: Any) -> Refusal | None:
        if not isinstance(element, str):
            return "str", f"{type(element).__name__} {element!r}"
        try:
            element.encode()
        except UnicodeEncodeError:
            return "text that UTF-8 can encode", f"a lone surrogate in {element!r}"
        return None


@dataclass(frozen=True, slots=True)
class VlenBytesCodec(_Vlen):
    """The codec ``vlen-bytes`` (array -> bytes): stores byte strings of any length, each after its length.

    There are no options.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-bytes

    Examples
    --------
    >>> VlenBytesCodec().to_json(), VlenBytesCodec().config()
    ({'name': 'vlen-bytes'}, {'id': 'vlen-bytes'})
    """

    name: ClassVar[str] = "vlen-bytes"
    element_type: ClassVar[str] = "bytes"

    def refuses(self, element: Any) -> Refusal | None:
        return None if isinstance(element, bytes) else ("bytes", f"{type(element).__name__} {element!r}")
