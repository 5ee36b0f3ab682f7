"""The codecs of an array in zarr-python's spelling: a compressor by a URI, and filters among the attributes.

Filters are numcodecs configurations with an ``id``, as in Zarr v2; in arrays of Python objects, the first is the object
codec. The draft has no member for filters, so zarr-python put them among the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.codecs import CodecChain
from blizzarr.codecs.configs import Configs, chain_from_configs
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.formats.draft.codecs import Layout, check_options, name_of, relocate, uri_and_options
from blizzarr.problems import Problems

FILTERS: Final = "filters"
"""The attribute that holds the filters."""

_URI: Final = "https://purl.org/zarr/spec/codec/{}/1.0"
_COMPRESSORS: Final = ("gzip", "zlib", "blosc", "bz2", "lz4", "lzma", "zstd")
"""The compressors with URIs in zarr-python."""
_NOT_HERE: Final = "zarr-python wrote none of this name; ask whoever wrote the array"


def filters_of(attributes: Mapping[str, Any]) -> list[Any] | None:
    """Return the filters among the attributes; `None` if there are none, or if the attribute is unrelated.

    >>> filters_of({"filters": [{"id": "delta", "dtype": "<i4"}]}), filters_of({"filters": "red, green"})
    ([{'id': 'delta', 'dtype': '<i4'}], None)
    """
    filters = attributes.get(FILTERS)
    if type(filters) is list and all(type(item) is dict and type(item.get("id")) is str for item in filters):
        return filters
    return None


def decode(compressor: Any, filters: list[Any] | None, layout: Layout, problems: Problems) -> CodecChain | None:
    """Decode compressor and filters; `None` if a problem was added."""
    before = len(problems.items)
    config = None if compressor is None else _config(compressor, problems)
    inner = Problems()
    chain = chain_from_configs(
        filters,
        config,
        **layout._asdict(),
        filters_path=f"attributes.{FILTERS}",
        compressor_path="compressor",
        problems=inner,
    )
    relocate(inner, {"compressor": "compressor"}, "codec", problems)
    return chain if len(problems.items) == before else None


def _config(value: Any, problems: Problems) -> dict[str, Any] | None:
    path = "compressor"
    if type(value) is not dict:
        problems.add(path, "an object with codec and configuration", value)
        return None
    read = uri_and_options(value, "codec", path, problems)
    if read is None:
        return None
    uri, configuration = read
    name = name_of(uri)
    if name is None or PREFIX + name not in ROWS:
        problems.unknown(f"{path}.codec", "codec", uri, _NOT_HERE)
        return None
    checked = {option: setting for option, setting in configuration.items() if not _of_gdal(name, option, setting)}
    if not check_options(name, checked, f"{path}.configuration", problems, null=True):
        return None
    return {"id": name, **configuration}


def _of_gdal(name: str, option: str, setting: Any) -> bool:
    """Return whether this is an option that GDAL 3.4 to 3.7 wrote in this spelling, and zarr-python does not."""
    return (name, option) == ("lzma", "delta") or (name == "blosc" and setting in ("NONE", "BYTE", "BIT"))


def encode(configs: Configs) -> tuple[dict[str, Any] | None, list[dict[str, Any]] | None]:
    """Encode the compressor and the filters."""
    if configs.compressor is None:
        return None, configs.filters
    name = configs.compressor["id"]
    if name not in _COMPRESSORS:
        # A compressor without a URI becomes the last filter.
        return None, [*(configs.filters or ()), configs.compressor]
    options = {option: value for option, value in configs.compressor.items() if option != "id"}
    return {"codec": _URI.format(name), "configuration": options}, configs.filters
