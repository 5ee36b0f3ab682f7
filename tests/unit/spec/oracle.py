"""One act done by both libraries: what came of it, compared by values, and by the content of errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Self

from blizzarr.errors import BlizzarrError
from blizzarr.spec.dtype import DTYPES
from tensorstore_face import without_hint

__all__ = ["Refusal", "content_of", "outcome"]

_CLASSES = (TypeError, OverflowError, IndexError, KeyError, NotImplementedError, ValueError)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")


def content_of(text: str) -> frozenset[Any]:
    r"""The names and values in the text of an error: what is quoted, numbers, and data types.

    >>> sorted(content_of('Expected "shape" of [1,2.0] but received: "\\"int8\\"" (float32)'), key=str)
    [1.0, 2.0, 'float32', 'int8', 'shape']
    """
    text = text.replace("\\", "").replace("64-bit", "")
    # Some names of data types are words of other meanings, too.
    words = {word for word in re.findall(r"\w+", text) if word in DTYPES.keys() - {"json", "string", "byte", "char"}}
    return frozenset({*re.findall(r'"([^"]+)"', text), *map(float, _NUMBER.findall(text)), *words})


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


def outcome(act: Callable[[], Any], show: Callable[[Any], Any] = repr) -> tuple[str, Any]:
    """What it gives, or the builtin class of the error and its content; arguments are named by each library alone."""
    try:
        return "gives", show(act())
    except _CLASSES as error:
        name = next(kind.__name__ for kind in _CLASSES if isinstance(error, kind))
        said = re.sub(r"^(FAILED_PRECONDITION|OUT_OF_RANGE|UNIMPLEMENTED): ", "", str(error))
        # What TensorStore adds about the whole spec, or transform.
        said = re.sub(r" \[[a-z_ ]+='.*$", "", said, flags=re.DOTALL)
        said = without_hint(said)
        if name == "TypeError":
            # Ours also says what was expected.
            said = said.partition(": ")[0]
        if name == "TypeError" and not said.startswith("Invalid "):
            said = ""
        return name, Refusal(said, isinstance(error, BlizzarrError))
