"""Fault row 94: the interpreter ends while daemon threads, pools and handlers read and write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from support.child import Child, answer

ROWS, THREADS = 24, 3
LAYOUTS = {
    "plain": {"chunks": (1, 2048)},
    "shard": {"chunks": (1, 256), "shards": (1, 2048)},
    "codec": {"chunks": (1, 2048), "zarr_format": 2, "compressors": {"id": "lzma", "preset": 0}},
    "memory": {"chunks": (1, 2048)},
    "python": {"chunks": (1, 2048), "zarr_format": 2, "compressors": {"id": "lzma", "preset": 0}},
}
ENDINGS = {"normal": 0, "sys.exit(3)": 3, "raise RuntimeError('over')": 1, "os._exit(4)": 4}

SETTING = """
import atexit, types
from blizzarr.stores import LocalStore, MemoryStore

class Foreign:
    '''A store that is written in Python.'''

    def __init__(self, root):
        self.under = LocalStore(root)

    def get(self, key):
        return self.under.get(key)

    def get_ranges(self, key, ranges):
        return self.under.get_ranges(key, ranges)

    def set(self, key, value):
        self.under.set(key, bytes(value))

    def delete(self, key):
        self.under.delete(key)

    def list(self, prefix=""):
        return self.under.list(prefix)

    def list_dir(self, prefix=""):
        return self.under.list_dir(prefix)

blizzarr.config.threads = 4
root = ARGUMENTS["root"]
store = {"memory": MemoryStore, "python": lambda: Foreign(root)}.get(ARGUMENTS["layout"], lambda: root)()
array = blizzarr.create_array(store, shape=(ARGUMENTS["rows"], 2048), dtype="int32", **ARGUMENTS["options"])

def say(**facts):
    # Not through a buffer: its lock, held by a thread that has stopped, is fatal to Python.
    os.write(1, json.dumps(facts).encode() + bytes([10]))

def write(first):
    for value in range(1, 1_000_000):
        array[first :: ARGUMENTS["threads"]] = value
        array[first, 7:-7] = value
        say(first=first, value=value)

def read():
    while True:
        array[...]

def start(daemon=True):
    for first in range(ARGUMENTS["threads"]):
        threading.Thread(target=write, args=(first,), daemon=daemon).start()
    threading.Thread(target=read, daemon=daemon).start()
    time.sleep(0.1)
"""


def begin(root: Path, layout: str, program: str) -> Child:
    return Child(SETTING + program, root=str(root), layout=layout, options=LAYOUTS[layout], rows=ROWS, threads=THREADS)


def end(child: Child) -> tuple[int, list[dict[str, object]], str]:
    """How it ended, what it said, and its complaints."""
    told, complaint = child.process.communicate(timeout=60)
    return child.process.returncode, [json.loads(line) for line in told.splitlines()], complaint


@pytest.mark.parametrize(
    "layout",
    [
        *("plain", "codec", "python"),
        *(pytest.param(layout, marks=pytest.mark.thorough) for layout in ("shard", "memory")),
    ],
)
def test_row_094_daemon_threads_when_the_program_ends(tmp_path: Path, layout: str) -> None:
    """However it ends: its own exit status, no crash, no hang; rows are old or new, and what had returned is there."""
    children = {
        ending: begin(tmp_path / f"{number}.zarr", layout, f"start()\n{ending if ending != 'normal' else ''}")
        for number, ending in enumerate(ENDINGS)
    }
    for number, (ending, child) in enumerate(children.items()):
        with child:
            status, said, complaint = end(child)
        assert status == ENDINGS[ending], (ending, complaint)
        assert "fatal" not in complaint.lower(), ending
        assert complaint.endswith("RuntimeError: over\n") if "raise" in ending else not complaint, ending
        if layout == "memory":
            continue
        values = blizzarr.open_array(tmp_path / f"{number}.zarr")[...]
        assert (values[:, 1000:1001] == values[:, 7:-7]).all(), (ending, "a row is a mixture")
        for first in range(THREADS):
            returned = max((fact["value"] for fact in said if fact["first"] == first), default=0)
            assert np.isin(values[first::THREADS], [returned, returned + 1]).all(), (ending, first)


@pytest.mark.parametrize("layout", ["plain", "codec", "python"])
def test_row_094_handlers_at_exit_use_arrays(tmp_path: Path, layout: str) -> None:
    """Registered before us or after us, while daemon threads are at work on another array."""
    program = """
