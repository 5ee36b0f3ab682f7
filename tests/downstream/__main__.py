"""`make downstream`: run the tests of other projects without blizzarr and on it, and compare.

In this folder's parent::

    python -m downstream                       all suites, without and with
    python -m downstream zarr-python           only those whose names begin so
    python -m downstream --keep                what was counted without blizzarr is not counted again
    python -m downstream --page                only make docs/downstream.md from the results
    python -m downstream NAME -- -x -k shards  more arguments for pytest; nothing is recorded then
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from downstream.environment import FOLDER, MissingError, prepare
from downstream.outcome import Outcome, compare, run
from downstream.page import write_page
from downstream.suite import HERE, Suite, suites

RESULTS = HERE / "results.json"


def main() -> int:
    """Run what was asked for; 1 when a test fails that is not known to."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, more = sys.argv[1:end], sys.argv[end + 1 :]
    parser = argparse.ArgumentParser(prog="python -m downstream", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SUITE", help="the beginning of a name")
    parser.add_argument("--keep", action="store_true", help="count without blizzarr only what was not counted yet")
    parser.add_argument("--page", action="store_true", help="only make the page from the results")
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes")
    given = parser.parse_args(own)
    broken = False
    for suite in () if given.page else suites():
        if given.names and not any(suite.name.startswith(name) for name in given.names):
            continue
        try:
            row = _row(replace(suite, pytest=[*suite.pytest, *more]), given.keep, given.jobs)
        except MissingError as error:
            print(f"{suite.name}: left out, {error}", flush=True)
            continue
        print(f"{suite.name}: {row['without']:,} pass without, {row['with']:,} with", flush=True)
        unknown = [test for test in row["only_without"] if suite.why(test) is None]
        print("\n".join(f"  only without: {test}" for test in unknown), flush=True)
        broken |= bool(unknown)
        if not more:
            # Another run may have added to them meanwhile.
            RESULTS.write_text(json.dumps({**_results(), suite.name: row}, indent=1) + "\n", encoding="utf-8")
    if not more:
        write_page(_results())
    return int(broken)


def _results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def _row(suite: Suite, keep: bool, jobs: int) -> dict[str, Any]:
    interpreter, top = prepare(suite)
    counted = FOLDER / suite.environment / "without.json"
    key = json.dumps(suite.pytest)
    known: dict[str, Outcome] = json.loads(counted.read_text(encoding="utf-8")) if counted.exists() else {}
    if not keep or key not in known:
        known[key] = run(suite, interpreter, top, False, jobs)
        counted.write_text(json.dumps(known), encoding="utf-8")
    row = compare(known[key], run(suite, interpreter, top, True, jobs))
    return {"date": datetime.now(UTC).date().isoformat(), **row}


if __name__ == "__main__":
    sys.exit(main())
