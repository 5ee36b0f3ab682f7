"""``blizzarr create``: a new array, or a new group."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from blizzarr.cli.codecs import (
    ChunksOption,
    CodecOption,
    FormatOption,
    ShardsOption,
    codec_arguments,
    parse_lengths,
    parse_value,
)
from blizzarr.cli.place import KeepForeignOption, PathArgument, Place

EXAMPLES = (
    "blizzarr create data.zarr --attribute title=brain",
    "blizzarr create data.zarr/t1 --shape 189,233,197 --dtype uint8 --chunks 64,64,64 --dimension-names z,y,x",
)


def run(
    path: PathArgument,
    shape: Annotated[
        str | None, typer.Option(help="Lengths like 100,200; () for a single element. Without it, a group is created.")
    ] = None,
    dtype: Annotated[str | None, typer.Option("--dtype", "-d", help="Like uint8, float32, bool, complex64.")] = None,
    chunks: ChunksOption = None,
    shards: ShardsOption = None,
    codec: CodecOption = None,
    fill_value: Annotated[
        str | None, typer.Option(help="The value of elements that were never written: 0, NaN, 0x7fc00001, ...")
    ] = None,
    dimension_names: Annotated[str | None, typer.Option(help="Like z,y,x")] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", "-a", help="NAME=VALUE, where VALUE is JSON or text; may be repeated."),
    ] = None,
    zarr_format: FormatOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    keep_foreign: KeepForeignOption = False,
) -> None:
    """Create an array (with --shape and --dtype) or a group (without them)."""
    place = Place.whole(path)
    attributes = dict(_attribute(text) for text in attribute or [])
    options: dict[str, Any] = {
        "chunks": parse_lengths(chunks, "--chunks"),
        "shards": None if shards == "none" else parse_lengths(shards, "--shards"),
        **({} if fill_value is None else {"fill_value": _fill_value(fill_value)}),
        "dimension_names": None if dimension_names is None else [name or None for name in dimension_names.split(",")],
    }
    options = {name: value for name, value in options.items() if value is not None}
    if shape is None:
        given = sorted([*options, *(["dtype"] if dtype else []), *(["codec"] if codec else [])])
        if given:
            flags = ", ".join("--" + name.replace("_", "-") for name in given)
            need = "needs" if len(given) == 1 else "need"
            raise typer.BadParameter(f"{flags} {need} --shape, without which a group is created")
    elif dtype is None:
        raise typer.BadParameter("expected the type of the elements, like --dtype float32", param_hint="--dtype")
    from blizzarr import api
    from blizzarr.config import config

    if shape is None:
        with config.set(keep_foreign_files=keep_foreign):
            group = api.create_group(
                place.target, path=place.path, attributes=attributes, overwrite=overwrite, zarr_format=zarr_format
            )
        typer.echo(f"Created the group {group.name} in {group.store}.", err=True)
        return
    lengths = parse_lengths(shape, "--shape")
    if not isinstance(lengths, list):
        raise typer.BadParameter(f"expected lengths like 100,200, found {shape!r}", param_hint="--shape")
    with config.set(keep_foreign_files=keep_foreign):
        array = api.create_array(
            place.target,
            name=place.path,
            shape=lengths,
            dtype=dtype,
            attributes=attributes,
            overwrite=overwrite,
            zarr_format=zarr_format,
            **codec_arguments(codec),
            **options,
        )
    typer.echo(f"Created the array {array.name} in {array.store}: {array.shape} {array.metadata.dtype}.", err=True)


def _fill_value(text: str) -> Any:
    """Parse a fill value; non-finite numbers may have Python's spelling."""
    named = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return parse_value(named.get(text.lower(), text))


def _attribute(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"expected NAME=VALUE, found {text!r}", param_hint="--attribute")
    return name, parse_value(value)
