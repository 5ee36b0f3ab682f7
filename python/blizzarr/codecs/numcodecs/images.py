"""Codecs of imagecodecs in documents of v3, by the names that numcodecs' wrappers for zarr-python give them.

The name does not tell what ``numcodecs.imagecodecs_*`` encodes, but its place does: behind a serializer it is given
bytes, and elsewhere it is the serializer, which is given the chunk as an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.in_numpy import Layout
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.errors import CodecError, UnknownExtensionError
from blizzarr.problems import Problems
from blizzarr.suppliers import supplier


@lru_cache(256)
def row_of(name: str, stage: Stage) -> type[ImagesCodec]:
    """Return the class of the codec of this name at this place of a chain."""
    return type("ImagesCodec", (ImagesCodec,), {"name": name, "stage": stage, "__slots__": ()})


@dataclass(frozen=True, slots=True)
class ImagesCodec(NumcodecsCodec):
    """The base class of the codecs that `row_of` makes."""

    settings: Mapping[str, Any] = field(hash=False)

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec, id = cls(dict(configuration)), cls.name.removeprefix(PREFIX)
        reason = supplier("codec", id)
        try:
            if library.is_registered(id):
                library.make(codec.config())
                return codec
        except UnknownExtensionError as refused:
            reason = refused.reason
        problems.unknown(path, "codec", cls.name, reason)
        return None

    def configuration(self) -> dict[str, Any]:
        return dict(self.settings)

    def steps(self, chunk: Chunk) -> list[Step]:
        return [("bytes", 0), ("python", _Images(self.name, library.make(self.config()), Layout.of(chunk)))]

    def step(self, chunk: Chunk) -> Step:
        return ("python", _Images(self.name, library.make(self.config()), None))


@dataclass(frozen=True, slots=True)
class _Images:
    """The step of the engine."""

    name: str
    codec: Any
    layout: Layout | None
    """What the chunk is as an array; None for bytes."""
    fixed_size: ClassVar[bool] = False

    def encode(self, decoded: bytes) -> Any:
        # Some codecs in C require writable memory.
        return self.codec.encode(bytearray(decoded) if self.layout is None else self.layout.array(decoded).copy())

    def decode(self, encoded: bytes, max_size: int) -> Any:
        made = self.codec.decode(encoded)
        if self.layout is None:
            if memoryview(made).nbytes > max_size:
                raise CodecError(f"expected at most {max_size:,} bytes, found {memoryview(made).nbytes:,}")
            return made
        # An axis of length 1 may be missing.
        found = np.frombuffer(np.ascontiguousarray(made), np.uint8)
        if found.size != self.layout.size:
            raise CodecError(f"expected {self.layout.size:,} bytes, found {found.size:,}")
        return found
