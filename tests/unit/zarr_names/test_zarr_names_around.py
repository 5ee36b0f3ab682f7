"""Settings, errors, stores, awaiting and running scripts with `blizzarr.zarr`."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.zarr.buffer import Buffer, default_buffer_prototype
from blizzarr.zarr.storage import LocalStore, LoggingStore, MemoryStore, StorePath, WrapperStore, ZipStore
from blizzarr.zarr.sync import in_thread, in_thread_to_the_end


def test_settings_have_zarr_pythons_keys() -> None:
    with zarr.config.set({"array.write_empty_chunks": True, "threading.max_workers": 2}, default_zarr_format=2):
        assert zarr.config["array.write_empty_chunks"]
        assert (blizzarr.config.write_empty_chunks, blizzarr.config.threads) == (True, 2)
        assert zarr.create_group({}).metadata.zarr_format == 2
    assert (blizzarr.config.write_empty_chunks, blizzarr.config.threads) == (False, 0)
    zarr.config.set({"array": {"order": "F"}})
    assert zarr.config.get("array.order") == "F"
    zarr.config.reset()
    assert zarr.config.get("array.order") == "C"
    assert zarr.config.get("nothing", 1) == 1
    with pytest.raises(ValueError, match="'C' or 'F'"):
        zarr.config.set({"array.order": "D"})


def test_settings_of_two_threads_end_in_any_order() -> None:
    """The end of a context restores what that context has changed, and nothing else."""
    first, second = zarr.config.set({"array.write_empty_chunks": True}), zarr.config.set(default_zarr_format=2)
    first.__exit__(None, None, None)
    assert (zarr.config.get("array.write_empty_chunks"), zarr.config.get("default_zarr_format")) == (False, 2)
    second.__exit__(None, None, None)
    assert not blizzarr.config.write_empty_chunks
    assert zarr.config.to_dict() == zarr.config.defaults[0]
    with zarr.config.set({"codecs.mine": "a.B"}):
        assert zarr.config.get("codecs.mine") == "a.B"
    assert "codecs.mine" not in zarr.config


def test_errors_are_of_both_worlds() -> None:
    store: dict[str, bytes] = {}
    with pytest.raises(zarr.errors.GroupNotFoundError, match="No group found in store") as missing:
        zarr.open_group(store, mode="r")
    assert isinstance(missing.value, blizzarr.errors.NodeNotFoundError | FileNotFoundError | ValueError)
    root = zarr.create_group(store)
    root.create_array("x", shape=1, dtype="i1")
    with pytest.raises(zarr.errors.ContainsArrayError, match="An array exists in store"):
        root.create_group("x")
    with pytest.raises(zarr.errors.ContainsArrayError) as wrong:
        zarr.open_group(store, path="x")
    assert isinstance(wrong.value, blizzarr.errors.NodeTypeError)
    with pytest.raises(KeyError):
        root["nothing"]
    with pytest.raises(TypeError):
        root.attrs["bad"] = object()
    with pytest.raises(zarr.errors.BoundsCheckError):
        root["x"][5]


def test_texts_of_errors_name_the_place_once(tmp_path: Path) -> None:
    store = MemoryStore()
    with pytest.raises(zarr.errors.GroupNotFoundError) as missing:
        zarr.open(store, path="a", mode="r")
    text = str(missing.value)
    assert text.startswith("No group found in store ")
    assert text.count(str(store.engine)) == text.count("No group") == 1
    assert "no array or group" not in text
    assert str(pickle.loads(pickle.dumps(missing.value))) == text
    zarr.create_array(store, name="a", shape=1, dtype="i1")
    with pytest.raises(zarr.errors.ContainsArrayError) as there:
        zarr.create_group(store, path="a")
    assert str(there.value).count(str(store.engine)) == 1
    assert there.value.args == (str(there.value),)
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(zarr.errors.GroupNotFoundError, match="expected a directory"):
        zarr.open(tmp_path / "a.txt", mode="r")
    assert str(zarr.errors.GroupNotFoundError("s", "p")) == "No group found in store 's' at path 'p'"
    assert str(zarr.errors.NodeTypeValidationError("a", "b", "c")) == "Invalid value for 'a'. Expected 'b'. Got 'c'."


def test_errors_of_both_worlds_are_pickled() -> None:
    """Processes of a pool return them."""
    root = zarr.create_group({})
    with pytest.raises(zarr.errors.BoundsCheckError) as raised:
        root.create_array("x", shape=1, dtype="i1").oindex[5]
    raised.value.add_note("a note")
    copied = pickle.loads(pickle.dumps(raised.value))
    assert type(copied) is type(raised.value)
    assert (str(copied), copied.array, copied.__notes__) == (str(raised.value), "/x", ["a note"])


def test_documents_that_are_no_json_raise_a_json_error() -> None:
    """spatialdata leaves such elements out, with a warning."""
    for text in (b"", b'"a": 1}'):
        root = zarr.open_group({"zarr.json": b'{"zarr_format": 3, "node_type": "group"}', "a/zarr.json": text})
        with pytest.raises(json.JSONDecodeError, match=r"a/zarr\.json in <Mapping.* does not conform: ") as raised:
            root["a"]
        assert isinstance(raised.value, blizzarr.errors.MetadataError)
        copied = pickle.loads(pickle.dumps(raised.value))
        assert (type(copied), str(copied), copied.pos) == (type(raised.value), str(raised.value), 0)


def test_names_that_are_not_there_say_what_to_use() -> None:
    with pytest.raises(AttributeError, match="use LocalStore"):
        zarr.storage.DirectoryStore  # noqa: B018
    with pytest.raises(AttributeError, match="blizzarr's has, see"):
        zarr.array([1]).lazy  # noqa: B018


def test_the_store_of_a_node_is_the_one_that_was_given(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path / "a"), ZipStore(tmp_path / "b.zip", mode="w")):
        root = zarr.open_group(store)
        assert root.store is store
        assert root.create_array("x", shape=1, dtype="i1").store_path == StorePath(store, "x")
    shown = zarr.open_group(tmp_path / "a", mode="r").store
    assert (type(shown), shown.root, shown.read_only) == (LocalStore, tmp_path / "a", True)


def test_a_store_derived_from_ours_lists_arrays_of_v2(tmp_path: Path) -> None:
    """anndata's tests count the reads of one; whether a directory is a value is asked of it."""

    class Derived(LocalStore):
        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            return await super().get(key, *arguments, **options)

    zarr.open_group(tmp_path, mode="w", zarr_format=2).create_group("a").create_array("array", data=np.arange(3))
    group = zarr.open_group(Derived(tmp_path), mode="r")["a"]
    assert (list(group), group["array"][:].tolist()) == (["array"], [0, 1, 2])


