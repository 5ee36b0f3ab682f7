"""``blizzarr copy``: any array or group, or a ``.npy`` or ``.npz`` file, into any layout."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blizzarr.cli.cluster import SchedulerOption, ThreadsOption, executor_of
from blizzarr.cli.codecs import (
    CodecOption,
    CopiedChunksOption,
    CopiedShardsOption,
    FormatOption,
    codec_arguments,
    parse_layout,
)
from blizzarr.cli.failing import as_options
from blizzarr.cli.place import KeepForeignOption, Place, complete_path, open_node
from blizzarr.cli.progress import Meter, duration_text
from blizzarr.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from blizzarr.array import Array
    from blizzarr.errors import BlizzarrError
    from blizzarr.group import Group

EXAMPLES = (
    "blizzarr copy data.zarr/t1 new.zarr/t1 --chunks 32,32,32 --shards 128,128,128 -z zstd:level=9",
    "blizzarr copy data.zarr new.zarr --chunks time=31,lat=45,lon=90 --shards time=186",
    "blizzarr copy volume.npy data.zarr/volume",
    "blizzarr copy data.zarr data.zip",
    "blizzarr copy old.zarr new.zarr --format v3",
)


def run(
    source: Annotated[
        str,
        typer.Argument(metavar="SRC", help="An array, a group, or a .npy or .npz file.", autocompletion=complete_path),
    ],
    destination: Annotated[
        str, typer.Argument(metavar="DST", help="Where to put the copy.", autocompletion=complete_path)
    ],
    chunks: CopiedChunksOption = None,
    shards: CopiedShardsOption = None,
    codec: CodecOption = None,
    zarr_format: FormatOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Finish an interrupted copy.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    skip_damaged: Annotated[
        bool,
        typer.Option(
            "--skip-damaged",
            help="Copy what is intact; list what is lost, which reads as the fill value in the copy, and exit with 1.",
        ),
    ] = False,
    keep_foreign: KeepForeignOption = False,
    memory: Annotated[
        str | None, typer.Option(help="How much of an array to hold in memory, like 512MB; 128MiB by default.")
    ] = None,
    threads: ThreadsOption = 0,
    scheduler: SchedulerOption = None,
) -> None:
    """Copy an array or a group, as it is or into other chunks, shards, codecs and formats.

    Copies arrays of any size, part by part, on all cores. Whatever you leave out stays as it is in the source. Chunks
    that need no change are copied without decoding, with any damage, which 'blizzarr check' finds; --skip-damaged
    decodes all.

    After Ctrl-C, run the same command with --resume: it continues where it stopped.
    """
    if resume and overwrite:
        raise typer.BadParameter("expected --resume or --overwrite, found both", param_hint="--resume")
    if destination.lower().endswith((".npy", ".npz")) and not Path(destination).is_dir():
        raise typer.BadParameter("expected a place for Zarr; cat -o FILE.npy writes a NumPy file", param_hint="DST")
    target = Place.whole(destination, "DST")
    options: dict[str, Any] = codec_arguments(codec)
    if chunks is not None:
        options["chunks"] = parse_layout(chunks, "--chunks")
    if shards is not None:
        options["shards"] = parse_layout(shards, "--shards")
    from blizzarr import api
    from blizzarr.config import config
    from blizzarr.creation.chunking import parse_bytes
    from blizzarr.errors import CodecError

    settings: dict[str, Any] = {"threads": threads, "keep_foreign_files": keep_foreign}
    settings |= {} if memory is None else {"copy_bytes": parse_bytes(memory)}
    what = _source(source)
    lost: list[BlizzarrError] = []
    meter = Meter(f"copy {Path(source).name}", going_on=resume, is_copy=True)
    try:
        with executor_of(scheduler) as executor, config.set(**settings), meter:
            node = api.copy(
                what,
                target.target,
                path=target.path,
                progress=meter,
                resume=resume,
                overwrite=overwrite,
                skip_damaged=lost.append if skip_damaged else False,
                zarr_format=zarr_format,
                executor=executor,
                **options,
            )
    except CodecError as error:
        if error.direction == "decode":
            error.reason = f"{error.reason}; --resume --skip-damaged copies what is intact"
        raise
    except KeyboardInterrupt:
        given = {"chunks": chunks, "shards": shards, "codec": codec, "memory": memory, "format": zarr_format}
        given["scheduler"] = scheduler
        again = _again(source, destination, threads, **given) + (" --skip-damaged" if skip_damaged else "")
        _list(lost)
        typer.echo(f"\nInterrupted. What was copied is kept; this goes on:\n  {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _tell(node, meter, target.text)
    if _list(lost):
        raise typer.Exit(1)


def _tell(node: Array | Group, meter: Meter, target: str) -> None:
    from blizzarr.display.sizes import stored
    from blizzarr.formats import chunk_prefix
    from blizzarr.size_text import bytes_text

    done = meter.done_by_this_run
    speed = f", {bytes_text(int(done / meter.seconds))}/s" if meter.seconds > 0.1 and done else ""
    size_stored = stored(node.store, chunk_prefix(node.path, node.metadata), over_network=True)
    size = f", stored in {bytes_text(size_stored.bytes)}" if size_stored is not None and size_stored.complete else ""
    took = duration_text(meter.seconds)
    typer.echo(f"Copied {bytes_text(done)} to {target} in {took}{speed}{size}.", err=True)


def _list(lost: list[BlizzarrError]) -> bool:
    """Print what was not copied, and return whether there is anything."""
    from blizzarr.printable import printable

    if lost:
        typer.echo(f"Not copied, because blizzarr cannot read it ({len(lost):,}):", err=True)
    for error in lost:
        typer.echo(f"  {printable(as_options(error.line))}", err=True)
    return bool(lost)


def _source(text: str) -> Any:
    """Open the source of a copy: a node, or the path of a NumPy file."""
    if text.lower().endswith((".npy", ".npz")) and Path(text).expanduser().is_file():
        return text
    return open_node(Place.whole(text, "SRC"))


def _again(source: str, destination: str, threads: int, **given: list[str] | str | None) -> str:
    parts = ["blizzarr", "copy", "--resume", source, destination]
    for name, values in given.items():
        for value in [values] if isinstance(values, str) else values or []:
            parts += [f"--{name}", value]
    parts += ["--threads", str(threads)] if threads else []
    return shlex.join(parts)
