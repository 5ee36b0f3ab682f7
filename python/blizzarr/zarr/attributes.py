"""The attributes of arrays and groups, with the errors of zarr-python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from blizzarr import attributes
from blizzarr.creation.json_values import AsZarrPython
from blizzarr.errors import MetadataError
from blizzarr.zarr.errors import also, translated


class Attributes(attributes.Attributes):
    """The attributes of an array or a group; a value that JSON cannot express is a `TypeError`, too."""

    _kind = AsZarrPython

    def __init__(self, node: Any, read_only: bool = False) -> None:
        if read_only:
            raise NotImplementedError("expected read_only=False, found True; open the array or the group for reading")
        super().__init__(getattr(node, "engine", node))

    def put(self, attributes: Any) -> None:
        """Replace all attributes by these, in one step."""
        with _errors():
            super().put(AsZarrPython(attributes))

    def update(self, *args: Any, **named: Any) -> None:
        """Set several attributes in one step."""
        with _errors():
            super().update(*args, **named)

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
