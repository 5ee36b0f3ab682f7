"""Arrays of objects hold what an object array of NumPy holds, whatever their layout and whatever is written how."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.codecs import Codec, VlenBytesCodec, VlenUtf8Codec
from blizzarr.codecs.objects import CategorizeCodec, JsonCodec
from support.keys import basic_keys, numpy_keys, orthogonal_keys
from support.strategies import layouts

generous = settings(suppress_health_check=list(HealthCheck))

TEXTS = st.one_of(st.just(""), st.just("none"), st.text(max_size=6), st.text("ab", min_size=20, max_size=40))
BYTES = st.one_of(st.just(b""), st.just(b"none"), st.binary(max_size=6), st.binary(min_size=20, max_size=40))
LABELS = ("a", "bb", "none", "\N{SNOWMAN}")
KINDS: dict[str, tuple[st.SearchStrategy[Any], list[Any], Codec]] = {
    "string": (TEXTS, ["", "none"], VlenUtf8Codec()),
    "bytes": (BYTES, [b"", b"none"], VlenBytesCodec()),
    "categories": (st.sampled_from(("", *LABELS)), ["", "none"], CategorizeCodec(LABELS)),
}


@st.composite
def arrays(draw: st.DrawFn, max_rank: int = 3) -> tuple[blizzarr.Array, st.SearchStrategy[Any], Any]:
    """An array of objects of any layout, what its elements may be, and its fill value."""
    values, fills, codec = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    layout = draw(layouts(max_rank=max_rank))
    fill = draw(st.sampled_from(fills))
    layout |= {"dtype": object, "fill_value": fill, "codecs": with_codec(layout["codecs"], codec)}
    return blizzarr.create_array({}, **layout), values, fill


def with_codec(chain: list[dict[str, Any]], codec: Codec) -> list[dict[str, Any]]:
    """The chain with this codec in place of ``bytes``, wherever that is."""
    made = []
    for item in chain:
        if item["name"] == "bytes":
            made.append(codec.to_json())
        elif item["name"] == "sharding_indexed":
            configuration = item["configuration"]
            configuration = configuration | {"codecs": with_codec(configuration["codecs"], codec)}
            made.append({"name": item["name"], "configuration": configuration})
        else:
            made.append(item)
    return made


def filled(shape: tuple[int, ...], fill: Any) -> npt.NDArray[Any]:
    return np.full(shape, fill, object)


def drawn(draw: st.DrawFn, values: st.SearchStrategy[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Few different elements, so that there are chunks of nothing but fill."""
    few = draw(st.lists(values, min_size=1, max_size=4))
    picked = np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, len(few), prod(shape))
    return np.fromiter((few[index] for index in picked), object, prod(shape)).reshape(shape)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tolist() == expected.tolist()
    else:
        assert (type(found), found) == (type(expected), expected)


@generous
@given(data=st.data(), made=arrays())
def test_any_layout_holds_any_objects(data: st.DataObject, made: Any) -> None:
    """Writing and reading regions, against an object array of NumPy; then again after reopening."""
    array, values, fill = made
    model = filled(array.shape, fill)
    same(array[...], model[...])
    for _ in range(data.draw(st.integers(1, 4))):
        key = data.draw(basic_keys(array.shape))
        try:
            target = model[key]
        except (IndexError, TypeError, ValueError):
            continue
        shape = np.shape(target) if isinstance(target, np.ndarray) else ()
        value = drawn(data.draw, values, shape)
        whole = data.draw(st.booleans())
        array[key] = value if whole else value.ravel()[0] if value.size else fill
        model[key] = (value if shape else value[()]) if whole else value.ravel()[0] if value.size else fill
        same(array[key], model[key])
    reopened = blizzarr.open_array(array.store, mode="r")
    assert reopened.metadata == array.metadata
    same(reopened[...], model)


@generous
@given(data=st.data(), made=arrays())
def test_selections_are_those_of_numpy(data: st.DataObject, made: Any) -> None:
    """``array[key]`` with masks and lists of indices too; few elements of chunks whose rest is let go."""
    array, values, _ = made
    model = drawn(data.draw, values, array.shape)
    array[...] = model
    for _ in range(4):
        key = data.draw(numpy_keys(array.shape))
        try:
            expected = model[key]
            found = array[key]
        except (IndexError, ValueError, TypeError, OverflowError):
            continue
        same(found, expected)
        if isinstance(expected, np.ndarray):
            value = drawn(data.draw, values, expected.shape)
            array[key] = value
            model[key] = value
            # Where an element is named twice, which value counts is the selections' business.
            if len(set(_places(key, model.shape))) == expected.size:
                same(array[...], model)
            else:
                model = array[...]


def _places(key: Any, shape: tuple[int, ...]) -> Iterator[int]:
    yield from np.arange(prod(shape)).reshape(shape)[key].ravel().tolist()


@generous
@given(data=st.data(), made=arrays(max_rank=2))
def test_outer_products_of_objects(data: st.DataObject, made: Any) -> None:
    """`oindex` reads what `np.ix_` picks in memory."""
    array, values, _ = made
    model = drawn(data.draw, values, array.shape)
    array[...] = model
    key = data.draw(orthogonal_keys(array.shape))
    numbers = np.arange(prod(array.shape)).reshape(array.shape)
    picked = blizzarr.create_array({}, data=numbers).oindex[key]
    same(
        array.oindex[key],
        model.reshape(-1)[picked] if isinstance(picked, np.ndarray) else model.reshape(-1)[int(picked)],
    )


@generous
@given(data=st.data(), made=arrays())
def test_only_chunks_with_something_in_them_are_stored(data: st.DataObject, made: Any) -> None:
    """However they were written, and none is left that holds nothing but fill."""
    array, values, fill = made
    model = drawn(data.draw, values, array.shape)
    array[...] = model
    key = data.draw(basic_keys(array.shape))
    try:
        model[key] = fill
    except (IndexError, TypeError, ValueError):
        return
    array[key] = fill
    stored = 0
    grid = array.metadata.chunk_grid
    for place in np.ndindex(*grid.shape(array.shape)):
        axes = zip(place, grid.edges, strict=True)
        box = tuple(slice(axis.start(index), axis.start(index + 1)) for index, axis in axes)
        stored += any(element != fill for element in np.asarray(model[box]).ravel())
    assert array.info_complete().chunks_stored == stored


@generous
@given(data=st.data(), made=arrays(max_rank=2))
def test_changes_of_shape(data: st.DataObject, made: Any) -> None:
    """What is cut off is erased, what is new is fill, what is appended is there."""
    array, values, fill = made
    model = drawn(data.draw, values, array.shape)
    array[...] = model
    for _ in range(3):
        shape = tuple(data.draw(st.integers(0, 9)) for _ in model.shape)
        resized = filled(shape, fill)
        both = tuple(slice(min(sizes)) for sizes in zip(shape, model.shape, strict=True))
        resized[both] = model[both]
        array.resize(shape)
        model = resized
        same(array[...], model)
    if model.shape:
        more = drawn(data.draw, values, (data.draw(st.integers(0, 4)), *model.shape[1:]))
        array.append(more)
        same(array[...], np.concatenate([model, more]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@generous
@given(elements=st.lists(JSON, min_size=6, max_size=6), shape=st.sampled_from([(6,), (2, 3), (3, 1, 2)]))
def test_json_comes_back_as_it_was(elements: list[Any], shape: tuple[int, ...]) -> None:
    """Elements that are lists are not taken for axes."""
    codec = JsonCodec()
    assert codec.decode(codec.encode(elements, shape), shape) == elements
