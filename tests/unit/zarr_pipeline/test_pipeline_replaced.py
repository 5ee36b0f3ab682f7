"""Methods of zarr-python that somebody has replaced are called."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import blizzarr
from blizzarr.stores.replaced import have_replaced_methods

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
codecs: Any = pytest.importorskip("zarr.codecs")
storage: Any = pytest.importorskip("zarr.storage")
sharding: Any = pytest.importorskip("zarr.codecs.sharding")


def is_read_by(path: Path, engine: list[str]) -> str:
    """Return who reads an array that is opened now: ``engine``, or ``usual`` for zarr-python's own pipeline."""
    del engine[:]
    assert zarr.open_array(path, mode="r")[1:3].tolist() == [2, 3]
    return engine[-1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    zarr.create_array(tmp_path, shape=(4,), chunks=(2,), shards=(4,), dtype="i4")[:] = [1, 2, 3, 4]
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (codecs.BytesCodec, "to_dict"),
        (codecs.ZstdCodec, "from_dict"),
        (zarr.abc.codec.BaseCodec, "decode"),
        (sharding._ShardIndex, "is_all_empty"),
        (zarr.dtype.Int32, "to_json"),
        (storage.LocalStore, "get"),
    ],
    ids=["method", "class method", "of a base class", "of a helper", "of a data type", "of a store"],
)
def test_a_replaced_method(
    kind: Any, method: str, path: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is a function, or a mock that calls what it replaces."""
    assert is_read_by(path, engine) == "engine"
    original = getattr(kind, method)
    with monkeypatch.context() as patching:
        in_class = classmethod if isinstance(vars(kind)[method], classmethod) else lambda function: function
        bound = original.__func__ if hasattr(original, "__func__") else original
        patching.setattr(kind, method, in_class(lambda *given, **more: bound(*given, **more)))
        assert is_read_by(path, engine) == "usual"
    assert is_read_by(path, engine) == "engine"
    with mock.patch.object(kind, method, autospec=True, side_effect=original):
        assert is_read_by(path, engine) == "usual"
    assert is_read_by(path, engine) == "engine"


def test_a_mock_counts_no_comparison() -> None:
    """Tests count the calls of what they have put into a class, and equality is a call to a mock."""
    store = storage.LocalStore("any")
    assert not have_replaced_methods([store])
    with mock.patch.object(storage.LocalStore, "get", mock.MagicMock(storage.LocalStore.get)) as get:
        assert have_replaced_methods([store])
        assert get.mock_calls == []


def test_a_method_of_one_store(path: Path, engine: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """It is told once, and `blizzarr.open` calls it, too."""
    store = storage.LocalStore(path)
    with mock.patch.object(store, "get", wraps=store.get) as get, caplog.at_level(logging.DEBUG, logger="blizzarr"):
        array = zarr.open_array(store, mode="r+")
        assert array[:].tolist() == array[:].tolist() == [1, 2, 3, 4]
        assert engine[-2:] == ["usual", "usual"]
        before = get.call_count
        assert blizzarr.open_array(store)[:].tolist() == [1, 2, 3, 4]
        assert get.call_count > before
    told = [record.message for record in caplog.records if record.name == "blizzarr.zarr_pipeline"]
    assert told == [f"zarr-python's own pipeline takes {array.store_path}: the place of a LocalStore is not known"]


def test_the_reason_names_codecs(path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs.ZstdCodec, "to_dict", lambda self: {"name": "zstd", "configuration": {"level": 0}})
    array = zarr.open_array(path, mode="r")
    with caplog.at_level(logging.DEBUG, logger="blizzarr"):
        assert array[:].tolist() == array[:].tolist() == [1, 2, 3, 4]
    told = [record.message for record in caplog.records if record.name == "blizzarr.zarr_pipeline"]
    reason = "methods of its codecs or data type have been replaced"
    assert told == [f"zarr-python's own pipeline takes {array.store_path}: {reason}"]
