"""Groups of Zarr v3 without a document, which there were until April 2024.

https://github.com/zarr-developers/zarr-specs/pull/292

Zarr v3 has none any more: what has no document is not listed in a group, and nothing is looked for below it. Only when
somebody opens such a place itself, and there is a node somewhere below it, it is a group, with a warning, and so is all
that leads to nodes in it. Its format is `TAG`, for which this module stands; what is made in it is plain v3.
"""

from __future__ import annotations

from typing import Final

from blizzarr.formats.v3 import (
    child_names,
    chunk_keys,
    chunk_prefix,
    decode,
    default_compressor,
    document_keys,
    encode,
    entry_documents,
    entry_key,
    groups_above,
    has_dimension_names,
    has_null_fill,
    index_codecs,
    listing_prefix,
    name,
    name_problem,
    node_keys,
    node_of,
    node_prefixes,
    zarr_format,
)

__all__ = [
    "TAG",
    "child_names",
    "chunk_keys",
    "chunk_prefix",
    "decode",
    "default_compressor",
    "document_keys",
    "encode",
    "entry_documents",
    "entry_key",
    "groups_above",
    "has_dimension_names",
    "has_null_fill",
    "implicit_groups",
    "index_codecs",
    "listing_prefix",
    "name",
    "name_problem",
    "node_keys",
    "node_of",
    "node_prefixes",
    "zarr_format",
]

TAG: Final = "v3_implicit"
"""What `GroupMeta.format` says of such a group."""
implicit_groups: Final = True
