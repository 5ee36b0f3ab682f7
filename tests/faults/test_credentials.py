"""Faults: passwords, signatures and tokens, which must not show in what ends up in logs (row 128).

Some file systems of fsspec keep the whole URL as the path, name it in their errors, and are put one upon another.
"""

from __future__ import annotations

import json
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.errors import BlizzarrError, StoreError, UnsupportedOperationError
from blizzarr.stores import FsspecStore, MappingStore, MemoryStore, ObjectStore, object_settings

SECRET = "hunter2"
URLS = [
    f"kept://me:{SECRET}@127.0.0.1:9/a.zarr",
    f"kept://me:p@{SECRET}@127.0.0.1:9/a.zarr",
    f"kept://127.0.0.1:9/a.zarr?x=1&X-Amz-Signature={SECRET}",
    f"simplecache::kept://me:{SECRET}@127.0.0.1:9/a.zarr",
    f"zip://a.zarr::kept://me:{SECRET}@127.0.0.1:9/a.zip",
    f"cut://me:{SECRET}@bucket/a.zarr",
]
ERRORS: list[Callable[[str], Exception]] = [
    lambda text: OSError(5, f"GET {text} failed"),
    lambda text: OSError(f"GET {text} failed"),
    lambda text: RuntimeError(f"Invalid name {text!r}"),
    lambda text: ValueError(text),
    lambda text: _caused(RuntimeError("failed"), KeyError(text)),
    lambda text: _noted(RuntimeError("failed"), text),
]


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def _noted(error: Exception, note: str) -> Exception:
    error.add_note(note)
    return error


