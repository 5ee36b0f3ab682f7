"""Make the environments of the peers, then try everything: `python -m tests.interop`, or `make interop`.

More arguments go to pytest, as in `python -m tests.interop -k zarrita`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    subprocess.run([sys.executable, str(HERE / "environments.py")], check=True)
    tests = [HERE, HERE.parent / "fixtures/test_writing.py", HERE.parent / "unit/tensorstore/test_orbax.py"]
    pytest = [sys.executable, "-m", "pytest", *map(str, tests), "-rs", "--numprocesses", "auto", *sys.argv[1:]]
    everything = {**os.environ, "BLIZZARR_INTEROP": "all"}
    return subprocess.run(pytest, env=everything, cwd=HERE.parents[1], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
