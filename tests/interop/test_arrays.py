"""Arrays cross between blizzarr and every peer, both ways, without a difference.

A failure names the case and the peer. What a peer does not support is skipped with the reason from
:mod:`interop.peers`; it is tried nevertheless, and a peer that has learned it fails the test until its rule is removed.
"""

from __future__ import annotations

from pathlib import Path

from interop.case import Case
from interop.cases import CASES
from interop.crossing import cross, pairs
from interop.exchange import exchange
from interop.peers import Peer, subject


@pairs(CASES, "writes")
def test_we_read_what_the_peer_writes(case: Case, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, peer, ours, lambda: exchange(case, peer, ours, root))


@pairs(CASES, "reads")
def test_the_peer_reads_what_we_write(case: Case, peer: Peer, root: Path) -> None:
    ours = subject()
    cross(case, ours, peer, lambda: exchange(case, ours, peer, root))
