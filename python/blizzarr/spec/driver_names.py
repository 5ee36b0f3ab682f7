"""The names of the drivers of arrays, and their schemes in URLs."""

from __future__ import annotations

__all__ = ["DRIVER_ALIASES", "FORMATS", "array_schemes", "elsewhere", "is_array_driver"]

FORMATS: dict[str, tuple[str, ...]] = {
    "zarr3": ("v3",),
    "zarr": ("v2",),
    "n5": ("n5",),
    "neuroglancer_precomputed": ("precomputed",),
    "zarr1": ("v1",),
    "zarr3_draft": ("v3_draft", "v3_draft_zarr_python"),
}
"""The drivers of arrays that are stored, and the formats that they read; they write the first."""

_SCHEMES = {"zarr3": "zarr3", "zarr2": "zarr", "n5": "n5", "zarr1": "zarr1", "zarr3_draft": "zarr3_draft"}
_SCHEMES |= {"json": "json", "neuroglancer-precomputed": "neuroglancer_precomputed"}

DRIVER_ALIASES = {"zarr2": "zarr", "neuroglancer-precomputed": "neuroglancer_precomputed"}
"""Other names of drivers."""

_OTHERS = ("array", "auto", "cast", "downsample", "json", "stack")

_ELSEWHERE = dict.fromkeys(("avif", "bmp", "jpeg", "png", "tiff", "webp"), "images")


def elsewhere(name: str) -> str | None:
    """Describe a driver or URL scheme that TensorStore has and this library has not; None for others.

    Examples
    --------
    >>> elsewhere("png"), elsewhere("zarr3")
    ('images', None)
    """
    return _ELSEWHERE.get(name)


def array_schemes() -> dict[str, str]:
    """URL schemes of arrays, and the driver that each means.

    Examples
    --------
    >>> array_schemes()["zarr2"]
    'zarr'
    """
    return _SCHEMES


def is_array_driver(name: str) -> bool:
    """Return whether a driver of this name makes arrays, not key-value stores.

    Examples
    --------
    >>> is_array_driver("zarr3"), is_array_driver("memory")
    (True, False)
    """
    return name in FORMATS or name in _OTHERS or name in DRIVER_ALIASES
