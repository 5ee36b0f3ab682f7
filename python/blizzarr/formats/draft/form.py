"""The December 2022 draft of Zarr v3 as a format, in one spelling and with one suffix of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from blizzarr.errors import BlizzarrError
from blizzarr.formats.consolidation_mark import is_outdated
from blizzarr.formats.document import dump, load
from blizzarr.formats.draft import consolidated
from blizzarr.formats.draft.entry import DEFAULT_SUFFIX, Entry, read, suffix_problem, write
from blizzarr.formats.draft.keys import CONSOLIDATED, ENTRY, KINDS, NodeKeys, check_path, name_problem
from blizzarr.formats.draft.spelling import Spelling
from blizzarr.formats.format import Store, StoredNode
from blizzarr.formats.implicit import is_implicit
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta
from blizzarr.problems import Notice, Problems, decoder


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft in one spelling and with one key suffix; see `Format` for its methods.

    >>> form = Draft(Spelling.DOCUMENT)
    >>> form.name, form.node_keys("foo/bar")
    ('v3_draft', ('meta/foo/bar.array.json', 'meta/foo/bar.group.json'))
    >>> Draft(Spelling.ZARR_PYTHON, ".jsn").name
    'v3_draft_zarr_python:.jsn'
    """

    spelling: Spelling
    suffix: str = DEFAULT_SUFFIX

    part: ClassVar[str] = ""
    zarr_format: ClassVar[int] = 3
    entry_key: ClassVar[str] = ENTRY
    implicit_groups: ClassVar[bool] = True
    has_dimension_names: ClassVar[bool] = False
    default_compressor: ClassVar[str] = "blosc"
    has_field_orders: ClassVar[bool] = False
    index_codecs: ClassVar[tuple[str, ...]] = ("bytes",)

    @property
    def name(self) -> str:
        return self.spelling.value + ("" if self.suffix == DEFAULT_SUFFIX else f":{self.suffix}")

    @property
    def has_null_fill(self) -> bool:
        return self.spelling is Spelling.ZARR_PYTHON

    @property
    def _entry(self) -> Entry:
        return Entry(self.spelling, self.suffix)

    @property
    def _keys(self) -> NodeKeys:
        return NodeKeys(self.spelling, self.suffix)

    def of(self, meta: object) -> Draft:
        return self

    def node_keys(self, path: str) -> tuple[str, ...]:
        return tuple(self._keys.document(path, kind) for kind in KINDS)

    def document_keys(self, path: str) -> tuple[str, ...]:
        if not path and self.spelling is Spelling.ZARR_PYTHON:
            return (*self.node_keys(path), self._keys.consolidated())
        return self.node_keys(path)

    def entry_documents(self) -> dict[str, bytes]:
        return {ENTRY: write(self._entry)}

    def groups_above(self, path: str) -> tuple[str, ...]:
        # Groups need no documents.
        return ()

    def chunk_prefix(self, path: str) -> str:
        return self._keys.chunks(path)

    def node_prefixes(self, path: str) -> tuple[str, ...]:
        return self._keys.children(path), self._keys.chunks(path)

    def listing_prefix(self, path: str) -> str:
        return self._keys.children(path)

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        return self._keys.names(path, keys, prefixes)

    def name_problem(self, name: str) -> str | None:
        return name_problem(name)

    def reserved(self, name: str) -> str | None:
        """Return `None`: any node may be given a name that one may have."""
        return None

    def node_of(self, key: str) -> str | None:
        return self._keys.node_of(key)

    def chunk_keys(self, given: ChunkKeys | None) -> ChunkKeys:
        from blizzarr.formats.draft import array

        return array.chunk_keys("/" if given is None else given.separator, self.spelling)

    def decode(
        self, path: str, documents: Mapping[str, bytes], notices: list[Notice] | None = None
    ) -> ArrayMeta | GroupMeta | None:
        raw = documents.get(ENTRY)
        if raw is None or read(bytes(raw)) != self._entry:
            return None
        for kind in KINDS:
            key = self._keys.document(path, kind)
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
        from blizzarr.formats.draft import array, group

        if kind == "array":
            return array.decode(document, self.spelling, self.name, problems)
        return group.decode(document, self.name, problems)

    def _is_reserved(self, path: str) -> bool:
        """Return whether zarr-python has a group at this path that only holds consolidated metadata."""
        return self.spelling is Spelling.ZARR_PYTHON and path == CONSOLIDATED

    def _with_consolidated(self, meta: GroupMeta, documents: Mapping[str, bytes]) -> GroupMeta:
        raw = documents.get(self._keys.consolidated()) if self.spelling is Spelling.ZARR_PYTHON else None
        group = documents.get(self._keys.document("", "group"))
        if raw is None or is_outdated(bytes(raw), None if group is None else bytes(group)):
            return meta
        return meta.with_consolidated(consolidated.decode(bytes(raw), self._keys, self.name, self._node))

    def encode(self, meta: ArrayMeta | GroupMeta, path: str) -> dict[str, bytes]:
        problems = Problems()
        check_path(path, problems)
        document = self._document(meta, path, problems)
        key = self._keys.document(path, "array" if isinstance(meta, ArrayMeta) else "group")
        problems.raise_any(key=key)
        encoded = {key: dump(document, key)}
        if isinstance(meta, GroupMeta) and meta.consolidated is not None:
            encoded = self._consolidated(meta.consolidated, document) | encoded
        # Never store what could not be read again.
        self.decode(path, {**encoded, **self.entry_documents()})
        return encoded

    def _document(self, meta: ArrayMeta | GroupMeta, path: str, problems: Problems) -> dict[str, Any]:
        from blizzarr.formats.draft import array_writing, group

        if isinstance(meta, ArrayMeta):
            return array_writing.encode(meta, self.spelling, self.name, problems)
        if meta.consolidated is not None and (path or self.spelling is Spelling.DOCUMENT):
            where = "at the root only, where zarr-python keeps it"
            expected = "no consolidated metadata: the draft has none" if self.spelling is Spelling.DOCUMENT else where
            problems.add("consolidated", expected, f"that of {len(meta.consolidated)} nodes")
        if self._is_reserved(path) and not meta.attributes:
            expected = "another name: zarr-python keeps consolidated metadata in a group of this one"
            problems.add("the path", expected, path)
        return group.encode(meta, self.name, problems)

    def _consolidated(self, nodes: Mapping[str, ArrayMeta | GroupMeta], root: dict[str, Any]) -> dict[str, bytes]:
        problems = Problems()
        key = self._keys.consolidated()
        entry = load(write(self._entry), problems)
        assert entry is not None
        beside = {ENTRY: entry, self._keys.document("", "group"): root}
        document = consolidated.encode(
            nodes, self._keys, self.name, beside, lambda node: self._document(node, "", problems)
        )
        problems.raise_any(key=key)
        return {key: dump(document, key)}


_SPELLINGS: Final = {spelling.value: spelling for spelling in Spelling}


def draft_named(name: str) -> Draft | None:
    """Return the draft format with this name; `None` for other names.

    >>> draft_named("v3_draft:.jsn")
    Draft(spelling=<Spelling.DOCUMENT: 'v3_draft'>, suffix='.jsn')
    """
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
    if entry is None:
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
