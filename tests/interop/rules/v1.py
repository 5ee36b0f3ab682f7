"""Version 1."""

from __future__ import annotations

from interop.rules import Rule, cannot, neither

ZARR_PYTHON_1: tuple[Rule, ...] = (
    cannot("writes", "writes no empty arrays", "empty"),
    cannot("reads", "reads no empty arrays of rank 1", "empty", "rank 1"),
    *neither("has no fields that are arrays", "struct with arrays"),
)
