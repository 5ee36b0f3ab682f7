"""The steps of a chain whose elements go through filters: from memory, in C order, to the bytes of the serializer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

import numpy as np

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Step
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.filter_run import FilterRun
from blizzarr.codecs.numcodecs.serializers import ArraySerializer
from blizzarr.codecs.transpose import TransposeCodec

_NATIVE: Final = BytesCodec(sys.byteorder)
_TOKEN: Final = np.dtype("u8")


def filtered_steps(filters: Sequence[tuple[Codec, Chunk]], serializer: Codec, last: Chunk) -> list[Step]:
    """Return the steps of filters, each with its input, and of the serializer, whose input is `last`.

    Those of numcodecs that follow each other and run in NumPy are one step, with the serializer if it comes next.
    """
    steps: list[Step] = [("bytes", 0)]
    groups = [(kind, list(group)) for kind, group in groupby(filters, _runs_in_numpy)]
    joins = isinstance(serializer, BytesCodec | ArraySerializer)
    for position, (in_numpy, group) in enumerate(groups):
        if in_numpy:
            run = [codec for codec, _ in group if isinstance(codec, ArrayFilter)]
            if joins and position == len(groups) - 1:
                return [*steps, ("python", FilterRun(run, serializer, group[0][1]))]
            steps.append(("python", FilterRun(run, _NATIVE, group[0][1])))
            continue
        for codec, chunk in group:
            if isinstance(codec, TransposeCodec):
                steps.append(_turned(codec, chunk))
            elif isinstance(codec, ArrayFilter):
                step = codec.engine_step(chunk)
                assert step is not None, "it does not run in NumPy"
                steps.append(step)
            else:
                steps += codec.steps(chunk)
    if isinstance(serializer, ArraySerializer):
        return [*steps, ("python", FilterRun([], serializer, last))]
    for step in serializer.steps(last):
        if step[0] == "transpose":
            steps.append(_turned(TransposeCodec(step[1]), last))
        elif step[0] != "bytes":
            steps.append(step)
        elif isinstance(step[1], tuple):
            steps.append(("python", FilterRun([], BytesCodec(getattr(serializer, "endian", None)), last)))
        elif step[1]:
            steps.append(("swap", step[1]))
    return steps


def _runs_in_numpy(item: tuple[Codec, Chunk]) -> bool:
    codec, chunk = item
    return isinstance(codec, ArrayFilter) and codec.engine_step(chunk) is None


def _turned(codec: TransposeCodec, chunk: Chunk) -> Step:
    assert chunk.dtype is not None
    assert chunk.shape is not None
    # To the engine, objects are tokens.
    dtype = _TOKEN if chunk.dtype.numpy.hasobject else chunk.dtype.numpy
    return ("python", _Transposition(chunk.shape, codec.order, dtype))


@dataclass(frozen=True, slots=True)
class _Transposition:
    """A transposition behind a filter that gave chunks another shape, which the engine does not know."""

    shape: tuple[int, ...]
    order: tuple[int, ...]
    dtype: np.dtype[Any]
    name: Literal["transpose"] = "transpose"
    fixed_size: Literal[True] = True

    def encoded_size(self, decoded: int) -> int:
        return decoded

    def encode(self, decoded: bytes) -> Any:
        return np.frombuffer(decoded, self.dtype).reshape(self.shape).transpose(self.order).ravel().view(np.uint8)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        turned = np.frombuffer(encoded, self.dtype).reshape([self.shape[axis] for axis in self.order])
        return turned.transpose(np.argsort(self.order)).ravel().view(np.uint8)
