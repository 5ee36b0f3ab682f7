"""What holds for all tests."""

import gc
from collections import Counter

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is. Properties without a count of their own have few examples
# here, others each time; `make soak` tries the second profile.
settings.register_profile("suite", deadline=None, max_examples=60)
settings.register_profile("soak", deadline=None, max_examples=1000)
settings.load_profile("suite")


def pytest_collection() -> None:
    """Search for no garbage among ever more tests, which is a third of the work of collecting them."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the thousands of tests themselves to no later search for garbage, which would take a second each time."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _kept_objects_are_not_searched() -> None:
    """Leave what earlier modules imported and keep, which is most, to no later search for garbage either."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests, or modules of tests, were skipped for which reason."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("skipped, by reason")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:5}  {reason}")
