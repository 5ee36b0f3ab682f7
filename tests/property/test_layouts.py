"""Every legal layout holds every array: what is written in any way is read back in any way (issue 2, "Properties")."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blizzarr
from support.keys import basic_keys, orthogonal_keys
from support.strategies import codec_chains, edges, elements, layouts

generous = settings(suppress_health_check=list(HealthCheck))


def same_bits(found: Any, expected: Any) -> None:
    """Equal to the bit: NaN payloads and signs of zero too."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@generous
@given(data=st.data(), layout=layouts())
def test_any_layout_holds_any_array(data: st.DataObject, layout: dict[str, Any]) -> None:
    """Writing regions and reading regions, against a NumPy array; then again after reopening."""
    store = blizzarr.stores.MemoryStore()
    array = blizzarr.create_array(store, **layout)
    shape, dtype = array.shape, array.dtype
    model = np.full(shape, layout["fill_value"], dtype)
    same_bits(array[...], model)
    for _ in range(data.draw(st.integers(1, 3))):
        key = data.draw(basic_keys(shape))
        try:
            target = model[key]
        except (IndexError, TypeError, ValueError):
            continue  # what NumPy refuses is test_selection's business
        value = data.draw(elements(dtype, np.shape(target)))
        array[key] = value
        model[key] = value
        same_bits(array[key], model[key])
    reopened = blizzarr.open_array(store, mode="r")
    assert reopened.metadata == array.metadata
    same_bits(reopened[...], model)


@generous
@given(data=st.data(), layout=layouts(max_rank=2))
def test_outer_products_in_any_layout(data: st.DataObject, layout: dict[str, Any]) -> None:
    """`oindex` reads and writes through chunks and shards what `np.ix_` does in memory."""
    array = blizzarr.create_array({}, **layout)
    model = data.draw(elements(array.dtype, array.shape)).copy()
    array[...] = model
    key = data.draw(orthogonal_keys(array.shape))
    same_bits(array.oindex[key], blizzarr.create_array({}, data=model).oindex[key])


@generous
@given(data=st.data(), layout=layouts(max_rank=2))
def test_points_in_any_layout(data: st.DataObject, layout: dict[str, Any]) -> None:
    """`vindex` reads points, and writes them so that the last of a repeated one stays."""
    array = blizzarr.create_array({}, **layout)
    shape = array.shape
    model = data.draw(elements(array.dtype, shape)).copy()
    array[...] = model
    if not shape or 0 in shape:
        return
    count = data.draw(st.integers(0, 12))
    points = tuple(
        np.array(data.draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)), dtype=np.int64)
        for size in shape
    )
    same_bits(array.vindex[points], model[points])
    value = data.draw(elements(array.dtype, (count,)))
    array.vindex[points] = value
    for place, one in zip(zip(*points, strict=True), value, strict=True):
        model[place] = one
    same_bits(array[...], model)


@generous
@given(data=st.data(), layout=layouts(), other=layouts())
def test_copies_into_any_layout(data: st.DataObject, layout: dict[str, Any], other: dict[str, Any]) -> None:
    """`copy` keeps every bit, whatever both layouts are."""
    source = blizzarr.create_array({}, **layout)
    model = data.draw(elements(source.dtype, source.shape))
    source[...] = model
    drawn = [data.draw(edges(size)) for size in source.shape]
    chunks = tuple(lengths for lengths, _ in drawn)
    codecs = data.draw(st.none() | codec_chains(tuple(divisor for _, divisor in drawn), source.dtype))
    wanted = {} if codecs is None else {"codecs": codecs}
    target: dict[str, bytes] = {}
    blizzarr.copy(source, target, chunks=chunks, chunk_key_encoding=other["chunk_key_encoding"], **wanted)
    copied = blizzarr.open_array(target, mode="r")
    same_bits(copied[...], model)
    assert copied.fill_value.tobytes() == source.fill_value.tobytes()
