"""One act done by both libraries: what came of it, in words that can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tensorstore_face import without_hint

__all__ = ["outcome"]

_CLASSES = (TypeError, OverflowError, IndexError, KeyError, NotImplementedError, ValueError)


def outcome(act: Callable[[], Any], show: Callable[[Any], Any] = repr) -> tuple[str, Any]:
    """What it gives, or the builtin class of the error and its text; texts about arguments are each library's own."""
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
        return name, said
