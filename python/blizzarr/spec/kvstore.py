"""Key-value stores as TensorStore has them: byte strings by byte strings, on top of any store; and their specs."""

from __future__ import annotations

import builtins
import math
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final, Self, TypeVar

from blizzarr.errors import NodeNotFoundError, SpecError, UnsupportedOperationError
from blizzarr.futures import POOL, ChangeFuture, Future, Pace, at_once, failed, submit
from blizzarr.json_values import plain
from blizzarr.spec import kvstore_access as values
from blizzarr.spec.context import Context, bind, same, strip, unbind
from blizzarr.spec.kvstore_access import Access, ByteSlice, KvChanges, bytes_of, text_of
from blizzarr.spec.kvstore_json import kvstore_json, kvstore_of, kvstore_url
from blizzarr.spec.open_kvstore import open_kvstore
from blizzarr.spec.pretty import Pretty
from blizzarr.spec.spec_node import KvNode
from blizzarr.stores.generation import UNKNOWN
from blizzarr.transactions import Transaction, check_rebinding, delaying

P = TypeVar("P", bound="KvPath | NodeSpec")
T = TypeVar("T")

_READING: Final = Pace()
_CHANGING: Final = Pace()
"""Running estimates of how long a file on this machine takes to be read, and to be written."""


class KvPath(Pretty):
    """A path in a key-value store: what a store and its spec have in common."""

    __slots__ = ("__weakref__", "_node")
    _node: KvNode

    @abstractmethod
    def _with_node(self, node: KvNode) -> Self:
        """Return the same with another node."""

    @property
    def path(self) -> str:
        """The path in the store, with which all keys begin."""
        return self._node.path.encode("utf-8", "surrogateescape").decode("utf-8")

    @path.setter
    def path(self, value: str | bytes) -> None:
        self._node = self._node.altered(path=text_of(value))

    @property
    def url(self) -> str:
        """The location as a URL."""
        return kvstore_url(self._node)

    @property
    def base(self) -> Self | None:
        """The store that this one is made from; None if there is none."""
        return None if self._node.base is None else self._with_node(self._node.base)

    def copy(self) -> Self:
        """Return an independent copy."""
        return self._with_node(self._node)

    def __add__(self, suffix: str | bytes) -> Self:
        return self._with_node(self._node.altered(path=self._node.path + text_of(suffix)))

    def __truediv__(self, component: str | bytes) -> Self:
        return self._with_node(self._node.below(text_of(component)))

    __copy__ = copy


class NodeSpec(Pretty):
    """A spec, of an array or of a key-value store, that was parsed into a node."""

    __slots__ = ()
    _node: Any
    _node_json: ClassVar[Callable[..., dict[str, Any]]]
    """The function that returns the JSON of a node whose resources are not bound."""

    def to_json(self, include_defaults: bool = False) -> Any:
        """The spec as JSON; with `include_defaults`, also the members that have default values."""
        return self._node_json(unbind(self._node), include_defaults)

    def copy(self) -> Self:
        """Return an independent copy of the spec."""
        return at_node(type(self), self._node)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return same(self._node, other._node, self._node_json)

    def _json_shown(self) -> Any:
        return self._node_json(unbind(self._node, record=True))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return at_node, (type(self), self._node)


class KvStoreSpec(NodeSpec, KvPath):
    """The spec of a key-value store: parsed JSON.

    Parameters
    ----------
    json
        A URL like ``file:///data/``, or an object with a member ``driver``.

    Examples
    --------
    >>> spec = KvStoreSpec({"driver": "file", "path": "/data"})
    >>> spec / "a", spec.url
    (KvStore.Spec({'driver': 'file', 'path': '/data/a'}), 'file:///data')
    """

    __slots__ = ()
    _node_json = staticmethod(kvstore_json)

    def __init__(self, json: Any) -> None:
        self._node = kvstore_node(json)

    def _with_node(self, node: KvNode) -> KvStoreSpec:
        return at_node(KvStoreSpec, node)

    def update(
        self, *, unbind_context: bool | None = None, strip_context: bool | None = None, context: Context | None = None
    ) -> None:
        """Change the spec in place.

        Parameters
        ----------
        unbind_context
            Put the resources that are bound into the spec.
        strip_context
            Remove all resources, bound or not.
        context
            Bind the remaining resources to this context.

        Examples
        --------
        >>> spec = KvStoreSpec("memory://a")
        >>> spec.update(context=Context())
        >>> spec.to_json()
        {'context': {'memory_key_value_store': {}}, 'driver': 'memory', 'path': 'a'}
        """
        self._node = changed_context(self._node, unbind_context, strip_context, context)


KvStoreSpec.__qualname__ = "KvStore.Spec"


def at_node(kind: type[P], node: Any) -> P:
    """Return a store or a spec, as `kind` says, of a node."""
    made = object.__new__(kind)
    made._node = node
    return made


def kvstore_node(json: Any) -> KvNode:
    """Return the node of a spec, which may be given as JSON or as a URL."""
    return json._node if isinstance(json, KvStoreSpec) else kvstore_of(plain(json))


