"""Finishing a copy with other handles of the same source, as after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores import BaseStore, ForeignStore, MappingStore


class Remote(BaseStore):
    """A store of a user's, whose handles have nothing in common but what they are handles of."""

    def __init__(self, bucket: dict[str, bytes]) -> None:
        self.bucket = bucket

    def get(self, key: str) -> bytes | None:
        return self.bucket.get(key)

    def set(self, key: str, value: Any) -> None:
        self.bucket[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.bucket.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.bucket if key.startswith(prefix)]


class Interruption(Exception):  # noqa: N818  # not an error
    pass


def _stop(done: int, total: int) -> None:
    if done > total // 2:
        raise Interruption


@pytest.mark.parametrize("options", [{}, {"chunks": 7}], ids=["objects", "elements"])
@pytest.mark.parametrize(
    "opened", [Remote, lambda bucket: ForeignStore(Remote(bucket)), lambda bucket: MappingStore(dict(bucket))]
)
def test_a_copy_is_finished_from_another_handle_of_the_source(opened: Any, options: dict[str, Any]) -> None:
    """The record had the address of the object in it, which is another one in every process."""
    bucket: dict[str, bytes] = {}
    blizzarr.create_array(bucket, data=np.arange(100), chunks=10)
    dest: dict[str, bytes] = {}
    # Kept alive: a later object could otherwise have the same address.
    first = opened(bucket)
    with config.set(copy_bytes=80):
        with pytest.raises(Interruption):
            blizzarr.copy(blizzarr.open(first, mode="r"), dest, progress=_stop, **options)
        told: list[int] = []
        second = blizzarr.open(opened(bucket), mode="r")
        made = blizzarr.copy(second, dest, progress=lambda done, _: told.append(done), resume=True, **options)
    assert made[:].tolist() == list(range(100))
    assert told[0] == 0
    assert told[1] >= 400
    assert blizzarr.copy(second, dest, resume=True, **options)[:].tolist() == list(range(100))


@pytest.mark.parametrize("options", [{}, {"chunks": 7}], ids=["objects", "elements"])
def test_a_copy_that_has_stored_nothing_but_its_document_goes_on(options: dict[str, Any]) -> None:
    """To remove and store that again takes more steps, and an interruption of these needed overwrite=True."""

    class Failing(Remote):
        def set(self, key: str, value: Any) -> None:
            if failing and key.startswith("c/"):
                raise StoreError("the disk is gone")
            super().set(key, value)

        def delete(self, key: str) -> None:
            assert key.startswith("blizzarr-"), "a document or a chunk"
            super().delete(key)

    source = blizzarr.create_array({}, data=np.arange(100), chunks=10)
    dest = Failing({})
    failing = True
    with pytest.raises(StoreError):
        blizzarr.copy(source, dest, **options)
    failing = False
    assert blizzarr.copy(source, dest, resume=True, **options)[:].tolist() == list(range(100))


def test_a_copy_of_one_file_is_not_finished_from_another(tmp_path: Path) -> None:
    """Of directories and files it is known which they are."""
    for name in "ab":
        blizzarr.save(tmp_path / f"{name}.zip", np.arange(100))
    dest: dict[str, bytes] = {}
    with config.set(copy_bytes=80):
        with pytest.raises(Interruption):
            blizzarr.copy(tmp_path / "a.zip", dest, progress=_stop, chunks=7)
        with pytest.raises(ConflictError, match="another"):
            blizzarr.copy(tmp_path / "b.zip", dest, resume=True, chunks=7)
        assert blizzarr.copy(tmp_path / "a.zip", dest, resume=True, chunks=7)[:].tolist() == list(range(100))
