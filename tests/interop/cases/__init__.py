"""The cases, as tables: which arrays every implementation must write and read alike, a module for each format.

A row added here is tried in both directions with every peer that knows the format. Rows marked `quick` (in each family,
the first and then every few) run in `make test`; all of them run in `make interop`.
"""

from __future__ import annotations

from interop.case import Case
from interop.cases import draft, v1, v2, v3

CASES: tuple[Case, ...] = (*v3.CASES, *v2.CASES, *v1.CASES, *draft.CASES)
