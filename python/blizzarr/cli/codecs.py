"""Parsing codecs, values and shapes on the command line."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final, TypeAlias

import typer

_FORMATS: Final = "v3, v2, v1, v3_draft, v3_draft_zarr_python, or n5"


def _known_format(text: str | None) -> str | None:
    """Return the name of a format, or raise `typer.BadParameter` if it is not one."""
    if text is not None:
        from blizzarr.errors import UnknownExtensionError
        from blizzarr.formats import format_named

        try:
            format_named(int(text) if text.isdecimal() else text)
        except UnknownExtensionError:
            raise typer.BadParameter(f"expected {_FORMATS}, found {text!r}") from None
    return text


ChunksOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--chunks", "-c", help="Lengths like 64,64,64 (-1: the whole axis), a size like 8MB, or 'auto'."),
]
ShardsOption: TypeAlias = Annotated[
    str | None, typer.Option("--shards", "-s", help="As for --chunks, or 'none' for no shards.")
]
CopiedChunksOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--chunks",
        "-c",
        help="Lengths like 64,64,64 (-1: the whole axis), a size like 8MB, or 'auto'; of dimensions by name, like "
        "time=31,lat=45; or of one array, like /temperature:31,45,90. May be repeated.",
    ),
]
CopiedShardsOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--shards", "-s", help="As for --chunks, or 'none' for no shards.")
]
CodecOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--codec",
        "--compressor",
        "-z",
        help="Like zstd:5, blosc:cname=zstd,clevel=3, transpose:order=2;1;0, none, or JSON; "
        "repeat it for several codecs, in the order of encoding.",
    ),
]
FormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help=f"{_FORMATS}. v3_draft_zarr_python is the draft as zarr-python spelled it.",
        callback=_known_format,
    ),
]

UpgradeOption: TypeAlias = Annotated[
    str, typer.Option("--to", help="The format that it will have; copy --help lists them.", callback=_known_format)
]


def parse_lengths(text: str | None, option: str) -> Any:
    """Parse lengths, a size, or ``"auto"``; `None` if the option was not given.

    >>> parse_lengths("64,-1", "--chunks"), parse_lengths("8MB", "--chunks"), parse_lengths("()", "--shape")
    ([64, -1], '8MB', [])
    """
    if text is None or text == "auto" or text.strip().endswith("B"):
        return text
    inside = re.sub(r"(?<=\d)x(?=\d)", ",", text.strip().strip("()[]")).replace(" ", ",")
    try:
        return [int(part) for part in inside.split(",") if part]
    except ValueError:
        raise typer.BadParameter(f"expected lengths like 64,64,64, found {text!r}", param_hint=option) from None


def parse_layout(texts: list[str] | None, option: str) -> Any:
    """Parse lengths for all arrays; or mappings from the names of dimensions and the paths of arrays to lengths.

    >>> parse_layout(["64,-1"], "--chunks"), parse_layout(["none"], "--shards"), parse_layout(None, "--chunks")
    ([64, -1], None, None)
    >>> parse_layout(["time=31,lat=45", "/rain:8MB", "/snow:time=7"], "--chunks")
    {'time': 31, 'lat': 45, '/rain': '8MB', '/snow': {'time': 7}}
    """
    made: dict[str, Any] = {}
    for text in texts or []:
        path, colon, lengths = text.rpartition(":")
        if colon and path.startswith("/"):
            made[path] = _lengths_or_names(lengths, option)
            continue
        given = _lengths_or_names(text, option)
        if not isinstance(given, dict) and len(texts or []) > 1:
            raise typer.BadParameter(
                f"expected the names of dimensions or the path of an array in each of several, found {text!r}",
                param_hint=option,
            )
        if not isinstance(given, dict):
            return given
        made |= given
    return made or None


def _lengths_or_names(text: str, option: str) -> Any:
    """Parse ``time=31,lat=45``, or lengths for all axes."""
    if "=" not in text:
        return None if option == "--shards" and text == "none" else parse_lengths(text, option)
    made = {}
    for part in text.split(","):
        name, equals, length = part.rpartition("=")
        if not (name and equals and re.fullmatch(r"\s*-?\d+\s*", length)):
            raise typer.BadParameter(
                f"expected DIMENSION=LENGTH,... like time=31,lat=45, found {text!r}", param_hint=option
            )
        made[name.strip()] = int(length)
    return made


def parse_value(text: str) -> Any:
    """Parse a JSON value; other text is returned unchanged.

    >>> parse_value("1.5"), parse_value("NaN"), parse_value('{"a": [1]}'), parse_value("mm")
    (1.5, 'NaN', {'a': [1]}, 'mm')
    """
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def parse_codec(text: str) -> Any:
    """Parse a codec into its JSON form; a value without a name is that of the codec's main option.

    >>> parse_codec("zstd:5")
    {'name': 'zstd', 'configuration': {'level': 5}}
    >>> parse_codec("blosc:cname=zstd,clevel=3")
    {'name': 'blosc', 'configuration': {'cname': 'zstd', 'clevel': 3}}
    >>> parse_codec("transpose:order=2;1;0")
    {'name': 'transpose', 'configuration': {'order': [2, 1, 0]}}
    """
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text, parse_constant=str)
        except ValueError as error:
            raise typer.BadParameter(f"expected valid JSON, found {text!r}: {error}", param_hint="--codec") from None
    name, _, options = text.partition(":")
    configuration: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        key, equals, value = option.partition("=")
        if not equals:
            key, value = _main_option(name.strip()), option
        if not key:
            from blizzarr.codecs.user import codec_of

            codec_of(name.strip())  # which knows better what is wrong when there is no such codec
            raise typer.BadParameter(
                f"expected NAME:OPTION=VALUE,... like zstd:level=5, found {text!r}", param_hint="--codec"
            )
        parts = [parse_value(part) for part in value.split(";")]
        configuration[key.strip()] = parts if len(parts) > 1 else parts[0]
    return {"name": name.strip(), "configuration": configuration}


def _main_option(name: str) -> str:
    """Return the option whose name may be left out: the first of a codec; empty if there is none."""
    from blizzarr.codecs import CATALOGUE
    from blizzarr.codecs.numcodecs.row import PREFIX

    if name == "lzma":
        return "preset"
    row = CATALOGUE.get(name) or CATALOGUE.get(PREFIX + name)
    return row.options[0].name if row is not None and row.options else ""


def codec_arguments(texts: list[str] | None) -> dict[str, Any]:
    """Return the arguments of `create_array` for these codecs, sorted by kind.

    >>> codec_arguments(["transpose:order=1;0", "zstd:level=3", "crc32c"])
    {'filters': [TransposeCodec(order=(1, 0))], 'compressors': [ZstdCodec(level=3, checksum=False), Crc32cCodec()]}
    >>> codec_arguments(["none"]), codec_arguments(None)
    ({'compressors': None}, {})
    """
    if not texts:
        return {}
    if texts == ["none"]:
        return {"compressors": None}
    from blizzarr.codecs import Stage
    from blizzarr.codecs.user import codec_of

    codecs = [codec_of(parse_codec(text)) for text in texts]
    serializers = [codec for codec in codecs if codec.stage is Stage.SERIALIZER]
    if len(serializers) > 1:
        raise typer.BadParameter("expected at most one codec that makes bytes of arrays", param_hint="--codec")
    arguments: dict[str, Any] = {}
    if any(codec.stage is Stage.FILTER for codec in codecs):
        arguments["filters"] = [codec for codec in codecs if codec.stage is Stage.FILTER]
    if serializers:
        arguments["serializer"] = serializers[0]
    # Naming codecs replaces the default compressor.
    arguments["compressors"] = [codec for codec in codecs if codec.stage is Stage.COMPRESSOR]
    return arguments
