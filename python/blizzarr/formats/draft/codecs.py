"""The codecs of an array in the document's spelling: a list, each by a URI.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#chunk-encoding

The specifications of this draft are of ``endian``, ``blosc`` and ``gzip``. What numcodecs has besides is called
likewise; others may too, as each codec is what its URI says. Axes are never reordered by a codec here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from blizzarr.codecs import Codec, CodecChain, GzipCodec
from blizzarr.codecs.configs import Configs, chain_from_configs
from blizzarr.codecs.numcodecs import PREFIX, ROWS
from blizzarr.dtypes import DataType
from blizzarr.formats.draft.extension import unknown_members
from blizzarr.problems import MISSING, Problems

__all__ = ["Layout", "check_options", "decode", "encode", "name_of", "relocate", "stated_endian"]

_URI: Final = "https://purl.org/zarr/spec/codecs/{}/1.0"
_CODEC: Final = re.compile(
    r"https?://purl\.org/zarr/spec/(?:protocol/)?codecs?/([a-z0-9_.-]+?)(?:/1\.[0-9]+)?/?", re.ASCII
)
"""The example of gzip has "codec" and no version, where its header has "codecs" and one."""
_NOT_HERE: Final = "it is neither of the draft nor one of numcodecs; ask whoever wrote the array, or check the spelling"
_ENDIAN: Final = "endian"
_STRICTER: Final[Mapping[str, type[Codec]]] = {"gzip": GzipCodec}
"""numcodecs has a level -1 for the default."""
_NOT_STATED: Final = ("typesize",)
"""What Blosc takes from the elements."""


def name_of(uri: Any) -> str | None:
    """The name of the codec that a URI means, as numcodecs has it; `None` for other URIs.

    Examples
    --------
    >>> name_of("https://purl.org/zarr/spec/codecs/gzip/1.0"), name_of("https://purl.org/zarr/spec/codec/gzip")
    ('gzip', 'gzip')
    >>> name_of("https://example.org/gzip") is None
    True
    """
    found = _CODEC.fullmatch(uri) if type(uri) is str else None
    return None if found is None else found[1]


def stated_endian(value: Any) -> str | None:
    """The byte order that the codec `endian` in a list states, if it is there and right."""
    for item in value if type(value) is list else ():
        if type(item) is dict and name_of(item.get("type")) == _ENDIAN:
            configuration = item.get("configuration")
            endian = configuration.get("endian") if type(configuration) is dict else None
            return endian if endian in ("little", "big") else None
    return None


class Layout(NamedTuple):
    """How the elements of a chunk lie before any codec; a part is `None` where the document is wrong about it."""

    dtype: DataType | None
    endian: str | None
    """The byte order, where no codec says another; also `None` where elements have none."""
    order: str
    chunk_shape: tuple[int, ...] | None


def decode(value: Any, layout: Layout, problems: Problems) -> CodecChain | None:
    """The chain that a document lists; `None` when a problem was added."""
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
    found = Problems()
    chain = chain_from_configs(configs, None, **layout._asdict(), filters_path="codecs", problems=found)
    relocate(found, {f"codecs[{index}]": place for index, place in enumerate(places)}, "type", problems)
    return chain if len(problems.items) == before else None


def _config(item: Any, path: str, problems: Problems) -> dict[str, Any] | None:
    """A codec as numcodecs would have it; `None` when a problem was added."""
    if type(item) is not dict:
        problems.add(path, "a codec: an object with a type", item)
        return None
    before = len(problems.items)
    uri, configuration = item.get("type", MISSING), item.get("configuration", {})
    if type(uri) is not str:
        problems.add(f"{path}.type", "the URI of a codec", uri)
    if type(configuration) is not dict:
        problems.add(f"{path}.configuration", "an object", configuration)
    unknown_members(item, ("type", "configuration"), problems, path)
    if len(problems.items) > before:
        return None
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
    """Whether a codec of numcodecs has these options, each with a value of its type; adds problems when not.

    Parameters
    ----------
    stricter
        Codecs that have narrower options here.
    omitted
        Options that it has in numcodecs, but not here.
    null
        Whether an option may be null, for its default.
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


def relocate(found: Problems, places: dict[str, str], identifier: str, problems: Problems) -> None:
    """Adds problems with codecs that were put together for numcodecs, in the places where the document has them.

    `places` has for each codec where it is; `identifier` is what the document calls the member that names a codec.
    """
    for problem in found.items:
        start = next((start for start in places if problem.path == start or problem.path.startswith(start + ".")), None)
        path = problem.path
        if start is not None:
            option = path[len(start) + 1 :]
            inside = identifier if option == "id" else f"configuration.{option}"
            path = places[start] + (f".{inside}" if option else "")
        problems.items.append(problem._replace(path=path))
    problems.extensions.extend(found.extensions)
    problems.limits.extend(found.limits)


def encode(configs: Configs) -> list[dict[str, Any]]:
    """The codecs as documents list them; little-endian elements need none."""
    listed = []
    if configs.endian == "big":
        listed.append({"type": _URI.format(_ENDIAN), "configuration": {"endian": "big"}})
    for config in (*(configs.filters or ()), configs.compressor):
        if config is not None:
            options = {name: option for name, option in config.items() if name != "id" and option is not None}
            codec: dict[str, Any] = {"type": _URI.format(config["id"])}
            listed.append({**codec, "configuration": options} if options else codec)
    return listed
