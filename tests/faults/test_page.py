"""The fault catalogue (`README.md`) and the tests agree: each row is described once, and its tests have its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE / "README.md").read_text()
ROW = re.compile(r"^\| ([\d-]+) \| ", re.M)
TABLE = re.compile(r"^\| ([\d, -]+) \| [^|]+ \| (?:`(test_\w+\.py)`)? ?\|", re.M)


def rows_of(text: str) -> set[int]:
    """The rows that `1-3, 5` means."""
    ranges = (part.split("-") for part in text.split(", "))
    return {row for ends in ranges for row in range(int(ends[0]), int(ends[-1]) + 1)}


def listed() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for rows, file in TABLE.findall(PAGE):
        found.setdefault(file, set()).update(rows_of(rows))
    return found


def rows_tested_in(file: Path) -> set[int]:
    """The rows in the names of tests: `test_rows_029_to_032_x`, `test_rows_078_079_x`."""
    rows: set[int] = set()
    for name in re.findall(r"^def test_rows?_((?:\d{3}_|to_|and_)+)", file.read_text(), re.M):
        numbers = [int(number) for number in re.findall(r"\d+", name)]
        rows.update(numbers)
        if "to_" in name:
            rows.update(range(numbers[0], numbers[1] + 1))
    return rows


def test_every_row_is_described_once() -> None:
    rows = PAGE.partition("## Where the tests are")[0]
    described = [row for part in ROW.findall(rows) for row in sorted(rows_of(part))]
    assert described == list(range(1, 130))


TESTED = [file for file in sorted(HERE.glob("test_*.py")) if rows_tested_in(file)]


@pytest.mark.parametrize("file", TESTED, ids=lambda file: file.stem)
def test_the_page_lists_what_is_tested(file: Path) -> None:
    assert rows_tested_in(file) - {49, 60, 61, 62} <= listed()[file.name]


def test_what_the_page_lists_is_tested() -> None:
    for file, rows in listed().items():
        if file:
            covered = rows_tested_in(HERE / file)
            assert rows <= covered, file
