"""Words for fill values that some implementation cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def fill_tags(fill: Any) -> Iterator[str]:
    if isinstance(fill, list):
        for part in fill:
            yield from fill_tags(part)
    elif isinstance(fill, str):
        yield "fill hex" if fill.startswith("0x") else f"fill {fill}"
    elif isinstance(fill, float) and fill == 0 and str(fill)[0] == "-":
        yield "fill -0.0"
    elif isinstance(fill, int) and abs(fill) > 2**53:
        yield "fill beyond 2**53"
        if int(float(fill)) != fill:
            yield "fill that is no float64"
