"""The module ``zarr.abc.codec``: the base classes of codecs.

The codecs of `blizzarr.zarr.codecs` are names and options; the engine does the work. It calls those that
`blizzarr.zarr.registry.register_codec` makes known.
"""

from __future__ import annotations

from typing import Any, Self

from blizzarr.zarr.abc.metadata import Metadata

__all__ = ["ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec", "Codec"]


class Codec(Metadata):
    """The base class of codecs."""

    is_fixed_size = False

    def evolve_from_array_spec(self, array_spec: Any) -> Self:
        """Return the codec with the options that follow from what it encodes."""
        return self

    def resolve_metadata(self, chunk_spec: Any) -> Any:
        """Return what the next codec encodes."""
        return chunk_spec

    def __class_getitem__(cls, item: object) -> type[Codec]:
        return cls


BaseCodec = Codec


class ArrayArrayCodec(Codec):
    """A codec from arrays to arrays, a filter."""


class ArrayBytesCodec(Codec):
    """A codec from arrays to bytes, a serializer."""


class BytesBytesCodec(Codec):
    """A codec from bytes to bytes, a compressor."""