def test_stores_have_asynchronous_methods(tmp_path: Path) -> None:
    async def use(store: Any) -> Any:
        await store.set("a/b", Buffer.from_bytes(b"value"))
        await store.set_if_not_exists("a/b", Buffer.from_bytes(b"other"))
        part = zarr.abc.store.RangeByteRequest(1, 3)
        value = await store.get("a/b", default_buffer_prototype(), part)
        listed = [key async for key in store.list_prefix("a")], [name async for name in store.list_dir("")]
        return value.to_bytes(), listed, await store.exists("a/c"), await store.getsize("a/b")

    for store in (MemoryStore(), MemoryStore({}), LocalStore(tmp_path)):
        assert asyncio.run(use(store)) == (b"al", (["a/b"], ["a"]), False, 5)


@pytest.mark.parametrize("kind", ["local", "memory", "mapping", "fsspec", "url"])
def test_what_is_only_read_can_be_written_by_a_copy(kind: str, tmp_path: Path) -> None:
    if kind in ("fsspec", "url"):
        pytest.importorskip("fsspec")
    store = {
        "local": lambda: LocalStore(tmp_path, read_only=True),
        "memory": lambda: MemoryStore(read_only=True),
        "mapping": lambda: MemoryStore({}, read_only=True),
        "fsspec": lambda: zarr.storage.FsspecStore(_memory_files(), read_only=True, path="copy"),
        "url": lambda: zarr.storage.FsspecStore.from_url("memory://url", read_only=True),
    }[kind]()
    writer = store.with_read_only(False)
    asyncio.run(writer.set("a", Buffer.from_bytes(b"value")))
    assert (store.read_only, writer.read_only, type(writer)) == (True, False, type(store))
    assert asyncio.run(store.get("a")).to_bytes() == b"value"
    with pytest.raises(ValueError, match="read-only mode"):
        asyncio.run(store.set("a", Buffer.from_bytes(b"other")))


