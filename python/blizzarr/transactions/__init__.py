"""Transactions: changes that are kept in memory, seen only through the transaction, and stored together."""

from blizzarr.transactions.changes import Changes, Elements, Operation, changes_in
from blizzarr.transactions.outcome import Outcome, Participant
from blizzarr.transactions.staged_store import StagedStore, watched
from blizzarr.transactions.transaction import Hold, Transaction

__all__ = [
    "Changes",
    "Elements",
    "Hold",
    "Operation",
    "Outcome",
    "Participant",
    "StagedStore",
    "Transaction",
    "changes_in",
    "watched",
]
