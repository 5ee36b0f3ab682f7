"""The shapes of chunks and shards that zarr-python chooses by default."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from blizzarr.dtypes import DataType
from blizzarr.zarr.config import config
from blizzarr.zarr.errors import ZarrUserWarning


def choose_chunks(options: dict[str, Any]) -> None:
    """Put the shapes that are left to be chosen into the keywords of `blizzarr.create_array`."""
    shape, dtype, data = options.get("shape"), options.get("dtype"), options.get("data")
    shape = getattr(data, "shape", None) if shape is None else shape
    shards = options.get("shards")
    chunks: Any = options.get("chunks")
    is_left = _is_auto(chunks)
    if shape is None or not (is_left if shards is None else _is_auto(shards)):
        return
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(map(int, shape))
    if not is_left:
        chunks = tuple(chunks) if isinstance(chunks, Iterable) else (chunks,) * len(shape)
        if len(chunks) == len(shape):
            # None and -1 stand for the whole axis.
            if any(isinstance(chunk, list | tuple) for chunk in chunks):
                return  # Chunks of several lengths are in no shards, which `blizzarr.create_array` says.
            chunks = tuple(c if c and c > 0 else max(length, 1) for c, length in zip(chunks, shape, strict=True))
    if min(shape, default=0) < 0 or (not is_left and len(chunks) != len(shape)):
        return  # These are errors, of which `blizzarr.create_array` says what is wrong.
    native = DataType.parse(getattr(data, "dtype", dtype) if dtype is None else dtype).numpy
    itemsize = 1 if native.kind in "OT" else native.itemsize
    if is_left:
        chunks = usual_chunks(shape, itemsize, 2**26 if shards is None else 2**20)
    options["chunks"] = chunks
    if shards is not None:
        warnings.warn(
            "Automatic shard shape inference is experimental and may change without notice.",
            ZarrUserWarning,
            stacklevel=5,
        )
        options["shards"] = _usual_shards(shape, chunks, itemsize)


def _is_auto(given: Any) -> bool:
    return given is None or given is True or (isinstance(given, str) and given == "auto")


def usual_chunks(shape: Sequence[int], itemsize: int, most: int) -> tuple[int, ...]:
    """Return the chunks of h5py's rule, by which larger arrays have larger chunks, of at most `most` bytes.

    >>> usual_chunks((1000, 1000), 1, 2**26), usual_chunks((10**7,), 4, 2**26), usual_chunks((0, 5), 4, 2**26)
    ((500, 500), (156250,), (1, 5))
    """
    chunks = [max(length, 1) for length in shape]
    aim = min(max(2.0**18 * 2 ** math.log10(math.prod(chunks) * itemsize / 2**20), 2**17), most)
    axis = 0
    while math.prod(chunks) > 1:
        size = math.prod(chunks) * itemsize
        if size < most and size < 1.5 * aim:
            break
        chunks[axis % len(chunks)] = math.ceil(chunks[axis % len(chunks)] / 2)
        axis += 1
    return tuple(chunks)


def _usual_shards(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return shards of twice as many chunks along long axes, or of as many as the setting has room for."""
    most = config.get("array.target_shard_size_bytes", None)
    if most is None:
        return tuple(2 * chunk if length // chunk > 8 else chunk for length, chunk in zip(shape, chunks, strict=True))
    count = 1
    while (
        chunks
        and math.prod(chunks) * itemsize * (count + 1) ** len(chunks) <= most
        and all(chunk * (count + 1) <= length for chunk, length in zip(chunks, shape, strict=True))
    ):
        count += 1
    return tuple(chunk * count for chunk in chunks)
