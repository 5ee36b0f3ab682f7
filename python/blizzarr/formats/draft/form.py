"""The December 2022 draft of Zarr v3 as a format, in one spelling and with one suffix of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from blizzarr.errors import BlizzarrError
from blizzarr.formats.consolidation_mark import is_outdated
from blizzarr.formats.document import dump, load
from blizzarr.formats.draft import consolidated
from blizzarr.formats.draft.entry import read, suffix_problem, write
from blizzarr.formats.draft.extension import decode_attributes
from blizzarr.formats.draft.keys import CONSOLIDATED, DEFAULT_SUFFIX, ENTRY, KINDS, DraftKeys, Spelling, name_problem
from blizzarr.formats.format import StoredNode
from blizzarr.formats.implicit import is_implicit
from blizzarr.formats.sibling_documents import check_names
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems, decoder, unknown_members
from blizzarr.stores.protocol import Store


@dataclass(frozen=True, slots=True)
class Draft(DraftKeys):
    """The draft in one spelling and with one key suffix; see `Format` for its methods."""

    part: ClassVar[str] = ""
    zarr_format: ClassVar[int] = 3
    entry_key: ClassVar[str] = ENTRY
    implicit_groups: ClassVar[bool] = True
    has_dimension_names: ClassVar[bool] = False
    default_compressor: ClassVar[str] = "blosc"
    has_field_orders: ClassVar[bool] = False
    index_codecs: ClassVar[tuple[str, ...]] = ("bytes",)

    @property
    def has_null_fill(self) -> bool:
        return self.spelling is Spelling.ZARR_PYTHON

    def of(self, meta: object) -> Draft:
        return self

    def entry_documents(self) -> dict[str, bytes]:
        return {ENTRY: write(self)}

    def groups_above(self, path: str) -> tuple[str, ...]:
        # Groups need no documents.
        return ()

    def name_problem(self, name: str) -> str | None:
        return name_problem(name)

    def reserved(self, name: str) -> str | None:
        return None

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        return self.chunk_keys_with("/" if given is None else given.separator)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | GroupMeta | None:
        raw = documents.get(ENTRY)
        if raw is None or read(bytes(raw)) != DraftKeys(self.spelling, self.suffix):
            return None
        for kind in KINDS:
            key = self.document(path, kind)
            if key in documents:
                return self._decode(path, kind, key, documents, notices)
        # The root exists with the hierarchy; other groups without a document need nodes below them.
        return None if path else self._with_consolidated(GroupMeta(format=self.name), documents)

    def _decode(
        self, path: str, kind: str, key: str, documents: Mapping[str, bytes], notices: list[Notice] | None
    ) -> ArrayMeta | GroupMeta | None:
        problems = Problems(notices)
        document = load(bytes(documents[key]), problems)
        meta = None if document is None else self._node(kind, document, problems)
        problems.raise_any(key=key, document=document)
        if not isinstance(meta, GroupMeta) or path:
            reserved = isinstance(meta, GroupMeta) and self._is_reserved(path) and not meta.attributes
            return None if reserved else meta
        return self._with_consolidated(meta, documents)

    @decoder
    def _node(self, kind: str, document: dict[str, Any], problems: Problems) -> ArrayMeta | GroupMeta | None:
        from blizzarr.formats.draft import array

        return array.decode(document, self, problems) if kind == "array" else self._group(document, problems)

    def _group(self, document: dict[str, Any], problems: Problems) -> GroupMeta | None:
        """Decode the group of a document, which has attributes and nothing else."""
        before = len(problems.items)
        attributes = decode_attributes(document, problems)
        # GDAL, which wrote zarr-python's spelling too, has a list of extensions also in groups.
        listed = self.name == Spelling.ZARR_PYTHON.value and document.get("extensions") == []
        unknown_members(document, ("attributes", "extensions") if listed else ("attributes",), problems)
        return GroupMeta(attributes, format=self.name, source=document) if len(problems.items) == before else None

    def _is_reserved(self, path: str) -> bool:
        """Return whether zarr-python has a group at this path that only holds consolidated metadata."""
        return self.spelling is Spelling.ZARR_PYTHON and path == CONSOLIDATED

    def _with_consolidated(self, meta: GroupMeta, documents: Mapping[str, bytes]) -> GroupMeta:
        raw = documents.get(self.consolidated()) if self.spelling is Spelling.ZARR_PYTHON else None
        group = documents.get(self.document("", "group"))
        if raw is None or is_outdated(bytes(raw), None if group is None else bytes(group)):
            return meta
        return meta.with_consolidated(consolidated.decode(bytes(raw), self, self._node))

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        problems = Problems()
        check_names(path, name_problem, problems)
        document = self._document(meta, path, problems)
        key = self.document(path, "array" if isinstance(meta, ArrayMeta) else "group")
        problems.raise_any(key=key)
        encoded = {key: dump(document, key)}
        if isinstance(meta, GroupMeta) and meta.consolidated is not None:
            encoded = self._consolidated(meta.consolidated, document) | encoded
        # Never store what could not be read again.
        self.decode(path, {**encoded, **self.entry_documents()})
        return encoded

    def _document(self, meta: ArrayMeta | GroupMeta, path: str, problems: Problems) -> dict[str, Any]:
        if isinstance(meta, ArrayMeta):
            from blizzarr.formats.draft import array

            return array.encode(meta, self, problems)
        if meta.consolidated is not None and (path or self.spelling is Spelling.DOCUMENT):
            where = "at the root only, where zarr-python keeps it"
            expected = "no consolidated metadata: the draft has none" if self.spelling is Spelling.DOCUMENT else where
            problems.add("consolidated", expected, f"that of {len(meta.consolidated)} nodes")
        if self._is_reserved(path) and not meta.attributes:
            expected = "another name: zarr-python keeps consolidated metadata in a group of this one"
            problems.add("the path", expected, path)
        for member in meta.extra:
            problems.add(member, "no member that is unknown: the draft does not allow any", meta.extra[member])
        # Keep the order of the stored document, and the list that GDAL writes.
        kept = meta.source if meta.source is not None and meta.format == self.name else {}
        return {**kept, "attributes": meta.attributes}

    def _consolidated(self, nodes: Mapping[str, ArrayMeta | GroupMeta], root: dict[str, Any]) -> dict[str, bytes]:
        problems = Problems()
        key = self.consolidated()
        entry = load(write(self), problems)
        assert entry is not None
        beside = {ENTRY: entry, self.document("", "group"): root}
        document = consolidated.encode(nodes, self, beside, lambda node: self._document(node, "", problems))
        problems.raise_any(key=key)
        return {key: dump(document, key)}


_SPELLINGS: Final = {spelling.value: spelling for spelling in Spelling}


def draft_named(name: str) -> Draft | None:
    """Return the draft format with this name; `None` for other names."""
    spelled, colon, suffix = name.partition(":")
    spelling = _SPELLINGS.get(spelled)
    if spelling is None or (colon and suffix_problem(suffix)):
        return None
    return Draft(spelling, suffix if colon else DEFAULT_SUFFIX)


def search(store: Store, paths: Sequence[str]) -> list[StoredNode | BlizzarrError | None]:
    """Return the nodes at these paths of a hierarchy of the draft, or their errors; `None` where there is no node.

    Implicit groups have no document, and with another key suffix no key of a document is known.
    """
    raw = store.get(ENTRY)
    try:
        entry = None if raw is None else read(bytes(raw))
    except BlizzarrError as error:
        return [error] * len(paths)
    if raw is None or entry is None:
        return [None] * len(paths)
    form = Draft(entry.spelling, entry.suffix)
    return [_search(store, form, bytes(raw), path) for path in paths]


def _search(store: Store, form: Draft, entry: bytes, path: str) -> StoredNode | BlizzarrError | None:
    pairs = ((key, store.get(key)) for key in form.document_keys(path))
    documents = {key: bytes(value) for key, value in pairs if value is not None}
    notices: list[Notice] = []
    try:
        meta = form.decode(path, {**documents, ENTRY: entry}, notices)
    except BlizzarrError as error:
        return error
    if meta is not None:
        return StoredNode(meta, documents, notices)
    return StoredNode(GroupMeta(format=form.name), {}) if is_implicit(store, form, path) else None
