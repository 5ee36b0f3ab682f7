"""Formats: translators between the documents in a store and the format-independent model.

Each format is an instance of a class with the methods of `Format`. It defines the keys of documents and of chunks: in
most formats a node's documents lie beside its chunks; in the December 2022 draft of v3, they are in separate trees. The
functions here work for all formats, so that other packages need not ask which format a node has.
"""

from blizzarr.formats.array_format import ArrayFormat
from blizzarr.formats.beside import PROGRESS, has_others_beside, is_doubtful, unfinished, warn_if_unfinished
from blizzarr.formats.consolidation_mark import mark_of, marked, new_mark, unmarked
from blizzarr.formats.finding import (
    LIKELY_OF_GROUPS,
    below,
    detect,
    documents_among,
    find,
    find_again,
    find_likely,
    find_many,
    find_one,
    is_vacant,
    listed,
    read_if_there,
    read_member,
    read_node,
)
from blizzarr.formats.format import Child, Format, StoredNode
from blizzarr.formats.implicit import find_implied, is_complete, is_implicit
from blizzarr.formats.masked_value import MASKED, masked_attribute, masks_fill, with_masked_value
from blizzarr.formats.missing import not_found
from blizzarr.formats.n5 import arranged, without_blocks
from blizzarr.formats.nodes import (
    array_keys,
    chunk_prefix,
    chunk_store,
    document_keys,
    encode,
    encode_resized,
    has_consolidated,
    lock_key,
    made_of,
    node_of,
    node_prefixes,
    spells_codecs_as_numcodecs,
    stored_document,
)
from blizzarr.formats.ome import OmeChange, ome_changes
from blizzarr.formats.reading import get_many
from blizzarr.formats.remembered_nodes import is_small
from blizzarr.formats.table import FORMATS, format_named, format_of, forms_again, register_format, relatives
from blizzarr.formats.translate import lost_mask, translate
from blizzarr.formats.v2_consolidated import own_copies_differ
from blizzarr.formats.v2_separator import as_documented, with_separators

__all__ = ["ArrayFormat", "Child", "Format", "StoredNode", "register_format"]