def _memory_files() -> Any:
    import fsspec

    return fsspec.filesystem("memory")


class Counting(WrapperStore[Any]):
    """Counts what is read."""

    reads = 0

    async def get(self, *args: Any, **named: Any) -> Any:
        self.reads += 1
        return await super().get(*args, **named)


@pytest.mark.parametrize("make", [Counting, LoggingStore])
def test_stores_of_users_are_called_for_every_value(make: Any) -> None:
    store = make(MemoryStore())
    zarr.create_array(store, data=np.arange(4), chunks=2)
    found = zarr.open_array(store)
    assert (found[:].tolist(), found.store) == ([0, 1, 2, 3], store)
    assert (store.reads if make is Counting else store.counter["get"]) > 2


def test_wrappers_open_the_store_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    store = zarr.core.sync.sync(LoggingStore.open(MemoryStore, log_level="INFO", read_only=True))
    assert (type(store), type(store._store), store.read_only) == (LoggingStore, MemoryStore, True)
    zarr.core.sync.sync(store.exists("a"))
    assert "Calling MemoryStore.exists(a)" in capsys.readouterr().out
    with pytest.raises(ValueError, match="Unexpected byte_range"):
        zarr.core.sync.sync(store.get("a", None, (0, 2)))


@pytest.mark.parametrize("call", [lambda view: view.setitem(0, 7), lambda view: view.append([7])])
def test_who_is_cancelled_waits_for_a_write_that_has_begun(call: Callable[[Any], Any]) -> None:
    """It would undo what is written after it."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow(dict[str, bytes]):
        def __setitem__(self, key: str, value: bytes) -> None:
            if key.startswith("c/"):
                begun.set()
                assert go_on.wait(60)
            super().__setitem__(key, value)

    array = blizzarr.create_array(Slow(), shape=2, chunks=2, dtype="i4")

    async def cancelled() -> bool:
        task = asyncio.create_task(call(zarr.open_array(array.store).async_array))
        await asyncio.to_thread(begun.wait, 60)
        for _ in range(2):
            task.cancel()
            await asyncio.wait([task], timeout=0.1)
            assert not task.done()
        go_on.set()
        await asyncio.wait([task], timeout=60)
        return task.cancelled()

    assert asyncio.run(cancelled())
    array.refresh()
    assert 7 in array[:]


@pytest.mark.parametrize("kind", ["directory", "zip"])
def test_who_is_cancelled_waits_for_a_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The store then is where its values are."""
    begun, go_on = threading.Event(), threading.Event()
    move = shutil.move

    def slow(*places: Any) -> None:
        begun.set()
        assert go_on.wait(60)
        move(*places)

    monkeypatch.setattr(shutil, "move", slow)
    source = tmp_path / "a"
    store = zarr.storage.LocalStore(source) if kind == "directory" else zarr.storage.ZipStore(source, mode="w")
    blizzarr.create_array(store, data=np.arange(3))

    async def cancelled() -> bool:
        task = asyncio.create_task(store.move(tmp_path / "b"))
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
        go_on.set()
        await asyncio.wait([task], timeout=60)
        return task.cancelled()

    assert asyncio.run(cancelled())
    assert blizzarr.open(store, mode="r")[:].tolist() == [0, 1, 2]
    assert not source.exists()


def test_who_is_cancelled_waits_for_a_hierarchy() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(dict[str, bytes]):
        def __setitem__(self, key: str, value: bytes) -> None:
            if key.startswith("below/"):
                begun.set()
                assert go_on.wait(60)
            super().__setitem__(key, value)

    stored = Slow()
    group = zarr.AsyncGroup(zarr.create_group(stored))

    async def cancelled() -> bool:
        async def create() -> None:
            async for _ in group.create_hierarchy({"below": blizzarr.zarr.core.group.GroupMetadata()}):
                pass

        task = asyncio.create_task(create())
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
        assert not task.done()
        go_on.set()
        await asyncio.wait([task], timeout=60)
        return task.cancelled()

    assert asyncio.run(cancelled())
    assert "below/zarr.json" in stored


