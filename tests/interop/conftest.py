"""What runs: `make test` tries the quick cases in the quick directions of peers, `BLIZZARR_INTEROP=all` everything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.peers import PEERS

# Adapters and the worker import implementations that need not be installed; doctest would import them.
collect_ignore_glob = ["adapters/*", "worker.py", "environments.py", "__main__.py"]
EVERYTHING = os.environ.get("BLIZZARR_INTEROP") == "all"


@pytest.fixture
def root() -> Iterator[Path]:
    """A directory that is gone after the test: there are thousands, too many to keep as tmp_path does."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="session", autouse=True)
def _end_of_peers() -> Iterator[None]:
    yield
    for peer in PEERS:
        peer.link.close()
