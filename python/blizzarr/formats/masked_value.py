"""The value that xarray masks: elements that are equal to it are missing.

In v2, and in the draft as zarr-python 2 wrote it, xarray takes the fill value for it, and where that is null the
attribute ``_FillValue``, a number as in netCDF. In v3 it takes the attribute alone, which it encodes in a way of its
own. Only arrays with dimension names follow xarray's convention.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from blizzarr.dtypes import DataType, Kind
from blizzarr.errors import MetadataError
from blizzarr.formats.format import Format
from blizzarr.model import ArrayMeta

MASKED: Final = "_FillValue"
_MASK_FILL: Final = ("v1", "v2", "v3_draft_zarr_python")


def masked_value(meta: ArrayMeta) -> Any:
    """Return the value that xarray masks in an array, as a scalar of its data type; `None` if there is none."""
    if not follows_xarray(meta):
        return None
    return meta.fill_value if masks_fill(meta.format) and not meta.fill_undefined else masked_attribute(meta)


def masked_attribute(meta: ArrayMeta) -> Any:
    """Return the value in the attribute ``_FillValue``, as a scalar of the data type, or `None`."""
    try:
        return _decode(meta.dtype, meta.attributes.get(MASKED))
    except (ValueError, TypeError, OverflowError, MetadataError):
        # No element is equal to what this data type cannot express.
        return None


def with_masked_value(
    meta: ArrayMeta, form: Format, dtype: DataType | None = None, *, in_place: bool = False
) -> ArrayMeta:
    """Return the array with a fill value and attributes of which xarray masks the same in another format.

    Before v3, there is one place for the fill value and for the value that is masked, so that elements that are not
    stored may read as another value; `in_place`, they do not. With a `dtype`, the result is that of an array to whose
    type elements are converted.

    >>> from blizzarr.creation.describe import describe_array
    >>> from blizzarr.formats import format_named
    >>> array = describe_array(shape=4, dtype="int16", fill_value=-1, dimension_names=["x"], zarr_format=2)
    >>> with_masked_value(array, format_named(3)).attributes
    {'_FillValue': -1}
    """
    kind = meta.dtype if dtype is None else dtype
    same = kind == meta.dtype
    fill_value, undefined = meta.fill_value if same else kind.default_fill, meta.fill_undefined and form.has_null_fill
    made = replace(meta, dtype=kind, fill_value=fill_value, fill_undefined=undefined)
    if not follows_xarray(meta) or (same and masks_fill(meta.format) == masks_fill(form.name)):
        return made
    before = masked_value(meta)
    value = before if same or before is None else _converted(before, kind)
    if not masks_fill(form.name):
        # Without an attribute that says nothing to xarray, with which, or with one of another data type, it could not
        # open the array.
        attributes = without_masked(meta.attributes)
        if value is not None and kind.numpy.kind in "biufc":
            attributes[MASKED] = _encode(kind, value)
        return replace(made, attributes=attributes)
    attributes = meta.attributes if before is None else without_masked(meta.attributes)
    if value is not None and not (in_place and kind.fill_identity(value) != kind.fill_identity(fill_value)):
        if _names_masked(attributes.get("_nczarr_attr")):
            # netCDF-C masks what the attribute says, in v2, too.
            attributes = {**attributes, MASKED: kind.fill_to_json(value)}
        return replace(made, fill_value=value, fill_undefined=False, attributes=attributes)
    # GDAL, which writes this attribute, takes the fill value for the one to mask in every format.
    is_default = kind.fill_identity(fill_value) == kind.fill_identity(kind.default_fill)
    keeps = (in_place or "_CRS" in attributes) and not is_default
    if form.has_null_fill and not is_nan(kind, fill_value) and not keeps:
        if value is not None and kind.kind in (Kind.INTEGER, Kind.FLOAT) and not is_nan(kind, value):
            attributes = {**attributes, MASKED: value.item()}
        return replace(made, fill_value=kind.default_fill, fill_undefined=True, attributes=attributes)
    return replace(made, attributes=attributes)


def masks_fill(form: str) -> bool:
    """Return whether xarray masks the fill value of arrays in the format of this name."""
    return form in _MASK_FILL


def masks_same(a: ArrayMeta, b: ArrayMeta) -> bool:
    """Return whether xarray masks the same in two arrays of one data type; NaN is missing in any case."""
    values = [(side.dtype, masked_value(side)) for side in (a, b)]
    one, other = (
        None if value is None or is_nan(dtype, value) else dtype.fill_identity(value) for dtype, value in values
    )
    return one == other


def without_masked(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes without the one that names the masked value."""
    return {name: value for name, value in attributes.items() if name != MASKED}


def follows_xarray(meta: ArrayMeta) -> bool:
    """Return whether xarray can open the array."""
    names = meta.dimension_names
    if names is None:
        # In v3, xarray needs no names for a single element.
        return not meta.shape and meta.format == "v3"
    return None not in names


def _names_masked(types: Any) -> bool:
    """Return whether an attribute of NCZarr lists the type of `_FillValue`."""
    listed = types.get("types") if type(types) is dict else None
    return type(listed) is dict and MASKED in listed


def is_nan(dtype: DataType, value: Any) -> bool:
    """Return whether a value is missing in any case."""
    return dtype.kind in (Kind.FLOAT, Kind.COMPLEX, Kind.TIME) and bool(value != value)


def _converted(value: Any, dtype: DataType) -> Any:
    """Return the value in another data type; `None` if that type does not have it."""
    if value != value:
        return dtype.fill(float("nan")) if dtype.kind in (Kind.FLOAT, Kind.COMPLEX) else None
    try:
        made = dtype.fill(value.item() if isinstance(value, np.generic) else value)
    except MetadataError:
        return None
    return made if made == value else None


def _encode(dtype: DataType, value: Any) -> Any:
    """Return the JSON value of the attribute in v3."""
    if dtype.kind is Kind.FLOAT:
        return base64.b64encode(struct.pack("<d", float(value))).decode()
    if dtype.kind is Kind.COMPLEX:
        return [base64.b64encode(struct.pack("<d", float(part))).decode() for part in (value.real, value.imag)]
    return value.item()


def _decode(dtype: DataType, given: Any) -> Any:
    """Return the value that the attribute names; it may be a number, as in netCDF, in any format."""
    if dtype.kind is Kind.COMPLEX and type(given) is list and len(given) == 2:
        return dtype.fill(complex(*map(_number, given)))
    if type(given) is list and len(given) == 1:
        # NCZarr stores attributes as lists.
        given = given[0]
    if given is None:
        return None
    if dtype.kind is Kind.FLOAT:
        given = _number(given)
    elif dtype.name == "bytes":
        given = base64.b64decode(given, validate=True)
    return dtype.fill(given)


def _number(given: Any) -> float:
    if type(given) is not str:
        return float(given)
    try:
        (number,) = struct.unpack("<d", base64.b64decode(given, validate=True))
    except (struct.error, binascii.Error):
        return float(given)
    return float(number)
