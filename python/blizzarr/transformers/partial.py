"""Reading and writing parts of many values, in as few calls as the store has methods for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from blizzarr.errors import ConflictError
from blizzarr.stores import ByteRange, Store, Value
from blizzarr.stores.conditional import try_replace

KeyRange: TypeAlias = tuple[str, ByteRange]
"""A key and a part of its value: ``("a/b", (start, length or None))``."""
KeyStartValue: TypeAlias = tuple[str, int, Value]
"""A key, an offset in its value, and the bytes to put there."""

_ATTEMPTS: Final = 100


def get_partial_values(store: Any, key_ranges: Iterable[KeyRange]) -> list[Value | None]:
    """Return parts of values in the order of the request, `None` where the key is missing; one call per key.

    The parts of one value are of one version of it. A store with its own `get_partial_values` is called once.
    """
    key_ranges = list(key_ranges)
    at_once = getattr(store, "get_partial_values", None)
    if at_once is not None:
        return list(at_once(key_ranges))
    values: list[Value | None] = [None] * len(key_ranges)
    numbers: dict[str, list[int]] = {}
    for number, (key, _) in enumerate(key_ranges):
        numbers.setdefault(key, []).append(number)
    for key, wanted in numbers.items():
        parts = store.get_ranges(key, [key_ranges[number][1] for number in wanted])
        for number, part in zip(wanted, parts or (), strict=parts is not None):
            values[number] = part
    return values


def set_partial_values(store: Any, key_start_values: Iterable[KeyStartValue]) -> None:
    """Put bytes into values, each of which is replaced once; values that are too short are padded with zeros.

    Concurrent changes of the same value are kept if the store has `replace`. A store with its own `set_partial_values`
    is called once.

    Raise `ValueError` if two of the parts overlap, or an offset is negative; nothing is changed.
    """
    parts = by_key(key_start_values)
    at_once = getattr(store, "set_partial_values", None)
    if at_once is not None:
        at_once([(key, start, value) for key, several in parts.items() for start, value in several])
        return
    for key, several in parts.items():
        _patch(store, key, several)


def by_key(key_start_values: Iterable[KeyStartValue]) -> dict[str, list[tuple[int, Value]]]:
    """Return the parts by key, sorted by offset."""
    parts: dict[str, list[tuple[int, Value]]] = {}
    for key, start, value in key_start_values:
        if start < 0:
            raise ValueError(f"expected bytes to set at 0 or later in {key}, found {start}")
        parts.setdefault(key, []).append((start, value))
    for key, several in parts.items():
        several.sort(key=lambda part: part[0])
        for (start, value), (following, _) in pairwise(several):
            end = start + memoryview(value).nbytes
            if following < end:
                raise ValueError(
                    f"expected ranges of {key} that do not overlap, found [{start}, {end}) and one from {following} on"
                )
    return parts


def patched(value: Value | None, parts: Sequence[tuple[int, Value]]) -> bytes:
    """Return a value with some bytes replaced, padded with zeros where it is too short."""
    changed = bytearray(b"" if value is None else value)
    for start, part in parts:
        view = memoryview(part).cast("B")
        if start > len(changed):
            changed.extend(bytes(start - len(changed)))
        changed[start : start + len(view)] = view
    return bytes(changed)


def _patch(store: Store, key: str, parts: Sequence[tuple[int, Value]]) -> None:
    for _ in range(_ATTEMPTS):
        old = store.get(key)
        new = patched(old, parts)
        if try_replace(store, key, old, new):
            return
    raise ConflictError(
        f"somebody else changed the value {_ATTEMPTS} times in a row; try again", key=key, store=str(store)
    )
