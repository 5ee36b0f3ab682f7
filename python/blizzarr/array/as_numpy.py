"""Arrays where Python or NumPy expects a number, a sequence, or an array in memory."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blizzarr.array.facts import ArrayFacts, binding_of
from blizzarr.array.selector import lowered
from blizzarr.config import config
from blizzarr.dtypes import Kind
from blizzarr.indexing import numpy_style

_ITERATED_BYTES = 1 << 20
"""The bytes that are read ahead, at least a row of chunks, when an array is iterated over."""


class AsNumpy(ArrayFacts):
    """Conversions and iteration, as of NumPy's arrays; they read elements by `__getitem__` of the subclass."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Any: ...

        def get_basic_selection(self, selection: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any: ...

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("expected copy=None or copy=True, found copy=False: reading makes a copy")
        if dtype is not None and np.dtype(dtype).kind == "T" and self._metadata.dtype.name == "string":
            # Without a Python object for each text.
            return np.asarray(self.get_basic_selection(out=np.empty(self._shape, dtype)))
        values: npt.NDArray[Any] = self[...]
        return values if dtype is None else values.astype(dtype, copy=False)

    def to_arrow(self, key: Any = ...) -> Any:
        """Read the elements that `key` selects as an array of pyarrow.

        Numbers are not copied. Texts are of the type ``large_string``, byte strings of ``large_binary``, ragged arrays
        of ``large_list``; they are copied once, out of the decoded chunks. Missing elements (of the data type
        ``zarrs.optional``) are null. Axes after the first are lists of a fixed size.

        Whatever takes arrays by Arrow's interface for C takes an array itself: ``pyarrow.array(array)``,
        ``polars.Series(array)``.

        Parameters
        ----------
        key
            The selection, as in brackets; by default everything.

        Raises
        ------
        UnsupportedOperationError
            If pyarrow is not installed: ``pip install 'blizzarr[arrow]'``.
        TypeError
            If Arrow has no such data type, like complex numbers, or times in steps of ten seconds.
        OverflowError
            If days lie beyond those that Arrow can count, five million years from now.
        ValueError
            If a single element is selected.

        Examples
        --------
        >>> import blizzarr
        >>> array = blizzarr.create_array({}, data=[[1, 2], [3, 4]])
        >>> array.to_arrow()[1].as_py()  # doctest: +SKIP
        [3, 4]
        """
        # Imported late, as few programs use it.
        from blizzarr.array.as_arrow import as_arrow, read_objects

        dtype = self._metadata.dtype
        if dtype.kind is Kind.OBJECT:
            return read_objects(binding_of(self), lowered(self, numpy_style, key), dtype)
        return as_arrow(self[key], dtype)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return everything as Arrow's interface for C has it, for `pyarrow.array` and others; see `to_arrow`."""
        exported: tuple[object, object] = self.to_arrow().__arrow_c_array__(requested_schema)
        return exported

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return everything as Arrow's interface for streams has it, for `polars.Series` and others; see `to_arrow`."""
        whole = self.to_arrow()
        return import_module("pyarrow").chunked_array([whole]).__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("expected an array with an axis to iterate over, found one without any; use array[()]")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        """Iterate along the first axis; whole chunks are read at a time, and each of them once."""
        row = prod(self._shape[1:]) * self.itemsize
        rows = self._metadata.read_grid.inside(self._shape)[0]
        step = rows * max(1, _ITERATED_BYTES // max(1, row * rows))
        if step * row > config.copy_bytes:
            # A row of chunks of a wide array may be larger than the memory.
            step = max(1, config.copy_bytes // row)
        for start in range(0, self._shape[0], step):
            yield from self[start : start + step]
