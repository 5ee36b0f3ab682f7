"""The module ``zarr.testing``, a plugin of pytest that zarr-python installs; it does nothing here."""

from __future__ import annotations

from blizzarr.zarr.advice import missing

__getattr__ = missing(__name__)
