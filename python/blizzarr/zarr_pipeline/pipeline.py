"""`ZarrPipeline`, which zarr-python calls."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from math import prod
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt
import zarr
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, CodecPipeline
from zarr.core.array import create_codec_pipeline
from zarr.registry import register_pipeline
from zarr.storage import StorePath

from blizzarr.errors import BlizzarrError, StoreError
from blizzarr.indexing.selection import Lowered
from blizzarr.transfer import Binding, read
from blizzarr.zarr_pipeline.bound import Bound, NotTakenError, bound, root_of
from blizzarr.zarr_pipeline.buffer import is_numpy
from blizzarr.zarr_pipeline.gathered import Gathered
from blizzarr.zarr_pipeline.selection import Piece, chunks_of, whole
from blizzarr.zarr_pipeline.threads import Pace, begin, in_thread, outcome

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.store import Store
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import NDBuffer
    from zarr.core.metadata import ArrayMetadata

_LOG = logging.getLogger("blizzarr.zarr_pipeline")
_PRESENT = {"status": "present"}
_FEW, _SMALL = 8, 1 << 18
"""The most chunks and bytes of an operation that may be done at once: in the thread of zarr-python's event loop."""


def _of_usual(name: str) -> Any:
    """Return an attribute that is that of zarr-python's own pipeline."""
    return property(lambda pipeline: getattr(pipeline._usual, name), doc=getattr(CodecPipeline, name).__doc__)


