"""The tables themselves: every name once, every rule of a peer about some case."""

from __future__ import annotations

import pytest

from interop.cases import CASES
from interop.cases.groups import GROUP_CASES
from interop.peers import BLIZZARR, PEERS, Peer
from interop.rules import DIRECTIONS


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in (*CASES, *GROUP_CASES)]
    assert len(set(names)) == len(names)


def test_the_quick_cases_are_of_every_family() -> None:
    families = {case.name.split(":")[0] for case in CASES}
    assert {case.name.split(":")[0] for case in CASES if case.quick} == families


@pytest.mark.parametrize("peer", [BLIZZARR, *PEERS], ids=lambda peer: peer.name)
def test_every_rule_of_a_peer_decides_some_case(peer: Peer) -> None:
    decided = {
        peer.rule(direction, case.tags)
        for case in (*CASES, *GROUP_CASES)
        for direction in DIRECTIONS
        if case.format in peer.formats[direction]
    }
    assert [rule for rule in peer.rules if rule not in decided] == []
