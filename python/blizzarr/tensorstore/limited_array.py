"""Arrays that are read and written with no more threads than a context allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.indexing.selection import Axes
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.transfer import Binding


class _LimitedHandle:
    """A handle of the engine that passes a limit on the number of threads."""

    __slots__ = ("handle", "threads")

    def __init__(self, handle: Any, threads: int) -> None:
        self.handle = handle
        self.threads = threads

    def read(self, out: Any, axes: Axes, threads: int = 0, asked: int | None = None, /) -> Any:
        """Read the selection of `axes` into the buffer."""
        return self.handle.read(out, axes, self.threads, asked)

    def write(self, source: Any, axes: Axes, write_empty: bool = False, /) -> None:
        """Write the buffer to the selection of `axes`."""
        self.handle.write(source, axes, write_empty, self.threads)

    def resized(self, shape: tuple[int, ...], /) -> _LimitedHandle:
        """Return the handle for the same chunks under another shape."""
        return _LimitedHandle(self.handle.resized(shape), self.threads)

    def beyond(self) -> _LimitedHandle:
        """Return the handle for elements that may lie beyond the stored shape."""
        return _LimitedHandle(self.handle.beyond(), self.threads)

    def __getattr__(self, name: str) -> Any:
        # All else is the same, and not done by threads.
        return getattr(self.handle, name)


class LimitedArray(Array):
    """An array that uses so many threads at most.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[1, 2, 3])
    >>> LimitedArray.of(z.store, z.path, z.metadata, 1)[1:]
    array([2, 3])
    """

    __slots__ = ("_threads",)

    _threads: int

    @classmethod
    def of(cls, store: Store, path: str, metadata: ArrayMeta, threads: int) -> Self:
        """Return the array at a path."""
        array = cls(store, path, metadata)
        array._threads = threads
        return array

    def _in(self, store: Store) -> Self:
        return self.of(store, self._path, self._metadata, self._threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return LimitedArray.of, (self._store, self._path, self._metadata, self._threads)

    def _bind(self) -> Binding:
        binding = self.limited(super()._bind())
        if self._binding is not None:
            self._binding = binding
        return binding

    def limited(self, binding: Binding) -> Binding:
        """Return the binding with the limit on its threads."""
        # Objects are made by the calling thread anyway.
        if not isinstance(binding.handle, _native.ArrayHandle):
            return binding
        return replace(binding, handle=_LimitedHandle(binding.handle, self._threads))