class ZarrPipeline(CodecPipeline):
    """A codec pipeline for zarr-python that reads and writes with blizzarr's engine.

    It is made by zarr-python for each array, once it is named in zarr-python's settings::

        zarr.config.set({"codec_pipeline.path": "blizzarr.ZarrPipeline"})

    ``import blizzarr.for_zarr`` does that. What the engine does not take (stores, codecs, data types and selections
    that it does not know) is left to zarr-python's default pipeline; why, is written once for each array to the log
    ``blizzarr.zarr_pipeline``, on the level of debugging.
    """

    def __init__(self, metadata: Any) -> None:
        self._metadata = metadata
        self._bound: Bound | None = None
        self._refused: tuple[Any, str] = None, ""
        """The store in which the engine does not take the array, and why."""
        self._reads, self._writes = Pace(), Pace()
        self._gathered = Gathered(self._writes.timed)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """Return zarr-python's default pipeline: without an array, there is nothing for the engine to do."""
        return cast("Self", _default().from_codecs(codecs))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        """Return a pipeline for one array."""
        made = cls(array_metadata)
        codecs = getattr(array_metadata, "codecs", ())
        kinds = [isinstance(codec, ArrayBytesCodec) + 2 * isinstance(codec, BytesBytesCodec) for codec in codecs]
        if kinds != sorted(kinds) or (len(kinds) > 1 and any(hasattr(codec, "index_codecs") for codec in codecs)):
            # Before the array is created, zarr-python refuses codecs in this order, or warns of those beside shards.
            _ = made._usual
        return made

    @cached_property
    def _usual(self) -> CodecPipeline:
        """The pipeline that zarr-python has by default; to make it takes a third as long as to read an element."""
        return create_codec_pipeline(self._metadata)

    async def read(self, batch_info: Iterable[Any], out: NDBuffer, drop_axes: tuple[int, ...] = ()) -> Any:
        """Read the selection that these pieces make up into `out`.

        Raise `ChunkError` if a chunk is damaged, `StoreError` if the store fails.
        """
        pieces: list[Piece] = list(batch_info)
        try:
            await self._read(pieces, out, drop_axes)
            return (_PRESENT,) * len(pieces)
        except NotTakenError as error:
            self._tell(pieces, error)
        return await self._usual.read(pieces, out, drop_axes)

    async def write(self, batch_info: Iterable[Any], value: NDBuffer, drop_axes: tuple[int, ...] = ()) -> None:
        """Write `value` to the selection that these pieces make up.

        Parts of a chunk or shard are merged into what is stored under the locks of that chunk. Raise `ChunkError` if a
        chunk of which a part is written is damaged, `StoreError` if the store fails.
        """
        pieces: list[Piece] = list(batch_info)
        try:
            await self._write(pieces, value, drop_axes)
            return
        except NotTakenError as error:
            self._tell(pieces, error)
        await self._usual.write(pieces, value, drop_axes)

    async def _read(self, pieces: Sequence[Piece], out: NDBuffer, drop_axes: tuple[int, ...]) -> None:
        array, lowered, elements = self._lowered(pieces, out, drop_axes)
        if elements.shape != lowered[0]:
            raise NotTakenError("the selection has another shape than what it is read into")
        # Whoever wants an error for a missing chunk is told by zarr-python which chunks are.
        if not getattr(pieces[0][1].config, "read_missing_chunks", True):
            raise NotTakenError("missing chunks are to be an error")
        is_small = array.reads_quickly and elements.nbytes <= _SMALL and len(pieces) <= _FEW
        if not array.dtype.isnative:
            await in_thread(_read_converted, array.binding, lowered, elements)
        elif is_small and (array.inner is None or chunks_of(*lowered[:2], array.inner) <= _FEW):
            await self._reads.run(read, array.binding, lowered, elements)
        else:
            await in_thread(read, array.binding, lowered, elements)

    async def _write(self, pieces: Sequence[Piece], value: NDBuffer, drop_axes: tuple[int, ...]) -> None:
        array, (shape, axes, _), elements = self._lowered(pieces, value, drop_axes, writes=True)
        if array.store.read_only:
            raise NotTakenError("the store is read-only")
        if elements.shape not in (shape, ()):
            raise NotTakenError("the selection has another shape than what is written to it")
        if not array.dtype.isnative:
            elements = elements.astype(array.binding.dtype)
        handle: Any = array.binding.handle
        # Broadcasting takes ten times as long, which small writes would notice.
        is_all = elements.size == prod(shape)
        source = elements.reshape(shape) if is_all else np.broadcast_to(elements, shape)
        given: Any = source, axes, pieces[0][1].config.write_empty_chunks
        is_small = array.writes_quickly and elements.nbytes <= _SMALL and len(pieces) <= _FEW
        try:
            if not is_small:
                await outcome(begin(partial(handle.write, *given)))
                return
            gathered = partial(self._gathered.write, handle)
            if not await self._writes.run_or(gathered, handle.write_unless_locked, *given):
                await gathered(*given)
        except StoreError as error:
            if error.errno != errno.ENOENT or error.key != array.document:
                raise
            # Consolidated metadata may list an array that has no document of its own, which writers could lock.
            raise NotTakenError("there is no document to lock") from error
        except TypeError as error:
            if not array.dtype.hasobject:
                raise
            raise NotTakenError(f"an element is none of its data type: {error}") from error

    def _lowered(
        self, pieces: Sequence[Piece], buffer: Any, drop_axes: tuple[int, ...], *, writes: bool = False
    ) -> tuple[Bound, Lowered, npt.NDArray[Any]]:
        """Return the array, the selection and the memory.

        Raise `NotTakenError` if zarr-python's own pipeline is to take them.
        """
        if not pieces:
            raise NotTakenError("nothing is selected")
        store_path, spec = pieces[0][:2]
        if type(store_path) is not StorePath:
            raise NotTakenError(f"its chunks are in a {type(store_path).__qualname__}, not in a store")
        if not is_numpy(buffer, spec.prototype):
            raise NotTakenError(f"elements are wanted in a {type(buffer).__qualname__} that is not NumPy's memory")
        array = self._bound
        store = store_path.store
        if array is None or array.store is not store or array.root != root_of(store):
            array = self._bind(store_path, spec)
        elements = buffer.as_ndarray_like()
        if writes and not array.dtype.hasobject and getattr(elements, "dtype", None) == array.dtype.newbyteorder():
            elements = elements.astype(array.dtype)  # zarr-python converts data types of another name only
        if not isinstance(elements, np.ndarray) or elements.dtype != array.dtype:
            raise NotTakenError(f"elements of {array.dtype} are wanted as {getattr(elements, 'dtype', elements)}")
        for piece in pieces if array.chunk is None else pieces[:1]:
            if not array.knows(piece):
                raise NotTakenError(f"a chunk of shape {piece[1].shape} at {piece[0].path} is none of its grid")
        selected = whole(pieces, array.edges, lambda piece: array.place_of(piece[0].path), drop_axes)
        if selected is None:
            raise NotTakenError("the pieces of a selection do not make up one in a known form")
        return array, (*selected, False), elements

    def _bind(self, store_path: Any, spec: Any) -> Bound:
        refused, why = self._refused
        if refused is not None and refused is store_path.store:
            raise NotTakenError(why)
        try:
            self._bound = made = bound(store_path, self._metadata, spec)
        except (NotTakenError, BlizzarrError) as error:
            self._refused, self._bound = (store_path.store, str(error)), None
            raise NotTakenError(str(error)) from error
        return made

    def _tell(self, pieces: Sequence[Piece], error: NotTakenError) -> None:
        """Write to the log why zarr-python's own pipeline takes something, once for each array and reason."""
        if pieces and _LOG.isEnabledFor(logging.DEBUG):
            key = self._metadata.encode_chunk_key((0,) * len(self._metadata.shape))
            _log_once(str(pieces[0][0]).rsplit("/", key.count("/") + 1)[0], str(error))

    # What zarr-python asks of any pipeline.

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_metadata", "_usual"):
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
        return ZarrPipeline, (self._metadata,)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the pipeline itself, whose codecs have been resolved for its array."""
        return self

    supports_partial_decode = _of_usual("supports_partial_decode")
    supports_partial_encode = _of_usual("supports_partial_encode")
    validate, compute_encoded_size, decode, encode = map(
        _of_usual, ("validate", "compute_encoded_size", "decode", "encode")
    )


@lru_cache(1024)
def _log_once(array: str, why: str) -> None:
    _LOG.debug("zarr-python's own pipeline takes %s: %s", array, why)


def _read_converted(binding: Binding, lowered: Lowered, out: npt.NDArray[Any]) -> None:
    out[...] = read(binding, lowered)


def _default() -> Any:
    from zarr.core import codec_pipeline

    path = zarr.config.defaults[0]["codec_pipeline"]["path"]
    return getattr(codec_pipeline, path.rpartition(".")[2])


# zarr-python finds pipelines by the names of their modules and classes.
ZarrPipeline.__module__ = "blizzarr"
register_pipeline(ZarrPipeline)
