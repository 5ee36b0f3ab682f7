"""Locks by name."""

from __future__ import annotations

import sys
from types import FrameType

from blizzarr.stores.locks import KeyLocks


def test_a_name_is_used_again_anywhere_between() -> None:
    """As by a signal handler or a finalizer, before or after any call within: the name has one lock, and then none."""
    locks, left = KeyLocks(), 0

    def use(_frame: FrameType, _event: str, _arg: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            with locks.held("a"):
                pass

    for count in range(1, 60):
        left = count
        sys.setprofile(use)
        try:
            with locks.held("a"):
                sys.setprofile(None)
                assert [*locks._entries] == ["a"]
                sys.setprofile(use)
        finally:
            sys.setprofile(None)
        assert len(locks) == 0
    assert left > 0
