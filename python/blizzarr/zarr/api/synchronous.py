"""The module ``zarr.api.synchronous``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.zarr.functions import *  # noqa: F403
from blizzarr.zarr.functions import __all__ as __all__

if not TYPE_CHECKING:
    from blizzarr.zarr.advice import missing

    __getattr__ = missing(__name__)
