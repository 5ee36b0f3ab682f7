"""Fill values of floating-point types as they were spelled in May 2023: "inf", "-nan", "nan(0x1)".

https://github.com/zarr-developers/zarr-specs/blob/29a5a20/docs/v3/core/v3.0.rst
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["bits_of"]

_FORM: Final = re.compile(r"(-?)(inf|nan)(?:\(0x([0-9a-fA-F]{1,16})\))?")
_MANTISSA: Final = {2: 10, 4: 23, 8: 52}
"""The number of mantissa bits, by the size of the type in bytes."""


def bits_of(text: str, itemsize: int) -> str | None:
    """Return all bits of the number as hexadecimal digits; `None` for other texts.

    The payload of a NaN is the mantissa with its bits in reverse order.

    Examples
    --------
    >>> bits_of("-inf", 4), bits_of("nan", 4), bits_of("-nan(0x3)", 2), bits_of("none", 8)
    ('0xff800000', '0x7fc00000', '0xff00', None)
    """
    found = _FORM.fullmatch(text)
    mantissa = _MANTISSA.get(itemsize)
    if found is None or mantissa is None or (found[2] == "inf" and found[3]):
        return None
    payload = 0 if found[2] == "inf" else int(found[3] or "1", 16)
    if payload >> mantissa or (found[2] == "nan" and not payload):
        return None
    width = itemsize * 8
    exponent = (1 << (width - 1 - mantissa)) - 1
    reverse = int(f"{payload:0{mantissa}b}"[::-1], 2)
    bits = (exponent << mantissa) | reverse | (bool(found[1]) << (width - 1))
    return f"0x{bits:0{width // 4}x}"
