"""Version 2."""

from __future__ import annotations

from interop.rules import Rule

ZARR_PYTHON_2: tuple[Rule, ...] = ()
ZARR_PYTHON: tuple[Rule, ...] = ()
ZARRS_PYTHON: tuple[Rule, ...] = ()
TENSORSTORE: tuple[Rule, ...] = ()
ZARRISTA: tuple[Rule, ...] = ()
ZARRITA: tuple[Rule, ...] = ()
ZARR_JAVA: tuple[Rule, ...] = ()
GDAL: tuple[Rule, ...] = ()
