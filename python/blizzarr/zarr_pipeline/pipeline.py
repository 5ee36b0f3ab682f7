"""`ZarrPipeline`, which zarr-python calls."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt
import zarr
from zarr.abc.codec import CodecPipeline
from zarr.core.array import create_codec_pipeline
from zarr.core.buffer import cpu
from zarr.registry import register_pipeline
from zarr.storage import StorePath

from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.indexing.basic import Lowered
from blizzarr.transfer import Binding, read
from blizzarr.zarr_pipeline.bound import Bound, NotTakenError, bound, root_of
from blizzarr.zarr_pipeline.selection import Piece, whole

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.store import Store
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer
    from zarr.core.metadata import ArrayMetadata

__all__ = ["ZarrPipeline"]

_LOG = logging.getLogger("blizzarr.zarr_pipeline")
_PRESENT = {"status": "present"}
_FEW, _SMALL = 4, 1 << 16
"""The most chunks, and bytes of a result, that may be read at once: in the thread of zarr-python's event loop."""
_QUICK = 2e-4
"""Up to how many seconds that may take: handing it to another thread takes about half as long."""
_LATELY = 8
"""About how many reads in a row must be slow to be believed: a busy machine makes single ones slow."""


class ZarrPipeline(CodecPipeline):
    """A codec pipeline for zarr-python that reads and writes with blizzarr's engine.

    It is made by zarr-python for each array, once it is named in zarr-python's settings::

        zarr.config.set({"codec_pipeline.path": "blizzarr.ZarrPipeline"})

    ``import blizzarr.for_zarr`` does that. What the engine does not take (stores, codecs, data types and selections
    that it does not know) is left to zarr-python's default pipeline; why, is written once for each array to the log
    ``blizzarr.zarr_pipeline``, on the level of debugging.
    """

    def __init__(self, metadata: Any, usual: CodecPipeline) -> None:
        self._metadata = metadata
        self._usual = usual
        self._bound: Bound | None = None
        self._refused: Any = None
        """The store in which the engine does not take the array."""
        self._seconds = 0.0
        """About how long it takes to read a few elements."""

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """Return zarr-python's default pipeline: without an array, there is nothing for the engine to do."""
        return cast("Self", _default().from_codecs(codecs))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        """Return a pipeline for one array."""
        usual = create_codec_pipeline(array_metadata)
        return cls(array_metadata, usual)

    async def read(self, batch_info: Iterable[Any], out: NDBuffer, drop_axes: tuple[int, ...] = ()) -> Any:
        """Read the selection that these pieces make up into `out`.

        Raises
        ------
        ChunkError
            If a chunk is damaged.
        StoreError
            If the store fails.
        """
        pieces: list[Piece] = list(batch_info)
        found = self._lowered(pieces, out, drop_axes)
        # Whoever wants an error for a missing chunk is told by zarr-python which chunks are.
        if found is None or not getattr(pieces[0][1].config, "read_missing_chunks", True):
            return await self._usual.read(pieces, out, drop_axes)
        array, lowered, elements = found
        if elements.shape != lowered[0]:
            return await self._usual.read(pieces, out, drop_axes)
        if not (array.is_quick and len(pieces) <= _FEW and elements.nbytes <= _SMALL):
            await asyncio.to_thread(read, array.binding, lowered, elements)
        elif self._seconds > _QUICK:
            await asyncio.to_thread(self._read, array.binding, lowered, elements)
        else:
            # Whatever else is waiting in the event loop gets its turn first.
            await asyncio.sleep(0)
            self._read(array.binding, lowered, elements)
        return (_PRESENT,) * len(pieces)

    async def write(self, batch_info: Iterable[Any], value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        """Write `value` to the selection that these pieces make up.

        Parts of a chunk or shard are merged into what is stored under the locks of that chunk.

        Raises
        ------
        ChunkError
            If a chunk of which a part is written is damaged.
        StoreError
            If the store fails.
        """
        pieces: list[Piece] = list(batch_info)
        found = self._lowered(pieces, value, drop_axes)
        if found is None or found[0].store.read_only:
            await self._usual.write(pieces, value, drop_axes)
            return
        array, (shape, axes, _), elements = found
        if elements.shape not in (shape, ()):
            await self._usual.write(pieces, value, drop_axes)
            return
        elements = np.broadcast_to(elements, shape)
        write_empty = pieces[0][1].config.write_empty_chunks
        try:
            await asyncio.to_thread(array.binding.handle.write, elements, axes, write_empty)
        except StoreError as error:
            if error.errno != errno.ENOENT or error.key != array.document:
                raise
            # Consolidated metadata may list an array that has no document of its own, which writers could lock.
            _LOG.debug("zarr-python's own pipeline writes to %s, as there is nothing to lock", pieces[0][0])
            await self._usual.write(pieces, value, drop_axes)

    def _read(self, binding: Binding, lowered: Lowered, out: npt.NDArray[Any]) -> None:
        """Read a few elements, and learn how long that takes."""
        start = perf_counter()
        try:
            read(binding, lowered, out)
        finally:
            taken = perf_counter() - start
            self._seconds = min(taken, self._seconds + (taken - self._seconds) / _LATELY)

    def _lowered(
        self, pieces: Sequence[Piece], buffer: Any, drop_axes: tuple[int, ...]
    ) -> tuple[Bound, Lowered, npt.NDArray[Any]] | None:
        """Return the array, the selection and the memory; None if zarr-python's own pipeline is to take them."""
        if not pieces:
            return None
        place, spec = pieces[0][:2]
        if type(place) is not StorePath or type(buffer) is not cpu.NDBuffer or spec.prototype != cpu.buffer_prototype:
            return None
        array = self._bound
        store = place.store
        if array is None or array.store is not store or array.root is not root_of(store):
            array = self._bind(place, spec)
        elements = buffer.as_ndarray_like()
        if array is None or spec.shape != array.chunk or not isinstance(elements, np.ndarray):
            return None
        if elements.dtype != array.binding.dtype:
            return None
        found = whole(pieces, array.chunk, lambda piece: array.place_of(piece[0].path), drop_axes)
        if found is None:
            _LOG.debug("zarr-python's own pipeline takes a selection of %s", place)
            return None
        return array, (*found, False), elements

    def _bind(self, place: Any, spec: Any) -> Bound | None:
        if self._refused is not None and self._refused is place.store:
            return None
        try:
            self._bound = bound(place, self._metadata, spec)
        except (NotTakenError, BlizzarrError) as error:
            self._refused, self._bound = place.store, None
            _LOG.debug("zarr-python's own pipeline takes the array of %s: %s", place, error)
        return self._bound

    # What zarr-python asks of any pipeline.

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_usual":
            raise AttributeError(name)
        return getattr(self._usual, name)

    def __iter__(self) -> Iterator[Codec]:
        return iter(cast("Any", self._usual))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrPipeline) and self._usual == other._usual

    def __hash__(self) -> int:
        return hash(self._usual)

    def __repr__(self) -> str:
        return f"ZarrPipeline({self._usual!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ZarrPipeline, (self._metadata, self._usual)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the pipeline itself, whose codecs have been resolved for its array."""
        return self

    @property
    def supports_partial_decode(self) -> bool:
        """Whether parts of a chunk can be read by zarr-python's own pipeline."""
        return self._usual.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Whether parts of a chunk can be written by zarr-python's own pipeline."""
        return self._usual.supports_partial_encode

    def validate(self, **given: Any) -> None:
        """Check that the codecs fit the array."""
        self._usual.validate(**given)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """Return the encoded size of so many bytes."""
        return self._usual.compute_encoded_size(byte_length, array_spec)

    async def decode(self, chunk_bytes_and_specs: Iterable[Any]) -> Iterable[NDBuffer | None]:
        """Decode chunks that are in memory already."""
        return await self._usual.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Iterable[Any]) -> Iterable[Buffer | None]:
        """Encode chunks without storing them."""
        return await self._usual.encode(chunk_arrays_and_specs)


def _default() -> Any:
    """Return the class of the pipeline that zarr-python has by default."""
    from zarr.core import codec_pipeline

    path = zarr.config.defaults[0]["codec_pipeline"]["path"]
    return getattr(codec_pipeline, path.rpartition(".")[2])


# zarr-python finds pipelines by the names of their modules and classes.
ZarrPipeline.__module__ = "blizzarr"
register_pipeline(ZarrPipeline)
