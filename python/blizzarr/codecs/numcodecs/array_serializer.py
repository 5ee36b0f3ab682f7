"""The base class of numcodecs' codecs from arrays to bytes, which compress numbers of certain types."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.array_filter import memory_type
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.problems import Problems

_BYTES_PER_BYTE = 4
_OVERHEAD = 65536


class ArraySerializer(NumcodecsCodec):
    """The base class of serializers of numcodecs, which run in the step of the filters (`FilterRun`).

    Each needs another package; without it, arrays with the codec cannot be opened.
    """

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.SERIALIZER
    package: ClassVar[str]
    """The package that does the work."""
    requirement: ClassVar[str]
    """The requirement that installs the package in a version that numcodecs takes."""
    types: ClassVar[tuple[str, ...]]
    """The supported types of elements, as NumPy spells them."""

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super().from_json(configuration, path, problems, chunk)
        if find_spec(cls.package) is None:
            supplier = f"it needs a package that is not installed: pip install '{cls.requirement}'"
            problems.unknown(path, "codec", cls.name, supplier)
            return None
        return codec

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or memory_type(chunk.dtype).str in self.types:
            return True
        named = ", ".join(np.dtype(dtype).name for dtype in self.types)
        problems.add(path, f"a codec for such elements; this one is for {named}", str(chunk.dtype))
        return False

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def max_encoded_size(self, size: int) -> int:
        """Return the largest encoded size of `size` bytes of elements; generous, as other writers may do worse."""
        return size * _BYTES_PER_BYTE + _OVERHEAD

    def encode_array(self, array: npt.NDArray[Any], chunk: Chunk) -> Any:
        """Return the encoded elements of a chunk, which are given with a single axis."""
        assert chunk.shape is not None
        return library.make(self.config()).encode(array.reshape(chunk.shape))

    def decode_array(self, encoded: bytes, dtype: np.dtype[Any], chunk: Chunk) -> npt.NDArray[Any]:
        """Return the elements of a chunk, and never more than it has."""
        raise NotImplementedError

    def step(self, chunk: Chunk) -> Step:
        raise AssertionError("serializers of numcodecs run within the step for all filters")
