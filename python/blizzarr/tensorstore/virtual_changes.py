"""The changes that a transaction has gathered for a store of virtual chunks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from blizzarr.tensorstore.driver import Elements
from blizzarr.tensorstore.parts import Box
from blizzarr.transactions import Outcome

if TYPE_CHECKING:
    from blizzarr.tensorstore.virtual_driver import VirtualDriver

__all__ = ["VirtualChanges", "shown_chunk"]


class VirtualChanges:
    """The elements that are to be written, by chunks, and which they are."""

    at_once = False

    def __init__(self, driver: VirtualDriver) -> None:
        self._driver = driver
        self._lock = threading.Lock()
        self._chunks: dict[Box, tuple[Elements, npt.NDArray[np.bool_]]] = {}

    def of(self, box: Box) -> tuple[Elements, npt.NDArray[np.bool_]] | None:
        """Return what is to be written to a chunk, or None."""
        return self._chunks.get(box)

    def changed(self, box: Box) -> tuple[Elements, npt.NDArray[np.bool_]]:
        """Return the buffer and mask of what is to be written to a chunk, to be added to."""
        with self._lock:
            if box not in self._chunks:
                chunk = self._driver._room(box)
                self._chunks[box] = chunk, np.zeros(chunk.shape, bool)
            return self._chunks[box]

    def prepare(self) -> None:
        """Do nothing: there are no conditions to check."""

    def commit(self, outcome: Outcome) -> None:
        """Write every chunk; elements that were not written are read first."""
        for box, error in self._driver._hand_over(list(self._chunks.items())):
            if error is None:
                outcome.stored.append(shown_chunk(box))
            else:
                outcome.fail([shown_chunk(box)], error)

    def shown(self) -> list[str]:
        """Return the chunks, as errors show them."""
        return [shown_chunk(box) for box in self._chunks]

    def abort(self) -> None:
        """Forget everything."""
        self._chunks = {}


def shown_chunk(box: Box) -> str:
    """Format a chunk for an error message.

    Examples
    --------
    >>> shown_chunk(((0, 2), (3, 6)))
    'virtual chunk {origin={0, 3}, shape={2, 3}}'
    """
    origin, shape = ", ".join(str(low) for low, _ in box), ", ".join(str(high - low) for low, high in box)
    return f"virtual chunk {{origin={{{origin}}}, shape={{{shape}}}}}"
