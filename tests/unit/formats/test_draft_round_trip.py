"""The draft: whatever it can express survives being written and read, in both spellings and from one to the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from blizzarr.codecs import BloscCodec, BytesCodec, CodecChain, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from blizzarr.dtypes import DataType
from blizzarr.formats import translate
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
attributes = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
dtypes = st.sampled_from(
    [
        "bool",
        "int8",
        "uint16",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "r24",
        "M8[ns]",
        "m8[Y]",
        "S3",
        "U2",
    ]
)
plain = st.sampled_from([GzipCodec(1), ZstdCodec(3, True)])
blosc = st.sampled_from([BloscCodec(), BloscCodec("zstd", 1, "noshuffle"), BloscCodec("lz4hc", 9, "bitshuffle")])
# The draft takes Blosc's type size from the elements, so that it means what it says in the first place only.
compressors = st.lists(plain, max_size=2) | st.tuples(blosc, plain).map(list) | blosc.map(lambda codec: [codec])


@st.composite
def arrays(draw: st.DrawFn) -> ArrayMeta:
    rank = draw(st.integers(0, 4))
    chunks = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))
    dtype = DataType.parse(draw(dtypes))
    turned = rank > 1 and draw(st.booleans())
    filters = [TransposeCodec(tuple(reversed(range(rank))))] if turned else []
    codecs: list[Any] = [*filters, BytesCodec(draw(st.sampled_from(["little", "big"]))), *draw(compressors)]
    for _ in range(draw(st.integers(0, 2))):
        codecs = [ShardingCodec(chunks, codecs, ["bytes"])]
        chunks = tuple(length * draw(st.integers(1, 3)) for length in chunks)
    fill = draw(st.sampled_from([None, 0, 1]))
    if dtype.numpy.kind in "VSU":
        fill = None
    return ArrayMeta(
        tuple(draw(st.lists(st.integers(0, 1000), min_size=rank, max_size=rank))),
        dtype,
        RegularGrid(chunks),
        ChunkKeys.draft(draw(st.sampled_from("/."))),
        dtype.fill(fill),
        CodecChain.from_list(codecs, dtype, chunks),
        draw(attributes),
        format="v3_draft",
    )


def through(form: Draft, meta: ArrayMeta) -> ArrayMeta:
    again = form.decode("a", form.encode(meta, "a") | form.entry_documents())
    assert isinstance(again, ArrayMeta)
    return again


@settings(deadline=None, max_examples=200)
@given(arrays())
def test_arrays_survive(meta: ArrayMeta) -> None:
    """D-60 D-128 W-4: read again they are equal, written again they are the same bytes, also in the other spelling."""
    again = through(DOCUMENT, meta)
    assert again == meta
    assert DOCUMENT.encode(again, "a") == DOCUMENT.encode(meta, "a")
    other, notes = translate(again, ZARR_PYTHON)
    assert (type(other), notes) == (ArrayMeta, [])
    back = through(ZARR_PYTHON, other)  # type: ignore[arg-type]
    assert back == other
    assert translate(back, DOCUMENT)[0] == meta


@settings(deadline=None, max_examples=100)
@given(attributes)
def test_groups_survive(values: dict[str, Any]) -> None:
    """D-76 D-81 W-12: whatever JSON can say as an attribute."""
    for form in (DOCUMENT, ZARR_PYTHON):
        meta = GroupMeta(values, format=form.name)
        assert form.decode("a", form.encode(meta, "a") | form.entry_documents()) == meta


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(["float16", "float32", "float64", "int16", "complex64"]), st.binary(min_size=8, max_size=8))
def test_every_fill_value_survives(name: str, bits: bytes) -> None:
    """D-72 D-73: to the bit, whatever NaN it is."""
    dtype = DataType.parse(name)
    fill = np.frombuffer(bits, dtype.numpy)[0]
    chain = CodecChain.from_list(["bytes"], dtype, ())
    meta = ArrayMeta((), dtype, RegularGrid(()), ChunkKeys.draft(), fill, chain, format="v3_draft")
    assert through(DOCUMENT, meta) == meta
    assert through(DOCUMENT, replace(meta, attributes={"x": 1})).dtype.fill_bytes(fill) == dtype.fill_bytes(fill)
