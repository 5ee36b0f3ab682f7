"""The rules for names of nodes in the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#node-names
"""

from __future__ import annotations

import re
from typing import Final

from blizzarr.problems import Problems

_LETTERS: Final = "ASCII letters, digits, '-', '_' and '.', not of dots only: the draft has no others"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def is_name(name: str) -> bool:
    """Return whether a node may have this name; case matters.

    >>> is_name("a-1.b_C"), is_name(""), is_name(".."), is_name("größe")
    (True, False, False, False)
    """
    return _NAME.fullmatch(name) is not None and name.strip(".") != ""


def name_problem(name: str) -> str | None:
    """Return why no node may have this name; `None` if it may."""
    return None if is_name(name) else f"a name may only have {_LETTERS}"


def check_path(path: str, problems: Problems) -> None:
    """Add a problem for each invalid name in a path."""
    for name in path.split("/") if path else ():
        if not is_name(name):
            problems.add("the path", f"names of {_LETTERS}", name)
