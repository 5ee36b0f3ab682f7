"""Standing in for data types that are not known here: the first known one of those that a document offers.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from blizzarr.config import config
from blizzarr.problems import Problems, describe

__all__ = ["use_fallback"]

T = TypeVar("T")


def use_fallback(
    uri: str,
    identifier: Any,
    fallback: Any,
    path: str,
    decode: Callable[[Any, str, Problems], T | None],
    problems: Problems,
) -> T | None:
    """What the first known data type of a fallback means, with a warning; `None` when there is none, or none is wanted.

    Nothing is added to `problems` for types that are not known, and when the setting `use_fallback_data_types` forbids
    to use any.
    """
    offered = fallback if type(fallback) is list else [fallback]
    for item in offered:
        found = Problems()
        known = decode(item, path, found)
        if known is None:
            continue
        if not config.use_fallback_data_types:
            problems.unknown(
                path.removesuffix(".fallback") + ".extension",
                "data type",
                uri,
                f"its fallback {describe(item)} is known; config.set(use_fallback_data_types=True) allows it",
            )
            return None
        warnings.warn(
            f"the data type {describe(identifier)} of {uri} is not known here: elements are read as their fallback "
            f"{describe(item)}, which may not say what they mean; config.set(use_fallback_data_types=False) makes this "
            "an error",
            UserWarning,
            stacklevel=2,
        )
        return known
    return None
