"""Zip files as stores."""

from __future__ import annotations

from blizzarr.stores.zip.store import ZipStore
