"""``suffix`` and ``zarrs.default_suffix``: the keys of another encoding, with an ending.

======================  ============================================================================================
`suffix`                https://github.com/zarr-developers/zarr-extensions/pull/28, a proposal that Zarr.jl implements
`zarrs.default_suffix`  https://docs.rs/zarrs/latest/zarrs/array/chunk_key_encoding/
======================  ============================================================================================

>>> Suffix(".tiff", {"name": "v2"}).encode((1, 23)), DefaultSuffix(".png", ".").decode("c.1.23.png")
('1.23.tiff', (1, 23))
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

from blizzarr.problems import MISSING, Problems, extension, members, name_path
from blizzarr.stores.keys import is_key
from blizzarr.transformers.key_encoding import KEY_ENCODINGS, ChunkKeyEncoding


class _Separated(NamedTuple):
    """An encoding of the specification: a head and the indices, with a separator between them."""

    head: tuple[str, ...]
    separator: str

    def encode(self, position: tuple[int, ...]) -> str:
        return self.separator.join((*self.head, *map(str, position))) or "0"

    def decode(self, key: str) -> tuple[int, ...] | None:
        position = tuple(map(int, key.split(self.separator)[len(self.head) :]))
        return position if self.encode(position) == key else None


_OF_THE_SPECIFICATION: Final = {"default": _Separated(("c",), "/"), "v2": _Separated((), ".")}
"""Each with the separator that it has unless a document names another one."""


def _check_separator(configuration: Mapping[str, Any], path: str, problems: Problems) -> None:
    if (separator := configuration.get("separator", "/")) not in ("/", "."):
        problems.add(f"{path}.configuration.separator", '"/" or "."', separator)


class _WithEnding(ChunkKeyEncoding):
    """An encoding whose keys are those of another one, `base`, and `suffix` behind them."""

    __slots__ = ()

    suffix: str

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        suffix = configuration.get("suffix", MISSING)
        if type(suffix) is not str or not is_key(f"c{suffix}"):
            problems.add(f"{path}.configuration.suffix", "an ending that keys may have", suffix)

    @property
    @abstractmethod
    def base(self) -> ChunkKeyEncoding | _Separated:
        """The other encoding."""

    def encode(self, position: tuple[int, ...]) -> str:
        return self.base.encode(position) + self.suffix

    def decode(self, key: str) -> tuple[int, ...] | None:
        return self.base.decode(key[: len(key) - len(self.suffix)]) if key.endswith(self.suffix) else None


@dataclass(frozen=True, slots=True)
class DefaultSuffix(_WithEnding):
    """The default keys with the separator `separator`, and `suffix` behind them."""

    name: ClassVar[str] = "zarrs.default_suffix"

    suffix: str
    separator: str = "/"

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        super(DefaultSuffix, cls).examine(configuration, path, problems, rank)
        _check_separator(configuration, path, problems)

    @property
    def base(self) -> _Separated:
        return _OF_THE_SPECIFICATION["default"]._replace(separator=self.separator)


@dataclass(frozen=True)  # without slots, so that `base` is made once
class Suffix(_WithEnding):
    """The keys of `base_encoding`, a chunk key encoding as documents have it, and `suffix` behind them."""

    name: ClassVar[str] = "suffix"

    suffix: str
    base_encoding: Any = field(hash=False)

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        super().examine(configuration, path, problems, rank)
        base_of(configuration.get("base_encoding", MISSING), f"{path}.configuration.base_encoding", problems, rank)

    @cached_property
    def base(self) -> ChunkKeyEncoding | _Separated:
        base = base_of(self.base_encoding, "base_encoding", Problems(), None)
        assert base is not None, "as it has been examined"
        return base


def base_of(value: Any, path: str, problems: Problems, rank: int | None) -> ChunkKeyEncoding | _Separated | None:
    """Return the chunk key encoding of a document; None if a problem was added."""
    named = extension(value, path, problems, "chunk key encoding")
    if named is None:
        return None
    name, configuration = named
    if (known := _OF_THE_SPECIFICATION.get(name)) is not None:
        before = len(problems.items)
        members(configuration, path, problems, ("separator",))
        _check_separator(configuration, path, problems)
        return known._replace(**configuration) if len(problems.items) == before else None
    row = KEY_ENCODINGS.get(name)
    if row is None:
        problems.unknown(name_path(value, path), "chunk key encoding", name)
        return None
    return row.from_configuration(configuration, path, problems, rank)
