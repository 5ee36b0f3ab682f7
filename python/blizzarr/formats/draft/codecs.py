"""The codecs of an array: in the document's spelling a list, each by a URI; in zarr-python's a compressor and filters.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#chunk-encoding

The draft specifies ``endian``, ``blosc`` and ``gzip``. The other codecs of numcodecs get URIs of the same form. No
codec of the draft reorders axes.

The draft has no member for filters, so zarr-python put them among the attributes. They are numcodecs configurations
with an ``id``, as in Zarr v2; in arrays of Python objects, the first is the object codec.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from blizzarr.codecs import CodecChain, GzipCodec
from blizzarr.codecs.configs import Configs, chain_from_configs
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.dtypes import DataType
from blizzarr.formats.draft.keys import Spelling
from blizzarr.problems import MISSING, Problems, unknown_members

FILTERS: Final = "filters"
"""The attribute that holds the filters in zarr-python's spelling."""

_URI: Final = "https://purl.org/zarr/spec/codecs/{}/1.0"
_URI_ZARR_PYTHON: Final = "https://purl.org/zarr/spec/codec/{}/1.0"
_CODEC: Final = re.compile(
    r"https?://purl\.org/zarr/spec/(?:protocol/)?codecs?/([a-z0-9_.-]+?)(?:/1\.[0-9]+)?/?", re.ASCII
)
"""URIs of codecs; the example of gzip has "codec" and no version, its header "codecs" and a version."""
_NOT_HERE: Final = {
    Spelling.DOCUMENT: "it is neither of the draft nor one of numcodecs; ask whoever wrote the array, or check the "
    "spelling",
    Spelling.ZARR_PYTHON: "zarr-python wrote none of this name; ask whoever wrote the array",
}
_ENDIAN: Final = "endian"
_COMPRESSORS: Final = ("gzip", "zlib", "blosc", "bz2", "lz4", "lzma", "zstd")
"""The compressors with URIs in zarr-python."""


def name_of(uri: Any) -> str | None:
    """Return the numcodecs name of the codec with this URI; `None` for other URIs."""
    match = _CODEC.fullmatch(uri) if type(uri) is str else None
    return None if match is None else match[1]


def filters_of(attributes: Mapping[str, Any]) -> list[Any] | None:
    """Return the filters among the attributes; `None` if there are none, or if the attribute is unrelated.

    >>> filters_of({"filters": [{"id": "delta", "dtype": "<i4"}]}), filters_of({"filters": "red, green"})
    ([{'id': 'delta', 'dtype': '<i4'}], None)
    """
    filters = attributes.get(FILTERS)
    if type(filters) is list and all(type(item) is dict and type(item.get("id")) is str for item in filters):
        return filters
    return None


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
    """Decode the list of codecs in the document's spelling; `None` if a problem was added."""
    if type(value) is not list:
        problems.add("codecs", "a list of codecs", value)
        return None
    before = len(problems.items)
    configs: list[dict[str, Any]] = []
    places: list[str] = []
    for position, item in enumerate(value):
        path = f"codecs[{position}]"
        config = _config(item, path, Spelling.DOCUMENT, problems)
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
    _relocate(inner, {f"codecs[{index}]": where for index, where in enumerate(places)}, "type", problems)
    return chain if len(problems.items) == before else None


def decode_zarr_python(
    compressor: Any, filters: list[Any] | None, layout: Layout, problems: Problems
) -> CodecChain | None:
    """Decode compressor and filters in zarr-python's spelling; `None` if a problem was added."""
    before = len(problems.items)
    config = None if compressor is None else _config(compressor, "compressor", Spelling.ZARR_PYTHON, problems)
    inner = Problems()
    chain = chain_from_configs(
        filters,
        config,
        **layout._asdict(),
        filters_path=f"attributes.{FILTERS}",
        compressor_path="compressor",
        problems=inner,
    )
    _relocate(inner, {"compressor": "compressor"}, "codec", problems)
    return chain if len(problems.items) == before else None


def _config(item: Any, path: str, spelling: Spelling, problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of numcodecs for a codec of a document; `None` if a problem was added."""
    is_documented = spelling is Spelling.DOCUMENT
    identifier = "type" if is_documented else "codec"
    if type(item) is not dict:
        expected = "a codec: an object with a type" if is_documented else "an object with codec and configuration"
        problems.add(path, expected, item)
        return None
    before = len(problems.items)
    uri, options = item.get(identifier, MISSING), item.get("configuration", {} if is_documented else MISSING)
    where = f"{path}.configuration"
    if type(uri) is not str:
        problems.add(f"{path}.{identifier}", "the URI of a codec", uri)
    if type(options) is not dict:
        problems.add(where, "an object", options)
    unknown_members(item, (identifier, "configuration"), problems, path)
    if len(problems.items) > before:
        return None
    name = name_of(uri)
    if is_documented and name == _ENDIAN:
        unknown_members(options, (_ENDIAN,), problems, where)
        return {"id": name, **options}
    if name is None or PREFIX + name not in ROWS:
        problems.unknown(f"{path}.{identifier}", "codec", uri, _NOT_HERE[spelling])
        return None
    # In numcodecs gzip has a level -1 for the default. The typesize of Blosc follows from the data type.
    row = GzipCodec if is_documented and name == "gzip" else ROWS[PREFIX + name]
    known = {option.name: option for option in row.options if not is_documented or option.name != "typesize"}
    given = {option: value for option, value in options.items() if is_documented or not _of_gdal(name, option, value)}
    unknown_members(given, known, problems, where)
    for option, value in given.items():
        # zarr-python wrote null for defaults.
        is_default = value is None and not is_documented
        if option in known and not is_default and not known[option].accepts(value):
            problems.add(f"{where}.{option}", known[option].expected, value)
    return {"id": name, **options} if len(problems.items) == before else None


def _of_gdal(name: str, option: str, setting: Any) -> bool:
    """Return whether this is an option that GDAL 3.4 to 3.7 wrote in this spelling, and zarr-python does not."""
    return (name, option) == ("lzma", "delta") or (name == "blosc" and setting in ("NONE", "BYTE", "BIT"))


def _relocate(inner: Problems, places: dict[str, str], identifier: str, problems: Problems) -> None:
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


def encode_zarr_python(configs: Configs) -> tuple[dict[str, Any] | None, list[dict[str, Any]] | None]:
    """Encode the compressor and the filters."""
    if configs.compressor is None:
        return None, configs.filters
    name = configs.compressor["id"]
    if name not in _COMPRESSORS:
        # A compressor without a URI becomes the last filter.
        return None, [*(configs.filters or ()), configs.compressor]
    options = {option: value for option, value in configs.compressor.items() if option != "id"}
    return {"codec": _URI_ZARR_PYTHON.format(name), "configuration": options}, configs.filters
