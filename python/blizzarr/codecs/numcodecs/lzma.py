"""``numcodecs.lzma`` (bytes -> bytes): LZMA in its three containers, by the standard library.

https://numcodecs.readthedocs.io/en/stable/compression/lzma.html

>>> codec = LZMACodec(preset=1)
>>> codec.decode(codec.encode(b"abc" * 100), 300) == b"abc" * 100
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.codecs.numcodecs.streams import decode_streams
from blizzarr.problems import MISSING, Problems

__all__ = ["LZMACodec"]

_XZ: Final = 1
_RAW: Final = 3
_MAX_CHECK: Final = 15
_EXTREME: Final = 1 << 31
_XZ_PADDING: Final = b"\0"


def _is_filters(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(item, Mapping) and all(type(number) is int for number in item.values()) for item in value
    )


@dataclass(frozen=True, slots=True)
class LZMACodec(NumcodecsCodec):
    """LZMA; the numbers are those of Python's `lzma`.

    `format` is 1 (xz), 2 (the older lzma) or 3 (no container); `check` the kind of checksum in xz, or -1 for the
    default; `preset` a level from 0 to 9, plus 2^31 for the slower variant; `filters` what is done in its place. The
    module is imported when it is used: some builds of Python lack it.
    """

    name: ClassVar[str] = "numcodecs.lzma"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (
        integer("format", _XZ, _RAW, required=False),
        integer("check", -1, _MAX_CHECK, required=False),
        integer("preset", 0, 9 | _EXTREME, required=False),
        Option("filters", "a list of objects with integers", _is_filters, required=False),
    )

    format: int = _XZ
    check: int = -1
    preset: int | None = None
    filters: Sequence[Mapping[str, int]] | None = field(default=None, hash=False)

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super(LZMACodec, cls).from_json(configuration, path, problems, chunk)
        # A list in documents, and a tuple as everywhere in codecs.
        return codec and replace(codec, filters=None if codec.filters is None else tuple(codec.filters))

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if self.format == _RAW and self.filters is None:
            problems.add(f"{path}.configuration.filters", "filters, as there is no container that says them", MISSING)
            return False
        if self.filters is not None and self.preset is not None:
            problems.add(f"{path}.configuration.preset", "null, as there are filters", self.preset)
            return False
        return True

    def step(self, chunk: Chunk) -> Step:
        return ("python", self)

    def encode(self, decoded: bytes) -> bytes:
        """The data as one stream."""
        import lzma

        filters = None if self.filters is None else [dict(item) for item in self.filters]
        return lzma.compress(decoded, self.format, self.check, self.preset, filters)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """The data of all streams; only what has no container needs the filters to be told."""
        import lzma

        raw = self.format == _RAW and self.filters is not None
        filters = [dict(item) for item in self.filters or ()] if raw else None
        make = partial(lzma.LZMADecompressor, self.format, None, filters)
        return decode_streams(make, encoded, max_size, _XZ_PADDING if self.format == _XZ else b"")

    def configuration(self) -> dict[str, Any]:
        options = super(LZMACodec, self).configuration()
        if self.filters is not None:
            options["filters"] = [dict(item) for item in self.filters]
        return options

    def config(self) -> dict[str, Any]:
        # All of the options, as numcodecs writes them.
        return {"id": "lzma", "preset": None, "filters": None, **self.configuration()}
