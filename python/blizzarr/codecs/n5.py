"""``n5`` and ``n5_default`` (array -> bytes): the blocks of N5, a header and the elements, compressed or not.

Elements are big-endian with the first axis varying fastest, which takes a transposition before this codec. The header
is not compressed, so the compressor is an option of this codec rather than a codec after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from blizzarr.codecs import chain as chains
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.problems import MISSING, Problems


@dataclass(frozen=True, slots=True)
class N5Codec(Codec):
    """The codec ``n5`` (array -> bytes): stores chunks as blocks of N5, a header followed by the elements.

    Only arrays of N5 have it (``zarr_format="n5"``): it is in no registry of Zarr.

    Specification: https://github.com/saalfeldlab/n5#file-system-specification

    Parameters
    ----------
    compressor
        A codec from bytes to bytes, for the elements; None stores them uncompressed.

    Examples
    --------
    >>> from blizzarr.codecs.gzip import GzipCodec
    >>> N5Codec(GzipCodec(level=1)).configuration()
    {'compressor': {'name': 'gzip', 'configuration': {'level': 1}}}
    """

    name: ClassVar[str] = "n5"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "big"

    compressor: Codec | None = None

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        inner = None if self.compressor is None else self.compressor.step(chunk)
        # The header lists the axes in the order of the array; this codec gets the chunk with its axes reversed.
        return [BytesCodec(self.endian).step(chunk), ("n5", chunk.shape[::-1], chunk.dtype.itemsize, inner)]

    def configuration(self) -> dict[str, Any]:
        return {"compressor": None if self.compressor is None else self.compressor.to_json()}


@dataclass(frozen=True, slots=True)
class N5DefaultCodec(Codec):
    """The codec ``n5_default`` (array -> bytes): stores chunks as blocks of N5, a header followed by the elements.

    An array with the keys of v2 and ``attributes.json`` beside its ``zarr.json`` is one of N5, too.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default

    Parameters
    ----------
    codecs
        The codecs of the elements: ``transpose``, which reverses the axes, big-endian ``bytes``, and at most one
        compressor. None for the first two.

    Examples
    --------
    >>> import blizzarr
    >>> array = blizzarr.create_array({}, shape=(4, 6), dtype="u2", serializer=N5DefaultCodec(), compressors=None)
    >>> [codec["name"] for codec in array.metadata.codecs.serializer.configuration()["codecs"]]
    ['transpose', 'bytes']
    """

    name: ClassVar[str] = "n5_default"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "big"

    codecs: chains.CodecChain | tuple[Any, ...] | list[Any] | None = None

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        others = {name: value for name, value in configuration.items() if name != "codecs"}
        where = f"{path}.configuration.codecs"
        inner = chains.decode(
            configuration.get("codecs", MISSING), where, problems, chunk._replace(depth=chunk.depth + 1)
        )
        if cls.read_options(others, path, problems) is None or inner is None:
            return None
        order = [codec.order for codec in inner.filters if isinstance(codec, TransposeCodec)]
        reverses = len(order) == len(inner.filters) == 1 and list(order[0]) == list(range(len(order[0])))[::-1]
        is_big = isinstance(inner.serializer, BytesCodec) and inner.serializer.endian != "little"
        if reverses and is_big and len(inner.compressors) < 2:
            return cls(inner)
        expected = "transpose, which reverses the axes, bytes, which are big-endian, and at most one compressor"
        problems.add(where, expected, configuration["codecs"])
        return None

    def resolve(self, chunk: Chunk) -> Self:
        listed: Any = self.codecs
        if listed is None:
            # Without a shape, a filter before it does not fit, and whoever checks the chain says so.
            listed = [TransposeCodec(tuple(range(len(chunk.shape or ())))[::-1]), BytesCodec("big")]
        return replace(self, codecs=chains.resolve(listed, chunk))

    def steps(self, chunk: Chunk) -> list[Step]:
        assert isinstance(self.codecs, chains.CodecChain)
        assert chunk.dtype is not None
        outer = [codec.step(chunk) for codec in self.codecs.filters]
        inner = [codec.step(chunk) for codec in self.codecs.compressors]
        header = ("n5", chunk.shape, chunk.dtype.itemsize, inner[0] if inner else None)
        return [*outer, BytesCodec(self.endian).step(chunk), header]

    def configuration(self) -> dict[str, Any]:
        assert isinstance(self.codecs, chains.CodecChain)
        return {"codecs": self.codecs.to_json()}
