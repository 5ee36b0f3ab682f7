"""Making a picture of an array."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from blizzarr.api.open import open as open_node
from blizzarr.array import Array
from blizzarr.errors import BlizzarrError, NodeTypeError
from blizzarr.formats import detect
from blizzarr.formats.ome import axis_names, levels
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.stores import LocalStore, StoreLike
from blizzarr.stores.requests import each
from blizzarr.stores.wrapper import unwrapped

if TYPE_CHECKING:
    from blizzarr.display.coordinates import Coordinates
    from blizzarr.display.png import Picture
    from blizzarr.display.region import Pictured

_MOST: Final = 1 << 20
"""Along axes as long as this there are no coordinates, which all would have to be read."""


@exact_keywords
def show(
    array: StoreLike | Pictured,
    path: str | os.PathLike[str] | None = None,
    *,
    key: Any = ...,
    cmap: str = "viridis",
    vmin: float | str | None = None,
    vmax: float | str | None = None,
    axis: int | str | None = None,
    origin: Literal["upper", "lower"] | None = None,
    size: int = 720,
    title: str = "",
) -> Picture:
    """Make a picture of an array, and store it as a PNG file.

    One axis becomes a curve and two become an image. Three become slices through the middle, one across each axis, or
    with `axis` a sheet of slices; of more axes, the leading ones stand at their middle. If the last axis has three or
    four ``uint8``, it is taken as colour. Large arrays are sampled with strides, so that only a part of them is read.

    The axes have the coordinates of the arrays that stand beside this one and have the names of its dimensions, as in
    xarray; otherwise indices. If the dimensions have no names, the axes have those of the OME-Zarr image around the
    array. Elements of an array with dimension names are drawn as xarray decodes them: without what ``_FillValue``
    masks, and unpacked by ``scale_factor`` and ``add_offset``. Text that is not ASCII is drawn as it is with Pillow
    (``pip install 'blizzarr[pictures]'``); without it, "Höhe" becomes "Hohe".

    Parameters
    ----------
    array
        An array, of blizzarr, NumPy, Dask, xarray or h5py; or a path, a URL or a store with an array at its root. Of
        an image of OME-Zarr, a group, the coarsest level is shown that is not smaller than the picture.
    path
        The PNG file to write. None writes nothing, and only returns the picture.
    key
        What to show of the array: integers, slices and ``...``.
    cmap
        The colour map: ``"viridis"``, ``"magma"``, ``"gray"`` or ``"RdBu"``, or any of Matplotlib if it is installed;
        with ``_r`` appended, in reverse.
    vmin, vmax
        The values of the first and the last colour: numbers, or percentiles like ``"2%"``. By default ``"0.2%"`` and
        ``"99.8%"``, and for a curve the smallest and the largest value.
    axis
        Show slices along this axis, given by its number or its name. The selection must have three axes or more.
    origin
        The edge where row 0 is drawn: ``"upper"`` as in images, or ``"lower"`` as in plots. By default north is up if
        the rows have latitudes, and otherwise row 0 is at the upper edge.
    size
        The approximate width of an image in pixels.
    title
        The text above the picture.

    Returns
    -------
    The pixels, an array of NumPy, ``uint8`` of shape (height, width, 3), which a notebook shows as a picture.

    Raises
    ------
    ValueError
        The elements are not numbers, nothing is selected, or an argument is not one of those above.
    SelectionError
        `key` has something else than integers, slices and one ``...``, more of them than the array has axes, or an
        index outside the array.
    NodeNotFoundError
        No array or group is at the path or in the store.
    NodeTypeError
        A group is there, or was given, and is no image of OME-Zarr.
    CodecError
        A chunk that is read is damaged.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[[0, 1, 2], [3, 4, 5]], chunks=(1, 3))
    >>> blizzarr.show(z, cmap="gray", size=300).shape
    (204, 407, 3)
    """
    # Only those who make pictures pay for what draws them.
    from blizzarr.display.output import whole_file
    from blizzarr.display.picture import Style, render
    from blizzarr.display.png import Picture, encode

    if origin not in (None, "upper", "lower"):
        raise ValueError(f"expected origin='upper' or 'lower', found {origin!r}")
    file = None if path is None else os.fsdecode(path)
    if file is not None and os.path.splitext(file)[1].lower() not in ("", ".png"):
        raise ValueError(f"expected a file name that ends in .png, found {file!r}")
    low, high = (None if bound is None else str(bound) for bound in (vmin, vmax))
    style = Style(cmap, low, high, axis, origin, size)
    if isinstance(array, list | tuple):
        array = np.asarray(array)
    # Views and NumPy's arrays are arrays, too, and no store has a shape.
    pictured: Any = array if hasattr(array, "shape") or isinstance(array, Group) else open_node(array, mode="r")
    if isinstance(pictured, Group):
        level = level_of(pictured, size)
        if level is None:
            arrays = [name for name, node in pictured.members(max_depth=1) if isinstance(node, Array)]
            like = f"group[{arrays[0]!r}]" if arrays else "group[name]"
            what = f"expected an array, found a group; show one of its arrays, like {like}"
            raise NodeTypeError(what, array=pictured.name, store=str(pictured.store))
        pictured = level
    beside, names = {}, None
    if isinstance(pictured, Array):
        placed = _in_its_group(pictured)
        beside, names = _coordinates(placed), _names(placed)
    pixels = render(pictured, key, title=title, style=style, coordinates=beside, names=names)
    if file is not None:
        with whole_file(file) as stream:
            stream.write(encode(pixels))
    return pixels.view(Picture)


def level_of(group: Group, size: int) -> Array | None:
    """Return the level of an OME-Zarr image to draw with about `size` pixels; None if the group is no such image.

    It is the coarsest level whose longer side has as many elements, or the finest level.
    """
    found = None
    for path in levels(group.metadata):
        level = group.get(path)
        if not isinstance(level, Array):
            continue
        if found is not None and max(level.shape[-2:], default=0) < size:
            break
        found = level
    return found


def _in_its_group(array: Array) -> Array:
    """Return an array that was opened by its own directory as one in the group around it, if there is one."""
    store = unwrapped(array.store)
    if array.path or not isinstance(store, LocalStore) or store.links == "within-root":
        return array
    around = LocalStore(store.root.parent, read_only=True)
    try:
        is_group = isinstance(detect(around, ""), GroupMeta)
    except BlizzarrError:
        is_group = False
    return Array(around, store.root.name, array.metadata) if is_group else array


def _names(array: Array) -> tuple[str, ...] | None:
    """Return the names that the OME-Zarr image around an array gives its axes; None if the array has its own."""
    if array.metadata.dimension_names is not None or not array.path:
        return None
    above = array.path.rpartition("/")[0]
    try:
        image = detect(array.store, above)
    except BlizzarrError:
        return None
    nodes = {array.path: array.metadata} | ({} if image is None else {above: image})
    return axis_names(nodes).get(array.path)


def _coordinates(array: Array) -> dict[int, Coordinates]:
    """Return the coordinates of the axes that have a name, and beside the array another one with that name."""
    from blizzarr.display.coordinates import Coordinates

    above, _, own = array.path.rpartition("/")
    names = enumerate(array.metadata.dimension_names or ())
    named = [(number, name) for number, name in names if array.path and name and name != own and "/" not in name]

    def read(axis: tuple[int, str]) -> Coordinates | None:
        number, name = axis
        # What is wrong with its neighbours is no reason to show nothing of an array.
        with suppress(BlizzarrError):
            meta, length = detect(array.store, join(above, name)), array.shape[number]
            if isinstance(meta, ArrayMeta) and meta.shape == (length,) and 0 < length < _MOST:
                values = Array(array.store, join(above, name), meta)[...]
                return Coordinates.of(values, meta.attributes, name)
        return None

    by_axis = zip(named, each(array.store, read, named), strict=True)
    return {number: coordinates for (number, _), coordinates in by_axis if coordinates is not None}