def changed_context(node: Any, unbind_it: bool | None, strip_it: bool | None, context: Any) -> Any:
    """Return a node with its resources changed: unbound or removed, and then bound to `context`."""
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"expected a Context, found {type(context).__name__}")
    if strip_it:
        node = strip(node)
    elif unbind_it:
        node = unbind(node)
    return node if context is None else bind(node, context)


class KvStore(KvPath):
    """A key-value store, whose keys and values are bytes.

    Open one with `KvStore.open`. Text is encoded as UTF-8.

    Examples
    --------
    >>> store = KvStore.open("memory://a/").result()
    >>> store["x"] = b"value"
    >>> store["x"], "y" in store, store.list().result()
    (b'value', False, [b'x'])
    """

    Spec = KvStoreSpec
    KeyRange = values.KeyRange
    ReadResult = values.ReadResult
    TimestampedStorageGeneration = values.TimestampedStorageGeneration

    __slots__ = ("_access", "_transaction")
    __iter__ = None
    _transaction: Transaction | None
    _access: tuple[KvNode, Access] | None

    def __init__(self) -> None:
        raise TypeError("cannot create 'KvStore' instances; open one with KvStore.open")

    def _with_node(self, node: KvNode) -> KvStore:
        return bound_kvstore(node, self._transaction)

    @staticmethod
    def open(
        spec: KvStoreSpec | Any, *, context: Context | None = None, transaction: Transaction | None = None
    ) -> Future[KvStore]:
        """Open a key-value store.

        Parameters
        ----------
        spec
            A spec, JSON or URL.
        context
            The context, which is shared with others that are opened with it.
        transaction
            The transaction that gathers what is written.

        Examples
        --------
        >>> KvStore.open({"driver": "memory", "path": "abc/"}).result().spec()
        KvStore.Spec({'driver': 'memory', 'path': 'abc/'})
        """
        node = kvstore_node(spec)
        if context is not None and not isinstance(context, Context):
            raise TypeError(f"Invalid context: expected Context, found {type(context).__name__}")

        def opened() -> KvStore:
            store = bound_kvstore(bind(node, Context() if context is None else context), transaction)
            store._opened()
            return store

        return at_once(opened)

    # Properties

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are stored directly."""
        return self._transaction

    @transaction.setter
    def transaction(self, value: Transaction | None) -> None:
        self._transaction = value

    def with_transaction(self, transaction: Transaction | None) -> KvStore:
        """Return the store with a transaction that gathers its writes.

        Raises
        ------
        TransactionError
            When it has a transaction that is not committed.
        """
        check_rebinding(self._transaction)
        return bound_kvstore(self._node, transaction)

    def spec(self, *, retain_context: bool | None = None, unbind_context: bool | None = None) -> KvStoreSpec:
        """Return the spec that opens this store again.

        Parameters
        ----------
        retain_context
            Keep the resources that the store uses; for use in this process.
        unbind_context
            Put the resources that the store uses into the spec.
        """
        if unbind_context:
            return at_node(KvStoreSpec, unbind(self._node))
        return at_node(KvStoreSpec, self._node if retain_context else strip(self._node))

    def _json_shown(self) -> Any:
        return kvstore_json(unbind(self._node))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._transaction is not None:
            raise SpecError("Cannot serialize bound transaction")
        return bound_kvstore, (self._node,)

    # Input and output

    def read(
        self,
        key: str | bytes,
        *,
        if_not_equal: str | bytes | None = None,
        staleness_bound: float | None = None,
        batch: Any = None,
        byte_range: slice | None = None,
    ) -> Future[values.ReadResult]:
        """Read the value of a key; a missing key is not an error.

        Parameters
        ----------
        key
            The key, which is put behind `path`.
        if_not_equal
            Do not read the value if it has this generation.
        staleness_bound
            What is known at this time is new enough; here values are always read anew.
        batch
            A batch to join; here, the request is made at once.
        byte_range
            Which bytes of the value to read, as a slice without step.

        Examples
        --------
        >>> store = KvStore.open("memory://").result()
        >>> store["a"] = b"0123456789"
        >>> store.read("a", byte_range=slice(-3, None)).result().value
        b'789'
        """
        text, part = text_of(key), _byte_slice(byte_range)
        known = UNKNOWN if if_not_equal is None else bytes_of(if_not_equal)
        return self._submit(lambda: self._read(text, part, known), pace=_READING)

    def write(
        self, key: str | bytes, value: str | bytes | None, *, if_equal: str | bytes | None = None
    ) -> Future[values.TimestampedStorageGeneration]:
        """Write the value of a key, or delete it.

        Parameters
        ----------
        key
            The key, which is put behind `path`.
        value
            The value; None deletes it.
        if_equal
            Write only if the value still has this generation; otherwise the generation of the result is empty.
        """
        text, new = text_of(key), None if value is None else bytes_of(value)
        known = None if if_equal is None else bytes_of(if_equal)
        # A condition may wait for others who compare and replace the value.
        pace = _CHANGING if known is None else None
        return self._submit(lambda: self._write(text, new, known), ChangeFuture, pace)

    def delete_range(self, range: values.KeyRange) -> Future[None]:
        """Delete the keys of a range."""
        ends = _ends_of(range)
        return self._submit(lambda: self._keys_of().delete_range(*ends), ChangeFuture)

    def list(self, range: values.KeyRange | None = None, strip_prefix_length: int = 0) -> Future[builtins.list[bytes]]:
        """List the keys.

        Parameters
        ----------
        range
            Only those of this range.
        strip_prefix_length
            How many bytes to leave out at the beginning of each.
        """
        ends = _ends_of(values.KeyRange() if range is None else range)
        return self._submit(
            lambda: [bytes_of(key)[strip_prefix_length:] for key in sorted(self._keys_of().keys(*ends))]
        )

    def experimental_copy_range_to(
        self, target: KvStore, source_range: values.KeyRange | None = None, source_staleness_bound: float | None = None
    ) -> Future[None]:
        """Copy keys without reading them; always fails, as no driver of this library can.

        Parameters
        ----------
        target
            Where to.
        source_range
            Only the keys of this range.
        source_staleness_bound
            What is known at this time is new enough.
        """
        error = UnsupportedOperationError("CopyRange not supported", store=str(self._opened().store))
        return failed(error)

    def __getitem__(self, key: str | bytes) -> bytes:
        """Return the value of a key; raise a `KeyError` if there is none."""
        value = self._keys_of().read(text_of(key)).value
        if value is None:
            raise NodeNotFoundError("there is no such key", key=text_of(key), store=self._node.driver)
        return value

    def __setitem__(self, key: str | bytes, value: str | bytes | None) -> None:
        """Set the value of a key; None deletes it."""
        self._keys_of().put(text_of(key), None if value is None else bytes_of(value))

    def __delitem__(self, key: str | bytes) -> None:
        """Delete a key."""
        self._keys_of().put(text_of(key), None)

    def __contains__(self, key: str | bytes) -> bool:
        """Return whether the key has a value."""
        return self._keys_of().read(text_of(key), ByteSlice(0, 0)).value is not None

    def _submit(self, work: Callable[[], T], kind: type[Future[T]] = Future, pace: Pace | None = None) -> Future[T]:
        """Return the future of work, for which the caller does not wait unless `pace` tells that files are quick."""
        if self._transaction is not None:
            work = delaying(self._transaction, work)
        match self._node.driver:
            case "memory":
                return at_once(work)
            case "file":
                return submit(work, kind=kind) if pace is None else pace.submit(work, kind)
            case _:
                # Beside the thread that does the work, one may wait for each request far away.
                return submit(POOL.far_away()(work), kind=kind)

    def _opened(self) -> Access:
        known = self._access
        if known is None or known[0] is not self._node:
            # The path of the store has changed.
            known = self._access = self._node, Access(*open_kvstore(self._node))
        return known[1]

    def _keys_of(self) -> Access | KvChanges:
        """Return the keys, as the transaction will leave them if there is one."""
        access = self._opened()
        return access if self._transaction is None else KvChanges(self._transaction, access)

    def _read(self, key: str, part: ByteSlice | None, known: bytes) -> values.ReadResult:
        now = time.time()
        answer = self._keys_of().read(key, part, known)
        # A change in a transaction is never out of date.
        stamp = values.TimestampedStorageGeneration(
            answer.generation, math.inf if answer.generation[:1] == b"\x04" else now
        )
        if answer.value is not None:
            return values.ReadResult("value", answer.value, stamp)
        return values.ReadResult("missing" if answer.wanted else "unspecified", b"", stamp)

    def _write(self, key: str, value: bytes | None, known: bytes | None) -> values.TimestampedStorageGeneration:
        # An empty generation is no condition.
        generation = self._keys_of().write(key, value, known or None)
        return values.TimestampedStorageGeneration(UNKNOWN if generation is None else generation, time.time())


def bound_kvstore(node: KvNode, transaction: Transaction | None = None) -> KvStore:
    """Return the store of a node whose resources are bound."""
    store = at_node(KvStore, node)
    store._transaction = transaction
    store._access = None
    return store


def _ends_of(keys: values.KeyRange) -> tuple[str, str]:
    if not isinstance(keys, values.KeyRange):
        raise TypeError(f"expected a KvStore.KeyRange, found {type(keys).__name__}")
    return text_of(keys.inclusive_min), text_of(keys.exclusive_max)


def _byte_slice(wanted: slice | None) -> ByteSlice | None:
    if wanted is None:
        return None
    if not isinstance(wanted, slice) or wanted.step is not None:
        raise TypeError(f"expected a slice without step as byte_range, found {wanted!r}")
    start = 0 if wanted.start is None else int(wanted.start)
    stop = None if wanted.stop is None else int(wanted.stop)
    if stop is not None and (start < 0 or stop < start):
        raise SpecError(f"Unsupported byte_range slice: {wanted.start}:{wanted.stop}")
    return ByteSlice(start, stop)
