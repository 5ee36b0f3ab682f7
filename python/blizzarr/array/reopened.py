"""Arrays that are opened again and again, as by the workers of a data loader.

As long as the array's documents are the same, and no other document has appeared beside them, nothing is decoded and
prepared again: the new array shares all that with the earlier one. What an array is, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from blizzarr import _native
from blizzarr.array.array import Array
from blizzarr.array.binding import is_kept
from blizzarr.array.facts import binding_of, share_binding
from blizzarr.bounded_cache import BoundedCache
from blizzarr.dtypes import Kind
from blizzarr.formats import has_others_beside, is_doubtful, is_small, lock_key
from blizzarr.formats.attributes import pack, unpack
from blizzarr.formats.document import Stored
from blizzarr.model import ArrayMeta
from blizzarr.model.names import join
from blizzarr.stores import LocalStore, Store
from blizzarr.transfer import Binding


class _Opened(NamedTuple):
    """What was found at a place."""

    directory: bytes | None
    """The version of the directory, from before its documents were read; None if it changed only just before."""
    metadata: ArrayMeta
    attributes: bytes | None
    binding: Binding
    others: tuple[_native.Document, ...]
    """The documents besides that of the binding: those of attributes in v2."""


class Reopening(NamedTuple):
    """An array that was opened before, and must be read."""

    place: tuple[object, ...]
    directory: bytes | None

    def remember(self, node: object) -> None:
        """Remember what was read, if it is an array that takes little memory and that nothing was warned of."""
        if (
            not isinstance(node, Array)
            or node.metadata.dtype.kind is Kind.OBJECT
            or not (is_small(node.metadata) and is_kept(node.metadata))
            or is_doubtful(node.store, node.path, node.metadata)
        ):
            _kept[self.place] = False
            return
        metadata = node.metadata
        own = metadata.with_attributes(metadata.attributes)
        others = tuple(_other_documents(node))
        _kept.keep(self.place, _Opened(self.directory, own, pack(dict(own.attributes)), binding_of(node), others))


def _other_documents(array: Array) -> Iterator[_native.Document]:
    assert isinstance(array.store, LocalStore)
    assert isinstance(array.metadata.source, Stored)
    for name, raw in array.metadata.source.raw.items():
        key = join(array.path, name)
        if key != lock_key(array.path, array.metadata):
            yield _native.Document(array.store.native, key, raw, array.shape, _not_decoded, True)


def _not_decoded(key: str) -> tuple[bytes, tuple[int, ...]]:
    raise AssertionError(f"{key} is only compared")


_kept: Final[BoundedCache[tuple[object, ...], _Opened | Literal[False] | None]] = BoundedCache(1024)
"""What was read, by place; None where it is not known, as after the first time: most arrays are opened once only; False
where something is that is not remembered."""


def reopened(store: Store, path: str) -> Array | Reopening | None:
    """Return the array at a path if it was opened before and is unchanged; it must be read otherwise.

    A `Reopening` is to be told what was read then.

    Raise `StoreError` if the store fails. Raise `LimitError` if its elements are longer than `config.element_bytes`.
    """
    if type(store) is not LocalStore:
        return None
    place = (path, store.facts, store.read_only, store.durability)
    if place not in _kept:
        _kept.keep(place, None)
        return None
    known = _kept.get(place)
    if known is False:
        return None
    directory = store.native.directory_version(path)
    if known is None:
        return Reopening(place, directory)
    document = known.binding.document
    if document is None or not (document.is_unchanged() and all(other.is_unchanged() for other in known.others)):
        # Others may change it all the time: it is remembered again if it is opened once more.
        _kept.keep(place, None)
        return None
    if directory is None or known.directory != directory:
        # Chunks may have appeared in it, or documents of another format.
        if has_others_beside(store, path, known.metadata):
            _kept.keep(place, None)
            return None
        _kept.keep(place, known._replace(directory=directory))
    metadata = known.metadata
    metadata.dtype.check_length()
    attributes = metadata.attributes if known.attributes is None else unpack(known.attributes)
    array = Array(store, path, metadata.with_attributes(attributes))
    share_binding(array, known.binding)
    return array
