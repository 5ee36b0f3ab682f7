"""Arrays in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from blizzarr import indexing
from blizzarr.array.as_numpy import AsNumpy
from blizzarr.array.document import same_chunks
from blizzarr.array.lazy import LazyArray
from blizzarr.array.reshape import append, as_array_meta, resize
from blizzarr.array.selector import (
    Selector,
    is_fields,
    is_large_mask,
    read_mask,
    read_selection,
    take_fields,
    write_fields,
    write_mask,
    write_selection,
)
from blizzarr.array.token import token_of
from blizzarr.caching import CachedStore, CachePool, Recheck
from blizzarr.formats import format_of, forms_again, lock_key, read_node, stored_document
from blizzarr.indexing import Form, lower_basic
from blizzarr.model import ArrayMeta
from blizzarr.stores import check_writable
from blizzarr.transfer import read, write

if TYPE_CHECKING:
    from blizzarr.attributes import Attributes
    from blizzarr.stores import Store
    from blizzarr.transfer import Binding


class Array(AsNumpy):
    """An array in a store, divided into chunks; index it like a NumPy array.

    Created by `create_array` and `open_array`. ``array[key]`` reads and ``array[key] = value`` writes, with everything
    that NumPy allows as a key: integers, slices, `...`, `newaxis`, masks, arrays of indices, names of fields. Nothing
    is kept in memory, unless the array has a pool (`cached`): each read returns what is stored at that moment.

    All methods raise `StoreError` if the store fails (or cannot list, where chunks are counted), `ReadOnlyError` if the
    array was opened for reading and would be changed.

    Parameters
    ----------
    store, path
        The store, and the path of the array in it.
    metadata
        The content of its metadata document.

    Examples
    --------
    >>> import blizzarr
    >>> import numpy as np
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
        """Read the elements that `key` selects, as NumPy would.

        Raises
        ------
        OutOfBoundsError
            If an index is outside the array.
        SelectionError
            If the key is not one that NumPy allows.
        CodecError
            If a chunk is damaged; `key`, `chunk` and `codec` say which.
        StoreError
            If the store fails. A missing chunk is not an error: it reads as the fill value.
        LimitError
            If there is no memory for the result.
        """
        binding = self._binding
        if binding is not None and binding.element is not None and (element := binding.element(key)) is not None:
            return element
        lowered = lower_basic(key, self._shape)
        if lowered is None:
            if is_large_mask(key, self._shape):
                return read_mask(self._binding or self._bind(), key, self._metadata.chunk_grid)
            if is_fields(key):
                return take_fields(self[...], key)
            return read_selection(self, indexing.numpy_style, key)
        binding = self._binding
        if binding is None:
            binding = self._bind()
        return read(binding, lowered, None, binding.order)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that `key` selects, as NumPy would; the value is broadcast to them.

        Chunks of which only a part is written are read first. If an element is selected twice, the last value counts.
        An error may leave some of the chunks written and others not, but never half a chunk.

        Raises
        ------
        OutOfBoundsError
            If an index is outside the array.
        SelectionError
            If the key is not one that NumPy allows.
        ValueError
            If the value cannot be broadcast to the selection, or cannot be converted.
        TypeError
            If the value has elements that the data type cannot hold.
        CodecError
            If a chunk of which a part is written is damaged.
        """
        lowered = lower_basic(key, self._shape)
        if lowered is None:
            if is_large_mask(key, self._shape):
                check_writable(self._store, self._path)
                write_mask(self._binding or self._bind(), key, self._metadata.chunk_grid, value)
            elif is_fields(key):
                write_fields(self, key, value)
            else:
                write_selection(self, indexing.numpy_style, key, value)
            return
        check_writable(self._store, self._path)
        binding = self._binding
        write(self._bind() if binding is None else binding, lowered, value)

    @property
    def oindex(self) -> Selector:
        """Select orthogonally: arrays and masks each select along their own axis, like an outer product.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
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
        >>> import numpy as np
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6))
        >>> z.vindex[[3, 0], [1, 2]]
        array([19,  2])
        """
        return Selector(self, indexing.vectorised)

    @property
    def lazy(self) -> LazyArray:
        """A view of the array. Indexing it reads nothing and returns another view; ``np.asarray`` or ``read()`` reads.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6))
        >>> view = z.lazy[1:][:, ::-1]
        >>> np.asarray(view[0, :3])
        array([11, 10,  9])
        """
        return LazyArray(self, Form.of_shape(self._shape))

    @property
    def blocks(self) -> Selector:
        """Select whole chunks by their positions in the grid; whole shards, if there are shards.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
        >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6), chunks=(2, 4))
        >>> z.blocks[1, 1]
        array([[16, 17],
               [22, 23]])
        """
        return Selector(self, partial(indexing.block, edges=self._metadata.chunk_grid.edges))

    def get_basic_selection(self, selection: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read the elements that integers, slices, `...` and `newaxis` select.

        Parameters
        ----------
        selection
            As in ``array[selection]``.
        out
            An array that the elements are decoded into, and that is returned. It may have any strides, and must have
            the shape of the result and the data type of the array, or NumPy's `StringDType` for texts, which is
            several times as fast as texts of Python. With None, a new array is made.

        Raises
        ------
        SelectionError
            If the selection has arrays or masks.
        ValueError, TypeError
            If `out` has another shape or data type, or is read-only.
        OutOfBoundsError, CodecError, StoreError, LimitError
            As for ``array[selection]``.
        """
        return read_selection(self, indexing.basic, selection, out)

    def set_basic_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that integers, slices, `...` and `newaxis` select.

        Raises
        ------
        SelectionError
            If the selection has arrays or masks. For other errors see `__setitem__`.
        """
        write_selection(self, indexing.basic, selection, value)

    def get_orthogonal_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read as `oindex` does, into `out` if it is given; for `out` and errors see `get_basic_selection`."""
        return read_selection(self, indexing.orthogonal, selection, out)

    def set_orthogonal_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write as `oindex` does; for errors see `__setitem__`."""
        write_selection(self, indexing.orthogonal, selection, value)

    def get_coordinate_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read points, by one array of indices for each axis, into `out` if it is given; see `get_basic_selection`.

        Raises
        ------
        SelectionError
            If there are not as many arrays of integers as axes, or they do not broadcast together.
        """
        return read_selection(self, indexing.coordinate, selection, out)

    def set_coordinate_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write to points, by one array of indices for each axis; if a point is selected twice, the last value counts.

        Raises
        ------
        SelectionError
            If there are not as many arrays of integers as axes. For other errors see `__setitem__`.
        """
        write_selection(self, indexing.coordinate, selection, value)

    def get_mask_selection(self, mask: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read the elements where a mask is true, into `out` if it is given; see `get_basic_selection`.

        Raises
        ------
        SelectionError
            If the mask is not an array of booleans with the shape of the array.
        """
        return (
            self[mask]
            if out is None and is_large_mask(mask, self._shape)
            else read_selection(self, indexing.mask, mask, out)
        )

    def set_mask_selection(self, mask: Any, value: npt.ArrayLike) -> None:
        """Write to the elements where a mask is true.

        Raises
        ------
        SelectionError
            If the mask is not an array of booleans with the shape of the array. For other errors see `__setitem__`.
        """
        if is_large_mask(mask, self._shape):
            self[mask] = value
        else:
            write_selection(self, indexing.mask, mask, value)

    def get_block_selection(self, selection: Any, *, out: npt.NDArray[Any] | None = None) -> Any:
        """Read as `blocks` does, into `out` if it is given; for `out` and errors see `get_basic_selection`."""
        return read_selection(self, partial(indexing.block, edges=self._metadata.chunk_grid.edges), selection, out)

    def set_block_selection(self, selection: Any, value: npt.ArrayLike) -> None:
        """Write as `blocks` does; for errors see `__setitem__`."""
        write_selection(self, partial(indexing.block, edges=self._metadata.chunk_grid.edges), selection, value)

    # Changing it

    @property
    def attrs(self) -> Attributes:
        """The attributes of the array; changes are stored at once."""
        # Imported late, because attributes are changed through the hierarchy, whose modules import arrays.
        from blizzarr.attributes import Attributes

        return Attributes(self)

    def resize(self, new_shape: Any, *more: int) -> None:
        """Change the lengths of the axes. New elements read as the fill value; elements that are cut off are erased.

        In a store that cannot list its keys, many chunks that are cut off stay stored, and nobody sees them. They are
        deleted, each by its key, before the array grows over them.

        Parameters
        ----------
        new_shape, more
            One length per axis: as a sequence or, as in NumPy, as separate arguments.

        Raises
        ------
        ConflictError
            If the stored shape changed since this handle read it. Call `refresh`, and decide again.
        UnknownOutcomeError
            If the answer of a server may have been lost, and others have changed the array since: call `refresh`, and
            look whether it has the new shape.
        ValueError, TypeError
            If there is another number of lengths than axes, or one is not an integer of 0 or more.
        StoreError
            If the store fails. The array then has the old shape or the new one.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3)
        >>> z.resize(2)
        >>> z.resize(4)
        >>> z[:]
        array([0, 1, 0, 0])
        """
        shape = (new_shape, *more) if more else new_shape
        adopt = partial(self._adopt_shape, self._adoptions)
        resize(self._store, self._path, self._metadata, self._binding or self._bind(), shape, adopt)

    def append(self, data: npt.ArrayLike, axis: int | str = 0, *, at: int | None = None) -> tuple[int, ...]:
        """Append elements at the end of an axis, and return the new shape.

        The end is that of the array as it is stored now. Several threads and, in local directories and object stores,
        several programs can append to one array at the same time. Nobody sees the array grow before the elements are
        there, except in object stores and in sessions of icechunk: there it grows first, since no lock keeps the place
        for the elements, and an append that is interrupted leaves fill values, which it replaces when it is repeated
        with `at`.

        Parameters
        ----------
        data
            The elements; they must have the shape of the array, except for the length along `axis`.
        axis
            The axis along which the array grows, by its number or the name of its dimension.
        at
            The index along `axis` where the elements belong, which is the length of the array before the append. With
            it, you can repeat an append that was interrupted at an unknown point: if these elements are there already,
            nothing happens.

        Raises
        ------
        ConflictError
            If another array is stored there now; with `at`, if the array has another length, or ends with other
            elements.
        UnknownOutcomeError
            If the answer of a server may have been lost, and others have changed the array since: call `refresh`, and
            look whether it has become longer, with fill values at the places of these elements.
        ValueError
            If the shape of the data does not fit, or there is no such axis.
        CodecError
            If a chunk at the end of the array is damaged.
        StoreError
            If the store fails. The array then has the old length or the new one.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3)
        >>> z.append([7, 8])
        (7,)
        >>> z.append([9], at=7), z.append([9], at=7)
        ((8,), (8,))
        """
        with self._adopting:
            # Of one moment: another thread may refresh the array, which somebody else has replaced.
            since, metadata, binding = self._adoptions, self._metadata, self._binding or self._bind()
        adopt = partial(self._adopt_shape, since)
        return append(self._store, self._path, metadata, binding, data, axis, at, adopt=adopt).shape

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step, and return the array; the other attributes stay.

        Raises
        ------
        MetadataError
            If JSON cannot express a value. For other errors see `blizzarr.attributes.Attributes`.
        """
        self.attrs.update(new_attributes)
        return self

    def cached(self, pool: CachePool, *, recheck: Recheck = True) -> Self:
        """Return the same array with a pool that keeps the chunks that are read.

        Parameters
        ----------
        pool
            The pool. Arrays that share a pool share its limit, and two handles of one array share their chunks.
        recheck
            When to check again whether a chunk in the pool is up to date. True: before each read; a look at the file
            says whether it has changed. False: never. ``"open"``: once after the array was opened. A number: if the
            last check is that many seconds ago. See `blizzarr.caching.Recheck`. Writes of this process are seen at once
            in any case, and writes never take chunks from the pool.

        Examples
        --------
        >>> import blizzarr
        >>> import numpy as np
        >>> pool = blizzarr.CachePool(1 << 20)
        >>> z = blizzarr.create_array({}, data=np.arange(5), chunks=3).cached(pool, recheck=False)
        >>> z[1], z[2], pool.info().hits
        (np.int64(1), np.int64(2), 1)
        """
        return self._in(CachedStore(self._store, pool, recheck))

    def _in(self, store: Store) -> Self:
        """Return the same array, reached through another store."""
        return type(self)(store, self._path, self._metadata)

    def refresh(self) -> Self:
        """Read the metadata again, as it is stored now, and return the array: somebody else may have appended.

        Raises
        ------
        NodeNotFoundError
            If there is nothing any more.
        NodeTypeError
            If a group is there now.
        MetadataError
            If the document does not conform.
        """
        form = format_of(self._metadata)
        only = form if forms_again(self._metadata) else None
        return self._renew(lambda: as_array_meta(read_node(self._store, self._path, only, likely=form), self._path))

    def _adopt(self, metadata: ArrayMeta, since: int | None = None, made: Binding | None = None) -> bool:
        with self._adopting:
            binding = self._binding
            if made is not None and since == self._adoptions:
                binding = made
            elif binding is not None and not same_chunks(metadata, self._metadata):
                binding = None
            elif binding is not None and metadata.shape != self._shape:
                binding = binding.resized(metadata.shape, metadata.chunk_grid)
            if since is not None and since != self._adoptions:
                return False
            if binding is not None:
                binding.learn(stored_document(metadata, lock_key(self._path, metadata)), metadata.shape)
            # In this order other threads, which take the shape first, find a binding that is large enough.
            self._metadata, self._binding, self._shape = metadata, binding, metadata.shape
            self._adoptions += 1
            return True

    def _adopt_shape(self, since: int, metadata: ArrayMeta, made: Binding | None = None) -> None:
        """Take over a shape that was just published, while the caller still holds the lock on the array's shape.

        `made` is the binding of the array with that shape, if the caller has one: made from that of this array `since`.

        If other metadata was taken over `since`, the rest of it may be newer than this, but not its shape.
        """
        with self._adopting:
            if not self._adopt(metadata, since, made) and same_chunks(metadata, self._metadata):
                self._adopt(replace(self._metadata, shape=metadata.shape, chunk_grid=metadata.chunk_grid))
        self._outdate_above()

    # As Dask and pickle see it

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return token_of(self._store, self._path, self._metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._store, self._path, self._metadata)
