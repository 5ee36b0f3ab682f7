"""The values of a case: drawn from its name, so that a failure can be repeated from the name alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Random = np.random.Generator
Shape = tuple[int, ...]
LETTERS = "aZé世😀 "


def draw(dtype: np.dtype[Any], shape: Shape, name: str) -> NDArray[Any]:
    """Draw values of any bits the type has; floating point numbers include both zeros, infinities and NaN."""
    return _draw(dtype, shape, _random(name))


def draw_small(dtype: np.dtype[Any], shape: Shape, name: str) -> NDArray[Any]:
    """Draw whole numbers below 100: filters that do arithmetic keep them."""
    return _random(name).integers(0, 100, shape).astype(dtype)


def draw_objects(codec: str, shape: Shape, name: str) -> NDArray[Any]:
    """Draw Python objects that the object codec of this name can store."""
    random, drawn = _random(name), np.empty(shape, object)
    for index in np.ndindex(*shape):
        drawn[index] = OBJECTS[codec](random)
    return drawn


def _random(name: str) -> Random:
    return np.random.default_rng(zlib.crc32(name.encode()))


def _draw(dtype: np.dtype[Any], shape: Shape, random: Random) -> NDArray[Any]:
    if dtype.names is not None:
        whole = np.empty(shape, dtype)
        for name in dtype.names:
            base, inner = dtype[name].subdtype or (dtype[name], ())
            whole[name] = _draw(base, shape + inner, random)
        return whole
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "fc":
        return _draw_floats(dtype, shape, random)
    if dtype.kind in "mM":
        return _with(random.integers(-10_000, 10_000, shape), "NaT", dtype)
    if dtype.kind in "SU":
        return _draw_texts(dtype, shape, random)
    # Only eight values, so that every compressor finds something to compress.
    count = int(np.prod(shape))
    few = random.integers(0, 256, (8, dtype.itemsize), dtype=np.uint8)
    return few[random.integers(0, 8, count)].copy().view(dtype).reshape(shape)


def _draw_floats(dtype: np.dtype[Any], shape: Shape, random: Random) -> NDArray[Any]:
    part = dtype if dtype.kind == "f" else np.dtype(f"<f{dtype.itemsize // 2}")
    numbers = random.normal(scale=100, size=int(np.prod(shape)) * (dtype.itemsize // part.itemsize)).astype(part)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], part)
    numbers[: len(special)] = special[: len(numbers)]
    return numbers.view(dtype).reshape(shape)


def _with(numbers: NDArray[Any], special: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    times = numbers.astype("<i8").view(dtype)
    times.reshape(-1)[:1] = special
    return times


def _draw_texts(dtype: np.dtype[Any], shape: Shape, random: Random) -> NDArray[Any]:
    """Draw texts of every length that fits, from none at all."""
    length = dtype.itemsize // (4 if dtype.kind == "U" else 1)
    texts = [_text(random, int(random.integers(0, length + 1))) for _ in range(int(np.prod(shape)))]
    if dtype.kind == "S":
        return np.array([text.encode("latin-1", "replace") for text in texts], dtype).reshape(shape)
    return np.array(texts, dtype).reshape(shape)


def _text(random: Random, length: int | None = None) -> str:
    count = int(random.integers(0, 6)) if length is None else length
    # A text of NumPy's ends at the last character that is not null, and so none is drawn.
    return "".join(LETTERS[random.integers(len(LETTERS))] for _ in range(count))


def _document(random: Random) -> Any:
    choices = (_text(random), int(random.integers(-9, 9)), None, True, 0.5, [1, "a", []], {"a": {"b": [None]}}, {})
    return choices[random.integers(len(choices))]


def _ragged(random: Random) -> NDArray[Any]:
    return random.integers(-99, 99, random.integers(0, 4)).astype("<i4")


OBJECTS: Mapping[str, Callable[[Random], Any]] = {
    "vlen-utf8": _text,
    "vlen-bytes": lambda random: _text(random).encode(),
    "vlen-array": _ragged,
    "json2": _document,
    "msgpack2": _document,
    "pickle": _document,
    "categorize": lambda random: ["", "one", "two", "drei"][random.integers(4)],
}
