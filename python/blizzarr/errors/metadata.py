"""Errors about metadata documents, which list every problem at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from blizzarr.errors.base import BlizzarrError
from blizzarr.printable import printable


class Problem(NamedTuple):
    """One thing that is wrong with a document."""

    path: str
    """The place in the document, like ``codecs[1].configuration.level``; empty for the document as a whole."""
    expected: str
    found: str

    def __str__(self) -> str:
        return printable(f"{self.path or 'the document'}: expected {self.expected}, found {self.found}")

    def of_node(self, path: str) -> Problem:
        """Return the problem with the path of its node, for lists of problems of several nodes.

        Examples
        --------
        >>> print(Problem("shape", "a list", "null").of_node("a/b"), Problem("", "an array", "a group").of_node("c"))
        /a/b: shape: expected a list, found null /c: expected an array, found a group
        """
        return self._replace(path=f"/{path}: {self.path}" if self.path else f"/{path}")


class MetadataError(BlizzarrError, ValueError):
    """A metadata document does not conform; `problems` holds everything that is wrong with it.

    `document` is what was parsed, as far as it could be, so that the attributes of a node stay readable when
    the node itself is not. `wanted_format` is the format that something could not be converted to, for errors about
    that: then nothing is wrong with what is stored.

    What to do: correct the document or the arguments; `problems` lists everything that is wrong, each with its place.

    Examples
    --------
    >>> print(MetadataError(key="a/zarr.json", problems=[Problem("shape[0]", "an integer >= 0", "-1"),
    ...                                                  Problem("codecs", "a list", "null")]))
    a/zarr.json does not conform, 2 problems:
      shape[0]: expected an integer >= 0, found -1
      codecs: expected a list, found null
    """

    fields = (*BlizzarrError.fields, "problems", "document", "wanted_format")
    verdict: ClassVar[str] = "does not conform"
    """The verdict about the document, for the text."""

    def __init__(
        self,
        reason: str = "",
        *,
        problems: Sequence[Problem] = (),
        document: Mapping[str, Any] | None = None,
        wanted_format: str | None = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.problems = tuple(Problem(*problem) for problem in problems)
        self.document = document
        self.wanted_format = wanted_format

    def _text(self) -> str:
        if not self.problems:
            return super()._text()
        if len(self.problems) == 1:
            head = f"{self._head()}: {self.problems[0]}"
        else:
            lines = "".join(f"\n  {problem}" for problem in self.problems)
            head = f"{self._head()}, {len(self.problems)} problems:{lines}"
        return f"{head}\n{printable(self.reason)}" if self.reason else head

    @property
    def line(self) -> str:
        """The text in one line, for lists: the first problem, and how many more there are."""
        if len(self.problems) < 2:
            return super().line
        return f"{self._head()}: {self.problems[0]}; and {len(self.problems) - 1} more"

    def _head(self) -> str:
        where = self.key or (f"the metadata of {self.array}" if self.array else "the metadata")
        verdict = self.verdict if self.wanted_format is None else f"would not conform to {self.wanted_format}"
        return printable(f"{where}{f' in {self.store}' if self.store else ''} {verdict}")


class UnknownExtensionError(MetadataError):
    """The document conforms, but needs a codec, data type, grid or key encoding that is not supported here.

    `extensions` holds the names; the problems say what would supply each of them.

    What to do: the text names the extra or the package that supplies it, if there is one; otherwise use the program
    that wrote it.
    """

    fields = (*MetadataError.fields, "extensions")
    verdict = "is beyond this release"

    def __init__(self, reason: str = "", *, extensions: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(reason, **rest)
        self.extensions = tuple(extensions)
