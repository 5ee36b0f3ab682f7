"""Fallback data types: the first known one of those that a document offers in place of an unknown data type.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata

The draft of December 2022 has fallbacks, and so had Zarr v3 until June 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from blizzarr.config import config
from blizzarr.problems import Notice, Problems, describe

T = TypeVar("T")


def use_fallback(
    name: str, shown: str, path: str, fallback: Any, decode: Callable[[Any, Problems], T | None], problems: Problems
) -> T | None:
    """Decode the first known data type of a fallback; `None` when none is known, or the setting forbids its use.

    A notice says that the fallback is used. Unknown types add no problem; a known one that the setting
    `use_fallback_data_types` forbids does.

    - `name`, `shown`, `path`: the name or URI of the unknown data type, its description in messages, and its JSON path.
    - `fallback`: one data type or a list of them, from the document.
    - `decode`: decodes a data type from an item.
    """
    for item in fallback if type(fallback) is list else [fallback]:
        inner = Problems()
        known = decode(item, inner)
        if known is None:
            continue
        if not config.use_fallback_data_types:
            allow = "config.set(use_fallback_data_types=True) allows it"
            problems.unknown(path, "data type", name, f"its fallback {describe(item)} is known; {allow}")
            return None
        text = (
            f"the data type {shown} is not known here: elements are read as their fallback {describe(item)}, which may "
            "not say what they mean; config.set(use_fallback_data_types=False) makes this an error"
        )
        problems.notices += [*inner.notices, Notice("fallback", text)]
        return known
    return None
