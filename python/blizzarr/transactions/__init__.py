"""Transactions: changes that are kept in memory, visible only through the transaction, and stored together."""

from blizzarr.transactions.changes import Changes, Operation, StagedStore, changes_in, watched
from blizzarr.transactions.transaction import (
    Outcome,
    Transaction,
    check_open,
    check_rebinding,
    delaying,
    participant,
    require_one_step,
)
