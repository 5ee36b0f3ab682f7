"""The outcome of a commit: the participants, the values that were stored and those that were not, and the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from blizzarr.errors import BlizzarrError

_NAMED = 5
"""The most values that the text of an error names as stored, and as not stored."""


class Outcome:
    """The values that a commit has stored, those that it has not, and the first error."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.not_stored: list[str] = []
        self.error: BaseException | None = None

    def fail(self, shown: Sequence[str], error: BaseException) -> None:
        """Record values that were not stored; the first error counts."""
        self.not_stored += shown
        self.error = self.error or error

    def with_note(self) -> BaseException | None:
        """Return the first error, with a note on what became of the other values; None if all were stored."""
        error = self.error
        if error is not None and self.stored:
            what = f"{_listed(self.stored)} stored, {_listed(self.not_stored)} not"
            if isinstance(error, BlizzarrError):
                error.reason = f"{error.reason}; of what was committed {what}"
            else:
                error.add_note(f"of what was committed {what}")
        return error


class Participant(Protocol):
    """The changes of one place that a transaction has gathered."""

    at_once: bool
    """True if the commit stores either all of them or none."""

    def prepare(self) -> None:
        """Raise if the changes cannot be committed; nothing is stored yet."""

    def commit(self, outcome: Outcome) -> None:
        """Store the changes, and record which values were stored."""

    def shown(self) -> list[str]:
        """Return the names of the values that are to be stored, as errors show them."""

    def abort(self) -> None:
        """Forget the changes."""


def _listed(shown: list[str]) -> str:
    more = len(shown) - _NAMED
    named = ", ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{named or 'nothing'} {'is' if len(shown) < 2 else 'are'}"
