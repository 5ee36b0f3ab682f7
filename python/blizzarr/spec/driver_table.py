"""The drivers of arrays: their names, and what TensorStore has besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.open_table import OpenTable

if TYPE_CHECKING:
    from blizzarr.spec.drivers.driver import Driver

DRIVERS: Final[OpenTable[Driver]] = OpenTable(
    "blizzarr.drivers",
    {
        "zarr3": "blizzarr.spec.drivers.stored:ZARR3",
        "zarr": "blizzarr.spec.drivers.stored:ZARR2",
        "zarr2": "blizzarr.spec.drivers.stored:ZARR2",
        "n5": "blizzarr.spec.drivers.stored:N5",
        "neuroglancer_precomputed": "blizzarr.neuroglancer.driver:DRIVER",
        "neuroglancer-precomputed": "blizzarr.neuroglancer.driver:DRIVER",
        "zarr1": "blizzarr.spec.drivers.stored:ZARR1",
        "zarr3_draft": "blizzarr.spec.drivers.stored:DRAFT",
        "auto": "blizzarr.spec.drivers.stored:AUTO",
        "array": "blizzarr.spec.drivers.values:ARRAY",
        "cast": "blizzarr.spec.drivers.adapters:CAST",
        "downsample": "blizzarr.spec.drivers.adapters:DOWNSAMPLE",
        "json": "blizzarr.spec.drivers.values:JSON",
        "stack": "blizzarr.spec.drivers.adapters:STACK",
        "virtual_chunked": "blizzarr.spec.drivers.values:VIRTUAL",
    },
)
"""The drivers by name. Some have a second name, as which `Driver.name` does not have it."""

ELSEWHERE: Final = dict.fromkeys(("avif", "bmp", "jpeg", "png", "tiff", "webp"), "images")
"""The drivers and URL schemes that TensorStore has and this library has not, and what they are for."""


def scheme_driver(scheme: str) -> Driver | None:
    """Return the driver that a scheme in URLs means; None if no driver has the scheme."""
    driver = DRIVERS.find(scheme)
    return driver if driver is not None and driver.scheme == scheme else None
