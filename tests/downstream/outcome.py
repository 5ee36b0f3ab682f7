"""What became of the tests of one run, and how two runs compare."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from downstream.environment import ROOT, declared
from downstream.suite import HERE, Suite

__all__ = ["Outcome", "compare", "run"]

Outcome: TypeAlias = Mapping[str, str]
"""What became of each test: ``passed``, ``skipped`` or ``failed``."""

_LIMIT = 3 * 3600


def run(suite: Suite, interpreter: Path, top: Path, with_plugin: bool, jobs: int) -> Outcome:
    """Run the tests of a suite, with its plugin or without, and return what became of each."""
    with tempfile.TemporaryDirectory(prefix="downstream-") as scratch:
        report = Path(scratch) / "report.xml"
        # Before the plugins of the suite, which may import what is replaced.
        command = [str(interpreter), "-m", "pytest", *(["-p", suite.plugin] if with_plugin else [])]
        command += ["-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ["-o", "junit_family=xunit1", "-o", "junit_logging=no", "--tb=short", *suite.pytest]
        if jobs > 1:
            command += ["--numprocesses", str(jobs)]
        paths = [ROOT / "python", HERE / "plugins", declared()]
        # Each process lists the parameters that are sets in the same order.
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONHASHSEED": "0"}
        if with_plugin:
            variables.update(suite.variables)
        log = top.parents[1] / f"{suite.plugin if with_plugin else 'without'}.log"
        with log.open("wb") as written:
            subprocess.run(command, cwd=top, env=variables, stdout=written, stderr=written, timeout=_LIMIT, check=False)
        outcome = read(report) if report.exists() else {}
        if "passed" not in outcome.values():
            raise RuntimeError(f"expected tests of {suite.name} to pass, found none that do; see {log}")
        return outcome


def read(report: Path) -> Outcome:
    """Return what a report in JUnit's XML says."""
    outcome: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        # Without a file, it is a module that could not be imported.
        place = case.get("file") or case.get("classname", "").replace(".", "/") + ".py"
        within = case.get("classname", "").removeprefix(place.removesuffix(".py").replace("/", ".")).strip(".")
        # Names may have addresses of objects, which differ from run to run.
        parts = (place.rpartition("site-packages/")[2], within, case.get("name", ""))
        name = re.sub("0x[0-9a-f]+", "0x", "::".join(filter(None, parts)))
        kinds = {child.tag for child in case}
        now = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        # A test may fail, and then its teardown.
        if outcome.get(name) != "failed":
            outcome[name] = now
    return outcome


def compare(without: Outcome, given: Outcome) -> dict[str, object]:
    """Return the row of the table: counts, and the tests that pass only without the plugin, or only with it.

    Examples
    --------
    >>> compare({"a": "passed", "b": "passed", "c": "skipped"}, {"a": "passed", "b": "failed", "c": "passed"})
    {'without': 2, 'with': 2, 'only_without': ['b'], 'only_with': ['c']}
    """
    passed = {test for test, what in without.items() if what == "passed"}
    now = {test for test, what in given.items() if what == "passed"}
    return {
        "without": len(passed),
        "with": len(now),
        "only_without": sorted(passed - now),
        "only_with": sorted(now - passed),
    }
