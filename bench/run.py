"""Run the benchmark in an environment that has every peer; `python -m bench` makes it and comes here.

Every peer runs in turn, round after round (A B C D limit, A B C D limit, ...), in this one process and on the same
stored bytes, so that whatever slows the machine for a while slows all of them. Every result is checked once, by value.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.peers import MODULES, OPTIONAL, load
from bench.peers.base import CannotError, Peer
from bench.results import Result
from bench.rows import Row, rows
from bench.tasks import Site, Timed, prepare

HERE = Path(__file__).resolve().parent
# A row stops after this many seconds if it has had this many rounds, and after four times as many whatever it has had.
SECONDS_PER_ROW = 5.0
FEWEST_ROUNDS = 3
# Where a file system in memory is, on systems that have one, and how much room the arrays want.
IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    chosen = [row for row in rows() if not options.rows or any(part in row.title for part in options.rows)]
    peers = _load([name.strip() for name in options.peers.split(",")])
    rounds, seconds = (1, 0.0) if options.quick else (options.rounds, SECONDS_PER_ROW)
    folder = Path(tempfile.mkdtemp(prefix="blizzarr-bench-", dir=options.dir or _in_memory()))
    started = time.perf_counter()
    results = []
    try:
        site = Site(folder)
        facts = report.facts(folder, peers, rounds)
        print(report.text_header(facts, peers), flush=True)
        for row in chosen:
            results.append(measure(row, peers, site, rounds, seconds))
            print(report.text_row(results[-1], peers), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    facts["took"] = f"{time.perf_counter() - started:.0f} s"
    if options.merge:
        facts["earlier"] = "rows that were not run again are of an earlier run"
        results = report.merged(Path(options.out), results, list(rows()))
    report.write(Path(options.out), facts, results, peers)
    print(f"\nwritten to {options.out}: results.md, results.json, results.png; {facts['took']}")
    wrong = [f"{result.row.title}: {why}" for result in results for why in result.wrong.values()]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


def measure(row: Row, peers: Sequence[Peer], site: Site, rounds: int, seconds: float) -> Result:
    """Time one row with every peer, in turn."""
    result = Result(row)
    timed = {peer.name: made for peer in peers if (made := _prepared(row, peer, site, result)) is not None}
    started = time.perf_counter()
    for number in range(rounds):
        for peer in peers:
            if peer.name in timed:
                _once(peer, timed[peer.name], result)
        took = time.perf_counter() - started
        if took > (seconds if number + 1 >= FEWEST_ROUNDS else 4 * seconds):
            break
    for peer in peers:
        shutil.rmtree(site.own(peer, row), ignore_errors=True)
    return result


def _prepared(row: Row, peer: Peer, site: Site, result: Result) -> Timed | None:
    """Prepare one peer, run it once to warm it up and to check it; note what it cannot or does wrong."""
    peer.activate()
    try:
        timed = prepare(row, peer, site)
        timed.before()
        timed.check(timed.task())
    except CannotError as reason:
        result.cannot[peer.name] = str(reason)
        return None
    except Exception as error:
        result.wrong[peer.name] = f"{peer.name}: {type(error).__name__}: {error}".splitlines()[0]
        return None
    return timed


def _once(peer: Peer, timed: Timed, result: Result) -> None:
    peer.activate()
    timed.before()
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    kept = timed.task()
    result.times.setdefault(peer.name, []).append(time.perf_counter() - start)
    gc.enable()
    del kept


def _load(names: Sequence[str]) -> list[Peer]:
    peers = []
    for name in names:
        peer = load(name)
        if isinstance(peer, str):
            print(f"{name} is left out: {peer}", file=sys.stderr)
        else:
            peers.append(peer)
    return peers


def _in_memory() -> Path | None:
    """Return a directory in memory, if there is one with room: what a disk does in the background is not compared."""
    has_room = os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM
    return IN_MEMORY if has_room else None


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", nargs="*", help="only rows with one of these texts in their title")
    parser.add_argument("--merge", action="store_true", help="keep the results of the other rows that are in --out")
    parser.add_argument("--rounds", type=int, default=7, help="at most this many rounds (default 7)")
    parser.add_argument("--quick", action="store_true", help="one round of each row: do they run, and rightly?")
    parser.add_argument("--peers", default=",".join(MODULES), help=f"separated by commas; also {', '.join(OPTIONAL)}")
    parser.add_argument("--out", default=str(HERE / "results"), help="where the results go (default bench/results)")
    where = "where the arrays go while it runs (default: in memory if there is room, else the temporary directory)"
    parser.add_argument("--dir", help=where)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
