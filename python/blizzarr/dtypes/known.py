"""Data types that are registered but not supported here, with advice for each."""

from __future__ import annotations

from typing import Final

_KNOWN: Final[dict[str, str]] = {
    "swapped": "fields of both byte orders in one struct; a copy of the array has one",
    "subarray": "a field of several elements, which only v1, v2 and the draft have",
    "object": "any objects of Python, which only v2 has (zarr_format=2), and the draft as zarr-python spelled it; "
    "for texts and bytes there are string and bytes",
}


def supplier(name: str) -> str:
    """Return advice about a data type that is not supported: where support for it comes from.

    Examples
    --------
    >>> supplier("swapped")
    'fields of both byte orders in one struct; a copy of the array has one'
    """
    return _KNOWN.get(name, "not in the registry of Zarr extensions; ask whoever wrote it, or check the spelling")


def is_known(name: str) -> bool:
    """Return whether a data type of this name is registered."""
    return name in _KNOWN
