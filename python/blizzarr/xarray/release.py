"""The release of xarray that is installed."""

from __future__ import annotations

import re
from typing import Final

import xarray


def release_of(version: str) -> tuple[int, ...]:
    """Return year and month of a release of xarray; those of a time to come for what was built from its sources.

    >>> release_of("2026.9.0"), release_of("0+unknown")
    ((2026, 9), (9999,))
    """
    found = re.match(r"(20[0-9]{2})\.([0-9]+)", version)
    return tuple(map(int, found.groups())) if found else (9999,)


RELEASE: Final = release_of(xarray.__version__)
