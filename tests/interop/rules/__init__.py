"""What each peer does not support, as rules with a reason; a module for each family of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["writes", "reads"]
DIRECTIONS: tuple[Direction, ...] = ("writes", "reads")


@dataclass(frozen=True)
class Rule:
    """What a peer does not do: `reason` completes "this peer ..."."""

    direction: Direction
    tags: frozenset[str]
    reason: str
    unless: frozenset[str] = frozenset()
    fatal: bool = False
    """Whether it is not even tried: it would end the process, or succeeds now and then."""
    family: str | None = None
    """Tags that begin so must be in `known`."""
    known: frozenset[str] = frozenset()

    def matches(self, direction: Direction, tags: frozenset[str]) -> bool:
        if self.direction != direction or not self.tags <= tags or self.unless & tags:
            return False
        return self.family is None or any(tag.startswith(self.family) for tag in tags - self.known)


def cannot(direction: Direction, reason: str, *tags: str, unless: tuple[str, ...] = (), fatal: bool = False) -> Rule:
    """The peer does not support cases that have all of these tags."""
    return Rule(direction, frozenset(tags), reason, frozenset(unless), fatal)


def neither(reason: str, *tags: str, unless: tuple[str, ...] = ()) -> tuple[Rule, Rule]:
    """The peer supports such cases in neither direction."""
    return cannot("writes", reason, *tags, unless=unless), cannot("reads", reason, *tags, unless=unless)


def only(reason: str, family: str, *known: str) -> tuple[Rule, Rule]:
    """Of all tags that begin with `family`, the peer supports these, in both directions."""
    names = frozenset(f"{family}{name}" for name in known)
    return tuple(Rule(direction, frozenset(), reason, family=family, known=names) for direction in DIRECTIONS)


def reads(*rules: Rule) -> tuple[Rule, ...]:
    """Those of the rules that are about reading."""
    return tuple(rule for rule in rules if rule.direction == "reads")


BLIZZARR = (
    cannot(
        "writes", "writes objects of this codec in order C, as zarr-python would read them", "order F", "filter json2"
    ),
    cannot(
        "writes",
        "writes objects of this codec in order C, as zarr-python would read them",
        "order F",
        "filter msgpack2",
    ),
    cannot("writes", "makes no arrays without a fill value", "fill null", unless=("object codec vlen-array",)),
    cannot(
        "writes",
        "writes what zarr 1.1.0 would misread on request only",
        "v1",
        "order F",
        unless=("compressor blosc", "rank 1"),
    ),
)
