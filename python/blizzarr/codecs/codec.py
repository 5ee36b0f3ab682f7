"""The base class of codecs.

A codec here is a value: its name and its options. The engine does the work; it gets the codec as a `Step`. The classes
differ in their table of options and in up to four methods:

- `from_json` checks the options of a document for chunks of a given shape and type;
- `resolve` chooses the options that the user left open, for such chunks;
- `after` describes the input of the next codec;
- `step` gives the form that the engine takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, TypeAlias

import numpy as np

from blizzarr.dtypes import DataType, Kind
from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import MISSING, Problems, describe

if TYPE_CHECKING:
    from blizzarr.codecs.chain import CodecChain

Step: TypeAlias = tuple[Any, ...]
"""One codec as the native engine takes it: its name there, then plain values."""

REAL: Final = (Kind.INTEGER, Kind.FLOAT)
"""The kinds of real numbers, of NumPy and of ``ml_dtypes``."""


def bits(dtype: DataType, value: Any) -> str:
    """Return a scalar, given as in documents, as the engine takes it: its bits as hexadecimal digits.

    >>> bits(DataType.parse("float32"), 1), bits(DataType.parse("int8"), -1)
    ('3f800000', 'ff')
    """
    element = dtype.fill_bytes(dtype.fill_from_json(value))
    return f"{int.from_bytes(element, sys.byteorder):x}"


class Stage(IntEnum):
    """The group of a chain that a codec belongs to; the groups follow each other in this order."""

    FILTER = 0
    """array -> array"""
    SERIALIZER = 1
    """array -> bytes; there is exactly one"""
    COMPRESSOR = 2
    """bytes -> bytes"""

    def __str__(self) -> str:
        return ("array -> array", "array -> bytes", "bytes -> bytes")[self]


class Chunk(NamedTuple):
    """The input of a codec when it encodes; a field is None if the document is wrong about it, or it is unknown."""

    dtype: DataType | None
    shape: tuple[int, ...] | None
    depth: int = 0
    """The number of shards around it."""
    order_optional: bool = False
    """True if a document may leave out the byte order of elements of several bytes, because filters widened them:
    zarr-python looks at the elements of the array. The elements are little-endian then."""
    is_big: bool = False
    """True if a filter of numcodecs left the elements big-endian in memory, which the next one reads as it is."""


@dataclass(frozen=True, slots=True)
class Option:
    """One member of a codec's configuration."""

    name: str
    expected: str
    accepts: Callable[[Any], bool]
    required: bool = True
    """True if documents must have it; users may leave out options with a default."""
    nullable: bool = False
    """True if documents may set it to null, which is the same as leaving it out."""

    def optional(self) -> Option:
        """Return the option for documents that may leave it out."""
        return replace(self, required=False)


def integer(name: str, low: int, high: int, required: bool = True) -> Option:
    """Return an option that is an integer in ``[low, high]``."""
    expected = f"an integer in [{low}, {high}]"
    return Option(name, expected, lambda value: type(value) is int and low <= value <= high, required)


def texts(name: str) -> Option:
    """Return an option that is a list of texts."""
    expected = "a list of texts"
    return Option(name, expected, lambda value: isinstance(value, list | tuple) and {*map(type, value)} <= {str})


def flag(name: str, required: bool = True) -> Option:
    """Return an option that is true or false."""
    return Option(name, "true or false", lambda value: type(value) is bool, required)


def one_of(name: str, values: tuple[str, ...], required: bool = True) -> Option:
    """Return an option that is one of these strings."""
    expected = " or ".join(map(describe, values)) if len(values) < 3 else f"one of {', '.join(map(describe, values))}"
    return Option(name, expected, lambda value: type(value) is str and value in values, required)


_SCALARS: Final = (str, int, float, bool)
_TYPES: Final = (np.generic, int, float, complex)
"""The classes whose names stand for data types of NumPy."""


