"""Stores as users write them, with as few methods as there can be."""

from __future__ import annotations


class Least:
    """A store that can be written, and neither deletes nor lists nor compares itself with another."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value)


class Unlisted(Least):
    """The same with removal."""

    def delete(self, key: str) -> None:
        self.values.pop(key, None)
