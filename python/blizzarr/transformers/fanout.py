"""``fanout``: indices spread over directories, so that none has more than so many entries.

Proposed for the registry: https://github.com/zarr-developers/zarr-extensions/pull/31

The digits of an index are cut into groups of as many as the entries of a directory have. Before the groups stands how
many there are behind the first one, so that keys in alphabetical order are in the order of the indices.

>>> Fanout(1000).encode((1234, 5, 0)), Fanout(100).decode("c/1/01/23")
('c/1/001/234/0/005/0/000', (123,))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from blizzarr.problems import Problems
from blizzarr.transformers.key_encoding import ChunkKeyEncoding

_MOST_GROUPS: Final = 32
"""The most groups of an index of 64 bits, and more."""


@dataclass(frozen=True, slots=True)
class Fanout(ChunkKeyEncoding):
    """The keys ``c/...``, in which each directory has at most `max_children` entries: a power of 10, from 100 on."""

    name: ClassVar[str] = "fanout"

    max_children: int = 1000

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        most = configuration.get("max_children", cls.__dataclass_fields__["max_children"].default)
        # An earlier proposal had other numbers, and other keys: its chunks would look as if they were missing.
        if type(most) is not int or most < 100 or str(most).strip("0") != "1":
            problems.add(f"{path}.configuration.max_children", "a power of 10, from 100 on", most)

    @property
    def _digits(self) -> int:
        return len(str(self.max_children)) - 1

    def encode(self, position: tuple[int, ...]) -> str:
        parts = ["c"]
        for index in position:
            text = str(index)
            groups = -(-len(text) // self._digits)
            text = text.zfill(groups * self._digits)
            parts.append(str(groups - 1))
            parts.extend(text[start : start + self._digits] for start in range(0, len(text), self._digits))
        return "/".join(parts)

    def decode(self, key: str) -> tuple[int, ...] | None:
        first, *parts = key.split("/")
        position = []
        while parts:
            groups = int(parts[0]) + 1
            text = "".join(parts[1 : groups + 1])
            # Whatever else these digits could be, they are not what `encode` makes of the index.
            if not 0 < groups <= _MOST_GROUPS or not text.isdecimal():
                return None
            position.append(int(text))
            parts = parts[groups + 1 :]
        decoded = tuple(position)
        return decoded if first == "c" and self.encode(decoded) == key else None
