"""The modules ``zarr.core.buffer`` and ``zarr.buffer.cpu``: bytes, and the functions to make them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = [
    *("ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDArrayLikeOrScalar", "NDBuffer", "buffer_prototype"),
    *("check_prototype", "default_buffer_prototype", "numpy_buffer_prototype"),
]


@runtime_checkable
class ArrayLike(Protocol):
    """A one-dimensional array."""

    dtype: np.dtype[Any]
    ndim: int
    size: int


@runtime_checkable
class NDArrayLike(Protocol):
    """An array of NumPy, or one like it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def reshape(self, *shape: Any) -> Any:
        """Return the array in another shape."""

    def astype(self, dtype: Any) -> Any:
        """Return the array with another data type."""


NDArrayLikeOrScalar: TypeAlias = int | float | complex | bytes | str | np.generic | NDArrayLike


class Buffer:
    """Bytes in memory.

    Examples
    --------
    >>> Buffer.from_bytes(b"abc")[1:].to_bytes()
    b'bc'
    """

    __slots__ = ("_data",)

    def __init__(self, array_like: Any) -> None:
        data = np.asarray(array_like)
        if data.ndim != 1 or data.dtype.itemsize != 1:
            raise ValueError(f"expected the bytes of a buffer along one axis, found {data.dtype} of shape {data.shape}")
        self._data: npt.NDArray[Any] = data.view("B")

    @classmethod
    def create_zero_length(cls) -> Buffer:
        """Return a buffer without bytes."""
        return cls(np.empty(0, "B"))

    @classmethod
    def from_array_like(cls, array_like: Any) -> Buffer:
        """Return the bytes of an array."""
        return cls(array_like)

    @classmethod
    def from_bytes(cls, bytes_like: Any) -> Buffer:
        """Return a buffer of these bytes."""
        return cls(np.frombuffer(bytes_like, "B"))

    @classmethod
    def from_buffer(cls, buffer: Buffer) -> Buffer:
        """Return another buffer of the same bytes."""
        return cls(buffer._data)

    def as_array_like(self) -> npt.NDArray[Any]:
        """Return the bytes as an array."""
        return self._data

    as_numpy_array = as_array_like

    def as_buffer_like(self) -> Any:
        """Return the bytes as what Python calls a buffer."""
        return memoryview(self._data)  # type: ignore[arg-type]

    def to_bytes(self) -> bytes:
        """Return the bytes."""
        return self._data.tobytes()

    def combine(self, others: Any) -> Buffer:
        """Return these bytes followed by others."""
        return type(self)(np.concatenate([self._data, *(other._data for other in others)]))

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._data)  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        return self.to_bytes()

    def __getitem__(self, key: slice) -> Buffer:
        return type(self)(self._data[key])

    def __setitem__(self, key: slice, value: Any) -> None:
        self._data[key] = value._data if isinstance(value, Buffer) else np.frombuffer(value, "B")

    def __len__(self) -> int:
        return len(self._data)

    def __add__(self, other: Buffer) -> Buffer:
        return self.combine([other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Buffer({self.to_bytes()[:32]!r}{'...' if len(self) > 32 else ''})"


class NDBuffer:
    """An array in memory."""

    __slots__ = ("_data",)

    def __init__(self, array: Any) -> None:
        self._data = np.asarray(array)

    @classmethod
    def from_numpy_array(cls, array_like: Any) -> NDBuffer:
        """Return a buffer of an array."""
        return cls(array_like)

    from_ndarray_like = from_numpy_array

    def as_numpy_array(self) -> npt.NDArray[Any]:
        """Return the array."""
        return self._data

    as_ndarray_like = as_numpy_array


class BufferPrototype(NamedTuple):
    """The classes of buffers that a store is to return."""

    buffer: Any
    nd_buffer: Any


numpy_buffer_prototype = buffer_prototype = BufferPrototype(Buffer, NDBuffer)


def default_buffer_prototype() -> BufferPrototype:
    """Return the classes of buffers in the memory of this machine, the only ones that there are."""
    return buffer_prototype


def check_prototype(given: Any) -> None:
    """Refuse classes of buffers that nothing here would make.

    Raise `NotImplementedError` if a prototype has other classes than the default one.

    >>> check_prototype(default_buffer_prototype())
    """
    if given is not None and given != buffer_prototype:
        raise NotImplementedError(
            f"expected the default as prototype=, found {given!r:.200}; leave it out, and copy the NumPy array that is "
            "returned to where it is needed"
        )
