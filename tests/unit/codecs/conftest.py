from __future__ import annotations

from collections.abc import Iterator

import pytest

from blizzarr.codecs import CATALOGUE


@pytest.fixture
def same_table_afterwards() -> Iterator[None]:
    places, here = dict(CATALOGUE.places), dict(CATALOGUE._here)
    yield
    CATALOGUE.places, CATALOGUE._here = places, here
