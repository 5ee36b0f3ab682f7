"""A suite of tests of another project, as `suites.json` describes it.

=============  ====================================================================================================
``name``       the name in the table
``package``    the package in the Python registry whose source archive has the tests
``version``    its version
``python``     the version of Python that runs them
``extra``      packages that are installed with it
``requires``   packages that its tests need
``pytest``     arguments of pytest, relative to the top of the archive
``plugin``     a module in `plugins/`, which pytest imports with ``-p`` before the tests
``variables``  environment variables that are set with the plugin (optional)
``differs``    tests that fail with the plugin, by their identifier or its beginning, each with the reason
``like``       the name of a suite with the tests of another version, whose reasons hold for this one, too (optional)
=============  ====================================================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Suite", "suites"]

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Suite:
    """One entry of `suites.json`."""

    name: str
    package: str
    version: str
    python: str
    requires: list[str]
    pytest: list[str]
    plugin: str
    extra: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    like: str = ""

    @property
    def environment(self) -> str:
        """The name of the environment, which suites with the same packages share."""
        return f"{self.package}-{self.version}-py{self.python}"

    def why(self, test: str) -> str | None:
        """Return why this test is known to fail; None if it should pass.

        Examples
        --------
        >>> suite = Suite("", "", "", "", [], [], "", differs={"tests/test_a.py::test_x": "reason"})
        >>> suite.why("tests/test_a.py::test_x[1]"), suite.why("tests/test_a.py::test_y")
        ('reason', None)
        """
        return next((reason for start, reason in self.differs.items() if test.startswith(start)), None)


def suites() -> list[Suite]:
    """Return all suites."""
    entries = json.loads((HERE / "suites.json").read_text(encoding="utf-8"))
    reasons = {entry["name"]: entry["differs"] for entry in entries}
    return [
        Suite(**{**entry, "differs": {**entry["differs"], **reasons.get(entry.get("like", ""), {})}})
        for entry in entries
    ]
