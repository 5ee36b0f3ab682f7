"""``blizzarr show``: a picture of an array."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from blizzarr.cli.place import ArrayArgument, Place, SelectionArgument, array_in, open_node

if TYPE_CHECKING:
    from typing import Literal

EXAMPLES = (
    "blizzarr show data.zarr/brain/t1 -o slices.png",
    "blizzarr show 'data.zarr/brain/t1[90]' -o slice.png --cmap gray",
    "blizzarr show data.zarr/brain/t1 --axis z -o sheet.png",
    "blizzarr show image.ome.zarr -o image.png",
)


def run(
    path: ArrayArgument,
    selection: SelectionArgument = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The PNG file; by default a new one, named after the array.")
    ] = None,
    cmap: Annotated[
        str,
        typer.Option(
            help="viridis, magma, gray, RdBu, or any of Matplotlib's (pip install matplotlib); _r reverses it."
        ),
    ] = "viridis",
    axis: Annotated[
        str | None, typer.Option(help="Show slices along this axis, given by number or name, on a sheet.")
    ] = None,
    vmin: Annotated[
        str | None,
        typer.Option(help="The value of the first colour: a number or a percentile like 2%; 0.2% by default."),
    ] = None,
    vmax: Annotated[str | None, typer.Option(help="The value of the last colour; 99.8% by default.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(help="Whether row 0 is at the 'upper' or 'lower' edge; by default, north is up in maps."),
    ] = None,
    size: Annotated[int, typer.Option(min=64, max=8192, help="The approximate width of the image in pixels.")] = 720,
) -> None:
    """Make a picture: a curve, an image, or slices of a volume.

    Large arrays are sampled with strides, so a picture of a huge array reads only a part of it. Of an image of
    OME-Zarr, the coarsest level is shown that is not smaller than the picture.
    """
    if origin not in (None, "upper", "lower"):
        raise typer.BadParameter(f"expected 'upper' or 'lower', found {origin!r}", param_hint="--origin")
    if output is not None and (output.suffix.lower() not in ("", ".png") or output == Path("-")):
        raise typer.BadParameter(
            f"expected a file name that ends in .png, found {str(output)!r}", param_hint="--output"
        )
    place = Place.parse(path, selection)
    node = open_node(place)
    from blizzarr.api import show
    from blizzarr.api.show import level_of
    from blizzarr.array import Array
    from blizzarr.display.region import Region
    from blizzarr.display.sizes import shape_text

    level = None if isinstance(node, Array) else level_of(node, size)
    array = array_in(node, place) if level is None else level
    below = "" if level is None else f"/{level.path.removeprefix(node.path).strip('/')}"
    unit = array.attrs.get("units")
    selected = "" if place.selection is None else f"[{place.selection}]"
    shape = tuple(map(len, Region.of(array, place.key).axes))
    title = f"{place.text}{below}{selected}   {shape_text(shape)} {array.metadata.dtype}"
    title += f" ({unit})" if isinstance(unit, str) else ""
    target = output or Path(f"{Path(place.text).name.removesuffix('.zarr')}.png")
    if output is None and target.exists():
        raise FileExistsError(f"expected no file named {target} here, found one; -o {target} replaces it")
    pixels = show(
        array,
        target,
        key=place.key,
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        axis=axis,
        origin=cast("Literal['upper', 'lower'] | None", origin),
        size=size,
        title=title,
    )
    typer.echo(f"{target}: {pixels.shape[1]} x {pixels.shape[0]} pixels", err=True)
