"""A release is one tag: what is said of it in several places agrees."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import blizzarr

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
RECIPE = (ROOT / "recipe/recipe.yaml").read_text()


def program(name: str) -> ModuleType:
    """A program that is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / ".github")
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def release_notes() -> ModuleType:
    """The program that prints the notes of a release."""
    return program("notes")


def test_there_is_one_version() -> None:
    """The version is that of Cargo.toml; the recipe, which cannot read it there, repeats it."""
    assert blizzarr.__version__ == VERSION
    assert re.findall(r'^  version: "(.*)"$', RECIPE, re.MULTILINE) == [VERSION]
    assert (ROOT / "CHANGELOG.md").read_text().partition("\n## ")[2].startswith(f"{VERSION} (")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_oldest_rust_is_said() -> None:
    """Cargo.toml, README.md and the page about installing name a release of Rust that all dependencies compile with."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    release = tuple(map(int, oldest.split(".")))
    needed = {package["name"]: tuple(map(int, (package["rust_version"] or "1").split("."))) for package in packages}
    assert {name: needs for name, needs in needed.items() if needs[:2] > release} == {}
    assert f"Rust {oldest} or newer" in (ROOT / "README.md").read_text()
    assert f"({oldest} or newer)" in (ROOT / "docs/install.md").read_text()


def test_the_recipe_needs_what_the_package_needs() -> None:
    """conda-forge installs the dependencies of pyproject.toml."""
    run = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    needed = {f"    - {text.partition(';')[0].replace('>=', ' >=')}" for text in PROJECT["dependencies"]}
    assert set(run.splitlines()) == needed | {f"    - python {PROJECT['requires-python']}"}


def test_the_sdist_has_what_the_recipe_tries_the_package_with() -> None:
    """conda-forge builds from the sdist, which has no other file of this folder unless it is told to."""
    tried = re.findall(r"^        - (\S+)$", RECIPE.partition("      source:\n")[2].partition("\n\n")[0], re.MULTILINE)
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["include"]
    assert tried == [entry["path"] for entry in included if entry["format"] == "sdist"]


CHANGES = "# Changes\n\nWhat.\n\n## 0.2.0 (2027-01-31)\n\n- **New**: this.\n\n## 0.1.0 (2026-12-01)\n\nThe first.\n"


def test_notes_are_the_newest_section(release_notes: ModuleType) -> None:
    """The notes are what CHANGELOG.md says of the version, without older ones."""
    assert release_notes.notes("v0.2.0", CHANGES, "0.2.0") == "- **New**: this.\n"


@pytest.mark.parametrize(
    ("tag", "changes", "version", "text"),
    [
        ("v0.2.1", CHANGES, "0.2.0", "the tag is v0.2.1, but the version in Cargo.toml is 0.2.0"),
        ("v0.3.0", CHANGES, "0.3.0", "'0.2.0 (2027-01-31)', not '0.3.0 (year-month-day)'"),
        ("v0.2.0", CHANGES.replace("2027-01-31", "unreleased"), "0.2.0", "'0.2.0 (unreleased)', not '0.2.0"),
    ],
)
def test_what_does_not_agree_stops_a_release(
    release_notes: ModuleType, tag: str, changes: str, version: str, text: str
) -> None:
    """A tag of another version, or changes without their date, release nothing."""
    with pytest.raises(SystemExit, match=re.escape(text)):
        release_notes.notes(tag, changes, version)


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_a_page_that_denies_the_release_stops_it(release_notes: ModuleType, page: str) -> None:
    """What both pages say before the first release, and must not say on the package index."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if "unreleased" in (ROOT / "CHANGELOG.md").read_text().partition("\n## ")[2].partition("\n")[0]:
        with pytest.raises(SystemExit, match=f"{page} says that the version is not released yet"):
            release_notes.check_released(page, text)
    release_notes.check_released(page, re.sub(r"not\s+(been )?released", "", text))


URL = "https://example.org/owner/repository"


def test_the_page_of_the_index_leads_to_the_repository() -> None:
    """The package index knows no other file than README.md, so a link in it names the repository and the tag."""
    page = program("index_page").absolute(
        "[a](docs/a.md#b), ![p](c/p.png), [w](https://e.org), [m](mailto:x), [h](#h)\n\n```md\n[a](docs/a.md)\n```\n",
        URL,
        "v1.2.0",
    )
    assert page == (
        f"[a]({URL}/blob/v1.2.0/docs/a.md#b), ![p]({URL}/raw/v1.2.0/c/p.png), [w](https://e.org), [m](mailto:x), "
        "[h](#h)\n\n```md\n[a](docs/a.md)\n```\n"
    )
    readme = program("index_page").absolute((ROOT / "README.md").read_text(encoding="utf-8"), URL, "v1.2.0")
    assert {link[:4] for link in re.findall(r"\]\(([^)]*)\)", readme)} == {"http"}


def test_the_links_beside_that_page_are_a_table() -> None:
    """The table goes behind what pyproject.toml has."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8") + program("index_page").urls(URL, "v1.2.0")
    assert tomllib.loads(text)["project"]["urls"] == {
        "Repository": URL,
        "Changelog": f"{URL}/blob/v1.2.0/CHANGELOG.md",
        "Issues": f"{URL}/issues",
    }


@pytest.mark.parametrize(
    ("tag", "tags", "names"),
    [
        ("v0.2.0", ["v0.1.0", "v0.2.0"], ["0.2", "latest"]),
        ("v0.10.0", ["v0.9.3", "v0.10.0"], ["0.10", "latest"]),
        ("v0.1.5", ["v0.1.5", "v0.2.0"], ["0.1"]),
        ("v0.2.1", ["v0.2.0", "v0.2.1", "v0.3.0-rc.1"], ["0.2", "latest"]),
        ("v0.3.0-rc.1", ["v0.2.0", "v0.3.0-rc.1"], []),
    ],
)
def test_the_newest_release_is_latest(tag: str, tags: list[str], names: list[str]) -> None:
    """The site's "latest" is neither a pre-release nor a repaired old release."""
    assert program("site_names").names(tag, tags) == names
