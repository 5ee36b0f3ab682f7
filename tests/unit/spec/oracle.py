"""One act done by both libraries: what came of it, compared by values, and by the content of errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Self

from blizzarr.errors import BlizzarrError
from blizzarr.spec.dtype import DTYPES
from tensorstore_face import without_hint

__all__ = ["Refusal", "content_of", "outcome", "refusal_of"]

_CLASSES = (TypeError, OverflowError, IndexError, KeyError, NotImplementedError, ValueError)
_EXPECTED = re.compile(
    r"at position \d+|should have length \d+|of size \d+( or \d+)?|in the range \[[^]]*\]|\d+ base64-encoded bytes,"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")


def content_of(text: str) -> frozenset[Any]:
    r"""The names and values in the text of an error: what is quoted, numbers, and data types.

    >>> sorted(content_of('Expected "shape" of [1,2.0] but received: "\\"int8\\"" (float32)'), key=str)
    [1.0, 2.0, 'float32', 'int8', 'shape']
    """
    text = text.replace("\\", "").replace("64-bit", "")
    # Where in a list, and what is expected, each library says in its own way.
    text = _EXPECTED.sub("", text)
    # Which sides do not divide which, documents tell by themselves.
    text = re.sub(r"sub-chunk shape of \{[^}]*\} does not evenly divide chunk shape of \{[^}]*\}", "", text)
    # Some names of data types are words of other meanings, too.
    words = {word for word in re.findall(r"\w+", text) if word in DTYPES.keys() - {"json", "string", "byte", "char"}}
    # The ends of 64-bit ranges are no values of a user's.
    numbers = {number for number in map(float, _NUMBER.findall(text)) if abs(number) < 2**53}
    return frozenset({*re.findall(r'"([^"]*)"', text), *numbers, *words} - {"", "#"})


class Refusal:
    """The text of an error, equal to another if this library's has every name and value that TensorStore's has."""

    def __init__(self, text: str, is_ours: bool) -> None:
        self.text = text
        self.is_ours = is_ours
        self.content = content_of(text)

    def without(self, *names: str) -> Self:
        """The same without these names."""
        made = type(self)(self.text, self.is_ours)
        made.content = self.content - set(names)
        return made

    def __contains__(self, text: str) -> bool:
        return text in self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Refusal):
            return NotImplemented
        theirs, ours = sorted((self, other), key=lambda refusal: refusal.is_ours)
        return theirs.is_within(ours) or (not ours.is_ours and ours.is_within(theirs))

    def is_within(self, other: Refusal) -> bool:
        """True if another text has all names and values of this one; names also without quotation marks."""
        missing = {str(part) for part in self.content - other.content if isinstance(part, str)}
        others = {part for part in self.content - other.content if not isinstance(part, str)}
        return not others and all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", other.text) for name in missing)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.text)


def refusal_of(error: Exception) -> Refusal:
    """The content of an error, without its status and what TensorStore adds about the whole spec or transform."""
    text = re.sub(r"^(FAILED_PRECONDITION|OUT_OF_RANGE|UNIMPLEMENTED): ", "", str(error))
    text = re.sub(r" \[[a-z_ ]+='.*$", "", text, flags=re.DOTALL)
    return Refusal(without_hint(text), isinstance(error, BlizzarrError))


def outcome(act: Callable[[], Any], show: Callable[[Any], Any] = repr) -> tuple[str, Any]:
    """What it gives, or the builtin class of the error and its content; arguments are named by each library alone."""
    try:
        return "gives", show(act())
    except _CLASSES as error:
        name = next(kind.__name__ for kind in _CLASSES if isinstance(error, kind))
        found = refusal_of(error)
        if name == "TypeError":
            # Ours also says what was expected.
            said = found.text.partition(": ")[0]
            found = Refusal(said if said.startswith("Invalid ") else "", found.is_ours)
        return name, found
