"""The peers: how each is reached, and by rules what it cannot do.

A rule names tags (see :attr:`interop.case.Case.tags`). A case that has all of them, and none of `unless`, is one that
the peer does not support in that direction; it is reported as skipped, with the reason. The tests try it all the same:
a rule that no longer holds fails, so this table stays true. Only what is `fatal` is left alone.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from interop.message import Message
from interop.peer import InProcess, Link, PeerError, Subprocess
from interop.rules import BLIZZARR as BLIZZARR_RULES
from interop.rules import Direction, Rule, draft, v1, v2, v3

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ENVIRONMENTS = ROOT / ".envs"


@dataclass(frozen=True)
class Peer:
    """One implementation; `make interop` tries each in both directions, `make test` in those that are `quick`."""

    name: str
    link: Link
    rules: tuple[Rule, ...] = ()
    formats: dict[Direction, tuple[str, ...]] = field(default_factory=lambda: both("v2", "v3"))
    """The formats that it writes, and those that it reads."""
    own_attributes: frozenset[str] = frozenset()
    """Attributes that it adds to a node by itself."""
    quick: tuple[Direction, ...] = ()
    """`tests/fixtures` stands in for what some peers write, and peers with one engine for each other."""

    def call(self, verb: str, message: Message) -> Message:
        """Send one message; an error says who raised it."""
        try:
            return self.link.call(verb, message)
        except PeerError as error:
            error.add_note(f"raised by {self.name}")
            raise

    def rule(self, direction: Direction, tags: frozenset[str]) -> Rule | None:
        """Return the rule by which a case is not supported, or None."""
        return next((rule for rule in self.rules if rule.matches(direction, tags)), None)


def both(*formats: str) -> dict[Direction, tuple[str, ...]]:
    return {"writes": formats, "reads": formats}


def python_of(environment: str, adapter: str) -> Subprocess:
    """Return the worker of an adapter in a virtual environment."""
    python = ENVIRONMENTS / environment / "bin/python"
    return _worker(str(python), adapter, environment, {})


def debian_of(environment: str, adapter: str) -> Subprocess:
    """Return the worker of an adapter under Debian's Python, with packages that lie beside the system."""
    folder = ENVIRONMENTS / environment / "usr"
    # Alternatives of a library lie one folder deeper; nothing has chosen among them here.
    libraries = [
        folder / "lib",
        *(found for part in ("", "/blas", "/lapack") for found in folder.glob(f"lib/*-gnu{part}")),
    ]
    variables = {
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "GDAL_DATA": str(folder / "share/gdal"),
        "PROJ_LIB": str(folder / "share/proj"),
    }
    return _worker("/usr/bin/python3", adapter, environment, variables, folder / "lib/python3/dist-packages")


def _worker(python: str, adapter: str, environment: str, variables: dict[str, str], *packages: Path) -> Subprocess:
    return Subprocess(
        [python, "-m", "interop.worker", adapter],
        missing=f"it is not installed: python tests/interop/environments.py {environment}",
        needs=ENVIRONMENTS / environment / "made-from",
        environment={**variables, "PYTHONPATH": os.pathsep.join(map(str, (HERE.parent, *packages)))},
    )


BLIZZARR = Peer(
    "blizzarr",
    InProcess("interop.adapters.blizzarr", silent=False),
    BLIZZARR_RULES,
    formats=both("v1", "v2", "v3", "draft"),
)
PEERS: tuple[Peer, ...] = (
    Peer(
        "zarr-python",
        InProcess("interop.adapters.zarr_python"),
        (*v3.ZARR_PYTHON_HERE, *v2.ZARR_PYTHON_HERE),
        quick=("reads",),
    ),
    Peer("zarrs-python", InProcess("interop.adapters.zarrs_python"), (*v3.ZARRS_PYTHON, *v2.ZARRS_PYTHON)),
    Peer(
        "tensorstore",
        InProcess("interop.adapters.tensorstore"),
        (*v3.TENSORSTORE, *v2.TENSORSTORE),
        quick=("reads",),
    ),
    Peer(
        "zarrista",
        InProcess("interop.adapters.zarrista"),
        (*v3.ZARRISTA, *v2.ZARRISTA),
        own_attributes=frozenset({"_zarrs"}),
        quick=("writes", "reads"),
    ),
    Peer(
        "zarr-python newest",
        python_of("zarr-python", "zarr_python"),
        (*v3.ZARR_PYTHON, v3.SNAPPY, *v2.ZARR_PYTHON),
    ),
    Peer(
        "zarr-python 2",
        python_of("zarr-python-2", "zarr_python_2"),
        (*v2.ZARR_PYTHON_2, *draft.ZARR_PYTHON_2),
        formats=both("v2", "draft"),
    ),
    Peer(
        "zarr-python 1",
        python_of("zarr-python-1", "zarr_python_1"),
        v1.ZARR_PYTHON_1,
        formats=both("v1"),
    ),
    Peer(
        "zarrita",
        Subprocess(
            [shutil.which("node") or "node", str(HERE / "zarrita/peer.mjs"), str(ENVIRONMENTS / "zarrita")],
            missing="it is not installed: python tests/interop/environments.py zarrita",
            needs=ENVIRONMENTS / "zarrita/made-from",
        ),
        (*v3.ZARRITA, *v2.ZARRITA),
        formats={"writes": ("v3",), "reads": ("v2", "v3")},
    ),
    Peer(
        "zarr-java",
        Subprocess(
            [
                shutil.which("java") or "java",
                "-cp",
                f"{ENVIRONMENTS}/zarr-java/jars/*:{ENVIRONMENTS}/zarr-java/beside/*",
                str(HERE / "zarr-java/Peer.java"),
            ],
            missing="it is not installed: python tests/interop/environments.py zarr-java",
            needs=ENVIRONMENTS / "zarr-java/made-from",
        ),
        (*v3.ZARR_JAVA, *v2.ZARR_JAVA),
    ),
    Peer(
        "netcdf",
        python_of("netcdf", "netcdf"),
        v2.NETCDF,
        formats=both("v2"),
        own_attributes=frozenset({"_FillValue", "_NCProperties", "_ARRAY_DIMENSIONS"}),
    ),
    Peer("gdal", debian_of("gdal", "gdal"), (*v2.GDAL, *draft.GDAL), formats=both("v2", "draft")),
)


def subject() -> Peer:
    """Return who is under test: blizzarr, or whichever peer `BLIZZARR_INTEROP_SUBJECT` puts in its place.

    When two disagree, a third in our place shows which of the two is wrong.
    """
    name = os.environ.get("BLIZZARR_INTEROP_SUBJECT", BLIZZARR.name)
    return next(peer for peer in (BLIZZARR, *PEERS) if peer.name == name)
