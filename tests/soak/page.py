"""`docs/reliability.md`: what is promised, what was tried, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from soak.ledger import Entry
from soak.table import EXPERIMENTS

__all__ = ["PAGE", "page", "write_page"]

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: made by `make soak` -->", "<!-- end of figures -->"


def write_page(entries: Mapping[str, Entry]) -> None:
    """Put the figures into the page, which says the rest in words."""
    PAGE.write_text(page(PAGE.read_text(), entries))


def page(text: str, entries: Mapping[str, Entry]) -> str:
    """The page with these figures between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(entries)}\n{END}{after}"


def table(entries: Mapping[str, Entry]) -> str:
    """The figures, one row for each experiment."""
    rows = ["| promise | tried | of the promised | broken | measured | with |", "|---|---|---|---|---|---|"]
    for name, experiment in EXPERIMENTS.items():
        entry = entries.get(name)
        promised = f"{experiment.full:,} {experiment.unit}"
        if entry is None:
            rows.append(f"| {experiment.promise} {experiment.what} | not yet | {promised} | | | |")
            continue
        more = ", ".join(
            f"{key.removeprefix('max_').replace('_', ' ')} {value:,.6g}" for key, value in entry.outcome.figures.items()
        )
        rows.append(
            f"| {experiment.promise} {experiment.what} | {entry.outcome.done:,} {experiment.unit}"
            f"{f' ({more})' if more else ''} | {promised} | {entry.outcome.wrong:,} | "
            f"{entry.date} | {', '.join(f'{what} {version}' for what, version in entry.versions.items())} |"
        )
    return "\n".join(rows) + "\n"
