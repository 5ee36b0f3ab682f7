"""Appends that would make an array larger than any document may say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.api import create_array
from blizzarr.errors import MetadataError


def test_an_append_beyond_what_a_document_may_have_writes_nothing() -> None:
    for shape, data in (((2**63 - 2,), np.ones(3, "u1")), ((3, 2**61), np.broadcast_to(np.uint8(1), (1, 2**61)))):
        store: dict[str, Any] = {}
        array = create_array(store, shape=shape, chunks=(1000,) * len(shape), dtype="u1")
        with pytest.raises(MetadataError, match=r"shape.*2\^63"):
            array.append(data)
        assert (array.shape, list(store)) == (shape, ["zarr.json"])
    array = create_array({}, shape=2**63 - 2, chunks=1000, dtype="u1")
    assert array.append([7]) == (2**63 - 1,)
    assert array[-1] == 7
