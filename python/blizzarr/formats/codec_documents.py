"""The codecs of an array as its format spells them, for those who pass them on to other libraries."""

from __future__ import annotations

from typing import Any, NamedTuple

from blizzarr.codecs.configs import chain_to_configs
from blizzarr.formats.v1 import V1
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems

Document = dict[str, Any]


class CodecDocuments(NamedTuple):
    """The JSON of each codec; that of inner chunks where there are shards."""

    filters: tuple[Document, ...]
    serializer: Document | None
    """None in v1 and v2, where the data type and the filters say how elements become bytes."""
    compressors: tuple[Document, ...]


def codec_documents(meta: ArrayMeta) -> CodecDocuments:
    """Return the codecs of an array: objects with an ``id`` in v1 and v2, objects with a ``name`` in all other formats.

    >>> from blizzarr.creation.describe import describe_array
    >>> for zarr_format in (2, 3):
    ...     array = describe_array(shape=4, dtype="int16", compressors="gzip", zarr_format=zarr_format)
    ...     print(codec_documents(array).compressors)
    ({'id': 'gzip', 'level': 6},)
    ({'name': 'gzip', 'configuration': {'level': 6}},)
    """
    if meta.format not in (V1.name, V2.name):
        chain = meta.codecs.innermost
        filters, compressors = ([codec.to_json() for codec in part] for part in (chain.filters, chain.compressors))
        return CodecDocuments(tuple(filters), chain.serializer.to_json(), tuple(compressors))
    problems = Problems()
    configs = chain_to_configs(meta.codecs, dtype=meta.dtype, chunk_shape=meta.chunk_shape, problems=problems)
    problems.raise_any()
    assert configs is not None, "as nothing was in the way"
    return CodecDocuments(
        tuple(configs.filters or ()), None, () if configs.compressor is None else (configs.compressor,)
    )
