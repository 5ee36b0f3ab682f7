"""Bugs of the engine: an error that can be handled and reported, after which everything goes on.

The engine has a codec for this, which panics; no document can name it.
"""

from __future__ import annotations

import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import _native
from blizzarr.errors import BlizzarrError, InternalError
from blizzarr.stores import LocalStore, MemoryStore
from support.child import answer

RUST = Path(__file__).parents[3] / "rust"


def handle_with_bug(array: Any, codecs: int = 1) -> Any:
    """The engine's handle of the chunks of an array, but with codecs that panic."""
    keys = array.metadata.chunk_keys
    chain = _native.Chain(array.chunks, 8, bytes(8), False, [("bytes", 0), *[("bug",)] * codecs])
    native = getattr(array.store, "native", array.store)
    path = array.path.strip("/")
    prefix = f"{path}/" if path else ""
    return _native.ArrayHandle(
        native, "/" + path, prefix, f"{prefix}zarr.json", array.shape, chain, keys.head, keys.separator, keys.scalar
    )


@pytest.fixture(params=[MemoryStore, LocalStore])
def array(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    store = MemoryStore() if request.param is MemoryStore else LocalStore(tmp_path / "store")
    # Chunks big enough that a few of them are worth several threads.
    array = blizzarr.create_array(store, name="a/b", shape=(16, 4096), chunks=(1, 4096), dtype="f8", codecs=["bytes"])
    array[:] = np.arange(16 * 4096).reshape(16, 4096)
    return array


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_panic_is_an_error_that_says_what_to_report(array: Any, operation: str, threads: int) -> None:
    before = array[:]
    axes = ((0, 0, 1), (1, 0, 1))
    with pytest.raises(InternalError) as caught:
        getattr(handle_with_bug(array).with_options(threads), operation)(np.ones(array.shape), axes)
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert isinstance(error, BlizzarrError)
    assert (error.array, error.operation, error.version) == ("/a/b", operation, blizzarr.__version__)
    assert re.fullmatch(r"\d+ bytes could not be (made of \d+|encoded)", error.reason)
    assert re.fullmatch(r"rust/py/src/codecs\.rs:\d+:\d+", error.location or "")
    assert error.key is not None
    assert error.key.startswith("a/b/c/")
    assert error.chunk is not None
    for part in ["/a/b", error.key[4:], error.reason, error.location, operation, blizzarr.__version__, "report"]:
        assert part in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    np.testing.assert_array_equal(array[:], before)


def test_locks_are_released_and_the_engine_lives_on(array: Any) -> None:
    axes = ((0, 0, 1), (1, 0, 1))
    for _ in range(20):
        with pytest.raises(InternalError):
            handle_with_bug(array, 2).with_options(threads=4).write(np.ones(array.shape), axes)

    def write() -> None:
        array[:, :100] = 7

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(20)
    assert not writer.is_alive()
    assert (array[:, :100] == 7).all()


def test_a_panic_while_a_part_is_read_for_a_write_changes_nothing(array: Any) -> None:
    before = array[:]
    with pytest.raises(InternalError):
        handle_with_bug(array).write(np.ones((16, 8)), ((0, 0, 1), (1, 5, 1)))
    np.testing.assert_array_equal(array[:], before)


def test_a_panic_outside_of_any_array_is_one_too() -> None:
    chain = _native.Chain((4,), 8, bytes(8), False, [("bytes", 0), ("bug",)])
    for operation in ("encode", "decode"):
        with pytest.raises(InternalError) as caught:
            getattr(chain, operation)(bytes(32))
        assert (caught.value.operation, caught.value.array) == (operation, None)


def test_nothing_is_printed_but_by_who_catches_it(tmp_path: Path) -> None:
    said = answer(
        """
        from unit.errors.test_internal_error import handle_with_bug
        array = blizzarr.create_array(ARGUMENTS["root"], shape=(8,), chunks=(8,), dtype="f8", codecs=["bytes"])
        out, said = os.pipe()
        kept = os.dup(2)
        os.dup2(said, 2)
        try:
            handle_with_bug(array).write(np.ones(8), ((0, 0, 1),))
        except Exception as error:
            kind = type(error).__name__
        os.dup2(kept, 2)
        os.close(said)
        tell(kind=kind, said=len(os.read(out, 4096)))
        """,
        root=str(tmp_path / "a"),
    )
    assert said == {"kind": "InternalError", "said": 0}


def test_every_entry_of_the_border_catches_panics() -> None:
    """What Python calls goes through `entry(`, by itself or by what all do, or does nothing that could panic."""
    through = (RUST / "py/src/stores.rs").read_text()
    assert "entry(" in through.partition("    fn run<")[2].partition("\n    }")[0]
    assert "self.run(" in through.partition("    fn change<")[2].partition("\n    }")[0]
    writing = (RUST / "py/src/array.rs").read_text().partition("    fn writing<")[2]
    assert "entry(" in writing.partition("\n    }")[0]
    harmless = {"length", "version", "is_optimised", "threads_set", "threads", "ArrayHandle::caches"}
    harmless |= {"PyCachePool::now", "PyCachePool::hasty"}
    # They only hold on to what they are given, or have Python fill in a view.
    harmless |= {"PyMemoryStore::new", "PyRenamedStore::new", "ResultMemory::__getbuffer__"}
    found = []
    for path in sorted((RUST / "py/src").glob("*.rs")):
        for methods in re.finditer(r"#\[pymethods\]\nimpl (\w+) \{(.*?)\n\}", path.read_text(), re.DOTALL):
            for method in re.finditer(r"\n    (?:unsafe )?fn (\w+)(.*?)\n    \}", methods[2], re.DOTALL):
                name = f"{methods[1]}::{method[1]}"
                caught = any(call in method[2] for call in ("entry(", "self.run(", "self.change(", "self.writing("))
                found.append(name)
                assert caught or {name, method[1]} & harmless, f"{path.name}: {name} does not catch panics"
    assert {"ArrayHandle::read", "NativeStore::set", "PyChain::new", "ElementTable::take"} <= set(found)
