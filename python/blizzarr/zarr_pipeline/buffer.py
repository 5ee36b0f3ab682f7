"""Memory for what zarr-python reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from zarr.core.buffer import cpu
from zarr.registry import register_ndbuffer

from blizzarr.transfer import empty_result

if TYPE_CHECKING:
    import numpy.typing as npt


class NDBuffer(cpu.NDBuffer):
    """zarr-python's buffer of NumPy's memory; large results use the memory of former results again.

    The operating system clears fresh memory page by page, which takes about as long as reading into it.

    ``import blizzarr.for_zarr`` names this class in zarr-python's settings::

        zarr.config.set({"ndbuffer": "blizzarr.zarr_pipeline.NDBuffer"})
    """

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> Self:
        """Return a buffer whose elements are not set."""
        dtype = np.dtype(dtype)
        elements: Any = empty_result(shape, dtype, order)
        # NumPy forgets the unit and the byte order of a generic date; a view, which owns no memory, has them.
        return cls(elements if elements.dtype == dtype else elements.view(dtype))


register_ndbuffer(NDBuffer, qualname="blizzarr.zarr_pipeline.NDBuffer")


def is_numpy(buffer: Any, prototype: Any) -> bool:
    """Return whether a buffer, and those of a prototype, are NumPy's memory."""
    ours = (cpu.NDBuffer, NDBuffer)
    return type(buffer) in ours and prototype.buffer is cpu.Buffer and prototype.nd_buffer in ours
