"""Copies of arrays in memory: what is pickled does not take the memory of its context along."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tensorstore_face import ours, theirs


def _made(library: Any) -> Any:
    spec = {"driver": "zarr3", "kvstore": "memory://a/", "dtype": "int8"}
    store = library.open(spec, create=True, shape=[3]).result()
    store[1] = 5
    return store


def test_deep_copies_look_in_memory_of_their_own() -> None:
    """TensorStore opens an array without its elements there; here it is an error rather than fill values."""
    for copied in (copy.deepcopy, lambda store: pickle.loads(pickle.dumps(store))):
        assert copied(_made(theirs)).read().result().tolist() == [0, 0, 0]
        with pytest.raises(ValueError, match="NOT_FOUND"):
            copied(_made(ours))


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_what_shares_the_memory(library: Any) -> None:
    store = _made(library)
    kvstore = store.kvstore
    again = library.open({"driver": "zarr3"}, kvstore=kvstore.spec(retain_context=True)).result()
    for found in (library.open(copy.copy(store.spec(retain_context=True))).result(), again):
        assert found.read().result().tolist() == [0, 5, 0]
