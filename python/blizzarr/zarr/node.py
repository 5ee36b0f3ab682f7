"""What arrays and groups of zarr-python's interface have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, ClassVar, Self

from blizzarr import attributes
from blizzarr.creation.json_values import AsZarrPython, check_attributes
from blizzarr.errors import MetadataError
from blizzarr.hierarchy.place import any_name
from blizzarr.json_values import copied
from blizzarr.zarr.advice import missing_attribute
from blizzarr.zarr.errors import also, translated
from blizzarr.zarr.metadata import format_number, metadata_of
from blizzarr.zarr.storage.store_path import StorePath
from blizzarr.zarr.storage.stores import as_zarr_store


def described(function: Any, name: str, text: str) -> Any:
    """Give a method that was made from a table its name and its documentation."""
    function.__name__, function.__doc__ = name, text
    return function


class Node:
    """An array or a group: one of blizzarr, with the interface of zarr-python."""

    __slots__ = ("__weakref__", "_lent", "_shown", "engine")

    engine: Any
    _lent: dict[str, tuple[Any, Any]]
    _shown: tuple[Any, Any]
    passed: ClassVar[frozenset[str]]
    """The names that are those of blizzarr's class."""

    def __init_subclass__(cls) -> None:
        # As properties, so that setting one is an error.
        for name in vars(cls).get("passed", ()):
            setattr(cls, name, property(attrgetter(f"engine.{name}")))

    def __class_getitem__(cls, item: object) -> type[Self]:
        return cls

    @property
    def metadata(self) -> Any:
        """The content of the metadata document."""
        engine, shown = getattr(self, "_shown", (None, None))
        if engine is not self.engine.metadata:
            self._shown = self.engine.metadata, (shown := metadata_of(self.engine.metadata))
        return shown

    @property
    def _zarr_format(self) -> int:
        return format_number(self.engine.metadata)

    @property
    def store(self) -> Any:
        """The store, with the asynchronous methods of zarr-python."""
        return as_zarr_store(self.engine.store)

    @property
    def store_path(self) -> StorePath:
        """The store and the path in it."""
        return StorePath(self.store, self.engine.path)

    @property
    def attrs(self) -> Attributes:
        """The attributes; changes are stored at once."""
        return Attributes(self)

    @translated()
    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step, and return the array or the group."""
        self.attrs.update(new_attributes)
        return self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("_") or name == "engine" else missing_attribute(self, name)

    def __eq__(self, other: object) -> bool:
        return self.engine == other.engine if isinstance(other, type(self)) else NotImplemented

    def _repr_html_(self) -> Any:
        return self.engine._repr_html_()


class Attributes(attributes.Attributes):
    """The attributes of an array or a group; a value that JSON cannot express is a `TypeError`, too.

    Lists and objects can be changed in place, as in zarr-python, also those that were set here: this array or group
    shows the change at once, and stores it when any attribute is set.
    """

    _kind = AsZarrPython

    def __init__(self, node: Any, read_only: bool = False) -> None:
        if read_only:
            raise NotImplementedError("expected read_only=False, found True; open the array or the group for reading")
        super().__init__(getattr(node, "engine", node))
        if isinstance(node, Node) and not hasattr(node, "_lent"):
            node._lent = {}
        # By name: the stored value, and the copy of it that has been returned.
        self._lent = node._lent if isinstance(node, Node) else {}

    def __getitem__(self, name: str) -> Any:
        value = self._values()[name]
        if not isinstance(value, dict | list):
            return value
        stored, copy = self._lent.get(name, (None, None))
        if stored is not value and stored != value:
            copy = copied(value)
        self._lent[name] = value, copy
        return copy

    def _change(self, change: Any) -> None:
        altered = {name: copy for name, (stored, copy) in self._lent.items() if copy != stored}
        new = check_attributes(AsZarrPython(altered))
        super()._change(lambda attributes: change(attributes | {name: new[name] for name in new if name in attributes}))
        values = self._values()
        self._lent.update({name: (values[name], copy) for name, copy in altered.items() if values.get(name) == copy})

    def put(self, attributes: Any) -> None:
        with _errors():
            super().put(AsZarrPython(attributes))
        self._lend(attributes)

    def update(self, *args: Any, **named: Any) -> None:
        given = dict(*args, **named)
        with _errors():
            super().update(given)
        self._lend(given)

    def _lend(self, given: Mapping[str, Any]) -> None:
        """Return the values that were given from now on, as zarr-python does."""
        values = self._values()
        self._lent.update(
            {name: (values[name], value) for name, value in given.items() if isinstance(value, dict | list)}
        )

    def __setitem__(self, name: str, value: Any) -> None:
        with _errors():
            super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        with _errors():
            super().__delitem__(name)


@contextmanager
def _errors() -> Iterator[None]:
    with translated():
        try:
            yield
        except MetadataError as error:
            raise also(error, TypeError)  # noqa: B904  # the same error


@contextmanager
def creating(store: Any) -> Iterator[None]:
    """Allow reserved names, which xarray gives to arrays without a name; give errors zarr-python's classes, too."""
    with any_name(), translated(store=store):
        yield
