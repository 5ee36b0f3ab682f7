"""Fuzzing of all that reads documents, by atheris: `make fuzz` runs it, too. In this folder's parent::

    python -m fuzz --seconds 60      go on with what was found before
    python -m fuzz --repeat FILE     one input again

Where atheris is not installed, inputs are made without following the code, which finds less. Counts are kept beside
those of the engine's targets by `rust/fuzz/fuzz.py`, which calls this, too.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("FUZZ_TARGET_DIR", ROOT / "target" / "fuzz"))
PACKED = HERE / "corpus.zip"
LONGEST = 256
PACKED_BYTES = 24_000


def main() -> int:
    """Run what the command line says; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--repeat", type=Path, help="an input that was found")
    parser.add_argument(
        "--pack", action="store_true", help="put the smallest corpus that reaches as much into corpus.zip"
    )
    parser.add_argument("--follow", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.repeat:
        from fuzz.reading import one

        print(one(given.repeat.read_bytes()))
        return 0
    if given.follow is not None:
        _follow(given.follow)
    corpus = TARGET / "corpora" / "documents"
    corpus.mkdir(parents=True, exist_ok=True)
    if PACKED.exists():
        with zipfile.ZipFile(PACKED) as packed:
            for entry in packed.namelist():
                (corpus / entry).write_bytes(packed.read(entry))
    try:
        import atheris  # noqa: F401
    except ImportError:
        return _wander(given.seconds)
    if given.pack:
        return _pack(corpus)
    artifacts = TARGET / "artifacts"
    artifacts.mkdir(exist_ok=True)
    options = [f"-max_total_time={given.seconds:.0f}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=2048"]
    options += ["-malloc_limit_mb=256", f"-artifact_prefix={artifacts}/documents-", "-print_final_stats=1"]
    begun = time.monotonic()
    run = _child(*options, str(corpus))
    count = re.search(r"stat::number_of_executed_units:\s+(\d+)", run.stderr)
    done = int(count[1]) if count else 0
    found = int(run.returncode != 0)
    print(f"documents {done:>11,} executions in {time.monotonic() - begun:,.0f} s, {found} findings")
    if found:
        print(run.stderr[-6000:], file=sys.stderr)
    return found


def _child(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzz", "--follow", *options]
    return subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, errors="replace")


def _follow(options: list[str]) -> None:
    """What the child does: never returns."""
    import atheris

    with atheris.instrument_imports(include=["blizzarr"]):
        from fuzz.bases import bases, zipped
        from fuzz.reading import one
    # Before anything is counted and timed.
    for name in bases():
        zipped(name)
    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


def _wander(seconds: float) -> int:
    """The same inputs, but nobody looks where they lead."""
    from fuzz.reading import one

    begun, done, seed = time.monotonic(), 0, time.time_ns()
    generator = random.Random(seed)
    while time.monotonic() - begun < seconds:
        data = generator.randbytes(generator.randrange(4, LONGEST))
        try:
            one(data)
        except BaseException:
            path = Path(tempfile.mkstemp(prefix="documents-")[1])
            path.write_bytes(data)
            print(f"found: python -m fuzz --repeat {path}", file=sys.stderr)
            raise
        done += 1
    print(f"documents {done:>11,} executions in {seconds:,.0f} s, 0 findings (without atheris)")
    return 0


def _pack(corpus: Path) -> int:
    """Inputs of all lengths; each of them led somewhere that no one before it did."""
    found = sorted(corpus.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    step = 1 + sum(path.stat().st_size + 100 for path in found) // PACKED_BYTES
    with zipfile.ZipFile(PACKED, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in found[::step]:
            packed.writestr(zipfile.ZipInfo(path.name[:12]), path.read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
