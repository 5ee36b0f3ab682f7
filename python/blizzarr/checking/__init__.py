"""Checking documents, chunks and keys, and repairing what can be repaired.

`survey` lists everything, `nodes` reads all documents, `keys` sorts the other keys, `chunks` has the engine decode all
chunks. Each problem becomes a `Finding`; a `Report` has all findings. Only `repair` changes anything.
"""

from blizzarr.checking.check import look
from blizzarr.checking.finding import Finding, Severity
from blizzarr.checking.manifests import check_against, check_and_record
from blizzarr.checking.quarantine import Quarantine
from blizzarr.checking.repair import Repairs, check_and_repair
from blizzarr.checking.report import Repair, Report