other = blizzarr.create_array(root + "-other", shape=(64, 64), dtype="int32", chunks=(1, 64), **ARGUMENTS["more"])

def handler():
    other[...] = other[...] + 1
    other[5, 5:9] = 7
    say(sum=int(other[...].sum()))

# The last is called first. As if one had been registered before we were imported.
atexit.unregister(blizzarr._native.interpreter_ends)
atexit.register(handler)
atexit.register(blizzarr._native.interpreter_ends)
atexit.register(handler)
start()
"""
    more = {key: value for key, value in LAYOUTS[layout].items() if key != "chunks"}
    program = program.replace('ARGUMENTS["more"]', repr(more))
    with begin(tmp_path / "x.zarr", layout, program) as child:
        status, said, complaint = end(child)
    assert (status, complaint) == (0, "")
    assert [fact["sum"] for fact in said if "sum" in fact] == [64 * 64 + 4 * 6, 2 * 64 * 64 + 4 * 5]
    assert blizzarr.open_array(str(tmp_path / "x.zarr-other"))[5, 4:6].tolist() == [2, 7]


def test_row_094_handlers_at_exit_use_everything_for_the_first_time(tmp_path: Path) -> None:
    """Python refuses some imports once it ends, and ours are on demand."""
    program = """
import atexit, sys
import blizzarr

def handler():
    root = sys.argv[1]
    group = blizzarr.create_group(root + "/a.zarr", zarr_format=2)
    group.create_array("x", data=[1, 2, 3], chunks=2)
    blizzarr.save(root + "/saved.zarr", [4, 5])
    blizzarr.copy(group, root + "/b.zip", zarr_format=3, chunks=3).store.close()
    assert blizzarr.check(group).ok and blizzarr.diff(group, root + "/b.zip").same
    blizzarr.upgrade(root + "/a.zarr")

atexit.register(handler)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")
    for name in ("a.zarr/x", "b.zip/x"):
        assert blizzarr.open_array(tmp_path / name, zarr_format=3)[...].tolist() == [1, 2, 3]
    assert blizzarr.open_array(tmp_path / "saved.zarr")[...].tolist() == [4, 5]


@pytest.mark.skipif(sys.platform == "win32", reason="holds the process by a handler of the C library")
def test_row_094_a_thread_that_comes_back_when_python_is_gone(tmp_path: Path) -> None:
    """A chunk takes the engine longer than Python takes to end; then a codec in Python is called."""
    program = """
slow = blizzarr.create_array(
    root, shape=(1 << 20,), chunks=(1 << 20,), dtype="u1",
    compressors=[{"name": "zstd", "configuration": {"level": 19, "checksum": False}},
                 {"name": "numcodecs.lzma", "configuration": {"preset": 0}}])
values = np.random.default_rng(0).integers(0, 20, 1 << 20).astype("u1")
slow[:1] = 1  # whatever this imports is there

def write():
    os.write(1, b'{"begun": true}')
    slow[...] = values

threading.Thread(target=write, daemon=True).start()
time.sleep(0.05)
c = ctypes.CDLL(None)
# Called when all of Python is over.
c.__cxa_atexit(c.sleep, ctypes.c_void_p(4), None)
"""
    program = SETTING.partition("blizzarr.config.threads")[0] + 'root = ARGUMENTS["root"]\n' + program
    with Child(program, root=str(tmp_path / "x.zarr")) as child:
        status, said, complaint = end(child)
    assert (status, said, complaint) == (0, [{"begun": True}], "")


