"""The base classes of codecs that users write: two methods on NumPy's arrays, or on bytes, and a name.

The engine calls them as one step of its chain, for several chunks at once where they release the GIL. An exception that
they raise becomes an error with the path of the array and the key of the chunk, and so does a result of a wrong type,
shape or data type: neither reaches the store or the caller.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.dtypes import DataType, Kind
from blizzarr.errors import BlizzarrError, CodecError, MetadataError, Problem
from blizzarr.problems import Problems

Array = npt.NDArray[Any]

_TYPES: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "bool": ("true or false", (bool,)),
    "int": ("an integer", (int,)),
    "float": ("a number", (int, float)),
    "str": ("a string", (str,)),
}
"""What JSON has for an annotated type; other annotations stand for any value."""
_NULL: Final = " | None"


class _OfFields:
    """The table of options that a codec has if it does not define one: an option for each field of the dataclass."""

    def __get__(self, codec: object, owner: Any) -> tuple[Option, ...]:
        return _options(owner)


@lru_cache(256)
def _options(owner: Any) -> tuple[Option, ...]:
    bare = [name for name in _annotated(owner) if name not in owner.__dataclass_fields__]
    if bare:
        raise TypeError(
            f"expected {owner.__qualname__} with the options {', '.join(bare)} to be a dataclass, found a plain class; "
            "put @dataclass(frozen=True) above it"
        )
    taken = [part.name for part in fields(owner) if hasattr(Codec, part.name)]
    if taken:
        raise TypeError(
            f"expected options of {owner.__qualname__} with names that the base class does not use, found "
            f"{', '.join(taken)}; choose others"
        )
    return tuple(_option(part) for part in fields(owner))


def _annotated(owner: Any) -> Iterable[str]:
    """Return the names that the class annotates itself."""
    if sys.version_info >= (3, 14):
        import annotationlib

        # As `dataclass` does: the types themselves may be imported for type checkers only.
        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(owner)


def _option(part: Any) -> Option:
    # A union has a name, too, from Python 3.14 on: "Union".
    written = part.type.__name__ if isinstance(part.type, type) else str(part.type)
    expected, types = _TYPES.get(written.removesuffix(_NULL), ("a value", ()))
    has_default = part.default is not part.default_factory
    accepts = (lambda value: type(value) in types) if types else (lambda value: True)
    return Option(part.name, expected, accepts, not has_default, nullable=written.endswith(_NULL))


@dataclass(frozen=True, slots=True)
class OwnCodec(Codec):
    """What the base classes of users' codecs share; the fields of a subclass are its options."""

    options: ClassVar[Any] = _OfFields()

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        try:
            return super(OwnCodec, cls).from_json(configuration, path, problems, chunk)
        except BlizzarrError:
            raise
        except Exception as error:
            # A document may have options that the codec did not think of.
            problems.refused(path, cls.name, error)
            return None

    @classmethod
    def of_checked(cls, values: Mapping[str, Any]) -> Self:
        # Only `__init__` knows what fields that are keyword-only, or have a factory, become.
        return cls(**values)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if self.stage is Stage.COMPRESSOR or chunk.dtype is None or chunk.dtype.kind is not Kind.OBJECT:
            return True
        problems.add(path, "a codec for elements of variable length", self.name)
        return False


