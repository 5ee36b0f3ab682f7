"""Consolidated metadata of v3: a member of the document of a group.

https://zarr-specs.readthedocs.io/en/latest/v3/core/#additional-fields
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blizzarr.errors import Problem
from blizzarr.model.names import unusable
from blizzarr.problems import MISSING, Problems, describe


def place(path: str) -> str:
    """Return the JSON path of the copy of the node at this path."""
    return f"consolidated_metadata.metadata[{describe(path)}]"


def check(value: Any, problems: Problems) -> Mapping[str, Any] | None:
    """Return the documents in a `consolidated_metadata` member; `None` if there are none, or a problem was added."""
    if value is None:
        # Some releases of zarr-python wrote null for no consolidated metadata.
        return None
    where = "consolidated_metadata"
    if type(value) is not dict:
        problems.add(where, "an object", value)
        return None
    before = len(problems.items)
    if value.get("kind") != "inline":
        problems.add(f"{where}.kind", '"inline"', value.get("kind", MISSING))
    if value.get("must_understand") is not False:
        problems.add(f"{where}.must_understand", "false", value.get("must_understand", MISSING))
    for name in value:
        if name not in ("kind", "must_understand", "metadata"):
            problems.add(f"{where}.{name}", "no such member", value[name])
    documents = value.get("metadata", MISSING)
    if type(documents) is not dict:
        problems.add(f"{where}.metadata", "an object", documents)
        return None
    for path, document in documents.items():
        _check_entry(path, document, documents, problems)
    return documents if len(problems.items) == before else None


def _check_entry(path: str, document: Any, documents: Mapping[str, Any], problems: Problems) -> None:
    """Add problems for a path that does not lead below the group or is below an array, and for invalid values."""
    where = place(path)
    names = path.split("/")
    for name in names:
        problem = unusable(name)
        if problem is not None:
            problems.items.append(Problem(where, "a path below this group", problem))
            return
    if type(document) is not dict:
        problems.add(where, "the document of a node", document)
    for depth in range(1, len(names)):
        parent = documents.get("/".join(names[:depth]))
        if type(parent) is dict and parent.get("node_type") == "array":
            problems.add(where, "no node below an array", path)
