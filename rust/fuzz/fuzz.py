"""Builds the fuzz targets and runs them: `make fuzz FUZZ_SECONDS=60`.

A stable toolchain and a C compiler are enough. What cargo-fuzz asks of a nightly one are flags of rustc for which
`RUSTC_BOOTSTRAP` is all it takes; the C libraries are compiled with the same sanitizer by GCC, whose checks call the
runtime that comes with rustc, and count their edges in `src/coverage.c`.

What was found so far (`target/fuzz/corpora`) is kept from run to run, and so is the count of executions, in
`target/fuzz/ledger.json`: runs add up, whenever they end. `--record` puts the sums into `figures.json`, which is
committed, and `--pack` the smallest set of inputs that reaches as much into `corpora.tar.xz`.

`--bare` is for long runs: ten times as many executions and more, without AddressSanitizer, and without following
comparisons or anything within C. What is handed to a decoder, and what it decodes to, then ends where a page begins
that nobody may touch (`src/room.rs`); debug assertions and checks of overflow stay. It begins with what the
thorough runs have found, and those go on with what it finds: both have their turn. `executions` counts both, `bare`
those without a sanitizer.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from counts import Counts

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("FUZZ_TARGET_DIR", HERE.parent.parent / "target" / "fuzz"))
BARE = TARGET / "bare"
NAMES = (
    "gzip",
    "zstd",
    "blosc",
    "lz4",
    "n5",
    "numbers",
    "vlen",
    "segmentation",
    "shard",
    "uint64_shard",
    "keys",
    "plan",
    "strided",
    "chunk",
)
#: What is fuzzed in Python (`tests/fuzz`), and counted here with the others.
DOCUMENTS = "documents"
PACKED = HERE / "corpora.tar.xz"
COUNTS = Counts(TARGET / "ledger.json", HERE / "figures.json", HERE.parent.parent / "docs" / "reliability.md")

EDGES = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
)
RUSTFLAGS = (
    "-Zsanitizer=address",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    *EDGES,
)
RUSTFLAGS_BARE = ("--cfg bare", "-Cllvm-args=-sanitizer-coverage-level=3", *EDGES)
# GCC takes constant tables out of functions and still poisons them at the end of their scope.
CFLAGS = (
    "-fsanitize=address -fno-sanitize-address-use-after-scope "
    "-fsanitize-coverage=trace-pc,trace-cmp -fno-omit-frame-pointer -g1"
)
# A call per edge takes as long as all else.
CFLAGS_BARE = "-g1"
# Of what is left, a third is calls from one crate into another.
PROFILE_BARE = {"CARGO_PROFILE_RELEASE_LTO": "fat", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1"}
CFLAGS_CLANG = "-fsanitize=address -fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp -g1"
# GCC and rustc disagree about which constants belong to whom, which is all that check is about. Where memory was
# allocated need not be known from afar: remembering it takes half the time.
ASAN = "detect_odr_violation=0:allocator_may_return_null=1:malloc_context_size=2:quarantine_size_mb=16"

ENVIRONMENT = os.environ | {"ASAN_OPTIONS": ASAN}
# Memory that goes back to the system comes anew page by page, zeroed: half the time of a chunk.
ENVIRONMENT_BARE = os.environ | {
    "MALLOC_MMAP_THRESHOLD_": f"{32 << 20}",
    "MALLOC_TRIM_THRESHOLD_": f"{2 << 30}",
    "MALLOC_TOP_PAD_": f"{64 << 20}",
}

#: No input needs more than this many bytes of choices, seconds, or megabytes in one allocation.
#: An array's document may ask for chunks of nearly 100 megabytes, and a decoder may be given a quarter more.
LONGEST, SECONDS, MEGABYTES = 1024, 1, 256
#: How a target ends that was sent a SIGINT; its count is kept.
INTERRUPTED = 72
#: In bare runs most inputs are shorter; and they run beside other things, so that what they wait for says nothing.
SHORT, PATIENCE = 256, 30

#: Bytes of an input that may be committed, and of those of one target.
SMALL, COMMITTED = 300, 5000


def output_of(*command: str) -> str:
    """What a program says."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


