"""zarr-python does with our pipeline what it does with its own: random layouts, data types and selections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

OURS = "blizzarr.ZarrPipeline"
PLAIN = "zarr.core.codec_pipeline.BatchedCodecPipeline"
HAS_RECTILINEAR = zarr.config.get("array.rectilinear_chunks", None) is not None
TYPES = ["bool", "int8", "uint16", "int32", "float32", "float64", "complex64", "M8[s]", "S3", "U2"]


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """Return the arguments of `zarr.create_array` for a small array."""
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    chunks = tuple(draw(st.integers(1, 5)) for _ in shape)
    zarr_format = draw(st.sampled_from([2, 3]))
    layout: dict[str, Any] = {"shape": shape, "chunks": chunks, "zarr_format": zarr_format}
    layout["dtype"] = draw(st.sampled_from(TYPES))
    if zarr_format == 3 and draw(st.booleans()):
        layout["shards"] = tuple(chunk * draw(st.integers(1, 3)) for chunk in chunks)
    if zarr_format == 2:
        layout["order"] = draw(st.sampled_from("CF"))
    layout["compressors"] = draw(st.sampled_from(["auto", None]))
    if zarr_format == 3 and HAS_RECTILINEAR and draw(st.booleans()):
        # Chunks or shards of several lengths along each axis, which add up to its size.
        which, units = ("shards", chunks) if "shards" in layout else ("chunks", (1,) * len(shape))
        counts = st.lists(st.integers(1, 4), min_size=1, max_size=4)
        layout[which] = tuple(tuple(unit * count for count in draw(counts)) for unit in units)
        layout["shape"] = tuple(map(sum, layout[which]))
    return layout


def slices(size: int) -> st.SearchStrategy[slice]:
    """Return slices that zarr-python takes, whose steps are positive."""
    steps = st.sampled_from([None, 1, 2, 3, 7])
    return st.builds(slice, st.none() | st.integers(-size, size), st.none() | st.integers(-size, size), steps)


def indices(size: int) -> st.SearchStrategy[Any]:
    return st.lists(st.integers(-size, size - 1), min_size=1, max_size=6).map(np.array)


@st.composite
def selections(draw: st.DrawFn, shape: tuple[int, ...], block: tuple[Any, ...]) -> tuple[str, Any]:
    """Return a kind of selection, and a key."""
    kind = draw(st.sampled_from(["basic", "orthogonal", "coordinate", "mask", "block"]))
    if kind == "basic":
        return kind, tuple(draw(slices(size) | st.integers(-size, size - 1)) for size in shape)
    if kind == "orthogonal":
        masks = [st.lists(st.booleans(), min_size=size, max_size=size).map(np.array) for size in shape]
        return kind, tuple(
            draw(st.one_of(slices(size), st.integers(-size, size - 1), indices(size), mask))
            for size, mask in zip(shape, masks, strict=True)
        )
    if kind == "coordinate":
        count = draw(st.integers(1, 8))
        return kind, tuple(
            np.array(draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))) for size in shape
        )
    if kind == "mask":
        return kind, np.random.default_rng(draw(st.integers(0, 99))).random(shape) < draw(st.sampled_from([0, 0.2, 1]))
    sides = zip(shape, block, strict=True)
    grid = [len(length) if isinstance(length, tuple) else -(-size // length) for size, length in sides]
    return kind, tuple(draw(st.integers(0, count - 1) | st.just(slice(None))) for count in grid)


def values_of(dtype: str, shape: tuple[int, ...], start: int) -> Any:
    numbers = np.arange(start, start + int(np.prod(shape))).reshape(shape)
    return (numbers % 2).astype(dtype) if dtype == "bool" else (numbers % 100).astype(dtype)


def opened(store: Any, path: str) -> Any:
    with zarr.config.set({"codec_pipeline.path": path}):
        return zarr.open_array(store, mode="r+")


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60)
@given(data=st.data(), layout=layouts())
def test_both_pipelines_agree(data: st.DataObject, layout: dict[str, Any]) -> None:
    import blizzarr

    assert blizzarr.ZarrPipeline
    if HAS_RECTILINEAR:
        zarr.config.set({"array.rectilinear_chunks": True})
    stores = [zarr.storage.MemoryStore(), zarr.storage.MemoryStore()]
    first = values_of(layout["dtype"], layout["shape"], 1)
    arrays = []
    for store, path in zip(stores, (OURS, PLAIN), strict=True):
        with zarr.config.set({"codec_pipeline.path": path}):
            arrays.append(zarr.create_array(store, **layout))
        arrays[-1][...] = first
    block = layout.get("shards", layout["chunks"])
    for number in range(2):
        kind, key = data.draw(selections(layout["shape"], block))
        results = []
        for array in arrays:
            try:
                results.append(np.asarray(getattr(array, f"get_{kind}_selection")(key)))
            except (IndexError, ValueError) as error:
                results.append(type(error))
        if isinstance(results[1], type):
            # zarr-python refuses some masks that select nothing.
            assert results[0] is results[1]
            continue
        np.testing.assert_array_equal(results[0], results[1])
        given_value = values_of(layout["dtype"], results[1].shape, 50 + number)
        for array in arrays:
            if given_value.size:
                # Where an element is selected twice, which value counts is not defined there.
                same = kind in ("orthogonal", "coordinate")
                getattr(array, f"set_{kind}_selection")(key, given_value.reshape(-1)[0] if same else given_value)
    # Each reads what the other wrote.
    np.testing.assert_array_equal(opened(stores[0], PLAIN)[...], opened(stores[1], OURS)[...])
