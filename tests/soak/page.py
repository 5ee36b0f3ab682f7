"""`docs/reliability.md`: what is promised, what was tried, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from soak.experiment import MAXIMUM
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
    """Return one row for each experiment, by subject, then the date and the versions that they were run with."""
    rows = ["| experiment | promise | tried | broken | also counted |", "|---|---|---|---|---|"]
    for name, experiment in sorted(EXPERIMENTS.items(), key=lambda item: int(item[1].promise.removeprefix("P"))):
        label, entry = name.replace("_", " "), entries.get(name)
        if entry is None:
            rows.append(f"| {label} | {experiment.what} | none of {experiment.full:,} {experiment.unit} yet | | |")
            continue
        outcome = entry.outcome
        aim = "" if outcome.done >= experiment.full else f" of {experiment.full:,}"
        more = ", ".join(figure(key, value) for key, value in outcome.figures.items())
        tried = f"{outcome.done:,}{aim} {experiment.unit}"
        rows.append(f"| {label} | {experiment.what} | {tried} | {outcome.wrong:,} | {more} |")
    return "\n".join([*rows, "", *measured(entries), ""])


def figure(name: str, value: float) -> str:
    """Return a count or a maximum with what was counted.

    Examples
    --------
    >>> figure("because_of_links", 687_678), figure("max_seconds", 0.305)
    ('687,678 because of links', 'at most 0.305 seconds')
    """
    text = f"{round(value, 3):,} {name.removeprefix(MAXIMUM).replace('_', ' ')}"
    return f"at most {text}" if name.startswith(MAXIMUM) else text


def measured(entries: Mapping[str, Entry]) -> list[str]:
    """Return a line for each date and set of versions, with the experiments it holds for if there are several."""
    groups: dict[str, list[str]] = {}
    for name in EXPERIMENTS:
        if name in entries:
            versions = ", ".join(f"{what} {version}" for what, version in entries[name].versions.items())
            groups.setdefault(f"Measured on {entries[name].date} with {versions}", []).append(name.replace("_", " "))
    if len(groups) == 1:
        return [f"{text}." for text in groups]
    return [f"- {text}: {', '.join(names)}." for text, names in groups.items()]
