"""``blizzarr cat``: elements of an array."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from blizzarr.cli.place import ArrayArgument, Place, SelectionArgument, open_array

if TYPE_CHECKING:
    from blizzarr.display.region import Region

EXAMPLES = (
    "blizzarr cat 'data.zarr/t1[0, :4, ::50]'",
    "blizzarr cat data.zarr/t1 0,:4,::50 --format csv",
    "blizzarr cat data.zarr/t1 -o t1.npy",
)


class Format(StrEnum):
    """The output formats of elements."""

    text = "text"
    csv = "csv"
    json = "json"
    npy = "npy"


def run(
    path: ArrayArgument,
    selection: SelectionArgument = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="By default as the name of the output file says, otherwise text."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file; - is standard output.")
    ] = None,
) -> None:
    """Print elements of an array as text, CSV, JSON or .npy.

    The array is read part by part, so it may be larger than memory.
    """
    if output == Path("-"):
        output = None
    place = Place.parse(path, selection)
    form = form or _named(output)
    if form is Format.npy and output is None and os.isatty(1):
        raise typer.BadParameter("expected -o FILE or a pipe for npy, found a terminal", param_hint="--format")
    array = open_array(place)
    if form is Format.npy and array.dtype.hasobject:
        raise typer.BadParameter(
            f"expected elements of a fixed size for npy, found {array.metadata.dtype}; take json or csv",
            param_hint="--format",
        )
    from blizzarr.display.output import whole_file
    from blizzarr.display.region import Region

    region = Region.of(array, place.key)
    if output is None:
        # Python has no `sys.stdout` if the shell has closed it.
        with open(1, "wb", closefd=False) as standard:
            _write(region, form, standard)
        return
    with whole_file(output) as file:
        _write(region, form, file)


def _named(output: Path | None) -> Format:
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    if suffix in ("csv", "json", "npy"):
        return Format(suffix)
    if suffix in ("", "txt"):
        return Format.text
    raise typer.BadParameter(
        f"expected a file name that ends in .txt, .csv, .json or .npy, or --format, found {str(output)!r}",
        param_hint="--output",
    )


def _write(region: Region, form: Format, target: BinaryIO) -> None:
    from blizzarr.display import rows

    if form is Format.npy:
        _write_npy(region, target)
        return
    if form is Format.json:
        for piece in rows.as_json(region):
            target.write(piece.encode())
        target.write(b"\n")
        return
    for line in (rows.as_csv if form is Format.csv else rows.as_text)(region):
        target.write(line.encode() + b"\n")


def _write_npy(region: Region, target: BinaryIO) -> None:
    import numpy as np

    from blizzarr.display.rows import blocks

    dtype = region.array.dtype
    shape = tuple(len(axis) for axis in region.axes)
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(target, header)
    for block in blocks(region):
        # A single text has the length that it needs, not that of the elements.
        target.write(np.ascontiguousarray(block, dtype).tobytes())
