"""Data types that are registered but not supported here, with advice for each."""

from __future__ import annotations

from typing import Final

_SUBBYTE = "a complex number with parts narrower than 16 bits; zarrs reads it"

_KNOWN: Final[dict[str, str]] = {
    "swapped": "fields of both byte orders in one struct; a copy of the array has one",
    "subarray": "a field of several elements, which only v1, v2 and the draft have",
    "object": "any objects of Python, which only v2 has (zarr_format=2), and the draft as zarr-python spelled it; "
    "for texts and bytes there are string and bytes",
    "complex_bfloat16": "a complex number with bfloat16 parts; zarrs reads it",
    "complex_float16": "a complex number with float16 parts; zarrs reads it",
    "complex_float4_e2m1fn": _SUBBYTE,
    "complex_float6_e2m3fn": _SUBBYTE,
    "complex_float6_e3m2fn": _SUBBYTE,
    "complex_float8_e3m4": _SUBBYTE,
    "complex_float8_e4m3": _SUBBYTE,
    "complex_float8_e4m3b11fnuz": _SUBBYTE,
    "complex_float8_e4m3fnuz": _SUBBYTE,
    "complex_float8_e5m2": _SUBBYTE,
    "complex_float8_e5m2fnuz": _SUBBYTE,
    "complex_float8_e8m0fnu": _SUBBYTE,
}


def supplier(name: str) -> str:
    """Return advice about a data type that is not supported: where support for it comes from.

    >>> supplier("complex_float16")
    'a complex number with float16 parts; zarrs reads it'
    """
    return _KNOWN.get(name, "not in the registry of Zarr extensions; ask whoever wrote it, or check the spelling")


def is_known(name: str) -> bool:
    """Return whether a data type of this name is registered."""
    return name in _KNOWN
