"""Transactions: changes that are kept in memory, visible only through the transaction, and stored together."""

from blizzarr.transactions.changes import Changes, Operation, changes_in
from blizzarr.transactions.outcome import Outcome
from blizzarr.transactions.staged_store import StagedStore, watched
from blizzarr.transactions.transaction import (
    Transaction,
    check_open,
    delaying,
    is_committed,
    participant,
    require_one_step,
)
