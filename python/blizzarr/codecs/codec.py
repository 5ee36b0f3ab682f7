"""What all codecs have in common.

A codec here is its name and its options, as a value; the work is done by the engine, which gets it as a `Step`. The
classes differ in their table of options and in at most four answers:

- `from_json`: are these options right for chunks of this shape and type?
- `resolve`: which options does it choose itself, for such chunks?
- `after`: what does the next codec see?
- `step`: how does the engine know it?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import MISSING, Problems, describe

if TYPE_CHECKING:
    from blizzarr.codecs.chain import CodecChain

__all__ = ["Chunk", "Codec", "Option", "Stage", "Step", "flag", "integer", "one_of"]

Step: TypeAlias = tuple[Any, ...]
"""One codec as the native engine takes it: its name there, then plain values."""


class Stage(IntEnum):
    """Which of the three groups of a chain a codec belongs to; the groups stand in this order."""

    FILTER = 0
    """array -> array"""
    SERIALIZER = 1
    """array -> bytes; there is exactly one"""
    COMPRESSOR = 2
    """bytes -> bytes"""

    def __str__(self) -> str:
        return ("array -> array", "array -> bytes", "bytes -> bytes")[self]


class Chunk(NamedTuple):
    """What a codec is given to encode; a part is `None` where the document is wrong about it."""

    dtype: DataType | None
    shape: tuple[int, ...] | None
    depth: int = 0
    """How many shards it is in."""
    order_optional: bool = False
    """Whether a byte order may be left unsaid though elements have one, since it is filters that made them so large:
    zarr-python looks at the elements of the array. They are little-endian then."""


@dataclass(frozen=True, slots=True)
class Option:
    """One member of a codec's configuration."""

    name: str
    expected: str
    accepts: Callable[[Any], bool]
    required: bool = True
    """Whether a document must have it; users may leave out what has a default."""


def integer(name: str, low: int, high: int, required: bool = True) -> Option:
    """An option that is an integer in ``[low, high]``."""
    expected = f"an integer in [{low}, {high}]"
    return Option(name, expected, lambda value: type(value) is int and low <= value <= high, required)


def flag(name: str, required: bool = True) -> Option:
    """An option that is true or false."""
    return Option(name, "true or false", lambda value: type(value) is bool, required)


def one_of(name: str, values: tuple[str, ...], required: bool = True) -> Option:
    """An option that is one of these strings."""
    expected = " or ".join(map(describe, values)) if len(values) < 3 else f"one of {', '.join(map(describe, values))}"
    return Option(name, expected, lambda value: type(value) is str and value in values, required)


class Codec:
    """The base of all codecs; subclasses are frozen dataclasses whose fields are the options."""

    __slots__ = ()

    name: ClassVar[str]
    stage: ClassVar[Stage]
    options: ClassVar[tuple[Option, ...]] = ()
    fixed_size: ClassVar[bool] = False
    """Whether the encoded size follows from the decoded size, whatever the values."""

    def __post_init__(self) -> None:
        for option in self.options:
            value = getattr(self, option.name)
            if value is not None and not option.accepts(value):
                raise MetadataError(
                    problems=[Problem(f"{type(self).__name__}.{option.name}", option.expected, describe(value))]
                )

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        """The codec with the options of a document; `None` when a problem was added."""
        values = cls.read_options(configuration, path, problems)
        if values is None:
            return None
        codec = cls(**values)
        return codec if codec.fits(chunk, path, problems) else None

    @classmethod
    def read_options(cls, configuration: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
        """The options of a document, checked one by one."""
        values: dict[str, Any] = {}
        right = True
        for option in cls.options:
            value = configuration.get(option.name, MISSING)
            if value is MISSING:
                if not option.required:
                    continue
            elif value is not None and option.accepts(value):
                values[option.name] = value
                continue
            right = False
            problems.add(f"{path}.configuration.{option.name}", option.expected, value)
        if len(values) < len(configuration):
            names = [option.name for option in cls.options]
            for name in configuration:
                if name not in names:
                    right = False
                    problems.add(f"{path}.configuration.{name}", f"no such option of {cls.name}", configuration[name])
        return values if right else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        """Whether such chunks can be encoded; adds a problem when not."""
        return True

    def resolve(self, chunk: Chunk) -> Self:
        """The codec with everything chosen that was left open, for chunks that are known."""
        return self

    def after(self, chunk: Chunk) -> Chunk:
        """What the next codec is given."""
        return chunk

    def step(self, chunk: Chunk) -> Step:
        """The codec for the engine, for chunks that are known."""
        raise NotImplementedError

    def steps(self, chunk: Chunk) -> list[Step]:
        """The same, for a codec that is more than one step."""
        return [self.step(chunk)]

    def inner(self) -> tuple[tuple[int, ...], CodecChain] | None:
        """Shape and codecs of the inner chunks, for a codec whose output can be read in parts."""
        return None

    def filtered(self, filters: Sequence[Codec]) -> Codec:
        """The same with filters before those of the inner chunks, for a codec whose output can be read in parts."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The codec as documents have it, with all its options."""
        configuration = self.configuration()
        return {"name": self.name, "configuration": configuration} if configuration else {"name": self.name}

    def configuration(self) -> dict[str, Any]:
        """The options that are set."""
        values = {option.name: getattr(self, option.name) for option in self.options}
        return {name: value for name, value in values.items() if value is not None}
