"""Python programs in a process of their own: to be starved, killed, interrupted, forked, or denied permission."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

__all__ = ["Child", "answer"]

TESTS = Path(__file__).parent.parent
PATIENCE = 300
"""Seconds after which a child counts as hung, also on a machine that is busy with much else."""

_PREAMBLE = """
import ctypes, json, os, resource, signal, sys, threading, time
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/faults"]
import numpy as np
import blizzarr
from blizzarr.errors import *
ARGUMENTS = json.loads(sys.argv[2])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it starts in the background ignore it

def tell(**facts):
    print(json.dumps(facts), flush=True)

def peak():
    '''The most memory this process had, in MiB.'''
    if os.path.exists("/proc/self/status"):
        # What getrusage says survives exec: it would be the peak of the tests that started this process.
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

def obey_permissions():
    '''Give up the privileges that let root read and write everything.'''
    if os.geteuid() == 0:
        header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        if ctypes.CDLL(None, use_errno=True).capset(header, nothing):
            tell(skip="root cannot give up its privileges here")
            sys.exit()
"""


class Child:
    """A program that is running; what it `tell`s can be read line by line."""

    def __init__(self, program: str, **arguments: Any) -> None:
        source = _PREAMBLE + dedent(program)
        command = [sys.executable, "-W", "error", "-c", source, str(TESTS), json.dumps(arguments)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def start(self) -> None:
        """Let it go on when it waits for a line."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next thing that it tells."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the child died: {self.process.communicate()[1]}")
        return json.loads(line)

    def finish(self) -> dict[str, Any]:
        """The last thing that it told, when it ends well."""
        told, complaint = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, f"it ended with {self.process.returncode}: {complaint}"
        facts = json.loads(told.splitlines()[-1])
        if "skip" in facts:
            pytest.skip(facts["skip"])
        return facts


def answer(program: str, **arguments: Any) -> dict[str, Any]:
    """What a program tells in the end; it must end well, and in time."""
    with Child(program, **arguments) as child:
        return child.finish()
