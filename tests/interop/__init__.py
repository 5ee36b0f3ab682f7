"""Interoperability: every implementation reads what every other has written. How it is built: README.md."""

from __future__ import annotations

import os

from interop.peers import BLIZZARR, PEERS, Peer


def subject() -> Peer:
    """Return who is under test: blizzarr, or whichever peer `BLIZZARR_INTEROP_SUBJECT` puts in its place.

    When two disagree, a third in our place shows which of the two is wrong.
    """
    name = os.environ.get("BLIZZARR_INTEROP_SUBJECT", BLIZZARR.name)
    return next(peer for peer in (BLIZZARR, *PEERS) if peer.name == name)
