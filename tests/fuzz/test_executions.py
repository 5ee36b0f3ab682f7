"""What is counted of the fuzzing, and where it is published (`rust/fuzz/counts.py`)."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_counts", ROOT / "rust" / "fuzz" / "counts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fuzz_counts", module)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_figures_that_are_committed(counts: Any) -> None:
    figures = json.loads((ROOT / "rust" / "fuzz" / "figures.json").read_text())
    text = (ROOT / "docs" / "reliability.md").read_text()
    assert counts.page(text, figures) == text, "python rust/fuzz/fuzz.py --no-build --seconds 0 --record"


def test_runs_add_up_and_a_finding_begins_a_new_count(counts: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{counts.BEGIN}\n{counts.END}\nafter\n")
    made = counts.Counts(tmp_path / "ledger.json", tmp_path / "figures.json", page)
    made.keep("zstd", 1000, 1.5, 0)
    made.keep("zstd", 5000, 0.5, 0, bare=True)
    assert made.since("zstd") == 6000
    made.record(rustc="rustc 1")
    assert not (tmp_path / "ledger.json").exists()
    made.keep("zstd", 70, 1, 1)
    made.keep("zstd", 30, 1, 0)
    assert made.since("zstd") == 30
    made.keep("plan", 100, 5400, 0)
    made.record(rustc="rustc 2")
    zstd = {"executions": 6100, "bare": 5000, "since": 30, "seconds": 4.0, "quiet": 1.0, "findings": 1}
    plan = {"executions": 100, "bare": 0, "since": 100, "seconds": 5400.0, "quiet": 5400.0, "findings": 0}
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures == {"rustc": "rustc 2", "targets": {"zstd": zstd, "plan": plan}}
    assert "| zstd | 6,100 | 1,100 | 0.0 | 30 | 0.0 |" in page.read_text().splitlines()
    assert "| plan | 100 | 100 | 1.5 | 100 | 1.5 |" in page.read_text().splitlines()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("after\n")