TRIPLE = re.search(r"host: (\S+)", output_of("rustc", "-vV"))[1]


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [DOCUMENTS, *NAMES]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which targets: {', '.join(every)} (all)")
    parser.add_argument("--seconds", type=float, default=60, help="for each of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="how many at a time (as there are cores)")
    parser.add_argument("--slice", type=float, default=600, help="seconds after which a long run saves its count")
    parser.add_argument("--bare", action="store_true", help="many more executions, without a sanitizer")
    parser.add_argument(
        "--until", type=int, default=0, help="stop a target that has so many executions since the last finding"
    )
    parser.add_argument("--no-build", action="store_true", help="run the targets that were built before")
    parser.add_argument("--record", action="store_true", help="put the sums of all runs into figures.json and the page")
    parser.add_argument(
        "--pack", action="store_true", help="put the smallest corpora that reach as much into corpora.tar.xz"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(every):
        parser.error(f"expected targets among {', '.join(every)}, found {', '.join(sorted(unknown))}")
    names = options.names or every
    if not options.no_build:
        build(options.bare)
    unpack()
    found = 0
    if options.seconds > 0:
        with ThreadPoolExecutor(options.jobs) as pool:
            found = sum(pool.map(lambda name: fuzz(name, options), names))
    if options.pack:
        pack([name for name in names if name != DOCUMENTS])
    if options.record:
        COUNTS.record(
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            rustc=output_of("rustc", "-V").strip(),
            cc=output_of("cc", "--version").splitlines()[0],
            system=f"{platform.system()} {platform.machine()}",
        )
    if found:
        print(f"{found} findings: `target/fuzz/.../NAME target/fuzz/artifacts/NAME-...` repeats one", file=sys.stderr)
    return min(found, 1)


def build(bare: bool) -> None:
    """Compile all targets, with counters, and a sanitizer unless ``bare``."""
    thorough = CFLAGS_CLANG if "clang" in output_of("cc", "--version") else CFLAGS
    cflags = CFLAGS_BARE if bare else thorough
    environment = os.environ | {
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(RUSTFLAGS_BARE if bare else RUSTFLAGS),
        "CARGO_TARGET_DIR": str(BARE if bare else TARGET),
        f"CFLAGS_{TRIPLE.replace('-', '_')}": cflags,
    }
    environment |= PROFILE_BARE if bare else {}
    command = ["cargo", "build", "--quiet", "--locked", "--release", "--bins", "--target", TRIPLE]
    begun = time.monotonic()
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    print(f"built in {time.monotonic() - begun:.0f} s")


def packed() -> dict[str, bytes]:
    """What is committed: inputs by ``TARGET/name``."""
    if not PACKED.exists():
        return {}
    with tarfile.open(PACKED) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def unpack() -> None:
    """Make sure that each target has what is committed of its corpus."""
    for entry, content in packed().items():
        name, _, stem = entry.partition("/")
        path = TARGET / "corpora" / name / stem
        if name in NAMES and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def command(name: str, *options: str, bare: bool = False) -> list[str]:
    """How a target is called."""
    limits = [f"-timeout={SECONDS}", f"-malloc_limit_mb={MEGABYTES}", f"-max_len={LONGEST}"]
    if bare:
        # Weighing inputs by how rare they are, and making them smaller, costs more than most inputs.
        limits = [f"-timeout={PATIENCE}", "-entropic=0", "-reduce_inputs=0"]
    return [str((BARE if bare else TARGET) / TRIPLE / "release" / name), "-rss_limit_mb=2048", *limits, *options]


def fuzz(name: str, options: argparse.Namespace) -> int:
    """Run one target for so long, in pieces whose counts are kept; how many findings there were."""
    if name == DOCUMENTS:
        return fuzz_documents(options.seconds)
    bare = options.bare
    corpus, artifacts = TARGET / "corpora" / name, TARGET / "artifacts"
    corpus.mkdir(parents=True, exist_ok=True)
    artifacts.mkdir(parents=True, exist_ok=True)
    log = TARGET / f"{name}.log"
    end = time.monotonic() + options.seconds
    findings = 0
    executions, spent = 0, 0.0
    while True:
        left = end - time.monotonic()
        wanted = options.until - COUNTS.since(name) if options.until else 1
        if left <= 0.5 or findings or wanted <= 0:
            break
        before = set(artifacts.iterdir())
        begun = time.monotonic()
        flags = [f"-max_total_time={max(1, round(min(left, options.slice)))}", "-print_final_stats=1"]
        flags += [f"-runs={wanted}"] * bool(options.until)
        # One turn of eight has long inputs.
        flags += [f"-max_len={LONGEST if random.random() < 1 / 8 else SHORT}"] * bare
        with log.open("wb") as out:
            child = subprocess.Popen(
                command(name, *flags, f"-artifact_prefix={artifacts}/{name}-", str(corpus), bare=bare),
                env=ENVIRONMENT_BARE if bare else ENVIRONMENT,
                stdout=out,
                stderr=out,
            )
            _, status, usage = os.wait4(child.pid, 0)
        ended = os.waitstatus_to_exitcode(status)
        failed = ended not in (0, INTERRUPTED)
        text = log.read_text(errors="replace")
        count = re.search(r"stat::number_of_executed_units:\s+(\d+)", text)
        done = int(count[1]) if count else 0
        new = sorted(set(artifacts.glob(f"{name}-*")) - before)
        real = [path for path in new if not only_waited(name, path, bare)]
        findings += len(real) + (failed and not new)
        executions, spent = executions + done, spent + time.monotonic() - begun
        COUNTS.keep(name, done, usage.ru_utime + usage.ru_stime, len(real), bare)
        if ended == INTERRUPTED:
            break
        if real or (failed and not new):
            print(
                f"{name}: FOUND {', '.join(map(str, real)) or 'an exit without an artifact'}\n{text[-6000:]}",
                file=sys.stderr,
            )
    print(f"{name:8} {executions:>12,} executions in {spent:,.0f} s, {findings} findings", flush=True)
    return findings


def fuzz_documents(seconds: float) -> int:
    """The same for what reads documents."""
    command = [sys.executable, "-m", "fuzz", "--seconds", f"{seconds:.0f}"]
    environment = os.environ | {"FUZZ_TARGET_DIR": str(TARGET)}
    with (TARGET / f"{DOCUMENTS}.log").open("w+") as out:
        child = subprocess.Popen(command, cwd=HERE.parents[1] / "tests", env=environment, stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        said = out.read()
    count = re.search(rf"^{DOCUMENTS} +([\d,]+) executions", said, re.MULTILINE)
    findings = int(os.waitstatus_to_exitcode(status) != 0)
    done = int(count[1].replace(",", "")) if count else 0
    COUNTS.keep(DOCUMENTS, done, usage.ru_utime + usage.ru_stime, findings)
    print(said, end="", flush=True)
    return findings


def only_waited(name: str, path: Path, bare: bool) -> bool:
    """Whether an input that took too long did so because others had the processor; then it is no finding."""
    if not path.name.startswith((f"{name}-timeout-", f"{name}-slow-unit-")):
        return False
    child = subprocess.Popen(
        command(name, "-timeout=60", str(path), bare=bare),
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    fine = os.waitstatus_to_exitcode(status) == 0 and usage.ru_utime + usage.ru_stime < SECONDS + 0.5
    if fine:
        path.unlink()
    return fine


def pack(names: list[str]) -> None:
    """Write `corpora.tar.xz` anew: of each target some of the inputs that together reach all that was reached."""
    kept = {entry: content for entry, content in packed().items() if entry.partition("/")[0] not in names}
    for name in names:
        merged = TARGET / "merged" / name
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir(parents=True)
        run = command(name, "-merge=1", str(merged), str(TARGET / "corpora" / name))
        subprocess.run(run, env=ENVIRONMENT, capture_output=True, check=True)
        found = [path.read_bytes() for path in merged.iterdir() if path.stat().st_size <= SMALL]
        found.sort(key=lambda content: (len(content), content))
        # Of all lengths.
        step = 1 + sum(map(len, found)) // COMMITTED
        kept |= {f"{name}/{number:03}": content for number, content in enumerate(found[::step])}
    with tarfile.open(PACKED, "w:xz", preset=9) as archive:
        for entry in sorted(kept):
            header = tarfile.TarInfo(entry)
            header.size = len(kept[entry])
            archive.addfile(header, io.BytesIO(kept[entry]))


if __name__ == "__main__":
    sys.exit(main())