@dataclass(frozen=True, slots=True)
class ArrayArrayCodec(OwnCodec):
    """A codec from arrays to arrays: a filter.

    A subclass has a `name`, `encode` and `decode`. A codec whose arrays have another data type or shape than those that
    it gets says so in `encoded_dtype` or `encoded_shape`. Options are the fields of a frozen dataclass.

    Set `elementwise = True` if each element is encoded by itself and stays in its place.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/core/#codecs

    Examples
    --------
    >>> import blizzarr
    >>> class Negative(ArrayArrayCodec):
    ...     name = "example.negative"
    ...     def encode(self, array): return -array
    ...     def decode(self, array): return -array
    >>> _ = blizzarr.register_codec(Negative)
    >>> store = {}
    >>> array = blizzarr.create_array(store, data=[1, 2, 3], filters="example.negative", compressors=None)
    >>> np.frombuffer(store["c/0"], "<i8").tolist(), blizzarr.open(store)[:].tolist()
    ([-1, -2, -3], [1, 2, 3])
    """

    stage: ClassVar[Stage] = Stage.FILTER
    fixed_size: ClassVar[bool] = True

    def encode(self, array: Array) -> Array:
        """Return the encoded array for a chunk, which is read-only."""
        raise NotImplementedError("the class has no method encode")

    def decode(self, array: Array) -> Array:
        """Return the chunk for its encoded array, which is read-only."""
        raise NotImplementedError("the class has no method decode")

    def encoded_dtype(self, dtype: np.dtype[Any]) -> Any:
        """Return the data type of encoded arrays for chunks of a data type, by default the same."""
        return dtype

    def encoded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of encoded arrays for chunks of a shape, by default the same."""
        return shape

    def after(self, chunk: Chunk) -> Chunk:
        """Return what the next codec sees, by `encoded_dtype` and `encoded_shape`.

        Raise `MetadataError` if one of these raises an error, or returns what is no data type or shape.
        """
        try:
            made = None if chunk.dtype is None else self.encoded_dtype(chunk.dtype.numpy)
            shape = None if chunk.shape is None else tuple(self.encoded_shape(chunk.shape))
        except Exception as error:
            expected = f"chunks that {self.name} takes"
            raise MetadataError(problems=[Problem("codecs", expected, repr(error))]) from error
        dtype = chunk.dtype if made is None or (chunk.dtype and made == chunk.dtype.numpy) else DataType.parse(made)
        return chunk._replace(dtype=dtype, shape=shape, is_big=False)

    def step(self, chunk: Chunk) -> Step:
        return ("python", _Filter(self.name, self, Layout.of(chunk), Layout.of(self.after(chunk))))


@dataclass(frozen=True, slots=True)
class ArrayBytesCodec(OwnCodec):
    """A codec from arrays to bytes: a serializer. A subclass has a `name`, `encode` and `decode`.

    If a chunk can take more than four times as many bytes as it has in memory, a method ``encoded_size(decoded)``
    returns the most that `decoded` bytes can take.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/core/#codecs

    Examples
    --------
    >>> import blizzarr
    >>> class Text(ArrayBytesCodec):
    ...     name = "example.text"
    ...     def encode(self, array): return " ".join(map(str, array.ravel())).encode()
    ...     def decode(self, encoded, shape, dtype): return np.array(encoded.split(), dtype).reshape(shape)
    >>> _ = blizzarr.register_codec(Text)
    >>> store = {}
    >>> array = blizzarr.create_array(store, data=[[1, 2], [3, 4]], serializer="example.text", compressors=None)
    >>> bytes(store["c/0/0"]), blizzarr.open(store)[1].tolist()
    (b'1 2 3 4', [3, 4])
    """

    stage: ClassVar[Stage] = Stage.SERIALIZER

    def encode(self, array: Array) -> Any:
        """Return the bytes for a chunk, which is read-only."""
        raise NotImplementedError("the class has no method encode")

    def decode(self, encoded: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the chunk, which has this shape and data type, for its bytes."""
        raise NotImplementedError("the class has no method decode")

    def steps(self, chunk: Chunk) -> list[Step]:
        kind = BoundedSerializer if hasattr(self, "encoded_size") else Serializer
        return [("bytes", 0), ("python", kind(self.name, self, Layout.of(chunk)))]