@pytest.mark.parametrize("layout", ["plain", "python"])
def test_row_094_what_is_deleted_at_the_end_uses_arrays(tmp_path: Path, layout: str) -> None:
    """It works, or an error says why not; nobody waits for ever for a thread that has stopped with a lock."""
    program = """
class Late:
    def __init__(self):
        self.say = say

    def __del__(self):
        try:
            self.say(read=int(array[0, 0]))
            array[0, 9:-9] = -1
            self.say(wrote=True)
        except BaseException as error:
            self.say(error=type(error).__name__)

sys.modules["late"] = types.ModuleType("late")
sys.modules["late"].late = Late()
start()
"""
    program = program.replace("self.say(", "self.say(first=-1, ")
    with begin(tmp_path, layout, program) as child:
        status, said, complaint = end(child)
    assert status == 0, complaint
    late = [fact for fact in said if fact["first"] == -1]
    assert late, "it was not deleted"
    assert set(late[-1]) & {"wrote", "error"}
    if layout == "plain":
        # It needs nothing of Python's, so no thread stops inside of it.
        assert late[-1].get("wrote"), late


@pytest.mark.parametrize("layout", ["plain", "shard", "codec", "python"])
def test_row_094_threads_and_pools_that_are_waited_for(tmp_path: Path, layout: str) -> None:
    """Python waits for threads that are no daemons, and for pools: all that they were to write is there."""
    program = """
from concurrent.futures import ThreadPoolExecutor

def row(number):
    time.sleep(0.01)
    array[number] = number + 1
    array[number, 5:9] = -1

pool = ThreadPoolExecutor(3)
for number in range(0, ARGUMENTS["rows"], 2):
    pool.submit(row, number)
for number in range(1, ARGUMENTS["rows"], 2):
    threading.Thread(target=row, args=(number,)).start()
"""
    with begin(tmp_path, layout, program) as child:
        status, _, complaint = end(child)
    assert (status, complaint) == (0, "")
    expected = np.repeat(np.arange(1, ROWS + 1, dtype="int32")[:, None], 2048, axis=1)
    expected[:, 5:9] = -1
    assert np.array_equal(blizzarr.open_array(tmp_path)[...], expected)


def test_row_094_sub_interpreters_are_refused() -> None:
    """By an ImportError; the main interpreter goes on."""
    facts = answer(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        inside, outside = os.pipe()
        program = f'''
        import os, sys
        sys.path[:] = {sys.path!r}
        try:
            import blizzarr
        except ImportError as error:
            os.write({outside}, b"refused")
        else:
            os.write({outside}, b"imported")
        '''
        import textwrap
        made = interpreters.create()
        getattr(interpreters, "run_string")(made, textwrap.dedent(program))
        interpreters.destroy(made)
        z = blizzarr.zeros(4)
        z[1] = 2
        tell(answer=os.read(inside, 100).decode(), values=z[...].tolist())
        """
    )
    assert facts == {"answer": "refused", "values": [0, 2, 0, 0]}


FIRST = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), f'''
import sys
sys.path[:] = {sys.path!r}
try:
    import blizzarr
except ImportError as error:
    print(error, flush=True)
''')
import blizzarr
print(blizzarr.full(1, 2)[0])
"""


def test_row_094_a_sub_interpreter_that_comes_first() -> None:
    """It is refused before it loads anything, so that the main interpreter can import, and ends."""
    ended = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, timeout=60, check=False)
    assert "cannot be used in a sub-interpreter" in ended.stdout, ended.stderr
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "2.0")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_row_094_killed_by_sigterm(tmp_path: Path) -> None:
    """Nobody catches it: the process is gone at once, as the signal says."""
    with begin(tmp_path, "codec", "start()\nsignal.raise_signal(signal.SIGTERM)\n") as child:
        status, _, complaint = end(child)
    assert (status, complaint) == (-15, "")
    values = blizzarr.open_array(tmp_path)[...]
    assert (values[:, 1000:1001] == values[:, 7:-7]).all()
