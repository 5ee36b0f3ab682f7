"""Transactions: changes that are gathered in memory, seen only by whoever has the transaction, and stored together."""

from blizzarr.transactions.transaction import Participant, Transaction

__all__ = ["Participant", "Transaction"]
