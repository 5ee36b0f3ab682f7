"""Version 1."""

from __future__ import annotations

from interop.rules import Rule, cannot, neither

ZARR_PYTHON_1: tuple[Rule, ...] = (
    cannot("writes", "writes fill values of numbers", "complex", unless=("fill null",)),
    cannot("writes", "writes fill values of numbers", "byte strings", unless=("fill null",)),
    cannot("writes", "writes fill values of numbers", "raw bytes", unless=("fill null",)),
    cannot("writes", "writes fill values of numbers", "datetime", unless=("fill null", "type M8[ns]")),
    cannot("writes", "writes fill values of numbers", "timedelta", unless=("fill null",)),
    cannot("writes", "writes fill values of numbers", "type struct", unless=("fill null",)),
    cannot("writes", "writes no empty arrays", "empty"),
    cannot("reads", "fills structs with numbers", "struct with byte strings"),
    cannot("reads", "fills structs with numbers", "nested struct"),
    cannot("reads", "reads no empty arrays of rank 1", "empty", "rank 1"),
    *neither("has no fields that are arrays", "struct with arrays"),
)
