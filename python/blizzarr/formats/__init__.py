"""Formats: translators between documents in a store and the one model.

Each format is a module with the same functions:

- ``name``: what `ArrayMeta.format` says;
- ``document_keys(path)``: the keys of the documents that make the node at a path;
- ``decode(path, documents)``: the node, or `None` when these are not documents of this format;
- ``encode(meta, path)``: the documents of a node;
- ``chunk_prefix(path)``: what the keys of an array's chunks begin with;
- ``node_prefix(path)``: what all keys of a node, and of the nodes below it, begin with;
- ``listing_prefix(path)``, ``child_names(path, keys, prefixes)``: where the children of a group are listed, and their
  names in that listing.

So a format owns the keys of nodes as well as those of chunks: in most, a node's document lies beside its chunks; in
the December 2022 draft of v3, documents and chunks are two trees. Nothing outside this package asks which format a
node has; the functions here work for all of them.
"""

from blizzarr.formats.nodes import (
    FORMATS,
    Child,
    Format,
    child_names,
    children,
    chunk_prefix,
    decode,
    detect,
    document_keys,
    foreign,
    get_many,
    node_prefix,
    read_node,
    write_node,
)

__all__ = [
    "FORMATS",
    "Child",
    "Format",
    "child_names",
    "children",
    "chunk_prefix",
    "decode",
    "detect",
    "document_keys",
    "foreign",
    "get_many",
    "node_prefix",
    "read_node",
    "write_node",
]