class Kept(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Keeps the whole URL, as the file system for HTTP does; fails with `fault`, if there is one."""

    protocol = "kept"
    cachable = False
    fault: Callable[[str], Exception] | None = None
    files: dict[str, bytes] = {}  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path

    def _check(self, path: str) -> None:
        if Kept.fault is not None:
            raise Kept.fault(path)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        self._check(path)
        if path not in Kept.files:
            raise FileNotFoundError(path)
        return Kept.files[path][start:end]

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        self._check(path)
        inside = {name[len(path) :].strip("/").partition("/") for name in Kept.files if name.startswith(path)}
        names = {(first, "directory" if slash else "file") for first, slash, _ in inside}
        return [{"name": f"{path}/{name}", "type": kind, "size": 1} for name, kind in sorted(names)]

    def info(self, path: str, **options: Any) -> Any:
        self._check(path)
        raise FileNotFoundError(path)

    def _open(self, path: str, *args: Any, **options: Any) -> Any:
        self._check(path)
        raise FileNotFoundError(path)


class Cut(Kept):
    """Takes what is before the host for a part of the name of the bucket, as the file system for S3 does."""

    protocol = "cut"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix("cut://")


@pytest.fixture(autouse=True)
def file_systems() -> Iterator[None]:
    fsspec.register_implementation("kept", Kept, clobber=True)
    fsspec.register_implementation("cut", Cut, clobber=True)
    yield
    Kept.fault, Kept.files = None, {}


def texts_of(error: BaseException) -> Iterator[str]:
    """All that is shown of an error, its causes included, and its fields; also what is hidden behind ``from None``."""
    yield from (str(error), repr(error), "".join(traceback.format_exception(error)))
    for behind in (error.__cause__, error.__context__):
        if behind is not None:
            yield from texts_of(behind)
    if isinstance(error, BlizzarrError):
        yield from (str(getattr(error, field)) for field in error.fields)
        yield repr(pickle.loads(pickle.dumps(error)))


def check(*texts: str) -> None:
    for text in texts:
        assert SECRET not in text


CALLS: dict[str, Callable[[Any], object]] = {
    "open": lambda target: blizzarr.open(target, mode="r"),
    "open_group": lambda target: blizzarr.open_group(target, mode="r"),
    "create": lambda target: blizzarr.create_array(target, shape=3, dtype="i4"),
    "save": lambda target: blizzarr.save(target, np.arange(3)),
    "tree": blizzarr.tree,
    "check": blizzarr.check,
    "copy": lambda target: blizzarr.copy(target, {}),
    "copy to": lambda target: blizzarr.copy(blizzarr.create_array({}, data=[1]), target),
    "upgrade": lambda target: blizzarr.upgrade(target, dry_run=True),
    "get": lambda target: FsspecStore.from_url(target).get("x"),
    "list": lambda target: FsspecStore.from_url(target).list(),
}


@pytest.mark.parametrize("fault", range(len(ERRORS)))
@pytest.mark.parametrize("url", URLS)
def test_row_128_errors_of_file_systems_show_no_credentials(url: str, fault: int) -> None:
    Kept.fault = ERRORS[fault]
    failed = 0
    for call in CALLS.values():
        try:
            call(url)
        except BlizzarrError as error:
            failed += 1
            check(*texts_of(error))
    assert failed >= 9


def test_row_128_an_error_without_credentials_keeps_its_cause() -> None:
    Kept.fault = lambda text: RuntimeError("the server is tired")
    with pytest.raises(StoreError, match="RuntimeError: the server is tired") as caught:
        FsspecStore.from_url(URLS[0]).get("x")
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("url", URLS[:3])
def test_row_128_what_is_said_of_a_hierarchy_shows_no_credentials(url: str, tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    group = blizzarr.create_group(made)
    for name in ("good", "bad"):
        group.create_array(name, data=np.arange(4), chunks=2)
    made["bad/zarr.json"] = b"{"
    made["good/c/0"] = b"damaged"
    Kept.files = {f"{url}/{key}": bytes(value) for key, value in made.items()}
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        opened = blizzarr.open_group(url, mode="r")
        array = opened["good"]
        assert isinstance(array, blizzarr.Array)
        report = blizzarr.check(url, record=tmp_path / "sums")
        found = blizzarr.diff(url, made)
        texts = [repr(node) for node in (opened, array, opened.store, array.lazy, opened.attrs)]
        texts += [str(opened.tree()), str(opened.info), str(array.info), opened._repr_html_(), array._repr_html_()]
        texts += [str(report), json.dumps(report.to_dict()), str(found), json.dumps(found.to_dict())]
        texts += [text for error in opened.unreadable().values() for text in texts_of(error)]
        with pytest.raises(BlizzarrError) as caught:
            array[:]
        texts += texts_of(caught.value)
        texts += [str(array.__dask_tokenize__())]
        assert [name for name, _ in opened.members()] == ["good"]
    assert issued
    assert report.findings
    check(*texts, *(str(warning.message) for warning in issued))
    target = MemoryStore()
    with pytest.raises(BlizzarrError):
        blizzarr.copy(array, target, chunks=3)
    check(*(bytes(target.get(key)).decode("latin-1") for key in target.list()))


@pytest.mark.parametrize("name", ["token", "secret", "password", "sas_token", "client_kwargs", "target_options"])
def test_row_128_options_of_file_systems_are_not_shown(name: str) -> None:
    options = {name: {"headers": {"Authorization": SECRET}} if name.endswith(("kwargs", "options")) else SECRET}
    Kept.fault = lambda text: RuntimeError(f"denied: {options}")
    store = FsspecStore.from_url("kept://127.0.0.1/a", options)
    with pytest.raises(StoreError, match="denied") as caught:
        store.get("x")
    check(*texts_of(caught.value), repr(store))

    class Refusing(Kept):
        protocol = "refusing"

        def __init__(self, **options: Any) -> None:
            raise ValueError(f"denied: {options}")

    fsspec.register_implementation("refusing", Refusing, clobber=True)
    with pytest.raises(UnsupportedOperationError, match="denied") as refused:
        FsspecStore.from_url("refusing://127.0.0.1/a", options)
    check(*texts_of(refused.value))


def test_row_128_objects_of_users_show_no_credentials() -> None:
    class Theirs(dict[str, bytes]):
        def __repr__(self) -> str:
            return f"<Theirs https://me:{SECRET}@example.org/a?sig={SECRET}>"

        def __getitem__(self, key: str) -> bytes:
            raise RuntimeError(f"{self!r} is not there")

        def get(self, key: str, default: Any = None) -> bytes:
            return self[key]

    class Methods:
        get = set = delete = list = None

        def __init__(self) -> None:
            self.get = self.set = self.delete = self.list = Theirs().get  # type: ignore[assignment]

        __repr__ = Theirs.__repr__

    for target in (Theirs(), Methods()):
        with pytest.raises(StoreError) as caught:
            blizzarr.open(target, mode="r")
        check(*texts_of(caught.value))
    check(repr(MappingStore(Theirs())))


@pytest.mark.parametrize("url", [f"s3://me:{SECRET}@bucket/a/", f"http://me:{SECRET}@127.0.0.1:9/a/"])
def test_row_128_urls_of_tensorstore_show_no_credentials(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody answers there.
    monkeypatch.setattr(object_settings, "retry_of", lambda config: (0, 0.3, 0.1, 0.1, 2.0))
    for call in (
        lambda: ts.open({"driver": "zarr3", "kvstore": url}).result(),
        lambda: ts.open(url).result(),
        lambda: ts.KvStore.open(url).result().read("x").result(),
    ):
        with pytest.raises(BlizzarrError) as caught:
            call()
        check(*texts_of(caught.value))


def refusing_at_once(url: str, **options: Any) -> ObjectStore:
    """A store of objects that gives up soon, as nobody answers there."""
    retries = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}
    return ObjectStore.from_url(url, timeout="1s", retry_config=retries, **options)


@pytest.mark.parametrize(
    ("url", "options"),
    [
        (f"http://me:{SECRET}@127.0.0.1:9/a", {}),
        (f"http://127.0.0.1:9/a?X-Amz-Signature={SECRET}", {}),
        (f"s3://bucket/a?X-Amz-Signature={SECRET}", {"endpoint": "http://127.0.0.1:9"}),
        ("s3://bucket/a", {"endpoint": f"http://me:{SECRET}@127.0.0.1:9"}),
        (f"s3://bucket/a?x=1#token={SECRET}", {"endpoint": "http://127.0.0.1:9"}),
    ],
)
def test_row_128_object_stores_show_no_credentials(url: str, options: dict[str, Any]) -> None:
    if url.startswith("s3"):
        options = {**options, "region": "x", "access_key_id": "abcdef", "secret_access_key": SECRET}
    store = refusing_at_once(url, **options)
    check(repr(store), store.place)
    calls: list[Callable[[], object]] = [
        lambda: store.get("x"),
        lambda: store.get_ranges("x", [(0, 4), (10, 4)]),
        lambda: blizzarr.open(store, mode="r"),
        lambda: blizzarr.open_array(store, mode="r"),
    ]
    if url.startswith("s3"):
        calls += [
            lambda: store.set("x", b"1"),
            lambda: store.set_if_version("x", b"1", None),
            lambda: store.get_with_version("x"),
            lambda: store.delete("x"),
            store.list,
            store.list_dir,
        ]
    for call in calls:
        with pytest.raises(BlizzarrError) as caught:
            call()
        check(*texts_of(caught.value))


def test_row_128_buckets_below_two_signatures_are_two_places() -> None:
    one, other = (ObjectStore.from_url(f"gs://b/a?token={SECRET}{n}", skip_signature=True) for n in "01")
    check(one.place, repr(other))
    assert one.place.startswith("gs://b/a?")
    assert one.place != other.place
    assert ObjectStore.from_url("gs://b/a", skip_signature=True).place == "gs://b/a"


@pytest.mark.parametrize(
    "call",
    [
        lambda: blizzarr.open(f"file://me:{SECRET}@host/x"),
        lambda: blizzarr.open(f"file:///x?token={SECRET}"),
        lambda: blizzarr.open(f"file:::me:{SECRET}@host"),
        lambda: blizzarr.open(f"http:/me:{SECRET}@host/x"),
        lambda: blizzarr.open(f"https://host/x?token={SECRET}"),
        lambda: ObjectStore.from_url(f"http:/me:{SECRET}@host/x"),
        lambda: ObjectStore.from_url(f"s3://me:{SECRET}@bucket/x"),
        lambda: ObjectStore.from_url(f"https://me:{SECRET}@[::1/x"),
        lambda: ObjectStore.from_url(f"http://me:{SECRET}@host:99999/x"),
        lambda: ObjectStore.from_url("s3://bucket/x", endpoint=f"me:{SECRET}@host"),
        lambda: ObjectStore.from_url("s3://bucket/x", endpoint=f"http://me:{SECRET}@host", timeout="abc"),
        lambda: ObjectStore.from_url("s3://bucket/x", endpoint=f"http://me:{SECRET}@[::1"),
        lambda: ObjectStore.from_url("s3://bucket/x", secret=SECRET),
        lambda: ObjectStore.from_url("s3://bucket/x", secret_access_key={"a": SECRET}),
        lambda: ObjectStore.from_url("s3://bucket/x", proxy_url=f"http://me:{SECRET}@[::1"),
        lambda: ts.Spec(f"s3://me:{SECRET}@b!"),
    ],
)
def test_row_128_refused_urls_and_options_are_not_shown(call: Callable[[], object]) -> None:
    with pytest.raises((BlizzarrError, ValueError, TypeError)) as caught:
        call()
    check(*texts_of(caught.value))


def test_row_128_pickles_hold_what_the_store_needs() -> None:
    """As `docs/remote.md` says: another process must be able to go on. What is shown of the store there is the same."""
    for store in (
        ObjectStore.from_url(f"http://me:{SECRET}@127.0.0.1:9/a/"),
        FsspecStore.from_url(URLS[0], {"token": SECRET}),
    ):
        raw = pickle.dumps(store)
        assert SECRET.encode() in raw
        again = pickle.loads(raw)
        check(repr(store), repr(again), str(again))
        assert repr(again) == repr(store)
