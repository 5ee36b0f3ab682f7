"""What holds for all tests."""

import gc

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the thousands of tests themselves to no later search for garbage, which would take a second each time."""
    gc.freeze()
