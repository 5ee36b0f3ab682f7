"""Arrays whose documents name something that is not supported here: all of the document, and no data."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any, NoReturn, Self

from blizzarr.array.array import Array
from blizzarr.errors import UnknownExtensionError
from blizzarr.formats.dimension_names import names_in
from blizzarr.json_values import dump
from blizzarr.printable import printable
from blizzarr.stores import Store


class ArrayWithoutData(Array):
    """An array with a codec, a data type, a grid or the like that no package here supplies.

    Its shape, its attributes, the names of its axes and its whole document are there. Whatever needs the rest raises
    the error that says what is missing.
    """

    __slots__ = ("_document", "_error")

    _document: Mapping[str, Any]
    _error: UnknownExtensionError

    def __init__(self, store: Store, path: str, error: UnknownExtensionError) -> None:
        assert error.document is not None
        self._store, self._path, self._shape = store, path, tuple(error.document["shape"])
        self._document, self._error, self._binding, self._adoptions = error.document, error, None, 0

    @property
    def _metadata(self) -> NoReturn:  # type: ignore[override]
        raise self._error.with_traceback(None)

    def _bind(self) -> NoReturn:
        raise self._error.with_traceback(None)

    @property
    def document(self) -> dict[str, Any]:
        """The document of the array, as it is stored; the attributes are a member of it."""
        return deepcopy(dict(self._document))

    @property
    def attrs(self) -> Any:
        """The attributes of the array, which cannot be changed."""
        return MappingProxyType(self.document.get("attributes", {}))

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        names = self._document.get("dimension_names")
        return names_in(self.attrs, len(self._shape)) if names is None else tuple(names)

    @property
    def info(self) -> Any:
        """The members of the document, and what is missing, as a table."""
        return _Info(self)

    def refresh(self) -> Self:
        """Return the array; open it anew once the package that is missing is installed."""
        return self

    def __repr__(self) -> str:
        return f"<Array {f'{self.name} in {self._store}'!r} shape={self._shape} without data: {self._error.line}>"

    def _repr_html_(self) -> Any:
        return None


def without_data(store: Store, path: str, error: UnknownExtensionError) -> ArrayWithoutData:
    """Return the array whose document has this error; raise it if it is no document of an array of v3, v2 or v1."""
    document = error.document or {}
    is_array = document.get("node_type") == "array" or "chunks" in document
    shape = document.get("shape") if is_array else None
    # Members whose values are wrong are problems of other kinds, but for what nobody has looked at after the first.
    if type(shape) is not list or any(type(length) is not int or length < 0 for length in shape):
        raise error
    return ArrayWithoutData(store, path, error)


class _Info:
    """The facts about an array without data."""

    def __init__(self, array: ArrayWithoutData) -> None:
        self._array = array

    def to_dict(self) -> dict[str, Any]:
        """Return the facts by name."""
        problems = [str(problem) for problem in self._array._error.problems]
        return {"name": self._array.name, "store": str(self._array.store), **self._array.document, "missing": problems}

    def __repr__(self) -> str:
        facts = self.to_dict()
        rows = [("Name", facts.pop("name")), ("Type", "Array"), ("Store", facts.pop("store"))]
        rows += [("Missing", problem) for problem in facts.pop("missing")]
        left_out = ("zarr_format", "node_type", "attributes")
        rows += [(name, dump(value)) for name, value in facts.items() if name not in left_out]
        return "\n".join(f"{name:<21}: {printable(str(value))}" for name, value in rows)
