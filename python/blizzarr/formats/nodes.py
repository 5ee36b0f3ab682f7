"""Functions for nodes of any format: documents, keys, chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from blizzarr.errors import MetadataError
from blizzarr.formats.attributes import pack, unpack
from blizzarr.formats.document import Stored, load
from blizzarr.formats.format import Format, Node, StoredNode
from blizzarr.formats.table import FORMATS, format_of, relatives
from blizzarr.formats.v1 import V1
from blizzarr.formats.v2 import V2
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta, GroupMeta, RegularGrid
from blizzarr.model.shapes import array_shape
from blizzarr.problems import Problems
from blizzarr.stores import Store

if TYPE_CHECKING:
    from blizzarr.transformers import ArrayKeys

N = TypeVar("N", bound=Node)


def encode(meta: Node, path: str) -> dict[str, bytes]:
    """Encode the documents of a node; see `Format.encode`."""
    return format_of(meta).encode(meta, path)


def encode_resized(meta: ArrayMeta, to: tuple[int, ...], path: str) -> StoredNode | None:
    """Encode an array of v3 with the shape `to`: in its document, only the text of the shape is another.

    `None` if the document has to be encoded as a whole.
    """
    key = lock_key(path, meta)
    raw = stored_document(meta, key)
    if raw is None or meta.source is None or meta.format != V3.name or type(meta.chunk_grid) is not RegularGrid:
        return None
    problems = Problems()
    array_shape(list(to), "shape", problems)
    before, old, after = raw.partition(b'"shape": %b' % str(list(meta.shape)).encode())
    # A chunk length of 0 is right for an axis of length 0 only. (A grid of other options has no such lengths.)
    if problems.items or not old or 0 in meta.source["chunk_grid"]["configuration"].get("chunk_shape", ()):
        return None
    is_only = b"\\" not in raw and raw.count(b'"shape"') == 1
    raw = b'%b"shape": %b%b' % (before, str(list(to)).encode(), after)
    document = {**meta.source, "shape": list(to)} if is_only else load(raw, problems)
    if document is None or document["shape"] != list(to):  # the text was in an attribute
        return None
    source = Stored(document, {key.rpartition("/")[2]: raw})
    attributes = document.get("attributes", {})
    packed = pack(attributes)
    own = attributes if packed is None else unpack(packed)
    return StoredNode(meta.with_attributes(own, source, to), {key: raw})


def made_of(documents: Mapping[str, bytes], meta: N, path: str) -> N:
    """Return a node as it is read from `documents`, which `encode` has made of `meta`.

    Several codecs may have one spelling, and documents leave out what follows from the rest. So this may not be equal
    to `meta`, but every later reading of the documents is equal to this.
    """
    form = format_of(meta)
    made = form.decode(path, {**documents, **form.entry_documents()})
    assert made is not None, "as formats do not write what they cannot read"
    return cast("N", made)


def has_consolidated(form: Format) -> bool:
    """Return whether a format has consolidated metadata."""
    try:
        form.encode(GroupMeta(format=form.name).with_consolidated({}), "")
    except MetadataError:
        return False
    return True


def spells_codecs_as_numcodecs(meta: ArrayMeta) -> bool:
    """Return whether the format of an array spells codecs as numcodecs does: by an ``id``, as v1 and v2 do."""
    return meta.format in (V1.name, V2.name)


def document_keys(path: str, meta: Node) -> tuple[str, ...]:
    """Return the keys of all documents that may belong to this node."""
    return format_of(meta).document_keys(path)


def lock_key(path: str, meta: ArrayMeta) -> str:
    """Return the key that names the locks of an array and its chunks."""
    return format_of(meta).node_keys(path)[0]


def stored_document(meta: ArrayMeta, key: str) -> bytes | None:
    """Return the document under `key`, that of `lock_key`, which an array came from; `None` if it is not known."""
    shape = "dimensions" if meta.format == "n5" else "shape"
    if not isinstance(meta.source, Stored) or meta.source.get(shape) != list(meta.shape):
        return None
    return meta.source.raw.get(key.rpartition("/")[2])


def chunk_prefix(path: str, meta: Node) -> str:
    """Return the prefix of the chunk keys of this array, or of the arrays below this group."""
    return format_of(meta).chunk_prefix(path)


def chunk_store(store: Store, path: str, meta: ArrayMeta) -> Store:
    """Return the store in which chunks have their original keys: `store` wrapped by the storage transformers."""
    if not meta.storage_transformers:
        return store
    from blizzarr.transformers import wrap

    return wrap(store, meta.storage_transformers, array_keys(path, meta))


def array_keys(path: str, meta: ArrayMeta) -> ArrayKeys:
    """Return the chunk keys of an array, as storage transformers know them."""
    from blizzarr.transformers import ArrayKeys

    keys = meta.chunk_keys
    return ArrayKeys(chunk_prefix(path, meta), keys.head, keys.separator, keys.scalar, len(meta.shape))


def node_prefixes(path: str, meta: Node) -> tuple[str, ...]:
    """Return the prefixes of the keys of this node and of nodes below it; see `Format.node_prefixes`."""
    return format_of(meta).node_prefixes(path)


def node_of(key: str, forms: Iterable[Format] | None = None) -> str | None:
    """Return the path of the node to which a document with this key belongs; `None` for other keys.

    By default, the formats that may be in one hierarchy with the newest are considered.
    """
    newest = next(iter(FORMATS.values()))
    for form in forms or relatives(newest, ""):
        path = form.node_of(key)
        if path is not None:
            return path
    return None
