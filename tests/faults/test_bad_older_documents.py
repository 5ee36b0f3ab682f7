"""Faults: bad documents of v1, v2 and the draft, opened from a store (rows 41 to 59, 66).

What is wrong with which document is told in `tests/conformance`; here they lie in a store. Time and memory are bounded
for the documents of all formats together.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, LimitError, MetadataError, NodeExistsError
from conformance import test_draft_documents as draft
from conformance import test_v1_documents as v1
from conformance import test_v2_documents as v2
from support.child import answer

Placed = Callable[[dict[str, Any]], tuple[str, str, dict[str, bytes]]]
"""Of a case: the path of its node, the key of its document if there is only one, and what is stored."""


def _v1(case: dict[str, Any]) -> tuple[str, str, dict[str, bytes]]:
    return "", "", v1.documents(case)


def _v2(case: dict[str, Any]) -> tuple[str, str, dict[str, bytes]]:
    if ".zmetadata" in v2.documents(case):
        # Of the whole hierarchy: it counts at the root.
        return "", ".zmetadata", v2.documents(case)
    return "a", "", {".zgroup": b'{"zarr_format": 2}', **v2.documents(case, "a/")}


PLACES: dict[str, tuple[Placed, list[Any]]] = {
    "v1": (_v1, v1.CORPUS.cases("bad")),
    "v2": (_v2, v2.CORPUS.cases("bad")),
    "draft": (draft.documents, draft.CORPUS.cases("bad")),
}
CASES = [
    pytest.param(placed, case.values[0], id=f"{name}, {case.id}")
    for name, (placed, cases) in PLACES.items()
    for case in cases
]


def openings(store: Any, path: str, key: str) -> list[Callable[[], Any]]:
    """Every way to read the document."""
    if key == ".zmetadata":
        # Read when it is first needed: the group's own documents are fine, and so may other members be.
        return [
            lambda: every_member(blizzarr.open_consolidated(store)),
            lambda: every_member(blizzarr.open_group(store, mode="r", use_consolidated=True)),
        ]
    return [lambda mode=mode: blizzarr.open(store, path=path, mode=mode) for mode in ("r", "r+", "a")]


def every_member(group: blizzarr.Group) -> None:
    """Raise what is said of a member that cannot be read."""
    for error in group.unreadable(None).values():
        raise error


def refusal(call: Callable[[], Any]) -> BlizzarrError:
    with pytest.raises((MetadataError, LimitError)) as caught:
        # An array whose codecs nobody knows opens, but nothing that needs them works.
        call().metadata  # noqa: B018
    return caught.value


@pytest.mark.parametrize(("placed", "case"), CASES)
def test_rows_041_to_059_and_066_bad_documents_of_older_formats(placed: Placed, case: dict[str, Any]) -> None:
    """Never read, always named, never replaced by a new array or group."""
    path, key, store = placed(case)
    before = dict(store)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for opened in openings(store, path, key):
            error = refusal(opened)
            assert error.key in store
            assert key in ("", error.key)
            assert error.key is not None
            assert error.key in str(error)
            assert error.line
        for make in (
            lambda: blizzarr.create_array(store, name=path or None, shape=4, dtype="int8"),
            lambda: blizzarr.create_group(store, path=path),
        ):
            with pytest.raises((NodeExistsError, MetadataError, LimitError)):
                make()
    assert time.process_time() - begun < 1
    assert store == before


def test_rows_041_to_059_memory_and_time_of_all_documents() -> None:
    """Whatever a document claims, opening it takes little: all of those that are bad, of every format, one by one."""
    facts = answer(
        """
        import warnings
        warnings.simplefilter("ignore")
        from test_bad_older_documents import PLACES, openings
        from test_bad_documents import CORPUS, GROUP
        from blizzarr.array import ArrayWithoutData
        stores = [placed(case.values[0]) for placed, cases in PLACES.values() for case in cases]
        for file in sorted((CORPUS.folder / "bad").glob("*.json")):
            made = [CORPUS.document(case) for case in json.loads(file.read_text())]
            stores += [("a", "", {"zarr.json": GROUP, "a/zarr.json": raw}) for raw in made]
        blizzarr.open({"zarr.json": GROUP})
        before, slowest, refused, opened = peak(), 0, 0, 0
        for path, key, store in stores:
            begun = time.process_time()
            try:
                node = openings(store, path, key)[0]()
                # One with unknown names opens without its data.
                opened += not isinstance(node, ArrayWithoutData)
            except (MetadataError, LimitError):
                refused += 1
            slowest = max(slowest, time.process_time() - begun)
        tell(refused=refused, opened=opened, slowest=slowest, mebibytes=peak() - before)
        """
    )
    assert facts["opened"] == 0
    assert facts["refused"] > 700
    assert facts["slowest"] < 1
    assert facts["mebibytes"] < 64
