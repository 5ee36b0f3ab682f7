"""Hierarchies cross between blizzarr and every peer that has groups, both ways: paths, attributes, values."""

from __future__ import annotations

from pathlib import Path

from interop.cases.groups import GROUP_CASES, GroupCase
from interop.crossing import cross, pairs
from interop.exchange_group import exchange_group
from interop.peers import Peer, subject


@pairs(GROUP_CASES, "writes")
def test_we_read_the_group_that_the_peer_writes(case: GroupCase, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, peer, ours, lambda: exchange_group(case, peer, ours, root))


@pairs(GROUP_CASES, "reads")
def test_the_peer_reads_the_group_that_we_write(case: GroupCase, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, ours, peer, lambda: exchange_group(case, ours, peer, root))
