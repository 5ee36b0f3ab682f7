"""Reads that are done later than they were asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from blizzarr.indexing.selection import Axes
from blizzarr.transfer import Binding

__all__ = ["asked"]


class _AskedHandle:
    """A handle of the engine for a read that was asked for at a given moment of the array's pool."""

    __slots__ = ("handle", "moment")

    def __init__(self, handle: Any, moment: int) -> None:
        self.handle = handle
        self.moment = moment

    def read(self, out: Any, axes: Axes, /) -> Any:
        """Read the selection of `axes` into the buffer, as it was stored at that moment or later."""
        return self.handle.read(out, axes, 0, self.moment)

    def __getattr__(self, name: str) -> Any:
        # Every other method is that of the handle.
        return getattr(self.handle, name)


def asked(binding: Binding, moment: int | None) -> Binding:
    """Return the binding of an array with a pool for a read that was asked for at `moment`; None means now.

    Examples
    --------
    >>> import blizzarr
    >>> import numpy as np
    >>> pool = blizzarr.CachePool(1 << 20)
    >>> z = blizzarr.create_array({}, data=[1, 2, 3]).cached(pool)
    >>> out = np.empty((), z.dtype)
    >>> asked(z._bind(), pool.native.now()).handle.read(out, (2,))
    >>> out
    array(3)
    """
    return binding if moment is None else replace(binding, handle=_AskedHandle(binding.handle, moment))