@dataclass(frozen=True, slots=True)
class BytesBytesCodec(OwnCodec):
    """A codec from bytes to bytes: a compressor. A subclass has a `name`, `encode` and `decode`.

    A codec whose encoded bytes can be more than four times as long as the decoded ones has a method
    ``encoded_size(decoded)``, which returns their greatest length; with ``fixed_size = True``, always their length.

    A codec in C or Rust has a method ``capsule()`` in place of `encode` and `decode`; see ``docs/extending.md``.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/core/#codecs

    Examples
    --------
    >>> import blizzarr, lzma
    >>> @dataclass(frozen=True)
    ... class Lzma(BytesBytesCodec):
    ...     name = "example.lzma"
    ...     preset: int = 6
    ...     def encode(self, decoded): return lzma.compress(decoded, preset=self.preset)
    ...     def decode(self, encoded, max_size): return lzma.decompress(encoded)
    >>> _ = blizzarr.register_codec(Lzma)
    >>> array = blizzarr.create_array({}, data=[1, 2, 3], compressors=Lzma(preset=1))
    >>> array.metadata.codecs.compressors[0].to_json(), array[:].tolist()
    ({'name': 'example.lzma', 'configuration': {'preset': 1}}, [1, 2, 3])
    """

    stage: ClassVar[Stage] = Stage.COMPRESSOR

    def encode(self, decoded: bytes) -> Any:
        """Return the encoded bytes."""
        raise NotImplementedError("the class has no method encode")

    def decode(self, encoded: bytes, max_size: int) -> Any:
        """Return the decoded bytes, never more than `max_size`."""
        raise NotImplementedError("the class has no method decode")

    def step(self, chunk: Chunk) -> Step:
        capsule = getattr(self, "capsule", None)
        return ("python", self) if capsule is None else ("capsule", self.name, capsule())


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape and the data type of an array, which the bytes of the engine are."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, chunk: Chunk) -> Layout:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        return cls(chunk.shape, chunk.dtype.numpy)

    @property
    def size(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def array(self, stored: bytes) -> Array:
        if len(stored) != self.size:
            raise CodecError(f"expected {self.size:,} bytes, found {len(stored):,}")
        return np.frombuffer(stored, self.dtype).reshape(self.shape)

    def stored(self, made: Any) -> Any:
        """Return the bytes of an array that a codec made, if it is one of this shape and data type."""
        array = np.asarray(made) if isinstance(made, np.generic) else made
        expected = f"expected an array of shape {self.shape} and data type {self.dtype}"
        if not isinstance(array, np.ndarray):
            raise CodecError(f"{expected}, found {type(made).__name__}")
        if array.shape != self.shape or array.dtype != self.dtype:
            raise CodecError(f"{expected}, found shape {array.shape} and data type {array.dtype}")
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@dataclass(frozen=True, slots=True)
class _Filter:
    """The step of a codec from arrays to arrays."""

    name: str
    codec: ArrayArrayCodec
    taken: Layout
    made: Layout
    fixed_size: bool = field(default=True, init=False)

    def encoded_size(self, decoded: int) -> int:
        return self.made.size

    def encode(self, decoded: bytes) -> Any:
        return self.made.stored(self.codec.encode(self.taken.array(decoded)))

    def decode(self, encoded: bytes, max_size: int) -> Any:
        return self.taken.stored(self.codec.decode(self.made.array(encoded)))


@dataclass(frozen=True, slots=True)
class Serializer:
    """The step of a codec from arrays to bytes."""

    name: str
    codec: Any
    taken: Layout

    @property
    def fixed_size(self) -> bool:
        return bool(self.codec.fixed_size)

    def encode(self, decoded: bytes) -> Any:
        return self.codec.encode(self.taken.array(decoded))

    def decode(self, encoded: bytes, max_size: int) -> Any:
        return self.taken.stored(self.codec.decode(encoded, self.taken.shape, self.taken.dtype))


class BoundedSerializer(Serializer):
    """The step of a serializer that says how many bytes it makes at most."""

    __slots__ = ()

    def encoded_size(self, decoded: int) -> int:
        return self.codec.encoded_size(decoded)
