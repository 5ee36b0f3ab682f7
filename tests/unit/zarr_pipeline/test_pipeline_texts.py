"""Texts and byte strings of variable length are read and written by the engine as zarr-python would itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
storage: Any = pytest.importorskip("zarr.storage")

pytestmark = [
    pytest.mark.filterwarnings("ignore:The (codec|data type)"),
    pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has no data type of texts"),
]

TEXTS = np.array([["", "a", "ä\N{SNOWMAN}"], ["x" * 300, "fill", "\0"], ["e", "f", "\N{DOG FACE}"]])
BYTES = np.array([[b"", b"a", b"\xff\x00"], [b"x" * 300, b"fill", b"\0"], [b"e", b"f", b"g"]], object)
KINDS = {"texts": ("string", TEXTS.astype(np.dtypes.StringDType()), "fill"), "bytes": ("bytes", BYTES, b"fill")}
LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (2, 2), "compressors": None},
    {"chunks": (1, 1), "shards": (2, 2)},
    {"chunks": (2, 2), "zarr_format": 2},
    {"chunks": (2, 2), "zarr_format": 2, "order": "F"},
]
Plain = Callable[..., Any]


def created(store: Any, kind: str, **layout: Any) -> Any:
    """Make an array of the size of what is in `KINDS`."""
    dtype, values, fill = KINDS[kind]
    if kind == "bytes":
        from zarr.core.dtype import VariableLengthBytes

        return zarr.create_array(store, shape=values.shape, dtype=VariableLengthBytes(), fill_value=fill, **layout)
    return zarr.create_array(store, shape=values.shape, dtype=dtype, fill_value=fill, **layout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("local", [True, False])
def test_both_ways(
    local: bool, layout: dict[str, Any], kind: str, tmp_path: Any, plain: Plain, engine: list[str]
) -> None:
    store = storage.LocalStore(tmp_path) if local else storage.MemoryStore()
    array = created(store, kind, **layout)
    values = KINDS[kind][1].copy()
    assert (array[:] == KINDS[kind][2]).all()
    array[:] = values
    array[1, 1:] = values[1, 1:] = values[0, 2]
    other = plain(store, mode="r+")
    for of_one, of_other in [
        (array[:], other[:]),
        (array[1:, ::2], other[1:, ::2]),
        (array[2, 1], other[2, 1]),
        (array.oindex[[2, 0], 1:], other.oindex[[2, 0], 1:]),
        (array.vindex[[2, 0], [1, 1]], other.vindex[[2, 0], [1, 1]]),
    ]:
        assert np.asarray(of_one).dtype == np.asarray(of_other).dtype
        assert type(of_one) is type(of_other)
        np.testing.assert_array_equal(of_one, of_other)
    np.testing.assert_array_equal(array[:], values)
    other[0, :2] = values[2, :2]
    np.testing.assert_array_equal(array[0, :2], values[2, :2])
    assert set(engine) == {"engine"}


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_fill_are_not_stored(kind: str, tmp_path: Any, engine: list[str]) -> None:
    array = created(tmp_path, kind, chunks=(2, 2))
    array[:] = KINDS[kind][1]
    array[:2, :2] = KINDS[kind][2]
    assert array.nchunks_initialized == 3
    assert set(engine) == {"engine"}


def test_elements_that_are_none_of_the_data_type(plain: Plain) -> None:
    """What zarr-python makes of them, it makes of them here."""
    stores = [storage.MemoryStore(), storage.MemoryStore()]
    results = []
    for store, opened in zip(stores, (zarr.open_array, plain), strict=True):
        created(store, "bytes", chunks=(2, 2))
        array = opened(store, mode="r+")
        try:
            array[:] = np.array([[b"a", None, 0], [b"b"] * 3, [b"c"] * 3], object)
            results.append(plain(store, mode="r")[:].tolist())
        except (TypeError, ValueError) as error:
            results.append(type(error))
    assert results[0] == results[1]


def test_a_missing_fill_value_of_v2(plain: Plain, engine: list[str]) -> None:
    store = storage.MemoryStore()
    array = zarr.create_array(store, shape=(4,), chunks=(2,), dtype=str, zarr_format=2, fill_value=None)
    array[1] = "x"
    assert array[:].tolist() == plain(store, mode="r")[:].tolist() == ["", "x", "", ""]
