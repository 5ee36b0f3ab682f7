"""Transactions: changes that are kept in memory, visible only through the transaction, and stored together."""

from blizzarr.transactions.changes import Changes, Elements, Operation, changes_in
from blizzarr.transactions.outcome import Outcome, Participant
from blizzarr.transactions.staged_store import StagedStore, watched
from blizzarr.transactions.transaction import (
    Transaction,
    check_open,
    delaying,
    is_committed,
    participant,
    require_one_step,
)

__all__ = [
    "Changes",
    "Elements",
    "Operation",
    "Outcome",
    "Participant",
    "StagedStore",
    "Transaction",
    "changes_in",
    "check_open",
    "delaying",
    "is_committed",
    "participant",
    "require_one_step",
    "watched",
]
