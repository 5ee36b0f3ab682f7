"""What a row came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from bench.rows import Row


@dataclass(frozen=True, slots=True)
class Result:
    """The times of each peer in seconds, one per round; or why it has none."""

    row: Row
    times: dict[str, list[float]] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def seconds(self, peer: str) -> float | None:
        """Return the median of one peer, of one read or frame or whatever the row counts."""
        return median(self.times[peer]) / self.row.per if peer in self.times else None

    def ratio(self, peer: str, to: str) -> float | None:
        """Return how many times as long one takes as another."""
        mine, theirs = self.seconds(peer), self.seconds(to)
        return None if mine is None or theirs is None else mine / theirs

    def best_of(self, peers: list[str]) -> str | None:
        """Return which of these is the fastest."""
        able = [peer for peer in peers if peer in self.times]
        return min(able, key=lambda peer: median(self.times[peer])) if able else None
