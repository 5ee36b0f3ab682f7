"""Numbers in JSON strings, as TensorStore reads them.

Unlike in Python, only ASCII digits count, underscores are not allowed, and floats may be hexadecimal.
"""

from __future__ import annotations

import re

_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?[0-9]+)?", re.IGNORECASE)
_UNBOUNDED = re.compile(r"([+-]?)(inf(?:inity)?|nan)(?:(?<=nan)\([0-9a-z_]*\))?", re.IGNORECASE)
_DIGITS = 4000
"""The most digits of an integer: more than any needs, and fewer than Python's limit of 4,300."""


def integer_of_text(text: str) -> int | None:
    """Return the integer that a text spells; `None` if it is not an integer.

    >>> integer_of_text(" -12"), integer_of_text("1_0"), integer_of_text("1.0")
    (-12, None, None)
    """
    text = text.strip(_SPACE)
    return int(text) if len(text) <= _DIGITS and _INTEGER.fullmatch(text) else None


def float_of_text(text: str) -> float | None:
    """Return the float that a text spells; `None` if it is not a number.

    >>> float_of_text("1e400"), float_of_text("-0x1.8p1"), float_of_text("Infinity"), float_of_text("1,5")
    (inf, -3.0, inf, None)
    """
    text = text.strip(_SPACE)
    if _FLOAT.fullmatch(text):
        return float(text)
    if special := _UNBOUNDED.fullmatch(text):
        return float(special[1] + special[2])
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    return None
