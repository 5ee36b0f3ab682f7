"""The error that stands for a bug of this library."""

from __future__ import annotations

from typing import Any

from blizzarr.errors.base import BlizzarrError

__all__ = ["InternalError"]


class InternalError(BlizzarrError, RuntimeError):
    """A bug of this library: the engine is in a state that should be impossible. The text has what a report needs.

    The operation has ended, its locks are released, and each chunk is what it was or what it was to become; the process
    can go on. `operation` says what was asked for, `location` where in the engine it happened, `version` in which
    release.

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

    def __str__(self) -> str:
        if self.version is None:
            return super().__str__()
        where = f"at {self.location}, asked to {self.operation}" if self.location else f"asked to {self.operation}"
        bug = f"This is a bug of blizzarr {self.version} ({where}). Please report it, with this text."
        return f"{super().__str__()}\n{bug}"
