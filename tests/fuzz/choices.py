"""Bytes of a fuzzer as a row of choices. When they end, every choice left is the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Choices"]

T = TypeVar("T")


class Choices:
    """What is left of the fuzzer's bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        """The next byte."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, count: int) -> int:
        """A number below `count`."""
        number = self.byte()
        while count > 256:
            number = number << 8 | self.byte()
            count >>= 8
        return number % max(count, 1) if count <= 256 else number

    def pick(self, items: Sequence[T]) -> T:
        """One of them."""
        number, count = self.byte(), len(items)
        if count > 256:
            number = number << 8 | self.byte()
        return items[number % count]

    def one_in(self, count: int) -> bool:
        """True for one of so many bytes; never when they have ended."""
        return self.byte() % count == count - 1

    def take(self, count: int) -> bytes:
        """Some bytes as they are."""
        self._at += count
        return self._data[self._at - count : self._at]
