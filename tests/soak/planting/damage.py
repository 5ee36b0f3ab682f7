"""What was done to one stored object, and what a check must say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias

from soak.planting.stores import Object, Planted

__all__ = ["PAGE", "Damage", "Kind"]

PAGE = b"<!DOCTYPE html><html><head><title>503 Service Unavailable</title></head><body>Try again.</body></html>\n"
"""What a server says when it has no time."""


@dataclass(frozen=True)
class Damage:
    """What was done, and what is to be found."""

    what: str
    root: Path
    keys: frozenset[str]
    """Findings about these are explained by it."""
    kinds: frozenset[str]
    """Of these kinds."""
    certain: bool = True
    """Whether it must be found; what has no checksum may decode to other values."""
    chunk: tuple[int, ...] | None = None
    """The inner chunk that must be named."""
    spoiled: Object | None = None
    """The object whose values are not what they were."""
    inner: tuple[tuple[int, int], ...] | None = None
    """The inner chunks of it that are not; None: all."""

    def __str__(self) -> str:
        return f"{self.what} of {sorted(self.keys)} in {self.root.name}"


Kind: TypeAlias = Callable[[Planted, Random], Damage | None]
