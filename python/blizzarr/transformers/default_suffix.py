"""``zarrs.default_suffix``: the default keys of chunks, with an ending.

Specification: https://docs.rs/zarrs/latest/zarrs/array/chunk_key_encoding/struct.DefaultSuffixChunkKeyEncoding.html

>>> DefaultSuffix(suffix=".tiff").encode((1, 23)), DefaultSuffix(".png", ".").decode("c.1.23.png")
('c/1/23.tiff', (1, 23))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.problems import MISSING, Problems
from blizzarr.stores.keys import is_key
from blizzarr.transformers.key_encoding import ChunkKeyEncoding


@dataclass(frozen=True, slots=True)
class DefaultSuffix(ChunkKeyEncoding):
    """The default keys with the separator `separator`, and `suffix` behind them."""

    name: ClassVar[str] = "zarrs.default_suffix"

    suffix: str
    separator: str = "/"

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        suffix = configuration.get("suffix", MISSING)
        if type(suffix) is not str or not is_key(f"c{suffix}"):
            problems.add(f"{path}.configuration.suffix", "an ending that keys may have", suffix)
        separator = configuration.get("separator", "/")
        if separator not in ("/", "."):
            problems.add(f"{path}.configuration.separator", '"/" or "."', separator)

    def encode(self, position: tuple[int, ...]) -> str:
        return self.separator.join(("c", *map(str, position))) + self.suffix

    def decode(self, key: str) -> tuple[int, ...] | None:
        if not key.endswith(self.suffix):
            return None
        first, *indices = key[: len(key) - len(self.suffix)].split(self.separator)
        return tuple(map(int, indices)) if first == "c" else None
