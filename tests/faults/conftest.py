"""Fixtures of the tests of what goes wrong between us and a server of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.faulty_server import FaultyServer, faulty_server
from support.remote_arrays import LAYOUTS, stored


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


@pytest.fixture(params=LAYOUTS)
def array(request: pytest.FixtureRequest, server: FaultyServer) -> Any:
    return stored(server, request.param)
