"""Arrays in memory, and one value of a JSON document, as drivers; writing a value leaves the rest of the document."""

from __future__ import annotations

import json
import re
from functools import cached_property, partial
from math import isfinite, prod
from operator import itemgetter
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from blizzarr.errors import ArrayNotFoundError, ConstraintError, SpecError, UnsupportedOperationError
from blizzarr.indexing import lower_form
from blizzarr.indexing.form import Form, Map, dims_of
from blizzarr.json_values import MISSING, alike, dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.context import Context, Resource, resource_of
from blizzarr.spec.drivers.values import found_at, order_of, replaced_at
from blizzarr.spec.dtype import DType, as_dtype
from blizzarr.spec.kvstore_access import Access, KvChanges
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.stores import MemoryStore, Store
from blizzarr.stores.conditional import revise_value
from blizzarr.stores.generation import set_value
from blizzarr.stores.requests import publish
from blizzarr.stores.wrapper import unwrapped
from blizzarr.tensorstore.conversion import as_elements
from blizzarr.tensorstore.driver import Driver, Elements, KvStoreDriver, Shared, put_into
from blizzarr.tensorstore.picking import picked, put
from blizzarr.tensorstore.stored_place import shown
from blizzarr.transactions import Operation, Transaction, changes_in
from blizzarr.transactions.overlay import place_in
from blizzarr.views import IndexDomain, domain_of, transform_of
from blizzarr.views.values import MAX_RANK

_QUICK = 1 << 16
"""Elements that are copied faster than another thread begins."""


def array_driver(value: Any, dtype: Any, context: Context | None, copy: bool | None, write: bool | None) -> MemoryArray:
    """Return the driver of an array that a user passed; see `blizzarr.tensorstore.array`."""
    if dtype is None:
        result = value if isinstance(value, np.ndarray) else np.asarray(value)
        kind = as_dtype("json" if result.dtype == object else result.dtype)
        every = [] if isinstance(value, np.ndarray) or result.dtype != object else list(result.flat)
        if every and all(isinstance(element, bytes) for element in every):
            kind = as_dtype("string")
    else:
        kind = as_dtype(dtype)
    elements = as_elements(value, kind)
    own = not np.shares_memory(elements, value) if isinstance(value, np.ndarray) else True
    must_copy = copy or (write and not elements.flags.writeable)
    if copy is False and (own or must_copy):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if must_copy:
        elements = elements.copy()
    writable = elements.flags.writeable if write is None else write
    return MemoryArray(elements, kind, resource_of(context or Context(), "data_copy_concurrency"), writable)


class MemoryArray(Driver):
    """A NumPy array, which can be neither read nor written in a transaction."""

    name = "array"

    def __init__(
        self,
        array: npt.NDArray[Any],
        dtype: DType,
        resource: Resource,
        writable: bool = True,
        units: tuple[Unit | None, ...] | None = None,
    ) -> None:
        if array.ndim > MAX_RANK:
            raise SpecError(f"Rank {array.ndim} is outside valid range [0, {MAX_RANK}]")
        self._array = array
        self._domain = domain_of(Form.of_shape(array.shape))
        self._resource = resource
        self._units = units
        self.dtype = dtype
        self.writable = writable

    @property
    def schema(self) -> Schema:
        layout = ChunkLayout(grid_origin=[0] * self._array.ndim, inner_order=order_of(self._array))
        return schema_of(self.dtype, self._array.ndim, None, layout, self.dimension_units)

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        return self._units or (None,) * self._array.ndim

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        array = picked(self._array, lower_form(form, self._array.shape))
        # Repeated dimensions are written once.
        steps = zip(form.maps, self._array.strides, strict=True)
        along = {dim for map_, step in steps if step for dim in dims_of(map_)}
        kept = [dim for dim, length in enumerate(array.shape) if length != 1 and dim in along]
        if array.size:
            # With an ellipsis it is an array even where it is one element, also where elements are objects.
            elements = array[(*(slice(None) if dim in kept else 0 for dim in range(array.ndim)), ...)]
            maps: tuple[Map, ...] = tuple((dim, -form.lower[dim], 1) for dim in kept)
        else:
            # In JSON it is `[]`, whatever its rank.
            elements, kept, maps = array.reshape(-1), [0], (0,)
        # A copy: a spec does not change with later writes.
        elements = elements.copy()
        schema = Schema(dtype=self.dtype, rank=len(kept))
        if self._units is not None and len(kept) == self.rank == form.rank:
            schema.update(dimension_units=self._units)
        return SpecNode(
            "array",
            schema,
            transform_of(form._replace(maps=maps)),
            options={"array": elements},
            resources={"data_copy_concurrency": self._resource},
        )

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        self.check_transaction()
        elements = picked(self._array, lower_form(form, self._array.shape))
        if out is not None:
            return put_into(out, elements)
        is_own = elements.flags.owndata and elements.flags.c_contiguous and elements is not self._array
        return elements if is_own else elements.copy("C")

    def write(self, form: Form, source: Elements) -> None:
        self.check_transaction()
        put(self._array, lower_form(form, self._array.shape), source)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return prod(form.shape) <= _QUICK

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        """Return that every element is stored, also of an empty view."""
        return False, True

    def check_transaction(self) -> None:
        """Raise `UnsupportedOperationError` if it was given a transaction."""
        if self.transaction is not None:
            raise UnsupportedOperationError('"array" driver does not support transactions')


