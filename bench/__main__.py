"""Make what the benchmark needs, then run it: `python -m bench`, or `make bench`. Arguments go to :mod:`bench.run`.

zarr-python's fused pipeline needs Python 3.12, so the benchmark has an environment of its own, `.envs/bench`. Our
extension is built for the stable ABI: the one beside the sources serves there too, and is the one that is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".envs" / "bench" / "bin" / "python"


def main() -> int:
    subprocess.run([sys.executable, str(ROOT / "tests/interop/environments.py"), "bench"], check=True)
    if not PYTHON.exists():
        return 1
    limit = ROOT / "bench" / "limit" / "Cargo.toml"
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", str(limit)], check=True)
    run = [str(PYTHON), "-m", "bench.run", *sys.argv[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(run, env=environment, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
