"""One value of a JSON document as a driver; writing it leaves the rest of the document as it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cached_property, partial
from math import isfinite
from operator import itemgetter
from typing import Any, Final, NoReturn

import numpy as np

from blizzarr.errors import ArrayNotFoundError, ConflictError, ConstraintError
from blizzarr.indexing import Form, lower_form
from blizzarr.json_values import MISSING, alike, dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.values import found_at, replaced_at
from blizzarr.spec.dtype import DType, as_dtype
from blizzarr.spec.kvstore import KvStore, bound_kvstore
from blizzarr.spec.kvstore_access import Access, KvChanges
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores import LocalStore, MemoryStore, Store
from blizzarr.stores.conditional import try_replace
from blizzarr.stores.generation import unwrapped
from blizzarr.stores.requests import publish
from blizzarr.tensorstore.driver import Driver, Elements, Shared
from blizzarr.tensorstore.picking import picked, put
from blizzarr.tensorstore.stored_place import shown
from blizzarr.transactions import Operation, Transaction, changes_in, check_open
from blizzarr.transactions.naming import place_in
from blizzarr.views import IndexDomain, transform_of

_ATTEMPTS = 100

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character, which another half may follow."""


class JsonDriver(Driver):
    """A driver of the value that a JSON Pointer names."""

    name = "json"
    dtype: DType = as_dtype("json")

    def __init__(self, node: SpecNode, transaction: Transaction | None = None) -> None:
        assert node.kvstore is not None, "checked when it was opened"
        self._node = node
        self.transaction = transaction
        self._pointer: str = node.options["json_pointer"]

    @property
    def domain(self) -> IndexDomain:
        return IndexDomain(shape=[])

    @property
    def schema(self) -> Schema:
        return schema_of(self.dtype, 0, None, ChunkLayout(rank=0))

    @property
    def kvstore(self) -> KvStore | None:
        assert self._node.kvstore is not None, "checked when it was opened"
        return bound_kvstore(self._node.kvstore, self.transaction)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        if self.transaction is not None:
            check_open(self.transaction)
        return replace(self._node, transform=transform_of(form))

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        access = self._access
        result = access.read("") if self.transaction is None else KvChanges(self.transaction, access).read("")
        if result.value is None:
            raise ArrayNotFoundError(f"Error reading {self._shown}")
        element = np.empty((), np.object_)
        with prefixed(f"Error reading {self._shown}"):
            element[()] = found_at(_parsed(result.value), self._pointer)
        values = picked(element, lower_form(form, ()))
        if out is None:
            return values.copy("C")
        out[...] = values
        return out

    def write(self, form: Form, source: Elements) -> None:
        """Replace the value in the document as it is stored at that time."""
        if 0 in form.shape:
            return
        element = np.empty((), np.object_)
        put(element, lower_form(form, ()), source)
        value, store = element[()], self._access.store
        with self._access.full_key("") as key:
            if self.transaction is None:
                self._set(key, value, store)
                publish(store)
            else:
                change = Operation(store, partial(self._set, key, value), (place_in(store)[1] + key,))
                changes_in(self.transaction, store).do(change)

    def _set(self, key: str, value: Any, store: Store) -> None:
        if not self._pointer:
            store.set(key, self._made(None, value))
            return
        for _ in range(_ATTEMPTS):
            before = store.get(key)
            made = self._made(None if before is None else bytes(before), value)
            if made == before or try_replace(store, key, before, made):
                return
        raise ConflictError(
            f"somebody else changed the document {_ATTEMPTS} times in a row; try again", key=key, store=str(store)
        )

    def _made(self, before: bytes | None, value: Any) -> bytes:
        """Return the document with another value; unchanged if it has that value."""
        document = MISSING
        if before is not None:
            with prefixed(f"Error reading {self._shown}"):
                document = _parsed(before)
        with prefixed(f"Error writing {self._shown}"):
            try:
                made = replaced_at(document, self._pointer, value)
                return before if before is not None and alike(made, document) else dump(made).encode()
            except RecursionError:
                raise ConstraintError("expected fewer values within each other") from None

    @cached_property
    def _access(self) -> Access:
        assert self._node.kvstore is not None, "checked when it was opened"
        return Access(*open_kvstore(self._node.kvstore))

    @property
    def _shown(self) -> str:
        return shown(self._access.store, self._access.path)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return isinstance(unwrapped(self._access.store), MemoryStore)

    @property
    def is_near(self) -> bool:
        return isinstance(unwrapped(self._access.store), LocalStore | MemoryStore)

    def __reduce__(self) -> tuple[Any, ...]:
        from blizzarr.tensorstore.opening import reopened

        return reopened, (self._node, self.readable, self.writable)


def _parsed(value: bytes) -> Any:
    try:
        text = value.decode("utf-8-sig")
        result = json.loads(
            text, object_pairs_hook=_object, parse_int=_number, parse_float=_finite, parse_constant=_no_json
        )
        if _HALF.search(text):
            # Halves of characters that are no pair are no text.
            dump(result).encode()
    except (ValueError, RecursionError):
        raise ConstraintError("Invalid JSON") from None
    return result


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members by name; of several with one name, the last counts."""
    return dict(sorted(pairs, key=itemgetter(0)))


def _number(text: str) -> int | float:
    """Parse an integer; one that does not fit into 64 bits becomes a float."""
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 64 else float(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _no_json(text)


def _no_json(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
