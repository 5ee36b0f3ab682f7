"""The peers: how each is reached, and by rules what it cannot do.

A rule names tags (see :attr:`interop.case.Case.tags`). A case that has all of them, and none of `unless`, is one that
the peer does not support in that direction; it is reported as skipped, with the reason. The tests try it all the same:
a rule that no longer holds fails, so this table stays true. Only where trying would end the process (`fatal`) is it
left alone.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from interop.message import Message
from interop.peer import InProcess, Link, PeerError, Subprocess

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
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


@dataclass(frozen=True)
class Peer:
    """One implementation; `quick` peers are tried in `make test`, the others in `make interop` only."""

    name: str
    link: Link
    rules: tuple[Rule, ...] = ()
    no_groups: dict[Direction, str] = field(default_factory=dict)
    """Why it does not write, or read, groups."""
    no_consolidated: dict[Direction, str] = field(default_factory=dict)
    """Why it does not write, or read, consolidated metadata."""
    own_attributes: frozenset[str] = frozenset()
    """Attributes that it adds to a node by itself."""
    quick: bool = True

    def call(self, verb: str, message: Message) -> Message:
        """Send one message; an error says who raised it."""
        try:
            return self.link.call(verb, message)
        except PeerError as error:
            error.add_note(f"raised by {self.name}")
            raise

    def rule(self, direction: Direction, tags: frozenset[str]) -> Rule | None:
        """Return the rule by which a case is not supported, or None."""
        return next((rule for rule in self.rules if rule.matches(direction, tags)), None)


def cannot(direction: Direction, reason: str, *tags: str, unless: tuple[str, ...] = (), fatal: bool = False) -> Rule:
    return Rule(direction, frozenset(tags), reason, frozenset(unless), fatal)


# Short-hand codec names are no reason not to read us: we store the long ones, for this very reason.
ZARR_PYTHON = (
    cannot("reads", "knows no r*, only its own raw_bytes", "raw bits"),
    cannot("writes", "takes no short-hand codec names", "short-hand codec"),
    cannot("writes", "checks a shard's inner shape before the transpose", "sharding_indexed", "codecs before sharding"),
    cannot("reads", "checks a shard's inner shape before the transpose", "sharding_indexed", "codecs before sharding"),
    cannot("writes", "writes every NaN as NaN, whatever its payload", "fill hex"),
    cannot("reads", "loses the payload of a float16 NaN", "fill hex", "float16"),
)
# numcodecs compresses for zarr-python; zarrs brings its own blosc.
SNAPPY = cannot("writes", "has numcodecs without snappy", "blosc snappy")
SHARDS_HERE = (
    cannot("writes", "fails at shards of rank 0", "rank 0", "sharding_indexed"),
    cannot("writes", "fails at shards of raw bits", "raw bits", "sharding_indexed"),
)
# Beside us is the newest zarr-python for this Python: tests/interop/peers.txt.
ZARR_PYTHON_HERE = (*ZARR_PYTHON, SNAPPY, *(SHARDS_HERE if sys.version_info < (3, 12) else ()))
ZARRS_PYTHON = (
    *ZARR_PYTHON,
    cannot("writes", "knows no raw_bytes, as zarr-python names them", "raw bits"),
    cannot("reads", "hands its metadata on through zarr-python, which loses the payload of a NaN", "fill hex"),
    cannot("writes", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "swaps a big-endian complex number as one, not as two", "complex", "big-endian"),
    cannot("reads", "swaps a big-endian complex number as one, not as two", "complex", "inner big-endian"),
)
TENSORSTORE = (
    cannot("writes", "ends the process with a failed check", "raw bits", fatal=True),
    cannot("reads", "expects their fill value in base64, as version 2 has it", "raw bits"),
    cannot("writes", "has no codecs of bytes after sharding", "codecs after sharding"),
    cannot("reads", "has no codecs of bytes after sharding", "codecs after sharding"),
    cannot("writes", "wants every dimension name once", "repeated dimension names"),
    cannot("reads", "wants every dimension name once", "repeated dimension names"),
    cannot("writes", "has attributes of 64 bits", "attribute larger"),
    cannot("reads", "reads integers of more than 64 bits as float64", "attribute larger"),
)
ARRAYS_ONLY: dict[Direction, str] = {"writes": "has arrays only", "reads": "has arrays only"}
ZARRISTA = (
    cannot("writes", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("writes", "has attributes of 64 bits", "attribute larger"),
    cannot("reads", "has attributes of 64 bits", "attribute larger"),
)
ZARRITA_DATA_TYPES = tuple(
    cannot(direction, "has no such data type in this Node", tag)
    for direction in ("writes", "reads")
    for tag in ("raw bits", "complex", "float16")
)
ALL_MISSING = ("nothing written",)
ZARRITA = (
    *ZARRITA_DATA_TYPES,
    cannot("writes", "writes no shards", "sharding_indexed"),
    cannot("writes", "decodes gzip and does not encode it", "gzip"),
    cannot("writes", "decodes crc32c and does not encode it", "crc32c"),
    cannot("writes", "creates no arrays with chunk keys of v2", "keys v2"),
    cannot("writes", "takes no short-hand codec names", "short-hand codec"),
    cannot("writes", "takes the last of two transposes for both", "two transposes"),
    cannot("writes", "refuses a selection of nothing", "nothing written"),
    cannot("writes", "has numbers of 53 bits in JSON", "fill beyond 2**53"),
    cannot("writes", "has numbers of 53 bits in JSON", "attribute large"),
    cannot("writes", "has numbers of 53 bits in JSON", "attribute larger"),
    cannot("writes", "writes -0.0 as 0", "fill -0.0"),
    cannot("reads", "takes the last of two transposes for both", "two transposes"),
    cannot("reads", "looks for every shard's index at the end", "index at the start", unless=ALL_MISSING),
    cannot("reads", "ignores the codecs before sharding", "codecs before sharding", unless=ALL_MISSING),
    cannot("reads", "ignores the codecs after sharding", "codecs after sharding", unless=ALL_MISSING),
    cannot("reads", "has no shards in shards", "inner sharding_indexed", unless=ALL_MISSING),
    cannot("reads", "has numbers of 53 bits in JSON", "fill that is no float64"),
    cannot("reads", "has numbers of 53 bits in JSON", "attribute large"),
    cannot("reads", "has numbers of 53 bits in JSON", "attribute larger"),
    cannot("reads", "knows no hexadecimal fill values", "fill hex"),
    cannot("reads", "refuses a selection of nothing", "empty"),
)

BLIZZARR = Peer("blizzarr", InProcess("interop.adapters.blizzarr", silent=False))
PEERS: tuple[Peer, ...] = (
    Peer("zarr-python", InProcess("interop.adapters.zarr_python"), ZARR_PYTHON_HERE),
    Peer("zarrs-python", InProcess("interop.adapters.zarrs_python"), ZARRS_PYTHON),
    Peer("tensorstore", InProcess("interop.adapters.tensorstore"), TENSORSTORE, no_groups=ARRAYS_ONLY),
    Peer(
        "zarrista",
        InProcess("interop.adapters.zarrista"),
        ZARRISTA,
        no_groups={"writes": "opens groups and cannot create them"},
        own_attributes=frozenset({"_zarrs"}),
    ),
    Peer(
        "zarr-python newest",
        Subprocess(
            [str(ROOT / ".envs/zarr-python/bin/python"), "-m", "interop.worker", "zarr_python"],
            missing="it is not installed: python tests/interop/environments.py zarr-python",
            environment={"PYTHONPATH": str(HERE.parent)},
        ),
        (*ZARR_PYTHON, SNAPPY),
        quick=False,
    ),
    Peer(
        "zarrita",
        Subprocess(
            [shutil.which("node") or "node", str(HERE / "zarrita/peer.mjs"), str(ROOT / ".envs/zarrita")],
            missing="it is not installed: python tests/interop/environments.py zarrita",
            needs=ROOT / ".envs/zarrita/made-from",
        ),
        ZARRITA,
        no_consolidated={"writes": "writes no consolidated metadata"},
        quick=False,
    ),
)


def subject() -> Peer:
    """Return who is under test: blizzarr, or whichever peer `BLIZZARR_INTEROP_SUBJECT` puts in its place.

    When two disagree, a third in our place shows which of the two is wrong.
    """
    name = os.environ.get("BLIZZARR_INTEROP_SUBJECT", BLIZZARR.name)
    return next(peer for peer in (BLIZZARR, *PEERS) if peer.name == name)
