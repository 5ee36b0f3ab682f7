"""Faults: killed, full, forbidden, interrupted (rows 78 to 80, 85, 88 to 90, 93): small samples."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ReadOnlyError
from support.child import Child, answer

LAYOUTS = {
    "plain": {"chunks": 1 << 20},
    "raw": {"chunks": 1 << 20, "compressors": None},
    "shard": {"chunks": 1 << 16, "shards": 1 << 20},
}
KEYS = {"whole": "...", "part": "slice(7, -9)"}


@pytest.mark.parametrize(
    ("layout", "key"),
    [
        *(("plain", "part"), ("raw", "whole"), ("shard", "part")),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (("plain", "whole"), ("raw", "part"), ("shard", "whole"))
        ),
    ],
)
def test_rows_078_079_080_kill_at_any_moment(tmp_path: Path, layout: str, key: str) -> None:
    """The chunk is one of the values that were written, whole; what is left over is neither listed nor in the way."""
    array = blizzarr.create_array(tmp_path, shape=1 << 20, dtype="uint8", **LAYOUTS[layout])
    array[...] = 255
    program = """
        array = blizzarr.open(ARGUMENTS["root"])
        noise = np.random.default_rng(0).integers(1, 100, array[eval(ARGUMENTS["key"])].shape, "uint8")
        tell(ready=True)
        for number in range(1_000_000):
            # Now long, now short when encoded.
            array[eval(ARGUMENTS["key"])] = 1 + number % 100 if number % 2 else noise + number % 100
    """
    for moment in range(2):
        with Child(program, root=str(tmp_path), key=KEYS[key]) as child:
            child.hear()
            time.sleep(0.01 + 0.037 * moment)
            child.process.send_signal(signal.SIGKILL)
            child.process.wait()
        values = blizzarr.open(tmp_path)[...]
        noise = np.random.default_rng(0).integers(1, 100, (1 << 20) - (0 if key == "whole" else 16), "uint8")
        inner, edges = (values, values[:0]) if key == "whole" else (values[7:-9], np.r_[values[:7], values[-9:]])
        assert (inner == inner[0]).all() or (inner - noise == inner[0] - noise[0]).all(), "a mixture"
        assert (edges == 255).all()
        keys = list(array.store.list())
        assert keys == ["c/0", "zarr.json"], "leftovers are no keys"
        assert array.nbytes_stored() == sum((tmp_path / name).stat().st_size for name in keys)
        array[...] = np.arange(1 << 20, dtype="uint8")
        assert np.array_equal(array[...], np.arange(1 << 20, dtype="uint8")), "the next write"
        array[...] = 255


def test_row_080_long_leftovers_of_a_name_do_no_harm(tmp_path: Path) -> None:
    """A temporary file that is longer than the next value never becomes a part of it, nor a key."""
    array = blizzarr.create_array(tmp_path, shape=4, chunks=4, dtype="uint8", compressors=None)
    array[...] = 1
    for name in (".blizzarr-0000000000000000-0", ".blizzarr-ffffffffffffffff-1"):
        (tmp_path / "c" / name).write_bytes(b"x" * 10_000)
    for value in range(2, 20):
        array[...] = value
        array[1] = value
        assert array[...].tolist() == [value] * 4
    assert sorted(array.store.list()) == ["c/0", "zarr.json"]


@pytest.mark.parametrize("shards", [None, (2, 1 << 16)])
def test_row_085_no_room_for_a_file(tmp_path: Path, shards: tuple[int, int] | None) -> None:
    """RLIMIT_FSIZE stands for a full disk: errno is kept, the old chunk too, nothing is left over, and it goes on."""
    facts = answer(
        """
        root = ARGUMENTS["root"]
        noise = np.random.default_rng(0).integers(0, 256, (4, 1 << 16), "uint8")
        made = blizzarr.create_array(root, name="a", data=noise, chunks=(1, 1 << 16), shards=ARGUMENTS["shards"])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        seen = []

        def limited(size, work):
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
            try:
                work()
            except StoreError as error:
                seen.append([error.errno, error.key, error.chunk is None])
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        def documents():
            blizzarr.create_group(root, path="b/c", attributes={"long": "x" * 1000})

        limited(1000, lambda: made.__setitem__(..., noise[::-1]))
        limited(1000, lambda: made.__setitem__((slice(1, 3), slice(5, -5)), noise[2:, 10:]))
        limited(100, documents)
        limited(100, lambda: made.attrs.update(long="y" * 1000))
        whole = bool((blizzarr.open(root, path="a")[...] == noise).all()) and not dict(made.attrs)
        files = sorted(os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs)
        made[...] = noise[::-1]
        tell(seen=seen, whole=whole, files=files, after=bool((made[...] == noise[::-1]).all()))
        """,
        root=str(tmp_path),
        shards=shards,
    )
    assert [error for error, _, _ in facts["seen"]] == [27] * 4, "EFBIG"
    keys = [key for _, key, _ in facts["seen"]]
    assert all(key.startswith("a/c/") for key in keys[:2])
    assert keys[2:] == ["b/c/zarr.json", "a/zarr.json"]
    assert facts["whole"]
    assert facts["after"]
    chunks = [f"a/c/{number}/0" for number in range(4 if shards is None else 2)]
    assert facts["files"] == [*chunks, "a/zarr.json", "zarr.json"]


def test_row_088_permission_denied(tmp_path: Path) -> None:
    """Of a chunk, a directory, a document: an error that names the key; never missing, never fill, never replaced."""
    facts = answer(
        """
        obey_permissions()
        root = ARGUMENTS["root"]
        group = blizzarr.create_group(root)
        array = group.create_array("a", data=np.arange(1, 9, dtype="int16"), chunks=4, compressors=None)
        seen = {}

        def attempt(name, path, mode, work):
            usual = os.stat(path).st_mode & 0o777
            os.chmod(path, mode)
            try:
                seen[name] = ["did", str(work())]
            except Exception as error:
                seen[name] = [type(error).__name__, getattr(error, "errno", None), error.key, str(error)]
            finally:
                os.chmod(path, usual)

        chunk, directory, document = f"{root}/a/c/0", f"{root}/a/c", f"{root}/a/zarr.json"
        attempt("read an unreadable chunk", chunk, 0, lambda: array[...])
        attempt("read an element of an unreadable chunk", chunk, 0, lambda: array[1])
        attempt("write a part of an unreadable chunk", chunk, 0, lambda: array.__setitem__(1, 5))
        attempt("read in an unreadable directory", directory, 0, lambda: array[1])
        attempt("write in an unwritable directory", directory, 0o555, lambda: array.__setitem__(slice(0, 4), 5))
        attempt("write a part without the document", document, 0o444, lambda: array.__setitem__(1, 5))
        attempt("open an unreadable document", document, 0, lambda: blizzarr.open(root, path="a"))
        attempt("create over an unreadable document", document, 0,
                lambda: group.create_array("a", shape=1, dtype="int8"))
        attempt("change attributes", f"{root}/a", 0o555, lambda: array.attrs.update(x=1))
        attempt("create in an unwritable directory", root, 0o555, lambda: group.create_group("b"))
        attempt("list an unreadable directory", f"{root}/a", 0, lambda: array.nchunks_initialized)
        attempt("delete in an unwritable directory", directory, 0o555, lambda: array.__setitem__(..., 0))
        tell(seen=seen, after=array[...].tolist(), attrs=dict(blizzarr.open(root, path="a").attrs))
        """,
        root=str(tmp_path),
    )
    for name, (kind, errno, key, text) in facts["seen"].items():
        assert kind == "StoreError", name
        assert errno == 13, name
        assert key is not None, name
        assert "ermission denied" in text, name
    assert facts["after"] == list(range(1, 9))
    assert facts["attrs"] == {}


def test_row_088_what_cannot_be_removed_is_whole_or_gone(tmp_path: Path) -> None:
    """Never is there an array whose chunks went before it: it would read as fill value."""
    facts = answer(
        """
        import itertools
        obey_permissions()
        root = ARGUMENTS["root"]
        data = np.arange(1, 65).reshape(8, 8)
        left = {}
        for how, where in itertools.product(["delete", "overwrite"], ["a", "a/c", "a/c/2", "."]):
            group = blizzarr.create_group(f"{root}/{how}-{where.replace('/', '-')}")
            array = group.create_array("a", data=data, chunks=2)
            directory = f"{group.store}/{where}"
            os.chmod(directory, 0o555)
            try:
                if how == "delete":
                    del group["a"]
                else:
                    group.create_array("a", data=-data, chunks=4, overwrite=True)
                what = "done"
            except blizzarr.errors.StoreError as error:
                what = f"{error.errno} {error.key}"
            finally:
                os.chmod(directory, 0o755)
            here = group.get("a")
            left[f"{how} {where}"] = [what, None if here is None else here[...].tolist()]
            if here is None:
                # What is left of it is in nobody's way.
                group.create_array("a", data=-data, chunks=4, overwrite=True)
                assert group["a"][...].tolist() == (-data).tolist()
        tell(left=left)
        """,
        root=str(tmp_path),
    )
    data = np.arange(1, 65).reshape(8, 8)
    assert facts["left"] == {
        "delete a": ["13 a", data.tolist()],
        "delete a/c": ["13 a", None],
        "delete a/c/2": ["13 a", None],
        "delete .": ["done", None],  # but for a directory with nothing in it
        "overwrite a": ["13 a", data.tolist()],
        "overwrite a/c": ["13 a", None],
        "overwrite a/c/2": ["13 a", None],
        "overwrite .": ["done", (-data).tolist()],
    }


def test_row_089_read_only_handles_refuse_before_any_work(tmp_path: Path) -> None:
    """No empty directories, no half of anything; the same for arrays, groups, attributes, shapes and removal."""
    root = blizzarr.create_group(tmp_path)
    root.create_array("a", data=np.arange(1, 5), chunks=2)
    before = {path: path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*"))}
    group = blizzarr.open_group(tmp_path, mode="r")
    array = group["a"]
    attempts = {
        "write": lambda: array.__setitem__(0, 1),
        "write by index": lambda: array.oindex.__setitem__([0, 1], 1),
        "resize": lambda: array.resize(9),
        "append": lambda: array.append([1]),
        "attributes": lambda: array.attrs.update(x=1),
        "delete an attribute": lambda: array.attrs.clear(),
        "create": lambda: group.create_array("b/c", shape=1, dtype="int8"),
        "create a group": lambda: group.create_group("d/e"),
        "delete": lambda: group.__delitem__("a"),
        "by path": lambda: blizzarr.open(tmp_path, mode="r", path="a").append([1]),
    }
    for name, attempt in attempts.items():
        with pytest.raises(ReadOnlyError) as caught:
            attempt()
        assert caught.value.errno, name
        assert "read" in str(caught.value), name
    assert {path: path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*"))} == before


def test_row_090_a_file_that_is_replaced_cut_or_gone(tmp_path: Path) -> None:
    """One thread replaces, deletes and restores a chunk; readers see old, new or fill, and nothing in between."""
    facts = answer(
        """
        root = ARGUMENTS["root"]
        array = blizzarr.create_array(root, shape=1 << 14, chunks=1 << 14, dtype="uint8", fill_value=9)
        over, odd, reads = time.perf_counter() + 0.7, [], 0

        def goes_on():
            return time.perf_counter() < over or reads <= 50

        def write():
            number = 0
            while goes_on():
                number = number % 8 + 1
                array[...] = number
                if number == 4:
                    array[...] = 9  # all fill: the chunk goes

        writer = threading.Thread(target=write)
        writer.start()
        while goes_on():
            for key in (slice(None), slice(5, 16000, 7)):
                found = np.unique(array[key])
                reads += 1
                if len(found) != 1 or not 1 <= found[0] <= 9:
                    odd.append(found.tolist())
        writer.join()
        tell(odd=odd, reads=reads)
        """,
        root=str(tmp_path),
    )
    assert facts["odd"] == []
    assert facts["reads"] > 50


@pytest.mark.parametrize(("kind", "number"), [("read", "SIGINT"), ("write", "SIGINT"), ("write", "SIGTERM")])
def test_row_093_interrupted(tmp_path: Path, kind: str, number: str) -> None:
    """Ctrl-C, or a handler that raises, ends a long operation within half a second; each chunk is old or new."""
    facts = answer(
        """
        count, size, kind = 1000, 1 << 16, ARGUMENTS["kind"]
        number = getattr(signal, ARGUMENTS["number"])
        if number != signal.SIGINT:
            def stop(*_):
                raise KeyboardInterrupt
            signal.signal(number, stop)
        codec = blizzarr.codecs.ZstdCodec(level=15 if kind == "write" else 1)
        array = blizzarr.create_array(ARGUMENTS["root"], shape=(count, size), chunks=(1, size), dtype="uint8",
                                      compressors=codec)
        array[...] = 1
        noise = np.tile(np.random.default_rng(0).integers(0, 40, size, "uint8"), (count, 1))
        sent = []

        def send():
            sent.append(time.process_time())
            os.kill(os.getpid(), number)

        threading.Timer(0.4, send).start()
        try:
            while True:
                if kind == "write":
                    array[...] = noise
                else:
                    array[...]
        except KeyboardInterrupt:
            # As much as all processors do in this time, which a busy machine does not change.
            late = (time.process_time() - sent[0]) / os.cpu_count()
        whole = all((row == 1).all() or (row == noise[0]).all() for row in array[::50])
        array[0] = 7
        tell(late=late, whole=whole, usable=bool((array[0] == 7).all()))
        """,
        root=str(tmp_path),
        kind=kind,
        number=number,
    )
    assert facts["late"] < 0.5
    assert facts["whole"]
    assert facts["usable"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX signals")
def test_row_093_an_exception_in_the_middle_of_a_copy(tmp_path: Path) -> None:
    """What the caller's own code raises passes through as it is, and nothing is half-changed."""
    array = blizzarr.create_array(tmp_path, shape=4, chunks=2, dtype="int16")

    class Odd:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            raise RuntimeError("the sensor is unplugged")

    with pytest.raises(RuntimeError, match="unplugged"):
        array[...] = Odd()
    assert sorted(array.store.list()) == ["zarr.json"]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="POSIX signals")
@pytest.mark.parametrize("kind", ["read", "write"])
def test_row_093_what_a_handler_raises_goes_by(tmp_path: Path, kind: str) -> None:
    """A deadline, or another exception of the program's own, is no error of a store."""
    facts = answer(
        """
        class Deadline(Exception):
            pass

        def stop(*_):
            raise Deadline("too late")

        signal.signal(signal.SIGALRM, stop)
        codec = blizzarr.codecs.ZstdCodec(level=15 if ARGUMENTS["kind"] == "write" else 1)
        array = blizzarr.create_array(ARGUMENTS["root"], shape=(1000, 1 << 16), chunks=(1, 1 << 16), dtype="uint8",
                                      compressors=codec)
        array[...] = 1
        noise = np.tile(np.random.default_rng(0).integers(0, 40, 1 << 16, "uint8"), (1000, 1))
        raised = []
        for _ in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.15)
            try:
                while True:
                    if ARGUMENTS["kind"] == "write":
                        array[...] = noise
                    else:
                        array[...]
            except Exception as error:
                raised.append((type(error).__name__, str(error)))
        tell(raised=raised)
        """,
        root=str(tmp_path),
        kind=kind,
    )
    assert facts["raised"] == [["Deadline", "too late"]] * 5