@pytest.mark.parametrize("run", [in_thread, in_thread_to_the_end])
def test_stop_iteration_of_a_thread_is_an_error(run: Callable[..., Any]) -> None:
    async def call() -> None:
        await asyncio.wait_for(run(next, iter(())), 5)

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        asyncio.run(call())


def test_what_only_reads_is_not_waited_for() -> None:
    go_on = threading.Event()

    class Slow(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            assert go_on.wait(60)
            return super().__getitem__(key)

    stored: dict[str, bytes] = {}
    blizzarr.create_array(stored, data=np.arange(2))
    slow = Slow(stored)

    async def cancelled() -> bool:
        task = asyncio.create_task(zarr.api.asynchronous.open_array(store=slow, mode="r"))
        await asyncio.wait([task], timeout=0.1)
        task.cancel()
        await asyncio.wait([task], timeout=60)
        go_on.set()
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_views_are_awaited() -> None:
    async def use() -> Any:
        root = await zarr.api.asynchronous.open_group(store={}, mode="w")
        z = await root.create_array("x", shape=4, dtype="i4")
        await z.setitem(slice(None), np.arange(4))
        names = [name async for name, _ in root.members()]
        again = await root.getitem("x")
        return type(root), type(again), names, await again.oindex.getitem([3, 1]), again.shape

    group, array, names, values, shape = asyncio.run(use())
    assert (group, array, names, values.tolist(), shape) == (zarr.AsyncGroup, zarr.AsyncArray, ["x"], [3, 1], (4,))
    z = zarr.array([1, 2])
    assert z.async_array == z._async_array
    assert zarr.Array(z.async_array) == z
    assert z.async_array.with_config({"order": "F"}).config.order == "F"


def test_arguments_of_views() -> None:
    prototype = zarr.core.buffer.default_buffer_prototype()

    async def use() -> Any:
        store = zarr.storage.MemoryStore()
        root = await zarr.api.asynchronous.open_group(store=store, mode="w")
        z = await root.create_array("x", shape=(3, 2), dtype="i4")
        await z.setitem((0,), 5, prototype)
        assert (await z.getitem((0,), prototype=prototype)).tolist() == [5, 5]
        with pytest.raises(NotImplementedError, match="prototype="):
            await z.getitem(0, prototype="other")
        with pytest.raises(NotImplementedError, match="prototype="):
            await z.setitem(0, 1, prototype="other")
        await (await root.create_group("a")).create_group("b")
        assert await (await root.require_group("a")).contains("b")
        assert not await (await root.require_group("a", True)).contains("b")
        place = zarr.storage.StorePath(store, "x")
        return await zarr.AsyncArray.open(place, config={"order": "F"}), zarr.Array.open(place, config={"order": "F"})

    for array in asyncio.run(use()):
        assert array.config.order == "F"


_SCRIPT = """
import sys
import importlib.machinery
import importlib.metadata
sys.meta_path.insert(0, importlib.machinery.PathFinder)  # another finder comes first, as in pytest
import zarr
import zarr.abc.codec
assert issubclass(zarr.codecs.BytesCodec, zarr.abc.codec.ArrayBytesCodec)
sys.meta_path.pop(0)
from zarr.core.array import CompressorLike, CompressorsLike, FiltersLike, SerializerLike, ShardsLike  # ngio, for one
from zarr.core.buffer import default_buffer_prototype
from zarr.core.common import BytesLike, ChunksLike, DimensionNamesLike  # the first one is what icechunk imports
from zarr.core.sync import SyncMixin
store = zarr.storage.MemoryStore({"a": zarr.core.buffer.cpu.Buffer.from_bytes(b"b")})
assert SyncMixin()._sync(store.get("a", default_buffer_prototype())).to_bytes() == b"b"
from zarr.codecs.blosc import BloscShuffle
from zarr.storage._common import StorePath
assert zarr.__name__ == "blizzarr.zarr" and zarr.storage.StorePath is StorePath
assert importlib.metadata.version("zarr") == zarr.__version__
try:
    import zarr.nothing
except ModuleNotFoundError as error:
    print(error)
print(zarr.array([1, 2, 3])[1:].tolist(), sys.argv[1:])
"""


def test_scripts_run_on_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    for arguments in ([str(script)], ["-c", _SCRIPT]):
        done = subprocess.run(
            [sys.executable, "-m", "blizzarr.zarr", *arguments, "a"], capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.stdout.splitlines()[1] == "[2, 3] ['a']"
        assert "no module named 'zarr.nothing'" in done.stdout


_STARTING = """
import multiprocessing, pickle
from concurrent.futures import ProcessPoolExecutor
import beside, zarr

def name(_):
    return zarr.__name__, __import__("zarr").__name__

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
            print(method, *pool.map(name, [0]))
"""


def test_processes_that_a_script_starts_run_on_it(tmp_path: Path) -> None:
    """They import what is beside the script, too, as the script itself."""
    (tmp_path / "script.py").write_text(_STARTING)
    (tmp_path / "beside.py").write_text("import zarr\n")
    done = subprocess.run(
        [sys.executable, "-m", "blizzarr.zarr", tmp_path / "script.py"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"{method} ('blizzarr.zarr', 'blizzarr.zarr')" for method in ("spawn", "forkserver")
    ]


def test_a_command_is_the_main_module() -> None:
    command = "import pickle\ndef f(): pass\nprint(pickle.loads(pickle.dumps(f)) is f)"
    done = subprocess.run(
        [sys.executable, "-m", "blizzarr.zarr", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    """As for `python` itself, the exit status is 2, and there is no traceback."""
    script = str(tmp_path / "scirpt.py")
    done = subprocess.run([sys.executable, "-m", "blizzarr.zarr", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"expected the path of a script, found {script!r}, where there is no file\n"


def test_nothing_is_accepted_and_ignored() -> None:
    fsspec = pytest.importorskip("fsspec")
    with pytest.raises(TypeError, match="found ordr"):
        zarr.create_array({}, shape=1, dtype="i1", config={"ordr": "F"})
    with pytest.raises(NotImplementedError, match="allowed_exceptions"):
        zarr.storage.FsspecStore(fsspec.filesystem("memory"), allowed_exceptions=(KeyError,))
    with pytest.warns(zarr.errors.ZarrRuntimeWarning, match="synchronizer is not yet implemented"):
        zarr.open_group({}, synchronizer=object())
    with pytest.raises(NotImplementedError, match="allowZip64"):
        ZipStore("a.zip", mode="w", allowZip64=False)
    with pytest.raises(TypeError, match="config"):
        zarr.open({}, mode="w", config={"order": "F"})
    mine = default_buffer_prototype()._replace(nd_buffer=object)
    z = zarr.array([1, 2])
    for call in (z.get_basic_selection, z.get_orthogonal_selection, z.get_mask_selection):
        with pytest.raises(NotImplementedError, match="the default as prototype="):
            call([True, False], prototype=mine)
    with pytest.raises(NotImplementedError, match="the default as prototype="):
        z.set_basic_selection(0, 1, prototype=mine)
    with pytest.raises(NotImplementedError, match="the default as prototype="):
        asyncio.run(z.store.get("zarr.json", mine))
    store: dict[str, bytes] = {}
    zarr.create_array(store, data=np.arange(2), zarr_format=3)
    with pytest.raises(zarr.errors.NodeNotFoundError), pytest.warns(zarr.errors.ZarrDeprecationWarning):
        zarr.load(store, zarr_version=2)


def test_a_zip_file_may_be_made_after_its_store(tmp_path: Path) -> None:
    """xarray's tests make the store of a file that is not there yet."""
    store = ZipStore(tmp_path / "a.zip")
    assert (store.read_only, str(store)) == (True, f"zip://{tmp_path / 'a.zip'}")
    with ZipStore(tmp_path / "a.zip", mode="w") as other:
        zarr.create_array(other, data=np.arange(3))
    assert zarr.open_array(store, mode="r")[:].tolist() == [0, 1, 2]


def test_the_error_of_a_mode_that_replaces_nothing_names_the_one_that_does() -> None:
    store = zarr.storage.MemoryStore()
    zarr.open_group(store, mode="w")
    zarr.open_array(store, path="a", mode="w", shape=3, dtype="i4")
    with pytest.raises(zarr.errors.ContainsGroupError, match=r"something is here already.*; mode='w' replaces it"):
        zarr.open_group(store, mode="w-")
    with pytest.raises(zarr.errors.ContainsArrayError, match=r"something is here already.*; mode='w' replaces it"):
        zarr.open_array(store, path="a", mode="w-", shape=3, dtype="i4")