_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character, which another half may follow."""


class JsonDriver(KvStoreDriver):
    """A driver of the value that a JSON Pointer names."""

    name = "json"
    dtype: DType = as_dtype("json")
    _domain = IndexDomain(shape=[])

    def __init__(self, node: SpecNode, transaction: Transaction | None = None) -> None:
        if node.kvstore is None:
            raise SpecError('"kvstore" must be specified')
        self._node, self._kvstore = node, node.kvstore
        self.transaction = transaction
        self._pointer: str = node.options["json_pointer"]

    @property
    def schema(self) -> Schema:
        return schema_of(self.dtype, 0, None, ChunkLayout(rank=0))

    @property
    def store(self) -> Store:
        return self._access.store

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        access = self._access
        result = access.read("") if self.transaction is None else KvChanges(self.transaction, access).read("")
        if result.value is None:
            raise ArrayNotFoundError(f"Error reading {self._shown}")
        element = np.empty((), np.object_)
        with prefixed(f"Error reading {self._shown}"):
            element[()] = found_at(_parsed(result.value), self._pointer)
        values = picked(element, lower_form(form, ()))
        return put_into(out, values.copy("C") if out is None else values)

    def write(self, form: Form, source: Elements) -> None:
        """Replace the value in the document as it is stored at that time."""
        if 0 in form.shape:
            return
        element = np.empty((), np.object_)
        put(element, lower_form(form, ()), source)
        value, store = element[()], self.store
        with self._access.full_key("") as key:
            if self.transaction is None:
                self._set(key, value, store)
                publish(store)
            else:
                change = Operation(store, partial(self._set, key, value), (place_in(store)[1] + key,))
                changes_in(self.transaction, store).do(change)

    def _set(self, key: str, value: Any, store: Store) -> None:
        if not self._pointer:
            set_value(store, key, self._made(None, value))
            return
        revise_value(store, key, lambda before: self._made(before, value))

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
        return Access(*open_kvstore(self._kvstore))

    @property
    def _shown(self) -> str:
        return shown(self.store, self._access.path)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return isinstance(unwrapped(self.store), MemoryStore)


def _parsed(value: bytes) -> Any:
    try:
        text = value.decode("utf-8-sig")
        result = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_finite, parse_constant=_no_json
        )
        if _HALF.search(text):
            # Halves of characters that are no pair are no text.
            dump(result).encode()
    except (ValueError, RecursionError):
        raise ConstraintError("Invalid JSON") from None
    return result


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members by name, sorted; of several with one name, the last counts."""
    return dict(sorted(pairs, key=itemgetter(0)))


def _integer(text: str) -> float:
    number = int(text)
    return number if -(2**63) <= number < 2**64 else _finite(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _no_json(text)


def _no_json(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
