"""The error that stands for a bug of this library."""

from __future__ import annotations

from traceback import walk_tb
from typing import Any, Self

from blizzarr.errors.base import BlizzarrError


class InternalError(BlizzarrError, RuntimeError):
    """A bug of this library: the engine is in a state that should be impossible. The text has what a report needs.

    The operation has ended, its locks are released, and each chunk is what it was or what it was to become; the process
    can go on. `operation` says what was asked for, `location` where in the engine it happened, `version` in which
    release.

    What to do: report it, with its text; your program can carry on.

    Examples
    --------
    >>> print(InternalError("index out of bounds", array="/a", operation="read", version="1.2.3", location="a.rs:7:9"))
    /a: index out of bounds
    This is a bug of blizzarr 1.2.3 (at a.rs:7:9, asked to read). Please report it, with this text.
    """

    fields = (*BlizzarrError.fields, "operation", "version", "location")

    def __init__(
        self,
        reason: str = "",
        *,
        operation: str | None = None,
        version: str | None = None,
        location: str | None = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.operation = operation
        self.version = version
        self.location = location

    @classmethod
    def of(cls, error: Exception, operation: str, **place: Any) -> Self:
        """Make the error for an exception that no code of this library should let through."""
        from importlib.metadata import version

        *_, (frame, line) = walk_tb(error.__traceback__)
        module = frame.f_globals.get("__name__", "?")
        reason = f"{type(error).__name__}: {error}"
        return cls(reason, operation=operation, version=version("blizzarr"), location=f"{module}:{line}", **place)

    def _text(self) -> str:
        if self.version is None:
            return super()._text()
        where = f"at {self.location}, asked to {self.operation}" if self.location else f"asked to {self.operation}"
        bug = f"This is a bug of blizzarr {self.version} ({where}). Please report it, with this text."
        return f"{super()._text()}\n{bug}"
