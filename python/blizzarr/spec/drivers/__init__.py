"""The table of drivers of arrays, as specs describe them."""

from __future__ import annotations

from typing import Final

from blizzarr.spec.driver_names import FORMATS, array_schemes
from blizzarr.spec.drivers.adapters import CastSpec, DownsampleSpec, StackSpec
from blizzarr.spec.drivers.array import ArrayDriver
from blizzarr.spec.drivers.auto import AutoDriver
from blizzarr.spec.drivers.driver import Change, Driver
from blizzarr.spec.drivers.json_value import JsonValue
from blizzarr.spec.drivers.precomputed import PrecomputedSpec
from blizzarr.spec.drivers.stored import StoredDriver, directory
from blizzarr.spec.drivers.virtual import VirtualSpec

__all__ = ["DRIVERS", "Change", "Driver", "StoredDriver", "directory"]

_SCHEME_OF = {name: scheme for scheme, name in array_schemes().items()}

DRIVERS: Final[dict[str, Driver]] = {
    **{name: StoredDriver(name, _SCHEME_OF[name]) for name in FORMATS},
    "neuroglancer_precomputed": PrecomputedSpec("neuroglancer_precomputed", _SCHEME_OF["neuroglancer_precomputed"]),
    "auto": AutoDriver(),
    "array": ArrayDriver(),
    "cast": CastSpec(),
    "downsample": DownsampleSpec(),
    "json": JsonValue(),
    "stack": StackSpec(),
    "virtual_chunked": VirtualSpec(),
}
"""Every driver by its name."""
