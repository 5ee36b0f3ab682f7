"""What each peer does not support, as rules with a reason; a module for each family of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["writes", "reads"]


@dataclass(frozen=True)
class Rule:
    """What a peer does not do: `reason` completes "this peer ..."."""

    direction: Direction
    tags: frozenset[str]
    reason: str
    unless: frozenset[str] = frozenset()
    fatal: bool = False

    def matches(self, direction: Direction, tags: frozenset[str]) -> bool:
        return self.direction == direction and self.tags <= tags and not self.unless & tags


def cannot(direction: Direction, reason: str, *tags: str, unless: tuple[str, ...] = (), fatal: bool = False) -> Rule:
    return Rule(direction, frozenset(tags), reason, frozenset(unless), fatal)
