"""`docs/downstream.md`: whose tests pass on blizzarr, and which do not, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from downstream.suite import suites

__all__ = ["PAGE", "page", "write_page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "downstream.md"
BEGIN, END = "<!-- figures: made by `make downstream` -->", "<!-- end of figures -->"


def write_page(results: Mapping[str, Any]) -> None:
    """Put the figures into the page, which says the rest in words."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


def page(text: str, results: Mapping[str, Any]) -> str:
    """Return the page with these figures between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(results)}\n{END}{after}"


def table(results: Mapping[str, Any]) -> str:
    """Return one row for each suite that was run, and a list of the tests that pass only without blizzarr."""
    rows = ["| suite | package | Python | pass without | pass on blizzarr | only without | date |", "|" + "---|" * 7]
    differing = []
    for suite in suites():
        row = results.get(suite.name)
        package = f"{suite.package} {suite.version}"
        if row is None:
            rows.append(f"| {suite.name} | {package} | {suite.python} | not run yet | | | |")
            continue
        counts = f"{row['without']:,} | {row['with']:,} | {len(row['only_without'])}"
        rows.append(f"| {suite.name} | {package} | {suite.python} | {counts} | {row['date']} |")
        reasons: dict[str, list[str]] = {}
        for test in row["only_without"]:
            reasons.setdefault(suite.why(test) or "not explained yet", []).append(test)
        differing += [
            f"| {suite.name} | {reason} | {len(tests):,} | {_functions(tests)} |" for reason, tests in reasons.items()
        ]
    if differing:
        differing = [
            "| suite | why tests pass only without | tests | their functions |",
            "|" + "---|" * 4,
            *differing,
            "",
        ]
    return "\n".join([*rows, "", *differing])


def _functions(tests: Sequence[str]) -> str:
    """Return the names of the functions of tests, without their files, classes and parameters."""
    return ", ".join(f"`{name}`" for name in sorted({test.partition("[")[0].split("::")[-1] for test in tests}))
