"""Reports for terminals: the findings of a check as a tree, by node and kind, and the differences of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Final

from blizzarr.checking.finding import KINDS, Finding, Severity
from blizzarr.checking.report import Repair, Report
from blizzarr.comparing.comparison import NOTES, TITLES, Comparison, Difference
from blizzarr.printable import printable
from blizzarr.size_text import bytes_text, count_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text
    from rich.tree import Tree

NODES: Final = 50
"""The most nodes, and the most repairs, that are shown."""

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def findings_tree(report: Report, limit: int, words: Callable[[str], str] = str) -> Tree:
    """Return all nodes with findings; at most `limit` findings of each kind are shown, and the others are counted."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(report.store), style="bold"), guide_style="dim")
    nodes: dict[str, dict[str, list[Finding]]] = {}
    for finding in report.findings:
        nodes.setdefault(finding.path, {}).setdefault(finding.kind, []).append(finding)
    for path, kinds in islice(nodes.items(), NODES):
        branch = tree.add(Text(printable(path), style="bold"))
        for kind, several in kinds.items():
            about = KINDS[kind]
            head = Text.assemble((f"{about.severity}", _STYLES[about.severity]), f"  {about.title}: {len(several):,}")
            leaf = branch.add(head)
            for finding in several[:limit]:
                leaf.add(_line(finding))
            if len(several) > limit:
                leaf.add(Text(f"and {len(several) - limit:,} more", style="dim"))
            if about.severity is not Severity.NOTE:
                leaf.add(Text(f"to do: {words(several[0].advice)}", style="italic"))
    if len(nodes) > NODES:
        left = sum(len(several) for kinds in list(nodes.values())[NODES:] for several in kinds.values())
        tree.add(Text(f"and {len(nodes) - NODES:,} more nodes with {left:,} findings", style="dim"))
    return tree


def _line(finding: Finding) -> Text:
    from rich.text import Text

    where = "" if finding.key is None else finding.key.removeprefix(finding.path.strip("/") + "/")
    if finding.inner:
        where += f" {_position(finding.inner)}"
    return Text.assemble((printable(where), "bold"), "  " if where else "", printable(finding.message))


def repairs_tree(report: Report, limit: int, words: Callable[[str], str] = str) -> Tree:
    """Return the outcome of a repair, or the outcome that it would have."""
    from rich.text import Text
    from rich.tree import Tree

    outcomes = Counter(repair.outcome(dry_run=report.dry_run) for repair in report.repairs if repair.done)
    counts = outcomes or {"would be repaired" if report.dry_run else "repaired": 0}
    head = ", ".join(f"{outcome}: {count:,}" for outcome, count in counts.items())
    tree = Tree(Text(head, style="bold"), guide_style="dim")
    for repair in report.repairs[:NODES]:
        style = "green" if repair.done and not repair.lost else "yellow" if repair.done else "red"
        outcome = repair.outcome(dry_run=report.dry_run)
        text = Text.assemble((outcome, style), "  ", words(printable(str(repair))))
        leaf = tree.add(text)
        if repair.kept is not None:
            leaf.add(Text(f"kept: {printable(repair.kept)}", style="italic"))
        for chunk in repair.lost[:limit]:
            leaf.add(Text(f"lost: {_lost(repair, chunk)}", style="red"))
        if len(repair.lost) > limit:
            leaf.add(Text(f"lost: {len(repair.lost) - limit:,} more", style="red"))
    if len(report.repairs) > NODES:
        tree.add(Text(f"and {len(report.repairs) - NODES:,} more", style="dim"))
    return tree


def _lost(repair: Repair, chunk: tuple[int, ...]) -> str:
    if chunk == repair.chunk:
        return f"the whole {'chunk' if repair.kind in ('chunk', 'checksum') else 'shard'}"
    return f"inner chunk {_position(chunk[len(repair.chunk or ()) :])}"


def _position(chunk: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, chunk))}]"


def summary_text(report: Report) -> RenderableType:
    """Return the last line: the numbers of nodes, objects and chunks that were checked, and of findings."""
    from rich.text import Text

    counts = [(report.arrays, "array"), (report.groups, "group"), (report.objects, "object"), (report.chunks, "chunk")]
    looked = ", ".join(count_text(count, noun) for count, noun in counts)
    speed = f", {bytes_text(int(report.bytes / report.seconds))}/s" if report.seconds > 0.1 and report.bytes else ""
    took = f"{bytes_text(report.bytes)} in {report.seconds:.1f} s{speed}"
    how = "sizes and indices only, " if report.fast else ""
    style = "bold green" if report.clean else "bold red" if not report.ok else "yellow"
    return Text.assemble((report.verdict(), style), f"  ({how}{looked}, {took})")


def report_lines(report: Report, limit: int, words: Callable[[str], str] = str) -> list[RenderableType]:
    """Return the report for people; `words` turns the words of Python into those of the shell."""
    lines: list[RenderableType] = [findings_tree(report, limit, words)] if report.findings else []
    lines += [repairs_tree(report, limit, words)] if report.repairs else []
    lines += [printable(str(report.manifest))] if report.manifest is not None else []
    return [*lines, summary_text(report)]


def comparison_lines(comparison: Comparison, limit: int) -> list[RenderableType]:
    """Return the report for people, with at most `limit` lines for each node."""
    from rich.text import Text
    from rich.tree import Tree

    formats = [note for note in comparison.notes if note.kind == "format"]
    everywhere = len(formats) == comparison.arrays + comparison.groups and len({note.message for note in formats}) == 1
    notes = (n for n in comparison.notes if n.kind != "format" or not everywhere or n is formats[0])
    nodes: dict[str, list[Difference]] = {}
    for difference in (*comparison.unreadable, *comparison.differences, *notes):
        nodes.setdefault(difference.path, []).append(difference)
    lines: list[RenderableType] = []
    if nodes:
        tree = Tree(Text(f"A {printable(comparison.a)}\nB {printable(comparison.b)}", style="bold"), guide_style="dim")
        for path, several in islice(nodes.items(), NODES):
            branch = tree.add(Text(printable(path), style="bold"))
            for difference in several[:limit]:
                leaf = branch.add(_difference(difference))
                for example in difference.elements.examples() if difference.elements is not None else ():
                    leaf.add(Text(printable(example)))
            if len(several) > limit:
                branch.add(Text(f"and {len(several) - limit:,} more", style="dim"))
        if len(nodes) > NODES:
            tree.add(Text(f"and {len(nodes) - NODES:,} more nodes", style="dim"))
        lines.append(tree)
    style = "bold green" if comparison.same else "bold red"
    looked = comparison.summary().rpartition(": ")[0]
    return [*lines, Text.assemble((comparison.verdict(), style), f"  ({looked})")]


def _difference(difference: Difference) -> Text:
    from rich.text import Text

    style = "dim" if difference.kind in NOTES else "bold red" if difference.kind == "unreadable" else "yellow"
    return Text.assemble((TITLES[difference.kind], style), "  ", printable(difference.message))
