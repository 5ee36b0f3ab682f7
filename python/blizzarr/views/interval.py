"""Intervals: see `blizzarr.indexing.interval`."""

from blizzarr.indexing.interval import (
    FINITE,
    INF,
    INT64_MAX,
    INT64_MIN,
    UNBOUNDED,
    Bounds,
    Interval,
    affine_domain,
    affine_range,
    check_contains,
    closed,
    half_open,
    shift,
    sized,
)

__all__ = [
    "FINITE",
    "INF",
    "INT64_MAX",
    "INT64_MIN",
    "UNBOUNDED",
    "Bounds",
    "Interval",
    "affine_domain",
    "affine_range",
    "check_contains",
    "closed",
    "half_open",
    "shift",
    "sized",
]
