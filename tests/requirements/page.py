"""The page ``docs/requirements.md``, made from the tests: `python -m tests.requirements`.

A test covers a line by naming its id: in its name, its docstring, its parameters, or in the documents that it reads.
``lines.json`` has what each line asks for, in short; ``left_out.json`` the lines that no test covers, with the reason.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["LEFT_OUT", "LINES", "PAGE", "covered", "ids_in", "text"]

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
ROOT = TESTS.parent
PAGE = ROOT / "docs" / "requirements.md"

LINES: dict[str, str] = json.loads((HERE / "lines.json").read_text())
LEFT_OUT: dict[str, str] = json.loads((HERE / "left_out.json").read_text())

SECTIONS = {
    "O": "Zarr v1",
    "V": "Zarr v2",
    "D": "The draft of Zarr v3, December 2022",
    "W": "What zarr-python wrote of the draft",
    "C": "Contradictions, and what is done about them",
    "T": "The transpose codec",
    "F": "Zarr v3",
    "Z": "ZEP 1",
    "K": "TensorStore's driver zarr3",
    "R": "The chunk grid rectilinear",
}
_ID = re.compile(rf"\b([{''.join(SECTIONS)}])-(\d+)\b(?:\s*(?:to|\.\.|-)\s*(?:\1-)?(\d+)\b)?")
_RUST_TEST = re.compile(r"(?:\n\s*///[^\n]*)*\n\s*#\[test\]\n\s*fn (\w+)[^\n]*\{")
_SHOWN = 3


def ids_in(source: str) -> set[str]:
    """The ids in a text, ranges included.

    >>> sorted(ids_in("D-1, D-16 to D-18 and O-2; not UTF-8"))
    ['D-1', 'D-16', 'D-17', 'D-18', 'O-2']
    """
    found = set()
    for letter, first, last in _ID.findall(source):
        found.update(f"{letter}-{number}" for number in range(int(first), int(last or first) + 1))
    return found & LINES.keys()


@cache
def covered() -> dict[str, list[str]]:
    """For each id the tests that name it, as paths with names behind them."""
    tests: dict[str, list[str]] = {}
    for place, source in _sources():
        for name in ids_in(source):
            tests.setdefault(name, []).append(place)
    return tests


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.parent != HERE:
            yield from _python(path)
    for path in sorted(TESTS.rglob("*.json")):
        if path.parent != HERE and "node_modules" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_text()
    for path in sorted((ROOT / "rust").rglob("*.rs")):
        for found in _RUST_TEST.finditer(path.read_text()):
            yield f"{path.relative_to(ROOT).as_posix()} {found[1]}", found[0]


def _python(path: Path) -> Iterator[tuple[str, str]]:
    source = path.read_text()
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            parts = [node.name.replace("_", "-").upper(), ast.get_docstring(node) or ""]
            parts += [ast.unparse(decorator) for decorator in node.decorator_list]
            # Tables of parameters are mostly beside the test, under a name.
            parts += [ast.unparse(inner) for inner in node.body]
            yield f"{place} {node.name}", "\n".join(parts)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield place, ast.unparse(node)


def text() -> str:
    """The page."""
    tests = covered()
    count = sum(name in tests for name in LINES)
    made = [
        "# What is required, and what tests it",
        "",
        "Made by `python -m tests.requirements` from the ids that the tests name; a test keeps it true. "
        f"{count} of {len(LINES)} lines are covered by a test, {len(LEFT_OUT)} are left out for the reason given.",
    ]
    for letter, title in SECTIONS.items():
        made += ["", f"## {title}", "", "| id | line | tests |", "|---|---|---|"]
        for name, line in LINES.items():
            if name[0] == letter:
                made.append(f"| {name} | {_cell(line)} | {_tests(name, tests)} |")
    return "\n".join(made) + "\n"


def _tests(name: str, tests: dict[str, list[str]]) -> str:
    if name not in tests:
        return f"left out: {LEFT_OUT.get(name, '')}"
    places = sorted(set(tests[name]), key=lambda place: (" " not in place, place))
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(f"`{place.removeprefix('tests/')}`" for place in places[:_SHOWN]) + more


def _cell(line: str) -> str:
    return line.replace("|", "\\|")
