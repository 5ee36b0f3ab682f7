"""The codecs of an array in the document's spelling: a list, each by a URI.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#chunk-encoding

The draft specifies ``endian``, ``blosc`` and ``gzip``. The other codecs of numcodecs get URIs of the same form. No
codec of the draft reorders axes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from blizzarr.codecs import Codec, CodecChain, GzipCodec
from blizzarr.codecs.configs import Configs, chain_from_configs
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.dtypes import DataType
from blizzarr.formats.draft.extension import unknown_members
from blizzarr.problems import MISSING, Problems

_URI: Final = "https://purl.org/zarr/spec/codecs/{}/1.0"
_CODEC: Final = re.compile(
    r"https?://purl\.org/zarr/spec/(?:protocol/)?codecs?/([a-z0-9_.-]+?)(?:/1\.[0-9]+)?/?", re.ASCII
)
"""URIs of codecs; the example of gzip has "codec" and no version, its header "codecs" and a version."""
_NOT_HERE: Final = "it is neither of the draft nor one of numcodecs; ask whoever wrote the array, or check the spelling"
_ENDIAN: Final = "endian"
_STRICTER: Final[Mapping[str, type[Codec]]] = {"gzip": GzipCodec}
"""Codecs with stricter options than in numcodecs, whose gzip has a level -1 for the default."""
_NOT_STATED: Final = ("typesize",)
"""The option of Blosc that follows from the data type."""


def name_of(uri: Any) -> str | None:
    """Return the numcodecs name of the codec with this URI; `None` for other URIs.

    >>> name_of("https://purl.org/zarr/spec/codecs/gzip/1.0"), name_of("https://purl.org/zarr/spec/codec/gzip")
    ('gzip', 'gzip')
    >>> name_of("https://example.org/gzip") is None
    True
    """
    match = _CODEC.fullmatch(uri) if type(uri) is str else None
    return None if match is None else match[1]


def stated_endian(value: Any) -> str | None:
    """Return the byte order in a valid codec ``endian`` of a list; `None` if there is none."""
    for item in value if type(value) is list else ():
        if type(item) is dict and name_of(item.get("type")) == _ENDIAN:
            configuration = item.get("configuration")
            endian = configuration.get("endian") if type(configuration) is dict else None
            return endian if endian in ("little", "big") else None
    return None


class Layout(NamedTuple):
    """The layout of the elements of a chunk before any codec; `None` for parts that the document has wrong."""

    dtype: DataType | None
    endian: str | None
    """The byte order unless a codec states another; also `None` if elements have no byte order."""
    order: str
    chunk_shape: tuple[int, ...] | None


def decode(value: Any, layout: Layout, problems: Problems) -> CodecChain | None:
    """Decode the codecs of a document; `None` if a problem was added."""
    if value is MISSING:
        value = []
    if type(value) is not list:
        problems.add("codecs", "a list of codecs", value)
        return None
    before = len(problems.items)
    configs: list[dict[str, Any]] = []
    places: list[str] = []
    for position, item in enumerate(value):
        path = f"codecs[{position}]"
        config = _config(item, path, problems)
        if config is None:
            continue
        if config["id"] != _ENDIAN:
            configs.append(config)
            places.append(path)
            continue
        if position:
            problems.add(f"{path}.type", "endian as the first codec: it makes bytes of elements", item["type"])
        given = config.get("endian", MISSING)
        if given not in ("little", "big"):
            problems.add(f"{path}.configuration.endian", '"little" or "big"', given)
        else:
            layout = layout._replace(endian=given if layout.dtype is None or layout.dtype.swap else None)
    inner = Problems()
    chain = chain_from_configs(configs, None, **layout._asdict(), filters_path="codecs", problems=inner)
    relocate(inner, {f"codecs[{index}]": where for index, where in enumerate(places)}, "type", problems)
    return chain if len(problems.items) == before else None


def _config(item: Any, path: str, problems: Problems) -> dict[str, Any] | None:
    if type(item) is not dict:
        problems.add(path, "a codec: an object with a type", item)
        return None
    read = uri_and_options({"configuration": {}, **item}, "type", path, problems)
    if read is None:
        return None
    uri, configuration = read
    name = name_of(uri)
    if name is None or (name != _ENDIAN and PREFIX + name not in ROWS):
        problems.unknown(f"{path}.type", "codec", uri, _NOT_HERE)
        return None
    if name == _ENDIAN:
        unknown_members(configuration, (_ENDIAN,), problems, f"{path}.configuration")
    elif not check_options(
        name, configuration, f"{path}.configuration", problems, stricter=_STRICTER, omitted=_NOT_STATED
    ):
        return None
    return {"id": name, **configuration}


def uri_and_options(
    item: dict[str, Any], identifier: str, path: str, problems: Problems
) -> tuple[str, dict[str, Any]] | None:
    """Return the URI of a codec, its member `identifier`, and its options; `None` if a problem was added."""
    before = len(problems.items)
    uri, configuration = item.get(identifier, MISSING), item.get("configuration", MISSING)
    if type(uri) is not str:
        problems.add(f"{path}.{identifier}", "the URI of a codec", uri)
    if type(configuration) is not dict:
        problems.add(f"{path}.configuration", "an object", configuration)
    unknown_members(item, (identifier, "configuration"), problems, path)
    return (uri, configuration) if len(problems.items) == before else None


def check_options(
    name: str,
    configuration: dict[str, Any],
    path: str,
    problems: Problems,
    *,
    stricter: Mapping[str, type[Codec]] = MappingProxyType({}),
    omitted: tuple[str, ...] = (),
    null: bool = False,
) -> bool:
    """Return whether these are valid options of a codec of numcodecs; add a problem for each that is not.

    - `stricter`: codecs with stricter options than in numcodecs.
    - `omitted`: options of numcodecs that are not allowed here.
    - `null`: true if an option may be null, which means its default.
    """
    before = len(problems.items)
    row = stricter.get(name, ROWS[PREFIX + name])
    options = {option.name: option for option in row.options if option.name not in omitted}
    unknown_members(configuration, options, problems, path)
    for option in options.values():
        value = configuration.get(option.name, MISSING)
        if value is not MISSING and not (null and value is None) and not option.accepts(value):
            problems.add(f"{path}.{option.name}", option.expected, value)
    return len(problems.items) == before


def relocate(inner: Problems, places: dict[str, str], identifier: str, problems: Problems) -> None:
    """Add the problems of converted codecs with their paths in the document.

    `places` maps the path of each converted codec to its path in the document; `identifier` is the member that names a
    codec there.
    """
    for problem in inner.items:
        start = next((start for start in places if problem.path == start or problem.path.startswith(start + ".")), None)
        path = problem.path
        if start is not None:
            option = path[len(start) + 1 :]
            inside = identifier if option == "id" else f"configuration.{option}"
            path = places[start] + (f".{inside}" if option else "")
        problems.items.append(problem._replace(path=path))
    problems.extensions.extend(inner.extensions)
    problems.limits.extend(inner.limits)


def encode(configs: Configs) -> list[dict[str, Any]]:
    """Encode codecs as documents list them; little-endian elements need no codec."""
    listed = []
    if configs.endian == "big":
        listed.append({"type": _URI.format(_ENDIAN), "configuration": {"endian": "big"}})
    for config in (*(configs.filters or ()), configs.compressor):
        if config is not None:
            options = {name: option for name, option in config.items() if name != "id" and option is not None}
            codec: dict[str, Any] = {"type": _URI.format(config["id"])}
            listed.append({**codec, "configuration": options} if options else codec)
    return listed
