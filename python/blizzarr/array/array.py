"""Arrays in a store, as easy as NumPy's in memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from blizzarr import indexing
from blizzarr.array.binding import bind, same_chunks
from blizzarr.array.facts import ArrayFacts
from blizzarr.array.lazy import LazyArray
from blizzarr.array.masked import is_large_mask, read_mask, write_mask
from blizzarr.array.reshape import append, as_array_meta, resize
from blizzarr.array.selector import Selector
from blizzarr.array.token import token_of
from blizzarr.caching import CachedStore, CachePool, Recheck
from blizzarr.config import config
from blizzarr.errors import SelectionError
from blizzarr.formats import read_node
from blizzarr.indexing import Lowered, Selection, lower_basic
from blizzarr.model import ArrayMeta
from blizzarr.stores import check_writable
from blizzarr.transfer import Binding, read, write

if TYPE_CHECKING:
    from blizzarr.attributes import Attributes
    from blizzarr.stores import Store

__all__ = ["Array"]

_ITERATED_BYTES = 1 << 20
"""How much is read ahead, at least a row of chunks, when an array is iterated over."""


class Array(ArrayFacts):
    """An array in a store, divided into chunks; index it like a NumPy array.

    Created by `create_array` and `open_array`. ``array[key]`` reads and ``array[key] = value`` writes, with everything
    that NumPy allows as a key: integers, slices with any step, `...`, `newaxis`, masks and arrays of indices. Nothing
    is kept in memory, unless the array is given a pool (`cached`): each read returns what is stored at that moment.

    Parameters
    ----------
    store, path
        Where it is.
    metadata
        The content of its metadata document.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="int16")
    >>> z[...] = np.arange(24).reshape(4, 6)
    >>> z[1, ::-2]
    array([11,  9,  7], dtype=int16)
    >>> z[z[:, 0] > 6]
    array([[12, 13, 14, 15, 16, 17],
           [18, 19, 20, 21, 22, 23]], dtype=int16)
    """

    __slots__ = ()

    # Reading and writing

    def __getitem__(self, key: Any) -> Any:
        binding = self._binding
        if binding is not None and binding.element is not None and (found := binding.element(key)) is not None:
            return found
        lowered = lower_basic(key, self._shape)
        if lowered is None:
            if is_large_mask(key, self._shape):
                return read_mask(self._binding or self._bind(), key, self._metadata.write_shape)
            return self._get(indexing.numpy_style, key)
        binding = self._binding
        return read(self._bind() if binding is None else binding, lowered)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        lowered = lower_basic(key, self._shape)
        if lowered is None:
            if is_large_mask(key, self._shape):
                check_writable(self._store, self._path)
                write_mask(self._binding or self._bind(), key, self._metadata.write_shape, value)
            else:
                self._set(indexing.numpy_style, key, value)
            return
        check_writable(self._store, self._path)
        binding = self._binding
        write(self._bind() if binding is None else binding, lowered, value)

    @property
    def oindex(self) -> Selector:
        """Orthogonal selection: arrays and masks each select along their own axis, like an outer product.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6))
        >>> z.oindex[[3, 0], [1, 1, 2]]
        array([[19, 19, 20],
               [ 1,  1,  2]])
        """
        return Selector(self, indexing.orthogonal)

    @property
    def vindex(self) -> Selector:
        """Select points: arrays and masks are broadcast together, and their dimensions come first.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6))
        >>> z.vindex[[3, 0], [1, 2]]
        array([19,  2])
        """
        return Selector(self, indexing.vectorised)

    @property
    def lazy(self) -> LazyArray:
        """A view of the array. Indexing it reads nothing and gives another view; ``np.asarray`` or ``read()`` reads.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6))
        >>> view = z.lazy[1:][:, ::-1]
        >>> np.asarray(view[0, :3])
        array([11, 10,  9])
        """
        return LazyArray(self, Selection.identity(self._shape))

    @property
    def blocks(self) -> Selector:
        """Select whole chunks by their positions in the grid; whole shards, if there are shards.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6), chunks=(2, 4))
        >>> z.blocks[1, 1]
        array([[16, 17],
               [22, 23]])
        """
        return Selector(self, partial(indexing.block, block_shape=self._metadata.write_shape))

    def get_basic_selection(self, selection: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read what integers, slices, `...` and `newaxis` select, into `out` if it is given.

        Parameters
        ----------
        selection
            As in ``array[selection]``.
        out
            An array that the elements are decoded into; it is also what is returned. It may be a view with any strides,
            and must have the shape of the result and the data type of the array.
        """
        return self._get(indexing.basic, selection, out)

    def set_basic_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write to what integers, slices, `...` and `newaxis` select."""
        self._set(indexing.basic, selection, value)

    def get_orthogonal_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read as `oindex` does, into `out` if that is given."""
        return self._get(indexing.orthogonal, selection, out)

    def set_orthogonal_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write as `oindex` does."""
        self._set(indexing.orthogonal, selection, value)

    def get_coordinate_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read the points at these coordinates, one array of indices for each axis, into `out` if that is given."""
        return self._get(indexing.coordinate, selection, out)

    def set_coordinate_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write to the points at these coordinates; if a point is named twice, the last value wins."""
        self._set(indexing.coordinate, selection, value)

    def get_mask_selection(self, mask: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read where a mask of the shape of the array is true, into `out` if that is given."""
        return self[mask] if out is None and is_large_mask(mask, self._shape) else self._get(indexing.mask, mask, out)

    def set_mask_selection(self, mask: Any, value: npt.ArrayLike) -> None:
        """Write where a mask of the shape of the array is true."""
        if is_large_mask(mask, self._shape):
            self[mask] = value
        else:
            self._set(indexing.mask, mask, value)

    def get_block_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read as `blocks` does, into `out` if that is given."""
        return self._get(partial(indexing.block, block_shape=self._metadata.write_shape), selection, out)

    def set_block_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write as `blocks` does."""
        self._set(partial(indexing.block, block_shape=self._metadata.write_shape), selection, value)

    def _get(
        self, lower: Callable[[Any, tuple[int, ...]], Lowered], key: Any, out: npt.NDArray[Any] | None = None
    ) -> Any:
        return read(self._binding or self._bind(), self._lowered(lower, key), out)

    def _set(self, lower: Callable[[Any, tuple[int, ...]], Lowered], key: Any, value: npt.ArrayLike) -> None:
        check_writable(self._store, self._path)
        write(self._binding or self._bind(), self._lowered(lower, key), value)

    def _lowered(self, lower: Callable[[Any, tuple[int, ...]], Lowered], key: Any) -> Lowered:
        try:
            return lower(key, self._shape)
        except SelectionError as error:
            error.array, error.store = self.name, str(self._store)
            raise

    def _bind(self) -> Binding:
        metadata = self._metadata
        binding = self._binding = bind(self._store, self._path, metadata)
        if self._metadata is not metadata:
            # Another thread has adopted others in the meantime, for which this one must not stay.
            self._binding = None
        return binding

    # Changing it

    @property
    def attrs(self) -> Attributes:
        """The attributes of the array; changes are stored at once."""
        # Attributes are changed through the hierarchy, whose modules know arrays.
        from blizzarr.attributes import Attributes

        return Attributes(self)

    def resize(self, new_shape: Any, *more: int) -> None:
        """Change the length of the axes. New elements read as the fill value; those that are cut off are erased.

        Parameters
        ----------
        new_shape, more
            One length per axis: as a sequence or, as in NumPy, as separate arguments.

        Raises
        ------
        ConflictError
            If somebody else has changed the shape since it was read here.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3)
        >>> z.resize(2)
        >>> z.resize(4)
        >>> z[:]
        array([0, 1, 0, 0])
        """
        shape = (new_shape, *more) if more else new_shape
        adopt = partial(self._adopt_shape, self._adoptions)
        resize(self._store, self._path, self._metadata, self._binding or self._bind(), shape, adopt=adopt)

    def append(self, data: npt.ArrayLike, axis: int = 0, *, at: int | None = None) -> tuple[int, ...]:
        """Append elements at the end of an axis, and return the new shape.

        The end is that of the array as it is stored now. Nobody sees the array grow before the elements are there.
        Several threads and, on local directories, several processes can append to one array at the same time.

        Parameters
        ----------
        data
            The elements; they must have the shape of the array, except for the length along `axis`.
        axis
            The axis along which the array grows.
        at
            The index along `axis` where the elements belong, which is the length of the array before the append. With
            it, you can repeat an append that may or may not have been completed before it was interrupted: if these
            elements are there already, nothing happens.

        Raises
        ------
        ConflictError
            With `at`, if the array has another length, or ends with other elements.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3)
        >>> z.append([7, 8])
        (7,)
        >>> z.append([9], at=7), z.append([9], at=7)
        ((8,), (8,))
        """
        adopt = partial(self._adopt_shape, self._adoptions)
        binding = self._binding or self._bind()
        return append(self._store, self._path, self._metadata, binding, data, axis, at, adopt=adopt).shape

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step; the others stay."""
        self.attrs.update(new_attributes)
        return self

    def cached(self, pool: CachePool, *, recheck: Recheck = True) -> Self:
        """The same array, with a pool that keeps the chunks that are read.

        Parameters
        ----------
        pool
            The pool. Arrays that share a pool share its limit, and two handles of one array share their chunks.
        recheck
            When a chunk in the pool must be checked again before it is used. True: before each read; the check is a
            look at the file, which is read again only if it has changed. False: never. ``"open"``: once after the array
            was opened. A number: when the last check is longer ago than that many seconds. See
            `blizzarr.caching.Recheck`. What this process writes is seen at once in any case, and writes never build on
            the pool.

        Examples
        --------
        >>> import blizzarr
        >>> pool = blizzarr.CachePool(1 << 20)
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3).cached(pool, recheck=False)
        >>> z[1], z[2], pool.info().hits
        (np.int64(1), np.int64(2), 1)
        """
        return self._in(CachedStore(self._store, pool, recheck))

    def _in(self, store: Store) -> Self:
        """The same array, reached through another store."""
        return type(self)(store, self._path, self._metadata)

    def refresh(self) -> Self:
        """Read the metadata again, as it is stored now: somebody else may have appended."""
        return self._renew(lambda: as_array_meta(read_node(self._store, self._path), self._path))

    def _adopt(self, metadata: ArrayMeta, since: int | None = None) -> bool:
        with self._adopting:
            binding = self._binding
            if binding is not None and not same_chunks(metadata, self._metadata):
                binding = None
            elif binding is not None and metadata.shape != self._shape:
                binding = binding.resized(metadata.shape)
            if since is not None and since != self._adoptions:
                return False
            # In this order other threads, which take the shape first, find a binding that is large enough.
            self._metadata, self._binding, self._shape = metadata, binding, metadata.shape
            self._adoptions += 1
            return True

    def _adopt_shape(self, since: int, metadata: ArrayMeta) -> None:
        """Take over a shape that was just published, by whoever still keeps all others from changing it.

        If others have been taken over `since`, what else they say may be newer, but not their shape.
        """
        with self._adopting:
            if not self._adopt(metadata, since) and same_chunks(metadata, self._metadata):
                self._adopt(self._metadata.with_shape(metadata.shape))

    # As NumPy sees it

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("expected copy=None or copy=True, found copy=False: reading makes a copy")
        found: npt.NDArray[Any] = self[...]
        return found if dtype is None else found.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("expected an array with an axis, found one without any, which has no len()")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("expected an array with an axis to iterate over, found one without any; use array[()]")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        """Along the first axis; whole chunks are read at a time, and not each of them again for each row."""
        row = prod(self._shape[1:]) * self.itemsize
        step = self.chunks[0] * max(1, _ITERATED_BYTES // max(1, row * self.chunks[0]))
        if step * row > config.copy_bytes:
            # A row of chunks of a wide array may be more than there is memory.
            step = max(1, config.copy_bytes // row)
        for start in range(0, self._shape[0], step):
            yield from self[start : start + step]

    def __contains__(self, value: object) -> bool:
        return value in np.asarray(self)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"expected one element, found {self.size}: use array[...].any() or array[...].all()")
        return bool(self._item())

    def __int__(self) -> int:
        return int(self._item())

    def __float__(self) -> float:
        return float(self._item())

    def __complex__(self) -> complex:
        return complex(self._item())

    def __index__(self) -> int:
        if self._shape:
            raise TypeError(f"expected an array without axes to use as an index, found one of shape {self._shape}")
        return operator.index(self[()])

    def _item(self) -> Any:
        if self.size != 1:
            raise TypeError(f"expected one element to convert, found {self.size}")
        return self[...].item()

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return token_of(self._store, self._path, self._metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._store, self._path, self._metadata)
