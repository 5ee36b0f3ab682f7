"""xarray's `ZarrStore` on our groups: what it says of regions, encodings and appending holds here, too.

The methods that are replaced are those that call zarr-python.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from xarray import Variable, conventions
from xarray.backends import ZarrStore
from xarray.backends.api import DATAARRAY_VARIABLE
from xarray.backends.common import NONE_VAR_NAME
from xarray.backends.zarr import (
    _encode_variable_name,
    _validate_and_transpose_existing_dims,
    _validate_datatypes_for_zarr_append,
)
from xarray.coding.strings import check_vlen_dtype

from blizzarr.array import Array
from blizzarr.array.empty_chunks import WithEmptyChunks
from blizzarr.array.facts import binding_of
from blizzarr.array.reshape import append
from blizzarr.creation.elements import given_object_codec
from blizzarr.creation.json_values import AsZarrPython, check_attributes
from blizzarr.errors import MetadataError
from blizzarr.formats import MASKED
from blizzarr.group import Group
from blizzarr.hierarchy.place import any_name
from blizzarr.problems import warn
from blizzarr.size_text import count_text
from blizzarr.stores.requests import ARRAYS_AT_ONCE, each, each_call, is_small
from blizzarr.xarray.variables import StoredArray, dimensions_of, variable_of

_OF_ZARR_PYTHON = ("cache_metadata", "config", "order")
"""Encodings that say something about objects of zarr-python, and nothing about what is stored."""

_OF_XARRAY = (DATAARRAY_VARIABLE, NONE_VAR_NAME)


class GroupStore(ZarrStore):
    """A group that xarray writes to. Unlike its base class, it leaves consolidating to whoever made it."""

    _lengths: dict[str, dict[str, Any]]
    """For each array the encodings that are lengths of chunks or shards one by one, which xarray does not write."""
    _end: int | None
    """The end of the coordinate to which elements are appended; None if there is none."""
    _last: tuple[str, Variable] | None
    """What `finish` has still to append to that coordinate."""

    def __repr__(self) -> str:
        return f"<GroupStore of {self.zarr_group.group!r}>"

    def _fetch_members(self) -> dict[str, Array | Group]:
        return dict(self.zarr_group.members())

    def array_keys(self) -> tuple[str, ...]:
        """Return the names of the arrays that were there when the group was opened."""
        return tuple(name for name, _ in self.arrays())

    def arrays(self) -> tuple[tuple[str, Array], ...]:
        """Return the arrays that were there when the group was opened, with their names."""
        return tuple((name, node) for name, node in self.members.items() if isinstance(node, Array))

    def get_dimensions(self) -> dict[Any, int]:
        """Return the lengths of the dimensions; raise `ValueError` if arrays disagree about one."""
        lengths: dict[Any, int] = {}
        for _, array in self.arrays():
            for dim, length in zip(dimensions_of(array), array.shape, strict=True):
                if lengths.setdefault(dim, length) != length:
                    raise ValueError(
                        f"expected {lengths[dim]} elements along {dim!r}, as other arrays have, found {length} in "
                        f"{array.name}"
                    )
        return lengths

    def open_store_variable(self, name: str) -> Variable:
        """Return an array as a variable."""
        array = self.members[name]
        assert isinstance(array, Array)
        return variable_of(StoredArray(array), self._use_zarr_fill_value_as_mask)

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Replace the attributes of the group; raise `TypeError` if JSON cannot express a value."""
        self.zarr_group.attrs.put(_checked(attributes))

    def store(
        self,
        variables: Mapping[Any, Variable],
        attributes: Mapping[str, Any],
        check_encoding_set: Collection[Any] = frozenset(),
        writer: Any = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Encode the content of a dataset, and write it; see `encoded`, `write` and `finish`."""
        encoded, attributes = self.encoded(variables, attributes)
        self.set_dimensions(encoded, unlimited_dims=unlimited_dims)
        self.write(encoded, attributes, check_encoding_set, writer)
        self.finish()

    def encoded(
        self, variables: Mapping[Any, Variable], attributes: Mapping[str, Any]
    ) -> tuple[dict[Any, Variable], Mapping[str, Any]]:
        """Return the content of a dataset as it is to be written.

        Raise `ValueError` if variables do not fit what is there.
        """
        known = self.array_keys()
        there = {name for name in variables if self._mode != "w" and _encode_variable_name(name) in known}
        new = [name for name in variables if name not in there]
        if self._mode == "r+" and new:
            raise ValueError(
                f"dataset contains non-pre-existing variables {new!r}, which is not allowed with mode='r+'. "
                "To allow writing new variables, set mode='a'."
            )
        if self._append_dim is not None and self._append_dim not in known:
            dimensions = self.get_dimensions()
            if self._append_dim not in dimensions:
                raise ValueError(
                    f"append_dim={self._append_dim!r} does not match any existing dataset dimensions {dimensions}"
                )
        short = [name for name in new if self._append_dim in variables[name].dims]
        # Without the coordinate, the others say how far the dimension is.
        if short and (end := self._stored_end() or self.get_dimensions().get(self._append_dim)):
            raise ValueError(
                f"expected variables that are there, found {short!r}, which would have no elements for the {end} that "
                f"are stored along {self._append_dim!r}. Write them for the whole dimension first, without append_dim"
            )
        encoded, attributes = self.encode({name: variables[name] for name in new}, attributes)
        encoded |= self._encoded_as_stored({name: variables[name] for name in there})
        for name in there:
            self._check_appended(self.members[_encode_variable_name(name)], name, variables)
        self._warn_of_left_behind(variables)
        if self._mode == "a-" and self._append_dim is not None:
            # Only new variables, and those that grow.
            encoded = {k: v for k, v in encoded.items() if k not in there or self._append_dim in v.dims}
        return encoded, attributes

    def write(
        self, variables: Mapping[Any, Variable], attributes: Mapping[str, Any], given: Collection[Any], writer: Any
    ) -> None:
        """Create what is not there yet, and hand all elements to the writer.

        What is appended to the coordinate of its dimension is left to `finish`: until then, whoever opens the group or
        appends to it goes by the coordinate, also if this process dies while other arrays grow.

        Raise `ValueError` if an encoding is not known.

        - `variables`, `attributes`: what `encoded` has returned.
        - `given`: the names of variables whose encoding the user gave.
        - `writer`: what takes the elements, each with the array and the region where they belong.
        """
        # xarray takes some of the encodings away.
        copies = {name: variable.copy(deep=False) for name, variable in variables.items()}
        self._end = self._stored_end() if self._append_dim in copies else None
        self._last = None
        if self._end is not None:
            self._last = _encode_variable_name(self._append_dim), copies.pop(self._append_dim)
        is_new = not self._write_region and self._append_dim is None
        self._lengths = {
            _encode_variable_name(name): take_lengths(
                variable, must_fit=name in given, parts_are_safe=not self._safe_chunks, is_new=is_new
            )
            for name, variable in copies.items()
        }
        steps = [] if self._mode == "r+" else [partial(self.set_attributes, attributes)]
        steps.append(partial(self.set_variables, copies, given, writer))
        each_call(self.zarr_group.store, steps)

    def set_variables(self, variables: Mapping[Any, Variable], *arguments: Any, **options: Any) -> None:
        """Create or lengthen arrays, as in the base class; small ones several at once if the store is far away.

        Each takes some requests, one after the other. What Dask computes is only written later, whatever its size.
        """
        set_one = super().set_variables
        few = {name: one for name, one in variables.items() if one.chunks is not None or is_small(one.nbytes)}
        each(
            self.zarr_group.store, lambda one: set_one(dict([one]), *arguments, **options), few.items(), ARRAYS_AT_ONCE
        )
        if rest := {name: one for name, one in variables.items() if name not in few}:
            set_one(rest, *arguments, **options)

    def finish(self) -> None:
        """Append to the coordinate what `write` has left, which takes effect as a whole."""
        if self._last is not None:
            name, variable = self._last
            # Nobody else appends, so nobody needs to see the coordinate grow before its elements are there.
            array = self._opened(name)
            node = array.store, array.path, array.metadata, binding_of(array)
            append(*node, np.asarray(variable.data), 0, self._end, alone=True)

    def encode_variable(self, variable: Variable, name: Any = None) -> Variable:
        """Return a variable as it is stored.

        In v3 there is no attribute for a masked text, so it is the fill value. What is stored with any length has the
        NULs at its end, which NumPy's bytes of a fixed length lose.
        """
        encoded: Variable = super().encode_variable(variable, name)
        masked = encoded.attrs.get(MASKED)
        if variable.dtype.kind == "O" and encoded.dtype.kind == "S" and _element_type(variable.encoding) == "bytes":
            encoded.data = np.where(variable.isnull(), b"" if masked is None else masked, variable)
        if masked is not None and encoded.dtype.kind in "TO" and not self._use_zarr_fill_value_as_mask:
            encoded.encoding.setdefault("fill_value", encoded.attrs.pop(MASKED))
        return encoded

    def _encoded_as_stored(self, variables: Mapping[Any, Variable]) -> dict[Any, Variable]:
        """Return variables encoded as the arrays of their names are, with dimensions in the same order."""
        stored = {name: self.open_store_variable(_encode_variable_name(name)) for name in variables}
        decoded, _, _ = conventions.decode_cf_variables(stored, {})
        for name, variable in variables.items():
            _validate_datatypes_for_zarr_append(name, decoded[name], variable)
            units = stored[name].attrs.get("units")
            # As numbers of times that were not decoded, variables have the units as an attribute.
            if variable.dtype.kind in "iufm" and " since " in str(units) and "units" not in variable.attrs:
                raise ValueError(f"{name!r} is stored as times in {units!r}, and these values are {variable.dtype}")
        copies = {name: variable.copy(deep=False) for name, variable in variables.items()}
        for name, variable in copies.items():
            variable.encoding = decoded[name].encoding
        encoded, _ = self.encode(copies, {})
        for name, variable in variables.items():
            check_fits(name, variable, encoded[name], stored[name])
        return {
            name: _validate_and_transpose_existing_dims(
                name, variable, decoded[name], self._write_region, self._append_dim
            )
            for name, variable in encoded.items()
        }

    def _check_appended(self, array: Array, name: Any, variables: Mapping[Any, Variable]) -> None:
        """Check that what is appended to an array lies beside what is appended to the coordinate, now or before.

        Raise `ValueError` if not.
        """
        end, added = self._stored_end(), variables[name].sizes.get(self._append_dim)
        length = dict(zip(dimensions_of(array), array.shape, strict=True)).get(self._append_dim)
        if end is None or length is None or added is None:
            return
        there = f"{array.name} has {length} elements along {self._append_dim!r}, and its coordinate has {end}"
        if self._append_dim not in variables:
            if length + added > end:
                raise ValueError(f"{there}: {added} more would have none. Append them with their coordinate")
        elif length < end:
            raise ValueError(
                f"{there}: what is appended to both would be apart. Append what is missing first, and no coordinate"
            )
        elif end < length == end + added and name != self._append_dim:
            warn(f"{there}: an append was interrupted, and what it left is replaced")
        elif length > end:
            raise ValueError(
                f"{there}: what an interrupted append of {length - end} left, or elements of another program. Repeat "
                f"that append, or resize the array to {end}"
            )

    def _warn_of_left_behind(self, variables: Mapping[Any, Variable]) -> None:
        """Warn of arrays that stay shorter than the coordinate to which is appended: nobody opens such a dataset."""
        end = self._stored_end()
        if end is None or self._append_dim not in variables:
            return
        dim, given = self._append_dim, {_encode_variable_name(name) for name in variables}
        others = ((name, array) for name, array in self.arrays() if name not in given)
        short = [
            name for name, array in others if (dim, end) in zip(array.dimension_names or (), array.shape, strict=False)
        ]
        if short:
            warn(
                f"nothing is appended to {', '.join(map(repr, short))}: the dataset cannot be opened until all "
                f"variables along {dim!r} have {end + variables[dim].sizes[dim]} elements. Append the others next, "
                f"without {dim!r} itself"
            )

    def _stored_end(self) -> int | None:
        """Return the length of the stored coordinate of the dimension along which is appended; None without one."""
        if self._append_dim is None:
            return None
        array = self.members.get(_encode_variable_name(self._append_dim))
        # Another variable may have the name of the dimension, too.
        is_coordinate = isinstance(array, Array) and dimensions_of(array) == (self._append_dim,)
        return array.shape[0] if is_coordinate else None

    def _left_over(self, array: Array, end: int | None) -> tuple[int, ...] | None:
        """Return the shape of an array without what an interrupted append has left behind the end; None if nothing."""
        if end is None:
            return None
        names = dimensions_of(array)
        shape = tuple(
            min(length, end) if name == self._append_dim else length
            for name, length in zip(names, array.shape, strict=True)
        )
        return None if shape == array.shape else shape

    def _open_existing_array(self, *, name: str) -> Array:
        array = self._opened(name)
        if (shape := self._left_over(array, self._end)) is not None:
            array.resize(shape)
        return array

    def _opened(self, name: str) -> Array:
        array: Array = self.zarr_group[name]
        return WithEmptyChunks.of(array, True) if self._write_empty else array

    def _create_new_array(
        self, *, name: str, shape: tuple[int, ...], dtype: Any, fill_value: Any, encoding: dict[str, Any], attrs: Any
    ) -> Array:
        given = {key: value for key, value in encoding.items() if key not in _OF_ZARR_PYTHON}
        empty = given.pop("write_empty_chunks", self._write_empty)
        if self._write_empty is not None and empty != self._write_empty:
            raise ValueError(
                f'Differing "write_empty_chunks" values in encoding and parameters: {empty} and {self._write_empty}'
            )
        given["fill_value"] = fill_value
        if isinstance(given.get("chunks"), tuple) and 0 in shape:
            # Chunks of Dask along an axis without elements have none, either.
            given["chunks"] = tuple(length or 1 for length in given["chunks"])
        given |= self._lengths[name]
        # xarray has names of its own for what has none, and they begin as reserved ones do.
        with any_name() if name in _OF_XARRAY else nullcontext():
            try:
                array: Array = self.zarr_group.create_array(
                    name, shape=shape, dtype=_stored_type(dtype, given), attributes=_checked(attrs), **given
                )
            except MetadataError as error:
                if error.array is None and error.key is None:
                    error.array = f"/{self.zarr_group.path}/{name}".replace("//", "/")
                raise
        return WithEmptyChunks.of(array, True) if empty else array


def _stored_type(dtype: Any, encoding: Mapping[str, Any]) -> Any:
    """Return the data type for elements as xarray has them: it gives bytes a fixed length, and in v2 also text.

    What the codec of an encoding stored with any length before stays so, since it would not take other elements.
    """
    if check_vlen_dtype(dtype) is str:
        return "string"
    stored = _element_type(encoding)
    return stored if stored in {"U": ("string",), "S": ("bytes",), "O": ("bytes",)}.get(dtype.kind, ()) else dtype


def _element_type(encoding: Mapping[str, Any]) -> str | None:
    """Return the data type of any length that the codec of an encoding is for; None if it is for others."""
    codec = given_object_codec(*(encoding.get(name) for name in ("filters", "serializer", "compressors")))
    return None if codec is None else codec.element_type


def _checked(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes that JSON can express, NaN besides; for others, raise the error that xarray raises."""
    try:
        return check_attributes(AsZarrPython(attributes))
    except MetadataError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs. {error}") from error


# Encodings with the length of each chunk or shard along an axis, which xarray reads and does not write.

_OPTIONS = ("chunks", "shards")


def take_lengths(variable: Variable, *, must_fit: bool, parts_are_safe: bool, is_new: bool) -> dict[str, Any]:
    """Take such encodings out of a variable, and return them.

    xarray gets chunks in their place with which it checks the chunks of Dask rightly: of length 1, which any chunks of
    Dask follow, or the whole variable, which only a single one does.

    - `must_fit`: whether lengths that do not fit the variable are an error: `ValueError` if their number is wrong, and
      otherwise that of `create_array`. If not, they are those of data that it was made from, and left out.
    - `parts_are_safe`: whether chunks of Dask may share a stored chunk.
    - `is_new`: whether the variable becomes a new array as a whole.

    >>> variable = Variable("x", range(6), encoding={"chunks": ((1, 2, 3),)})
    >>> take_lengths(variable, must_fit=True, parts_are_safe=True, is_new=True), variable.encoding
    ({'chunks': [[1, 2, 3]]}, {'chunks': (1,)})
    """
    taken: dict[str, Any] = {}
    for option in _OPTIONS:
        given = variable.encoding.get(option)
        is_wrong = isinstance(given, Mapping) or (isinstance(given, list | tuple) and len(given) != variable.ndim)
        if must_fit and is_wrong:
            # xarray would leave them out without a word.
            dims = ", ".join(map(str, variable.dims))
            what = f"{count_text(variable.ndim, 'length')}, one for each dimension ({dims})"
            raise ValueError(f"encoding[{option!r}]: expected {what}, found {given!r}")
        if isinstance(given, list | tuple) and -1 in given and len(given) == variable.ndim:
            # xarray would check the chunks of Dask against chunks of length -1, into which any fit.
            given = tuple(size if axis == -1 else axis for axis, size in zip(given, variable.shape, strict=True))
            variable.encoding[option] = given
        if not isinstance(given, list | tuple) or not any(isinstance(axis, list | tuple) for axis in given):
            continue
        fits = len(given) == variable.ndim and all(
            isinstance(axis, int) or sum(axis) >= size for axis, size in zip(given, variable.shape, strict=True)
        )
        if not fits and not must_fit:
            del variable.encoding[option]
            continue
        # An axis without elements has a chunk without elements.
        taken[option] = [axis if isinstance(axis, int) else [1] if list(axis) == [0] else list(axis) for axis in given]
        is_safe = parts_are_safe or (is_new and _follow(variable, taken[option]))
        variable.encoding[option] = (1,) * variable.ndim if is_safe else variable.shape
    return taken


def _follow(variable: Variable, lengths: list[Any]) -> bool:
    """Return whether no chunk of these lengths is divided by the chunks of Dask."""
    for sizes, axis in zip(variable.chunks or (), lengths, strict=False):
        stops = set(accumulate(sizes[:-1]))
        if any(stop % axis for stop in stops) if isinstance(axis, int) else not stops <= set(accumulate(axis)):
            return False
    return True


def check_fits(name: Any, variable: Variable, encoded: Variable, stored: Variable) -> None:
    """Check that an array, read again, has the values of the variable. Elements of Dask are not computed for that.

    Raise `ValueError` if the array has other units of time, shorter elements, or integers that are too narrow.

    - `encoded`: the variable as xarray encodes it for the array. Where times need finer units than those of the array,
      they are in finer units, which no attribute of the array would say.
    - `stored`: the array as it is stored, with its attributes.

    >>> days = Variable("t", [0, 1], {"units": "days since 2000-01-01"})
    >>> noon = Variable("t", np.array(["2000-01-01T12"], "M8[ns]"))
    >>> check_fits("t", noon, Variable("t", [12], {"units": "hours since 2000-01-01"}), days)
    Traceback (most recent call last):
    ...
    ValueError: 't' is stored in 'days since 2000-01-01', and these values need 'hours since 2000-01-01'...
    """
    units, there = encoded.attrs.get("units"), stored.attrs.get("units")
    # Units that are an attribute of the variable itself are no encoding.
    if units is not None and "units" not in variable.attrs and (there is None or _unit(units) != _unit(there)):
        if there is None:
            raise ValueError(f"{name!r} is stored without units of time, and these values are times in {units!r}")
        raise ValueError(
            f"{name!r} is stored in {there!r}, and these values need {units!r}, but all elements of an array "
            "have the same units. Round these values, or write the dataset anew, with finer units or as floats"
        )
    needed = _text_type(variable, encoded)
    if needed.kind in "SU" and needed.kind == stored.dtype.kind and needed > stored.dtype:
        raise ValueError(f"{name!r} is stored as {stored.dtype}, and these values need {needed}: they would be cut off")
    if _is_narrowed(variable, encoded, stored) and (lost := _lost(variable, encoded, stored)).size:
        raise ValueError(f"{name!r} is stored as {encoded.dtype}, which cannot hold {lost[0]!r}")


def _unit(units: object) -> str:
    return str(units).strip().partition(" ")[0].lower().removesuffix("s")


def _text_type(variable: Variable, encoded: Variable) -> np.dtype[Any]:
    """Return the type of the encoded elements; of texts and bytes, before they are cut to the length of the array."""
    needed: np.dtype[Any] = encoded.dtype
    if variable.dtype.kind == "O" and needed.kind in "SU" and encoded.chunks is None:
        needed = variable.values[variable.notnull().values].astype(needed.kind).dtype
    return needed


def _is_narrowed(variable: Variable, encoded: Variable, stored: Variable) -> bool:
    """Return whether numbers in memory have become numbers of another type, and nothing else was done to them."""
    kinds = variable.dtype.kind in "iuf" and encoded.dtype.kind in "iuf"
    packed = {"scale_factor", "add_offset", "_Unsigned"} & stored.attrs.keys()
    return kinds and not packed and encoded.chunks is None and encoded.dtype != variable.dtype


def _lost(variable: Variable, encoded: Variable, stored: Variable) -> np.ndarray[Any, Any]:
    """Return the values that the stored numbers differ from by more than rounding."""
    values = variable.values
    if encoded.dtype.kind == "f":
        return np.asarray(values[np.isfinite(values) & np.isinf(encoded.values)])
    lost = np.around(values) != encoded.values
    if {"_FillValue", "missing_value"} & stored.attrs.keys():
        lost &= ~np.isnan(values)
    return np.asarray(values[lost])
