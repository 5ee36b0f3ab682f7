"""All experiments: every module of this folder that has one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from soak.experiment import Experiment

__all__ = ["EXPERIMENTS"]


def _found() -> dict[str, Experiment]:
    found = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        # By its text, so that what is no experiment (the runner, tests) is not imported for it.
        if "\nEXPERIMENT = " in file.read_text():
            module = import_module(f"soak.{file.stem}")
            several = getattr(module, "EXPERIMENTS", None) or (module.EXPERIMENT,)
            found.update({experiment.name: experiment for experiment in several})
    return found


EXPERIMENTS = _found()
