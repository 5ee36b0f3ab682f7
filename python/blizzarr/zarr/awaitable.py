"""Views of arrays and groups for those who await: every method runs in a thread, and is awaited.

There is one mechanism for all of them, and no second implementation.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from functools import partial, wraps
from typing import Any, ClassVar, Final, Self

from blizzarr.zarr.buffer import check_prototype
from blizzarr.zarr.sync import in_thread, in_thread_to_the_end

_NAMES: Final = {name: f"__{name}__" for name in ("contains", "delitem", "getitem", "setitem")}
"""The methods that Python has other names for."""

_CALLED: Final = ("nchunks_initialized", "_nshards_initialized")
"""The properties that take a while, and are methods of the views."""

_MADE: Final = ("create", "from_store", "open")
"""The methods of the classes that return nodes."""

_ITERATED: Final = (
    *("members", "keys", "arrays", "array_keys", "array_values"),
    *("groups", "group_keys", "group_values", "create_hierarchy"),
)
"""The methods that return asynchronous iterators."""

_READING: Final = (
    *("open", "load", "get", "contains", "tree", "info", "nchunks", "nshards", "nbytes", "nmembers"),
    *("members", "keys", "arrays", "array_", "groups", "group_"),
)
"""How the names of functions begin that change nothing, or, as `open` does, make what is empty."""


class _View:
    """A view of an array or a group."""

    __slots__ = ("node",)

    kind: ClassVar[Any] = None
    """The class that it is a view of."""

    def __class_getitem__(cls, item: object) -> type[Self]:
        return cls

    @classmethod
    def view(cls, kind: type[Any]) -> None:
        """Make this the view of a class: every method of that becomes one to be awaited."""
        cls.kind = kind
        for name in _MADE:
            if hasattr(kind, name):
                setattr(cls, name, staticmethod(awaitable(getattr(kind, name))))
        names = {name: name for name in dir(kind) if not name.startswith("__")} | _NAMES
        for name, method in names.items():
            function = getattr(kind, method, None)
            if inspect.isfunction(function) and name not in vars(cls):
                setattr(cls, name, (_iterated if name in _ITERATED else _awaited)(method, function))

    def __init__(self, *args: Any, **named: Any) -> None:
        given = args[0] if len(args) == 1 and not named else None
        self.node = given if isinstance(given, self.kind) else self.kind.from_parts(*args, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _CALLED:
            return partial(in_thread, getattr, self.node, name)
        value = getattr(self.node, name)
        return awaitable(value) if callable(value) and not isinstance(value, type) else as_async(value)

    @classmethod
    def from_dict(cls, store_path: Any, data: Any) -> Self:
        """Return the node at a place, with the metadata of a document."""
        return cls(cls.kind.from_dict(store_path, data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _View) and bool(self.node == other.node)

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return repr(self.node).replace("<", "<Async", 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.node,)


class AsyncArray(_View):
    """A view of an array: ``await view.getitem(key)`` is ``array[key]``.

    Examples
    --------
    >>> from blizzarr import zarr
    >>> from blizzarr.zarr.core.sync import sync
    >>> array = zarr.array([1, 2, 3])
    >>> sync(array.async_array.getitem(slice(1, None)))
    array([2, 3])
    """

    __slots__ = ()

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read the elements that are selected."""
        check_prototype(prototype)
        return await in_thread(self.node.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Write the elements that are selected."""
        check_prototype(prototype)
        await in_thread_to_the_end(self.node.__setitem__, selection, as_sync(value))

    @property
    def oindex(self) -> AsyncOIndex:
        """Select orthogonally."""
        return AsyncOIndex(self.node.oindex)

    @property
    def vindex(self) -> AsyncVIndex:
        """Select points."""
        return AsyncVIndex(self.node.vindex)

    def with_config(self, config: Any) -> AsyncArray:
        """Return a view of the same array with another configuration."""
        return type(self)(self.node.with_config(config))


class AsyncGroup(_View):
    """A view of a group: ``await view.getitem(name)`` is ``group[name]``."""

    __slots__ = ()


class AsyncOIndex:
    """Selects elements orthogonally."""

    def __init__(self, selector: Any) -> None:
        self._selector = selector

    async def getitem(self, selection: Any) -> Any:
        """Read the elements that are selected."""
        return await in_thread(self._selector.__getitem__, selection)


class AsyncVIndex(AsyncOIndex):
    """Selects points."""

    # Of its own, as tests of xarray replace one of the two.
    getitem = AsyncOIndex.getitem


def awaitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function to be awaited: it runs in a thread; nodes that it takes and returns are views.

    Whoever is cancelled waits for the end, unless the function only reads.

    >>> import asyncio
    >>> asyncio.run(awaitable(len)("abc"))
    3
    """
    run = _runner(getattr(function, "__name__", ""))

    @wraps(function, updated=())
    async def call(*args: Any, **named: Any) -> Any:
        given = {name: as_sync(value) for name, value in named.items()}
        return as_async(await run(function, *map(as_sync, args), **given))

    return call


def _runner(name: str) -> Callable[..., Any]:
    """Return what runs a function of this name in a thread."""
    return in_thread if name.strip("_").startswith(_READING) else in_thread_to_the_end


def _awaited(name: str, model: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a view for one of what it is a view of."""

    @wraps(model, updated=())
    async def method(self: Any, *args: Any, **named: Any) -> Any:
        return await awaitable(getattr(self.node, name))(*args, **named)

    return method


def _iterated(name: str, model: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a view for one that returns several items."""

    @wraps(model, updated=())
    async def method(self: Any, *args: Any, **named: Any) -> AsyncIterator[Any]:
        function = getattr(self.node, name)
        for item in await _runner(name)(lambda: list(function(*args, **named))):
            yield as_async(item)

    return method


def as_async(value: Any) -> Any:
    """Return a view of an array or a group, also in tuples and mappings; everything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(as_async, value)) if type(value) is tuple else value
    if type(value) is dict:
        return {name: as_async(item) for name, item in value.items()}
    for view in (AsyncArray, AsyncGroup):
        if isinstance(value, view.kind):
            return view(value)
    return value


def as_sync(value: Any) -> Any:
    """Return what a view is a view of; everything else as it is."""
    return value.node if isinstance(value, _View) else value