def _plain(value: Any) -> Any:
    """Return NumPy's scalars as Python's, its data types as text, and lists as tuples, as documents may have them.

    Codecs are compared and hashed by their options.

    >>> _plain([np.int64(1), np.dtype("int16"), np.float32])
    (1, '<i2', '<f4')
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, _TYPES)):
        return np.dtype(value).str
    if isinstance(value, np.ndarray):
        return tuple(value.tolist()) if value.ndim == 1 else value
    if isinstance(value, list) or (isinstance(value, tuple) and any(not isinstance(item, _SCALARS) for item in value)):
        return tuple(map(_plain, value))
    return value


class Codec:
    """The base class of all codecs; subclasses are frozen dataclasses whose fields are the options.

    Making one raises `MetadataError` if an option has a value that it may not have. What depends on the chunks is
    checked when an array is created.
    """

    __slots__ = ()

    name: ClassVar[str]
    stage: ClassVar[Stage]
    options: ClassVar[tuple[Option, ...]] = ()
    fixed_size: ClassVar[bool] = False
    """True if the encoded size depends only on the decoded size, not on the values."""
    needs: ClassVar[tuple[str, str] | None] = None
    """The package without which arrays with the codec cannot be opened, and the requirement that installs it."""
    refuses_values: ClassVar[bool] = False
    """True for a filter that cannot encode every value, so that fill values are tried."""
    changes_values: ClassVar[bool] = False
    """True for a filter that may give back another value than it encoded, which a fill value must not become."""
    elementwise: ClassVar[bool] = False
    """True for a filter that encodes each element by itself and leaves it in its place, so that transposing axes or
    dividing chunks into inner chunks can come before or after."""

    def __post_init__(self) -> None:
        for option in self.options:
            given = getattr(self, option.name)
            value = given if type(given) in _SCALARS else _plain(given)
            if value is not given:
                object.__setattr__(self, option.name, value)
            if value is not None and not option.accepts(value):
                raise MetadataError(
                    problems=[Problem(f"{type(self).__name__}.{option.name}", option.expected, describe(value))]
                )

    @classmethod
    def option(cls, name: str) -> Option:
        """Return an option by its name; formats that spell the codec in another way share its values."""
        return next(option for option in cls.options if option.name == name)

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        """Return the codec with the options of a document; None if a problem was added."""
        values = cls.read_options(configuration, path, problems)
        if cls.needs is not None and find_spec(cls.needs[0]) is None:
            package, requirement = cls.needs
            problems.unknown(path, "codec", cls.name, f"it needs the package {package}: pip install '{requirement}'")
            return None
        if values is None:
            return None
        codec = cls.of_checked(values)
        return codec if codec.fits(chunk, path, problems) else None

    @classmethod
    def of_checked(cls, values: Mapping[str, Any]) -> Self:
        """Return the codec with options that were checked when they were read; the others have their defaults."""
        if cls.__post_init__ is not Codec.__post_init__:
            return cls(**values)
        codec = object.__new__(cls)
        for name in cls.__match_args__:  # type: ignore[attr-defined]  # of all dataclasses
            object.__setattr__(codec, name, values.get(name, cls.__dataclass_fields__[name].default))  # type: ignore[attr-defined]
        return codec

    @classmethod
    def read_options(cls, configuration: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
        """Return the options of a document, each checked by itself; None if a problem was added."""
        values: dict[str, Any] = {}
        right = True
        for option in cls.options:
            given = configuration.get(option.name, MISSING)
            value = given if type(given) in _SCALARS else _plain(given)
            if value is MISSING:
                if not option.required:
                    continue
            elif value is None and option.nullable:
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

    @classmethod
    def given(cls, options: Mapping[str, Any], problems: Problems) -> Self | None:
        """Return the codec with the options that a user gives; None if a problem was added.

        Unlike in a document, options that have a default may be left out.
        """
        parts = fields(cls)  # type: ignore[arg-type]
        allowed = [part.name for part in parts]
        before = len(problems.items)
        for option, setting in options.items():
            if option not in allowed:
                there = f"an option of {', '.join(allowed)}" if allowed else "no options"
                problems.add(cls.name, there, f"{option}={setting}")
        for part in parts:
            if part.default is NO_DEFAULT and part.name not in options:
                expected = next((row.expected for row in cls.options if row.name == part.name), "a value")
                problems.add(f"{cls.name}.{part.name}", expected, MISSING)
        return cls(**options) if len(problems.items) == before else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        """Return whether the codec can encode such chunks; if not, add a problem."""
        return True

    def resolve(self, chunk: Chunk) -> Self:
        """Return the codec with all open options chosen for such chunks."""
        return self

    def after(self, chunk: Chunk) -> Chunk:
        """Return the input of the next codec."""
        return chunk._replace(is_big=False) if chunk.is_big else chunk

    def step(self, chunk: Chunk) -> Step:
        """Return the codec as the engine takes it, for chunks of known shape and type; see `steps`."""
        raise NotImplementedError

    def steps(self, chunk: Chunk) -> list[Step]:
        """Return the codec as the engine takes it, where it may take several steps."""
        return [self.step(chunk)]

    def inner(self) -> tuple[tuple[int, ...], CodecChain] | None:
        """Return shape and codecs of the inner chunks; None if the output cannot be read in parts."""
        return None

    def filtered(self, filters: Sequence[Codec]) -> Codec:
        """Return the codec with these filters added before those of its inner chunks, if it has any."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the codec as an object for a metadata document, with all its options."""
        configuration = self.configuration()
        return {"name": self.name, "configuration": configuration} if configuration else {"name": self.name}

    def configuration(self) -> dict[str, Any]:
        """Return the options that are set, as documents have them."""
        values = {option.name: getattr(self, option.name) for option in self.options}
        return {name: _as_json(value) for name, value in values.items() if value is not None}


def _as_json(value: Any) -> Any:
    """Return the value of an option as documents have it: a tuple or a chain of codecs as a list."""
    if type(value) is tuple:
        return list(value)
    return value.to_json() if hasattr(value, "to_json") else value
