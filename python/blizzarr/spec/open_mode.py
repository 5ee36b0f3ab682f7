"""Open modes: whether a spec opens, creates, or assumes an array; and the age up to which what is cached is used."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from blizzarr.errors import SpecError
from blizzarr.json_values import expected
from blizzarr.keywords import exact_keywords


@dataclass(repr=False, kw_only=True)
class OpenMode:
    """The operations that a spec may do when it is opened.

    Parameters
    ----------
    open
        Open what is there.
    create
        Create what is not there.
    delete_existing
        Remove what is there first; only with `create` and without `open`.
    assume_metadata
        Neither read nor write metadata, but take what the spec says. If that is wrong, data is lost or damaged.
    assume_cached_metadata
        Read metadata only when it is changed, not when opening. Just as dangerous.

    Examples
    --------
    >>> OpenMode(open=True, create=True)
    OpenMode(open=True, create=True)
    """

    open: bool = False
    create: bool = False
    delete_existing: bool = False
    assume_metadata: bool = False
    assume_cached_metadata: bool = False

    def __post_init__(self) -> None:
        for name in MODES:
            setattr(self, name, bool(getattr(self, name)))

    def __repr__(self) -> str:
        return f"OpenMode({', '.join(f'{name}=True' for name in modes_on(self))})"


OpenMode.__init__ = exact_keywords(OpenMode.__init__)  # type: ignore[method-assign]  # its message has advice

MODES: Final = ("open", "create", "delete_existing", "assume_metadata", "assume_cached_metadata")

_RULES = [
    ("delete_existing", "create", True),
    ("delete_existing", "open", False),
    ("delete_existing", "assume_metadata", False),
    ("delete_existing", "assume_cached_metadata", False),
    ("assume_metadata", "open", True),
    ("assume_cached_metadata", "open", True),
]
"""In the order in which they are checked: a mode, and which other one it needs or excludes."""


def modes_on(mode: OpenMode) -> list[str]:
    """Return the names of the modes that are on."""
    return [name for name in MODES if getattr(mode, name)]


def changed_mode(mode: OpenMode, change: OpenMode) -> OpenMode:
    """Return a mode changed by another: one that sets `open` or `create` replaces it, others add to it.

    >>> changed_mode(changed_mode(OpenMode(open=True), OpenMode(create=True)), OpenMode(delete_existing=True))
    OpenMode(create=True, delete_existing=True)
    """
    on = set(modes_on(change))
    if not on:
        return copy(mode)
    if not on & {"open", "create"}:
        on |= set(modes_on(mode))
    if "assume_metadata" in on:
        on.discard("assume_cached_metadata")
    return OpenMode(**dict.fromkeys(on, True))


def check_mode(mode: OpenMode) -> None:
    for name, other, wanted in _RULES:
        if getattr(mode, name) and getattr(mode, other) != wanted:
            raise SpecError(f"Cannot specify an open mode of `{name}` {'without' if wanted else 'with'} `{other}`")


Recheck: TypeAlias = bool | float | Literal["open"]
"""True: always; False: never; ``"open"``: if it is older than the opening; a number: if older than that, in seconds
since 1970."""


def recheck_from_json(value: Any) -> Recheck:
    if isinstance(value, bool) or value == "open":
        return value
    if isinstance(value, int | float):
        return float(value)
    raise expected(value, 'boolean, number, or "open"')


def recheck_argument(value: Any) -> Recheck:
    try:
        return recheck_from_json(value)
    except SpecError as error:
        raise TypeError(error.reason) from None


def bound_at_open(bound: Recheck, now: float) -> float:
    """Return the moment since which something must have been checked to be used without another check."""
    if isinstance(bound, bool):
        return math.inf if bound else -math.inf
    return now if bound == "open" else float(bound)
