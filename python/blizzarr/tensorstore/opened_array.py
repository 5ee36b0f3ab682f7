"""Arrays as specs open them: bound to the engine with the limits of a context, and by elements or by their bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.array.binding import bind
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store, StoreWrapper
from blizzarr.transfer import Binding


class Unlocked(StoreWrapper):
    """A store without locks on documents, which may be missing: only threads of this process exclude each other."""

    has_documents = False

    @property
    def locks(self) -> None:
        """None: documents are not locked."""
        return


class OpenedArray(Array):
    """An array that a spec has opened.

    The array uses at most `threads` threads for one request; None sets no limit. It is compared with its stored
    document unless `watched` is False.

    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[1, 2, 3])
    >>> OpenedArray.of(z.store, z.path, z.metadata, 1)[1:]
    array([2, 3])
    """

    threads: int | None = None
    watched: bool = True
    _by_bytes: tuple[ArrayMeta, Binding] | None = None

    @classmethod
    def of(cls, store: Store, path: str, metadata: ArrayMeta, threads: int | None = None, watched: bool = True) -> Self:
        """Return the array at a path."""
        array = cls(store, path, metadata)
        array.threads = threads
        array.watched = watched
        return array

    @property
    def binding(self) -> Binding:
        """The array as the engine knows it."""
        return self._binding or self._bind()

    @property
    def binding_by_bytes(self) -> Binding:
        """The array as the engine knows it, with the bytes of its elements as a last axis."""
        metadata, bound = self._metadata, self._by_bytes
        if bound is None or bound[0] is not metadata:
            binding = bind(self._store, self._path, metadata, by_bytes=True, watch=self.watched)
            bound = self._by_bytes = metadata, self._limited(binding)
        return bound[1]

    def adopt(self, metadata: ArrayMeta) -> None:
        """Take over metadata that was just read or stored."""
        self._adopt(metadata)

    def in_store(self, store: Store) -> Self:
        """Return the same array, reached through another store."""
        return self.of(store, self._path, self._metadata, self.threads, self.watched)

    _in = in_store

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenedArray.of, (self._store, self._path, self._metadata, self.threads, self.watched)

    def _bind(self) -> Binding:
        metadata = self._metadata
        binding = self._binding = self._limited(bind(self._store, self._path, metadata, watch=self.watched))
        if self._metadata is not metadata:
            # Another thread has taken over other metadata, with which the array is bound again.
            self._binding = None
        return binding

    def _limited(self, binding: Binding) -> Binding:
        # Objects are made by the calling thread anyway.
        if self.threads is None or not isinstance(binding.handle, _native.ArrayHandle):
            return binding
        return replace(binding, handle=binding.handle.with_options(self.threads))
