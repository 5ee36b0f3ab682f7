"""Checking what is stored: documents, every chunk, what should not be there; and repairing what can be repaired.

`survey` lists what there is, `nodes` reads all documents, `keys` sorts the rest into chunks and what is none, `chunks`
has the engine decode every chunk. What is wrong becomes a `Finding`; all of them, and what was looked at, a `Report`.
Nothing in here changes anything but `repair`.
"""

from blizzarr.checking.check import check
from blizzarr.checking.finding import Finding, Severity
from blizzarr.checking.manifests import check_against, check_and_record
from blizzarr.checking.quarantine import Quarantine
from blizzarr.checking.repair import Repairs, check_and_repair
from blizzarr.checking.report import Checksums, Repair, Report

__all__ = [
    "Checksums",
    "Finding",
    "Quarantine",
    "Repair",
    "Repairs",
    "Report",
    "Severity",
    "check",
    "check_against",
    "check_and_record",
    "check_and_repair",
]
