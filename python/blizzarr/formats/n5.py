"""N5: datasets whose document is ``attributes.json``, beside blocks in a directory for each index.

https://github.com/saalfeldlab/n5#file-system-specification

Groups of N5 are directories, and need no document: a directory with attributes is one, and so is any other with a node
somewhere below it.

Decoded documents are remembered. Blocks contain their compressor: the codecs of new arrays are arranged accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from blizzarr.codecs import Chunk, CodecChain
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.dtypes import DataType
from blizzarr.formats.document import Stored, check_depth, dump, load
from blizzarr.formats.format import Format
from blizzarr.formats.remembered_nodes import Documents, RememberedNodes
from blizzarr.formats.sibling_documents import SiblingDocuments, check_names, only_keys
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems

_DOCUMENT: Final = "attributes.json"
_SIGNS: Final = ("dimensions", "dataType")
"""The members by which every N5 library recognises a dataset."""
_VERSION: Final = "n5"
"""The member of the outermost group with the version of N5."""


class N5Format(SiblingDocuments):
    """The format of N5."""

    name: ClassVar[str] = "n5"
    has_dimension_names: ClassVar[bool] = True
    default_compressor: ClassVar[str] = "blosc"
    documents: ClassVar[tuple[str, ...]] = (_DOCUMENT,)
    implicit_groups: ClassVar[bool] = True

    def groups_above(self, path: str) -> tuple[str, ...]:
        return ()

    def name_problem(self, name: str) -> str | None:
        if name == _DOCUMENT:
            return f"a name may not be {name}, which is the key of metadata"
        return super().name_problem(name)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        return only_keys(ChunkKeys.v2("/"), given)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | GroupMeta | None:
        prefix = f"{path}/" if path else ""
        raw = documents.get(prefix + _DOCUMENT)
        return None if raw is None else _remember((bytes(raw),), prefix, notices)

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        from blizzarr.formats import n5_array

        (key,) = self.node_keys(path)
        problems = Problems()
        check_names(path, self.name_problem, problems)
        document = n5_array.encode(meta, problems) if isinstance(meta, ArrayMeta) else _encode_group(meta, problems)
        problems.raise_any(key=key)
        raw = dump(document, key)
        if meta.format == self.name and isinstance(meta.source, Stored) and dump(meta.source, key) == raw:
            # Compared as text, which distinguishes `true` from 1; the stored white space is kept.
            raw = meta.source.raw[_DOCUMENT]
        # Never store what could not be read again.
        self.decode(path, {key: raw})
        return {key: raw}


N5: Final = N5Format()


def _decode(documents: Documents, prefix: str, notices: list[Notice]) -> ArrayMeta | GroupMeta | None:
    from blizzarr.formats import n5_array

    (raw,) = documents
    assert raw is not None
    problems = Problems(notices)
    document = load(raw, problems, attributes=True)
    if document is not None and not all(sign in document for sign in _SIGNS):
        meta: ArrayMeta | GroupMeta | None = _decode_group(document, problems)
    elif document is None and not all(b'"%b"' % sign.encode() in raw for sign in _SIGNS):
        return None
    else:
        meta = None if document is None else n5_array.decode(document, problems)
    problems.raise_any(key=prefix + _DOCUMENT, document=document)
    assert meta is not None
    assert document is not None
    return replace(meta, source=Stored(document, {_DOCUMENT: raw}))


_remember: Final[RememberedNodes[ArrayMeta | GroupMeta]] = RememberedNodes(_decode)


def _decode_group(document: dict[str, Any], problems: Problems) -> GroupMeta:
    """Decode the group of a document, in which all members but the version of N5 are attributes."""
    check_depth(document, "", problems)
    attributes = {name: value for name, value in document.items() if name != _VERSION}
    extra = {_VERSION: document[_VERSION]} if _VERSION in document else {}
    return GroupMeta(attributes, extra=extra, format=N5Format.name, source=document)


def _encode_group(meta: GroupMeta, problems: Problems) -> Mapping[str, Any]:
    """Encode the document of a group; add a problem for what would make it another one, or that N5 has not."""
    document = {**meta.extra, **meta.attributes}
    if all(sign in document for sign in _SIGNS):
        problems.add("attributes", f"not both of {' and '.join(_SIGNS)}, which make an array", list(_SIGNS))
    if _VERSION in meta.attributes:
        problems.add(f"attributes.{_VERSION}", "no attribute of this name, which is one of the format", _VERSION)
    if meta.consolidated is not None:
        problems.add("consolidated", "no consolidated metadata: N5 has none", f"that of {len(meta.consolidated)} nodes")
    source = meta.source if meta.source is not None and meta.format == N5Format.name else {}
    return {name: document[name] for name in source if name in document} | document


def arranged(chain: CodecChain, dtype: DataType, rank: int, form: Format) -> CodecChain:
    """Return the codecs of a new array as its format requires them.

    In N5 elements are always big-endian and the first axis is the fastest. Codecs that N5 does not have are left for
    `Format.encode` to refuse.

    >>> chain = CodecChain.from_list(["bytes", "gzip"], "uint16", (4, 4))
    >>> arranged(chain, DataType.parse("uint16"), 2, N5).all
    (TransposeCodec(order=(1, 0)), N5Codec(compressor=GzipCodec(level=6)))
    """
    if form is not N5 or not isinstance(chain.serializer, BytesCodec) or len(chain.compressors) > 1:
        return chain
    from blizzarr.formats import n5_array

    made = n5_array.n5_chain(dtype, rank, chain.compressors[0] if chain.compressors else None)
    return made if chain.filters in ((), made.filters) else chain


def without_blocks(chain: CodecChain, dtype: DataType) -> CodecChain:
    """Return the codecs of an array with the compressor of N5 blocks as a separate codec, as in other formats."""
    from blizzarr.codecs import N5Codec

    blocks = chain.serializer
    if not isinstance(blocks, N5Codec):
        return chain
    serializer = BytesCodec(blocks.endian).resolve(Chunk(dtype, None))
    return replace(chain, serializer=serializer, compressors=() if blocks.compressor is None else (blocks.compressor,))
