"""The module ``zarr.api.synchronous``."""

from __future__ import annotations

from blizzarr.zarr.functions import *  # noqa: F403
from blizzarr.zarr.functions import __all__ as __all__
