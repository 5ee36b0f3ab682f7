"""Finding nodes in a store, whatever their format.

The documents of the newest format count. Where requests are slow, the document of the newest format is requested
together with those of an array of the format before it, which may be what is there, and with those of the format
that the node probably has, like that of its group; only if all are missing, all others are requested, at once. In place
of these, a listing is made for a new node and for members of groups, which may be missing. A store on this machine is
asked for one format after the other, as most nodes have the newest; in the place of a new node, for all but the newest
at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from errno import EACCES, EISDIR
from typing import Any, Final

from blizzarr.errors import BlizzarrError, LimitError, MetadataError, StoreError, UnsupportedOperationError
from blizzarr.formats import draft, v2_separator
from blizzarr.formats.beside import PROGRESS, keys_beside, warn_if_unfinished
from blizzarr.formats.format import Child, Format, Node, StoredNode
from blizzarr.formats.implicit import find_implied, is_complete, is_implicit
from blizzarr.formats.missing import not_found
from blizzarr.formats.reading import get_many, get_value
from blizzarr.formats.table import FORMATS, format_of, member_forms, relatives
from blizzarr.formats.v2 import V2
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.printable import printable
from blizzarr.problems import Notice, warn, warn_of
from blizzarr.stores.conditional import as_bytes
from blizzarr.stores.protocol import Store
from blizzarr.stores.regular import is_damage
from blizzarr.stores.requests import each, is_remote

LIKELY_OF_GROUPS: Final = V2
"""The `likely` format of groups whose format nobody knows: far away, most are older than v3, and v3 counts before."""

_FEW: Final = 8
"""The most nodes whose documents of older formats are asked for at once far away."""

_SEARCHES: Final = (draft.search,)
"""Search functions ``(store, paths) -> list`` of formats with nodes that have no document at a known key."""


def find_many(
    store: Store,
    paths: Sequence[str],
    forms: Iterable[Format] | None = None,
    *,
    known: Mapping[str, bytes] | None = None,
    entry: bytes | None = None,
    absent: bool = False,
    likely: Format | None = None,
) -> list[StoredNode | BlizzarrError | None]:
    """Return for each path the node that its documents make, `None` if there is none, or why it cannot be read.

    No warnings are issued: what is doubtful about documents that can be read is in `StoredNode.notices`, and what is
    about others is in the notes of the error.

    - `forms`: the formats that the nodes may have, newest first; by default all.
    - `known`: the documents by key, if the caller has read them; the store is then not asked for any.
    - `entry`: used in place of the document of the hierarchy as a whole, in formats that have one.
    - `absent`: a node is probably missing, so that the documents of all formats will be needed.
    - `likely`: the format that the nodes probably have.
    """
    searched = forms is None and entry is None
    forms = tuple(FORMATS.values() if forms is None else forms)
    results: list[StoredNode | BlizzarrError | None] = [None] * len(paths)
    open_ = list(range(len(paths)))
    entries: dict[str, Any] = {} if entry is None else {form.entry_key: entry for form in forms if form.entry_key}
    values = known or {}
    damaged: dict[str, StoreError] = {}
    at_once = absent and len(paths) <= _FEW and is_remote(store)
    if known is not None or at_once:
        batches = [forms]
    elif is_remote(store):
        # Where a node has no likely format, the documents of all others are asked for at once; for many nodes, whose
        # requests wait for each other, those of the next format first.
        count = len(_up_to(likely, forms))
        batches = [forms[:count], *([forms[count:][:1], forms[count + 1 :]] if len(paths) > _FEW else [forms[count:]])]
    else:
        batches = [forms[:1], forms[1:]] if absent else [(form,) for form in forms]
    for batch in batches:
        if known is None and open_:
            wanted = [key for number in open_ for form in batch for key in form.document_keys(paths[number])]
            values, damaged = _documents_or_errors(store, wanted)
        for form in batch:
            for number in open_:
                keys = form.document_keys(paths[number])
                documents = {key: values[key] for key in keys if key in values}
                if errors := [damaged[key] for key in keys if key in damaged]:
                    results[number] = errors[0]
                elif documents:
                    given = _with_entry(store, form.entry_key, documents, entries) if form.entry_key else documents
                    try:
                        results[number] = _decode(form, paths[number], given, documents)
                    except BlizzarrError as error:
                        results[number] = error
            open_ = [number for number in open_ if results[number] is None]
    there = [(number, one) for number, one in enumerate(results) if type(one) is StoredNode]
    # Documents may leave something open that only the chunks tell.
    completed = v2_separator.with_separators(store, [(paths[number], one.meta) for number, one in there])
    for (number, one), meta in zip(there, completed, strict=True):
        if meta is not one.meta:
            results[number] = one._replace(meta=meta)
    if (
        searched
        and open_
        # The entry document of a draft has the key of a document of the root.
        and not ((at_once or known is not None) and "" in paths and values.keys().isdisjoint(V3.document_keys("")))
        # Where the format of a node has no entry document, the nodes around it have none either.
        and not any(isinstance(one, StoredNode) and format_of(one.meta).entry_key is None for one in results)
    ):
        for search in _SEARCHES:
            for number, other in zip(open_, search(store, [paths[number] for number in open_]), strict=True):
                results[number] = results[number] or other
    return results


def find_likely(
    store: Store, paths: Sequence[str], form: Format, *, others: bool = True
) -> list[StoredNode | BlizzarrError | None]:
    """Return what `find_many` does for nodes at or around one of this format, which they probably have.

    Far away, a listing of the path shows whether there is anything in a format that nobody expects: one request in
    place of one for each document. It does not show nodes of the draft, which are in groups of the draft only.

    - `others`: false to look, far away, for this format, and those that count before it, only.
    """
    if not is_remote(store) or form.entry_key is not None:
        return find_many(store, paths, likely=form)
    results = find_many(store, paths, _up_to(form, FORMATS.values()), likely=form)

    def other(path: str) -> StoredNode | BlizzarrError | None:
        return None if path and is_vacant(store, path) else find_many(store, [path], absent=True)[0]

    missing = [number for number, result in enumerate(results) if others and result is None]
    for number, found in zip(missing, each(store, other, [paths[number] for number in missing]), strict=True):
        results[number] = found
    return results


def is_vacant(store: Store, path: str) -> bool:
    """Return whether a listing shows neither documents at a path nor anything below it; False if it cannot be made."""
    try:
        keys, prefixes = store.list_dir(path + "/")
    except UnsupportedOperationError:
        return False
    except StoreError as error:
        if error.errno != EACCES:
            raise
        return False
    return not prefixes and not documents_among(path, keys)


def documents_among(path: str, keys: Iterable[str]) -> list[str]:
    """Return those of the keys that are documents of a node at a path, in any format."""
    documents = {key for form in FORMATS.values() for key in form.document_keys(path)}
    return [key for key in keys if key in documents]


def _up_to(likely: Format | None, forms: Iterable[Format]) -> list[Format]:
    """Return the likely format after those whose documents count before its own; the first if it is not one of them."""
    forms = list(forms)
    return forms[: forms.index(likely) + 1] if likely in forms else forms[:1]


def _documents(store: Store, keys: Iterable[str]) -> dict[str, bytes]:
    wanted = list(dict.fromkeys(keys))
    pairs = zip(wanted, get_many(store, wanted), strict=True)
    return {key: value if type(value) is bytes else as_bytes(value) for key, value in pairs if value is not None}


def _documents_or_errors(store: Store, keys: Sequence[str]) -> tuple[dict[str, bytes], dict[str, StoreError]]:
    """Return the documents that exist, and the errors by key of those that are damaged in a zip file, or no file."""
    try:
        return _documents(store, keys), {}
    except StoreError as error:
        if not is_damage(error):
            raise
    # One by one, to find out which.
    values: dict[str, bytes] = {}
    errors: dict[str, StoreError] = {}
    for key in keys:
        try:
            values |= _documents(store, [key])
        except StoreError as error:
            if not is_damage(error):
                raise
            errors[key] = error
    return values, errors


def _with_entry(
    store: Store, entry: str, documents: dict[str, bytes], entries: dict[str, Any]
) -> dict[str, bytes] | None:
    """Return documents with that of the hierarchy as a whole, which is read once; `None` if there is none."""
    if entry not in entries:
        entries[entry] = get_value(store, entry)
    return None if entries[entry] is None else {**documents, entry: bytes(entries[entry])}


def _decode(
    form: Format, path: str, given: Mapping[str, bytes] | None, documents: dict[str, bytes]
) -> StoredNode | None:
    """Decode the node that the documents `given` make; `documents` are those of them that belong to the node."""
    if given is None:
        return None
    notices: list[Notice] = []
    try:
        meta = form.decode(path, given, notices)
    except BlizzarrError as error:
        # Elements that are too long are detected where the path of the array is not known.
        if isinstance(error, LimitError) and error.array is None and error.key is None:
            error.array = f"/{path}"
        for notice in notices:
            error.add_note(printable(notice.text))
        raise
    return None if meta is None else StoredNode(meta, documents, notices)


def find(
    store: Store,
    path: str,
    form: Format | None = None,
    *,
    reading: bool = False,
    likely: Format | None = None,
    others: bool = True,
) -> StoredNode | None:
    """Return the node at a path, of the newest format if there are several; `None` if there is none.

    With `form`, only a node of that format is looked for; `likely` is the format that it probably has, and without
    `others`, far away, no more than what counts before that is looked for. Warnings are issued of what is doubtful
    about the documents, and of documents of other formats; with `reading`, because the elements will be read, also of a
    copy that is not finished, unless asking for its record would be one more request.

    Raise `MetadataError` if the documents do not conform.
    """
    known: Mapping[str, bytes] | None = None
    try:
        if getattr(store, "native", None) is None:
            node, known = _find_far(store, path, form, reading=reading, likely=likely, others=others)
        else:
            node = find_one(store, path, FORMATS.values() if form is None else (form,))
            if node is None and form is None:
                node = _search(store, path)
    except MetadataError as error:
        # The key of a document at the root does not tell which hierarchy it belongs to.
        error.store = error.store or str(store)
        raise
    if form is not None and node is None and form.entry_key is not None:
        node = find(store, path, reading=reading)
        return node if node is not None and format_of(node.meta) == form else None
    if node is None:
        return None
    if node.notices:
        warn_of(node.notices)
    meta = node.meta
    # An array has slashes in its keys only because its document says so, or because they were looked for.
    if meta.format == "v2" and type(meta) is ArrayMeta and meta.chunk_keys.separator == "/":
        v2_separator.warn_of_slashes(store, path, meta)
    counts = FORMATS.get(meta.format) or format_of(meta)
    keys = keys_beside(path, counts.zarr_format if form is None else None)
    beside = store.present(keys) if known is None else [key for key in keys if key in known]  # type: ignore[attr-defined]
    if beside:
        older = [key for key in beside if not key.endswith(PROGRESS)]
        if reading and len(older) < len(beside):
            warn_if_unfinished(store, path)
        if older:
            if _documents(store, node.documents) != node.documents:
                # The node was replaced meanwhile, by one of another format.
                return find(store, path, form, reading=reading, likely=likely, others=others)
            warn(
                f"/{path} in {store} is there in two formats: {', '.join(node.documents)} ({counts.name}) counts, "
                f"{', '.join(older)} is ignored; remove what is out of date"
            )
    return node


def find_again(store: Store, path: str) -> StoredNode | None:
    """Return the node at a path without warnings, for a caller to whom `find` has given them before."""
    if getattr(store, "native", None) is None:
        return _find_far(store, path, None)[0]
    return find_one(store, path, FORMATS.values()) or _search(store, path)


def _search(store: Store, path: str) -> StoredNode | None:
    """Return the node at a path that has no document at a known key."""
    for search in _SEARCHES:
        (result,) = search(store, [path])
        if isinstance(result, BlizzarrError):
            raise result
        if result is not None:
            return result
    return None


def find_one(store: Store, path: str, forms: Iterable[Format]) -> StoredNode | None:
    """Return the node at a path, asking for the documents of one format after the other.

    No warnings are issued, as by `find_many`.

    Raise `MetadataError` if the documents do not conform.
    """
    entries: dict[str, Any] = {}
    for wanted in forms:
        keys = wanted.document_keys(path)
        documents = {}
        for key, value in zip(keys, get_many(store, keys), strict=True):
            if value is not None:
                documents[key] = value if type(value) is bytes else as_bytes(value)
        if not documents:
            continue
        given = _with_entry(store, wanted.entry_key, documents, entries) if wanted.entry_key else documents
        node = _decode(wanted, path, given, documents)
        if node is not None:
            if node.meta.format == "v2" and v2_separator.lacks_separator(node.meta):
                node = node._replace(meta=v2_separator.with_separator(store, path, node.meta))
            return node
    return None


def _find_far(
    store: Store,
    path: str,
    form: Format | None,
    *,
    reading: bool = False,
    likely: Format | None = None,
    others: bool = True,
) -> tuple[StoredNode | None, Mapping[str, bytes] | None]:
    """Return the node at a path, and the documents that exist there; not all of other formats if it has the likely one.

    With `reading`, the record of a copy is among them, if the store is near.
    """
    forms = tuple(FORMATS.values()) if form is None else (form,)
    asked: list[str] = []
    known: dict[str, bytes] = {}
    result: StoredNode | BlizzarrError | None = None
    is_far = is_remote(store)
    try:
        if is_far and form is None:
            expected = _up_to(likely, forms)
            array, _, attributes, _ = V2.document_keys(path)
            asked = [key for one in expected for key in one.document_keys(path)] + [array, attributes]
            known = _documents(store, asked)
            # An array of v2 needs no other document.
            expected = _up_to(V2, forms) if array in known else expected
            # The key of a document of v3 may have the entry document of a draft.
            result = find_many(store, (path,), expected, known=known)[0]
            if result is None and not others:
                return None, known
        if result is None:
            wanted = [key for one in forms for key in one.document_keys(path) if key not in asked]
            known |= _documents(store, [*wanted, join(path, PROGRESS)] if reading and not is_far else wanted)
    except StoreError as error:
        # Some servers refuse what is missing. A node of the newest format needs no document but its own.
        if form is not None or error.errno != EACCES or (newest := find_one(store, path, (V3,))) is None:
            raise
        return newest, {}
    if result is None:
        result = find_many(store, (path,), None if form is None else forms, known=known)[0]
    if isinstance(result, BlizzarrError):
        raise result
    return result, known


def detect(store: Store, path: str, form: Format | None = None) -> Node | None:
    """Return the metadata of the node at a path, or `None`; see `find`."""
    node = find(store, path, form)
    return None if node is None else node.meta


def read_node(store: Store, path: str, form: Format | None = None, *, likely: Format | None = None) -> Node:
    """Return the metadata of the array or group at a path, which probably has the likely format.

    Raise `NodeNotFoundError` if there is none; the text says what was looked for and what is there. Raise
    `MetadataError` if its documents do not conform.
    """
    node = find(store, path, form, reading=True, likely=likely)
    meta = _implied(store, path, form) if node is None else node.meta
    if meta is None:
        raise not_found(store, path, form, detect)
    return meta


def read_if_there(store: Store, path: str, form: Format | None = None, *, likely: Format | None = None) -> Node | None:
    """Return the metadata of the array or group at a path, or `None`, without looking for what is there instead."""
    node = find(store, path, form, reading=True, likely=likely)
    return _implied(store, path, form) if node is None else node.meta


def read_member(store: Store, path: str, form: Format) -> Node | None:
    """Return the metadata of a member of a group of a format, or `None`; see `find_likely` and `read_if_there`."""
    if is_remote(store) and _up_to(form, FORMATS.values()) != [*FORMATS.values()]:
        node = find(store, path, reading=True, likely=form, others=False)
        if node is not None:
            return node.meta
        if form.entry_key is None and is_vacant(store, path):
            return None
    return read_if_there(store, path, likely=form)


def _implied(store: Store, path: str, form: Format | None) -> Node | None:
    """Return what `find_implied` finds, with a warning if a document is missing.

    Others may create the node meanwhile. The nodes below it show that there is a group, and its document is read again.
    """
    implied = find_implied(store, path, form)
    if implied is None:
        return None
    stored = find(store, path, form)
    if stored is not None:
        return stored.meta
    if not is_complete(implied.meta):
        warn(
            f"no document says that /{path} in {store} is a group, as Zarr v3 wants it since 2024; it is read as one, "
            "because there are nodes below it; if it is meant to be one, blizzarr.upgrade stores the missing documents"
        )
    return implied.meta


def below(store: Store, groups: Sequence[tuple[str, GroupMeta]]) -> list[list[Child]]:
    """Return for each group its children by name, with one listing per group and one batch of documents for all.

    A store that is far away makes all listings at once.

    A child that cannot be read is among them, with the error. No warnings are issued: see `Child.notices`.
    """

    def list_one(group: tuple[str, GroupMeta]) -> tuple[list[str], set[str]]:
        path, form = group[0], format_of(group[1])
        return listed(store, path, form, relatives(form, path))

    def is_group(child: tuple[int, str]) -> bool:
        path, meta = groups[child[0]]
        return is_implicit(store, format_of(meta), join(path, child[1]))

    listings = each(store, list_one, groups)
    made: list[list[Child]] = [[] for _ in groups]
    families: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for number, ((path, meta), (names, _)) in enumerate(zip(groups, listings, strict=True)):
        family = tuple(form.name for form in member_forms(format_of(meta), path))
        families.setdefault(family, []).extend((number, name) for name in names)
    for wanted in families.values():
        if not wanted:
            continue
        path, meta = groups[wanted[0][0]]
        form = format_of(meta)
        paths = [join(groups[number][0], name) for number, name in wanted]
        results = find_many(store, paths, member_forms(form, path), likely=form)
        without = [one for one, result in zip(wanted, results, strict=True) if result is None]
        without = [(number, name) for number, name in without if name in listings[number][1]]
        implied = dict(zip(without, each(store, is_group, without), strict=True))
        for (number, name), result in zip(wanted, results, strict=True):
            if isinstance(result, StoredNode):
                made[number].append(Child(name, result.meta, notices=result.notices))
            elif result is not None:
                made[number].append(Child(name, None, result))
            elif (number, name) in implied:
                if implied[number, name]:
                    made[number].append(Child(name, GroupMeta(format=groups[number][1].format)))
            elif (error := _directory_as_document(store, join(groups[number][0], name))) is not None:
                made[number].append(Child(name, None, error))
    return made


def _directory_as_document(store: Store, path: str) -> StoreError | None:
    """Return the error of a directory in the place of a document of v3; None if there is none, or something else."""
    if is_remote(store):
        return None  # objects have no directories
    try:
        store.get(V3.node_keys(path)[0])
    except StoreError as error:
        if error.errno != EISDIR:
            raise
        return error
    return None


def listed(store: Store, path: str, form: Format, forms: Iterable[Format]) -> tuple[list[str], set[str]]:
    """Return the names of possible members of a group, and those of them that are groups even without a document.

    The group has the format `form`, its members any of `forms`.
    """
    prefix = form.listing_prefix(path)
    if prefix is None:
        return [], set()
    keys, prefixes = store.list_dir(prefix)
    names = {name for other in forms for name in other.child_names(path, keys, prefixes)}
    there = set(prefixes) if form.implicit_groups else set()
    return sorted(names), {name for name in names if form.listing_prefix(join(path, name)) in there}
