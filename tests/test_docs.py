"""The documentation is true: every block of Python runs, every shown output is what comes out, every example works.

Each page is one program in an empty directory. Its blocks run in order:

- ``python`` with prompts is a doctest (``...`` stands for anything); without prompts it is executed,
- ``console`` lines that begin with ``$ blizzarr`` run, and what is shown under them is compared (a line ``...`` stands
  for any lines); other commands are for people. ``# exit status 1`` behind a command is compared, too.

What stands below a line ``<!-- needs package -->`` is skipped where the package is not installed.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blizzarr.cli import main
from blizzarr.codecs import CATALOGUE
from blizzarr.dtypes.table import OWN as DATA_TYPES
from blizzarr.formats.table import UNSOUGHT
from blizzarr.model.chunk_grid import CHUNK_GRIDS
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.stores.urls import OWN as STORES
from blizzarr.transformers import KEY_ENCODINGS

ROOT = Path(__file__).parents[1]
# The demo downloads what it shows; `make demo` runs it.
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "demo")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT if page.name == "README.md" else ROOT / "docs").as_posix() for page in PAGES]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def settings_of_zarr_python() -> Iterator[None]:
    """A page may set our pipeline in zarr-python, which is an oracle of other tests as it comes."""
    # Only its first import sets the pipeline.
    sys.modules.pop("blizzarr.for_zarr", None)
    yield
    if "zarr" in sys.modules:
        sys.modules["zarr"].config.reset()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page registers is not there for other pages."""
    for table in (CATALOGUE, CHUNK_GRIDS, DATA_TYPES, DRIVERS, KEY_ENCODINGS, STORES, UNSOUGHT):
        monkeypatch.setattr(table, "places", dict(table.places))
        monkeypatch.setattr(table, "_here", dict(table._here))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    text = page.read_text(encoding="utf-8")
    for needs in re.finditer(r"^<!-- needs (\w+) -->$", text, re.MULTILINE):
        if importlib.util.find_spec(needs[1]) is None:
            text = text[: needs.start()]
            if not BLOCK.search(text):
                pytest.skip(f"{needs[1]} is not installed")
            break
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for found in BLOCK.finditer(text):
        language, source = found.groups()
        line = text.count("\n", 0, found.start(2))
        if language == "python":
            run_python(source, namespace, page.name, line)
        elif language == "console":
            for command, expected, status in commands(source):
                run_command(command, expected, status, capfd)


@pytest.mark.parametrize(("page", "name"), list(zip(PAGES, NAMES, strict=True)), ids=NAMES)
def test_links_lead_somewhere(page: Path, name: str) -> None:
    """Each relative link and picture exists, and the site has each page; `make site` checks anchors, too."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert re.match(r"[a-z]+:", target) or (page.parent / target).exists(), target
    assert name == "README.md" or re.search(rf"[:-] {name}$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


def test_the_reference_has_modules_that_are_there() -> None:
    """`make site` ended in a KeyError after one was removed."""
    modules = re.findall(r'^    "(blizzarr[\w.]*)": "', (ROOT / "website/hooks.py").read_text(), re.MULTILINE)
    assert "blizzarr.testing.stores" in modules
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_example(example: Path, tmp_path: Path) -> None:
    """An example ends without an error; each asserts what it shows."""
    assert re.search(r"^ *assert ", example.read_text(encoding="utf-8"), re.MULTILINE)
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_python(source: str, namespace: dict[str, Any], name: str, line: int) -> None:
    """Check a doctest, or execute a block, at its place in the page."""
    if not source.startswith(">>> "):
        exec(compile("\n" * line + source, name, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(source, {}, name, name, line)
    # The parser copies the namespace; a page has one.
    test.globs = namespace
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)


def commands(source: str) -> Iterator[tuple[list[str], str, int]]:
    """The commands of a console block, each with what is shown under it, and the exit status that it says."""
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = command[:-1] + more.removeprefix("> ")
        if command.startswith("blizzarr "):
            status = re.search(r"# exit status (\d+)$", command)
            yield shlex.split(command, comments=True)[1:], shown, int(status[1]) if status else 0


def run_command(arguments: list[str], expected: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Run a command and compare what it prints with what is shown, if anything is."""
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capfd.readouterr()
    shown = expected.strip()
    if shown.startswith("blizzarr: "):
        # An error that is shown is meant to happen.
        assert ended.value.code == 1
    else:
        assert (ended.value.code or 0) == status, err
    if shown:
        pattern = ".*".join(re.escape(piece) for piece in shown.split("..."))
        said = out.strip() or err.strip()
        tidy = "\n".join(line.rstrip() for line in said.splitlines())
        assert re.fullmatch(pattern, tidy, re.DOTALL), f"shown:\n{shown}\nprinted:\n{tidy}"
