"""Which pairs of a case and a peer are tried, and what is expected of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from interop.case import Case
from interop.cases.groups import GroupCase
from interop.conftest import EVERYTHING
from interop.peer import PeerError, PeerMissing
from interop.peers import PEERS, Peer
from interop.rules import Direction

AnyCase = Case | GroupCase


def pairs(cases: Sequence[AnyCase], direction: Direction) -> pytest.MarkDecorator:
    """Every case with every peer that knows its format in this direction."""
    peers = [peer for peer in PEERS if EVERYTHING or direction in peer.quick]
    chosen = [
        (case, peer)
        for case in cases
        for peer in peers
        if case.format in peer.formats[direction] and (EVERYTHING or case.quick)
    ]
    return pytest.mark.parametrize(("case", "peer"), chosen, ids=[f"{case.name}-{peer.name}" for case, peer in chosen])


def cross(case: AnyCase, writer: Peer, reader: Peer, try_it: Callable[[], list[str]]) -> None:
    """Let one write and the other read; fail if they find problems, unless one is known not to support the case."""
    rules = [(one, one.rule(what, case.tags)) for one, what in ((writer, "writes"), (reader, "reads"))]
    known = [(one, rule) for one, rule in rules if rule is not None]
    reasons = " and ".join(f"{one.name} {rule.reason}" for one, rule in known)
    if any(rule.fatal for _, rule in known):
        pytest.skip(reasons)
    try:
        problems = try_it()
    except PeerMissing as missing:
        pytest.skip(str(missing))
    except PeerError as error:
        if not known:
            raise
        problems = [str(error)]
    if known:
        assert problems, f"{case.name!r} is now read as it was written: remove the rule that {reasons}"
        pytest.skip(reasons)
    assert not problems, f"{writer.name} wrote {case.name!r} and {reader.name} read it with\n  " + "\n  ".join(problems)
