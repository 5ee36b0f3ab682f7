"""Object stores: the contract of stores, and what only they have, on servers of this machine."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError, PathError, StoreError, UnsupportedOperationError
from blizzarr.stores import ObjectStore, Store
from blizzarr.stores.generation import read_generation, replace_generation
from blizzarr.stores.place import is_below, is_in_memory, lasting_place_of, place_of
from blizzarr.stores.urls import resolve
from blizzarr.testing.stores import StoreContract
from support.faulty_server import faulty_server
from support.object_servers import OPTIONS, client, new_bucket, s3_server

obstore = pytest.importorskip("obstore")
pytest.importorskip("moto")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as url:
        yield url


def on_s3(server: str, prefix: str = "", **options: Any) -> ObjectStore:
    return ObjectStore.from_url(f"s3://{new_bucket(server)}/{prefix}", endpoint=server, **{**OPTIONS, **options})


class ObjectContract(StoreContract):
    """What is the same in all object stores."""

    def test_odd_names(self, store: Store) -> None:
        """Other characters are part of the name; control characters no object can have."""
        keys = ["%2e%2e/x", "a b/ü", "...", "c", "__x", ".zarray", "\u00e9", "e\u0301", "a#b?c&d+e*f"]
        for number, key in enumerate(keys):
            store.set(key, bytes([number]))
        assert [bytes(store.get(key) or b"") for key in keys] == [bytes([number]) for number in range(len(keys))]
        assert sorted(store.list()) == sorted(keys)
        with pytest.raises(PathError, match="may not"):
            store.set("new\nline", b"")


class TestMemoryOfObstore(ObjectContract):
    def make(self, tmp_path: Path) -> Store:
        return resolve(obstore.store.MemoryStore())[0]


class TestS3(ObjectContract):
    @pytest.fixture(autouse=True)
    def _server(self, server: str) -> None:
        self.server = server

    def make(self, tmp_path: Path) -> Store:
        return on_s3(self.server, "some where/ü")

    def test_versions(self, store: Any) -> None:
        """Versions are hashes of the values there."""
        assert store.version("a/b") is None
        seen = []
        for value in (b"1", b"2", b"1"):
            store.set("a/b", value)
            seen.append(store.version("a/b"))
        assert seen[0] == seen[2] != seen[1]


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest, server: str) -> Any:
    return resolve(obstore.store.MemoryStore())[0] if request.param == "memory" else on_s3(server, "x.zarr")


def test_conditional_writes(store: Any) -> None:
    """A value is set only if the one there is of the version that was read."""
    assert store.get_with_version("a") is None
    assert store.set_if_version("a", b"1", None)
    assert not store.set_if_version("a", b"2", None)
    value, version = store.get_with_version("a") or (b"", "")
    assert bytes(value) == b"1"
    assert store.set_if_version("a", b"2", version)
    assert not store.set_if_version("a", b"3", version)
    assert bytes(store.get("a") or b"") == b"2"
    store.delete("a")
    assert not store.set_if_version("a", b"3", version)
    assert store.get("a") is None


@pytest.mark.parametrize("generation", [b"", b"\0", b"\xff\xff", b"\0\xff", b"\0other"])
def test_a_generation_of_something_else_is_not_the_one_there(store: Any, generation: bytes) -> None:
    store.set("a", b"1")
    assert replace_generation(store, "a", generation, b"2") is None
    assert bytes(store.get("a") or b"") == b"1"
    known = read_generation(store, "a")[1]
    assert replace_generation(store, "a", known, b"2") == read_generation(store, "a")[1]


def test_many_writers_of_one_value() -> None:
    """Each of 4 x 10 additions counts, although no lock excludes the writers; moto would lose some itself."""
    with faulty_server() as running:
        for store in (resolve(obstore.store.MemoryStore())[0], running.store()):
            count_together(store)


def count_together(store: Any) -> None:
    store.set("count", b"0")

    def add(_: int) -> None:
        for _ in range(10):
            while True:
                value, version = store.get_with_version("count") or (b"", "")
                if store.set_if_version("count", b"%d" % (int(bytes(value)) + 1), version):
                    break

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert bytes(store.get("count") or b"") == b"40"


def test_ranges_of_one_version(server: str) -> None:
    """What was replaced between two requests is a conflict, not a mixture."""
    store = on_s3(server, "x.zarr")
    store.set("a", b"0123456789")
    parts, version = store.get_ranges_of_version("a", [(2, 3), (-2, 2)], None) or ([], "")
    assert [bytes(part) for part in parts] == [b"234", b"89"]
    again, _ = store.get_ranges_of_version("a", [(0, 1)], version) or ([], "")
    assert bytes(again[0]) == b"0"
    store.set("a", b"abcdefghij")
    with pytest.raises(ConflictError, match="was replaced"):
        store.get_ranges_of_version("a", [(0, 1)], version)
    assert store.get_ranges_of_version("b", [(0, 1)], None) is None


def test_a_value_replaced_between_the_requests_for_its_parts() -> None:
    """Parts too far from each other for one request are requested again until they are of one version."""
    old, new = b"o" * 3_000_000, b"n" * 3_000_000
    with faulty_server() as running:
        store = running.store()
        store.set("a", old)
        requests = iter("ab")

        def replace(method: str, path: str) -> None:
            if method == "GET" and next(requests, None) == "b":
                running.objects[path] = new

        running.fault = replace
        parts = store.get_ranges("a", [(0, 2), (2_900_000, 2)])
        assert next(requests, None) is None
    assert parts is not None
    assert {bytes(part) for part in parts} == {b"nn"}


def test_places(server: str) -> None:
    """Two handles of one place are equal, whatever their credentials; two prefixes are two places."""
    one, two = (ObjectStore.from_url("s3://bucket/a/b", **{**OPTIONS, "access_key_id": key}) for key in "xy")
    other = ObjectStore.from_url("s3://bucket/a", **OPTIONS)
    assert place_of(one) == place_of(two) == lasting_place_of(one) == "s3://bucket/a/b"
    assert place_of(other) != place_of(one)
    assert place_of(ObjectStore.from_url("s3://bucket/a", endpoint=server, **OPTIONS)) != place_of(other)
    assert place_of(ObjectStore.from_url("az://c/a/b", account_name="acc", skip_signature=True)) == "az://acc/c/a/b"
    target = obstore.store.MemoryStore()
    memory, again, other = (resolve(one)[0] for one in (target, target, obstore.store.MemoryStore()))
    assert repr(memory) == f"<ForeignStore over {target!r}>"
    assert place_of(memory) == place_of(again) != place_of(other)
    assert memory == again != other
    assert hash(memory) == hash(again)
    assert lasting_place_of(memory) is None
    assert is_in_memory(memory)


def test_places_below_others(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on other servers than the vendor's, wherever they are named, and whether a URL ends with a slash."""
    above, below = (ObjectStore.from_url(f"s3://b/{path}", endpoint=server, **OPTIONS) for path in ("a", "a/c"))
    assert repr(below) == f"<ObjectStore s3:{server}/b/a/c>"
    assert str(below) == "s3://b/a/c"
    assert str(ObjectStore.from_url("az://c/a/b", account_name="acc", skip_signature=True)) == "az://c/a/b"
    assert is_below(below, "", above, "c")
    assert not is_below(above, "", below, "")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"{server}/")
    assert place_of(ObjectStore.from_url("s3://b/a", **OPTIONS)) == place_of(above)
    one, two = (ObjectStore.from_url(f"https://example.org/a{end}") for end in ("", "/"))
    assert place_of(one) == place_of(two) == "https://example.org/a"
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acc")
    assert place_of(ObjectStore.from_url("az://c/a", skip_signature=True)) == "az://acc/c/a"


def test_credentials_in_urls_are_not_shown() -> None:
    with pytest.raises(ValueError, match="'@' or ':' in the name of a bucket") as refused:
        ObjectStore.from_url("s3://KEY:SECRET@bucket/a")
    assert "SECRET" not in str(refused.value)
    options: dict[str, Any] = {"retry_config": {"max_retries": 0}}
    store = ObjectStore.from_url("HTTP://me:SECRET@127.0.0.1:1/a?signature=SECRET", **options)
    other = ObjectStore.from_url("http://me:SECRET@127.0.0.1:1/a?signature=SECRETS", **options)
    assert place_of(store) != place_of(other), "nobody knows what the query means"
    with pytest.raises(StoreError, match="cannot read key b") as caught:
        store.get("b")
    assert "SECRET" not in repr(store) + place_of(store) + "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["endpoint", "endpoint_url", "aws_endpoint"])
def test_servers_without_encryption(server: str, name: str) -> None:
    """Whoever names such a server, in whatever way, wants requests to it."""
    bucket = new_bucket(server)
    store = ObjectStore.from_url(f"s3://{bucket}/a", **{name: server}, **OPTIONS)
    assert store.get("b") is None
    client(server).put_object(Bucket=bucket, Key="a/b", Body=b"1", ACL="public-read")
    web = ObjectStore.from_url(f"HTTP{server.removeprefix('http')}/{bucket}/a")
    assert bytes(web.get("b") or b"") == b"1"


def test_pickling(server: str) -> None:
    store = on_s3(server, "a")
    store.set("b", b"value")
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert bytes(again.get("b")) == b"value"


def test_a_bucket_that_is_missing_is_no_missing_value(server: str) -> None:
    """Both are 404, but only one of them may be read as fill values."""
    store = ObjectStore.from_url("s3://no-such-bucket/a", endpoint=server, **OPTIONS)
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: store.get("b"),
        "ranges": lambda: store.get_ranges("b", [(0, 1)]),
        "nothing of it": lambda: store.get_ranges("b", [(0, 0)]),
        "size": lambda: store.size("b"),
        "version": lambda: store.version("b"),
        "set": lambda: store.set("b", b""),
        "create": lambda: store.replace("b", None, b""),
        "replace": lambda: store.replace("b", b"1", b""),
        "list": store.list,
    }
    # What one of them has found out must not make another one forget it.
    for call in [*calls.values()] * 2:
        with pytest.raises(StoreError, match=r"^[^<>]*no such bucket[^<>]*$"):
            call()


def test_a_name_may_be_that_of_an_error(server: str) -> None:
    """What is looked for in the text of an error is not found in the key, which is there too."""
    store = on_s3(server, "NoSuchBucket/ContainerNotFound")
    assert store.get("416") is None
    array = blizzarr.create_array(store, shape=4, chunks=2, dtype="u1", fill_value=7)
    assert array[:].tolist() == [7] * 4


def test_errors_say_what_to_do_and_show_no_secrets(server: str) -> None:
    store = on_s3(server, "a")
    store.set("b", b"value")
    refused = ObjectStore.from_url(f"{server}/{store._settings.bucket}/a")
    with pytest.raises(StoreError, match="skip_signature=True for public data") as caught:
        refused.get("b")
    assert (caught.value.key, caught.value.errno) == ("b", errno.EACCES)
    unreachable = ObjectStore.from_url(
        "s3://bucket/a", endpoint="http://127.0.0.1:1", retry_config={"max_retries": 0}, **OPTIONS
    )
    with pytest.raises(StoreError, match="no connection: Connection refused") as caught:
        unreachable.get("b")
    assert "Debug source" not in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="no_such_option"):
        ObjectStore.from_url("s3://bucket", no_such_option=1)
    with pytest.raises(ValueError, match="anon: use skip_signature=True"):
        ObjectStore.from_url("s3://bucket", anon=True)
    with pytest.raises(ValueError, match="cannot be opened") as shown:
        ObjectStore.from_url("abfss://secret@nowhere.example.org/a")
    assert "secret" not in str(shown.value)
    with pytest.raises(UnsupportedOperationError, match="begins with s3"):
        ObjectStore.from_url("ftp://bucket")


def test_who_has_no_credentials_is_told_how_to_go_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the error would be about a service of the machine that nobody has heard of."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
    store = ObjectStore.from_url("s3://bucket/a", region="x", retry_config={"max_retries": 0})
    with pytest.raises(StoreError, match="AWS_SKIP_SIGNATURE=true") as caught:
        store.get("b")
    assert caught.value.errno == errno.EACCES


def test_a_forked_child_reads_and_writes(server: str) -> None:
    """It has none of its parent's connections, nor threads."""
    store = on_s3(server)
    array = blizzarr.create_array(store, data=np.arange(64), chunks=8)
    assert array[3] == 3
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(60)
        found = array[:].sum()
        array[8:10] = 1
        store.set("a", b"value")
        os.write(writing, b"%d" % found)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        assert said.read() == str(sum(range(64)))
    os.waitpid(child, 0)
    assert bytes(store.get("a") or b"") == b"value"
    assert array[7:11].tolist() == [7, 1, 1, 10]


def test_a_forked_pool_reads(server: str) -> None:
    store = on_s3(server)
    store.set("a", b"value")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert bytes(pool.apply_async(ObjectStore.get, [store, "a"]).get(30)) == b"value"


def test_names_are_those_that_others_see(server: str) -> None:
    """Nothing is escaped in the keys of objects."""
    store = on_s3(server, "a b")
    store.set("c/ü%20", b"value")
    bucket = store._settings.bucket
    listed = client(server).list_objects_v2(Bucket=bucket)["Contents"]
    assert [entry["Key"] for entry in listed] == ["a b/c/ü%20"]


def test_options_of_the_http_client_may_stand_among_the_others(server: str) -> None:
    """A store that was pickled and unpickled has them, too."""
    options = {name: value for name, value in OPTIONS.items() if name != "client_options"}
    url = f"s3://{new_bucket(server)}/a"
    store = ObjectStore.from_url(
        url, endpoint=server, allow_http=True, timeout="5s", AWS_CONNECT_TIMEOUT="5s", **options
    )
    again = pickle.loads(pickle.dumps(store))
    again.set("b", b"1")
    assert bytes(store.get("b") or b"") == b"1"
    assert server in store.place


def test_a_store_whose_configuration_cannot_be_read_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"client_options="):
        ObjectStore(obstore.store.S3Store("lab", allow_http=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"retry_config": {"max_retry": 2}},
            "retry_config: there is no option 'max_retry'; did you mean 'max_retries'",
        ),
        (
            {"retry_config": {"backoff": {"x": 2}}},
            "backoff in retry_config: there is no option 'x'; there are init_back",
        ),
        ({"regin": "x"}, "regin: did you mean 'region'"),
        ({"anon": True}, "anon: use skip_signature=True"),
    ],
)
def test_misspelled_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ObjectStore.from_url("s3://bucket/a", **options)


def test_an_endpoint_without_encryption_in_the_environment(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = new_bucket(server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    store = ObjectStore.from_url(f"s3://{bucket}/a", **OPTIONS)
    store.set("b", b"1")
    assert bytes(store.get("b") or b"") == b"1"
    theirs = ObjectStore(obstore.store.S3Store(bucket, prefix="a", **OPTIONS))
    assert bytes(theirs.get("b") or b"") == b"1"
    refusing = ObjectStore.from_url(f"s3://{bucket}/a", allow_http=False, **OPTIONS)
    with pytest.raises(StoreError, match=r"client_options=\{'allow_http': True\}"):
        refusing.get("b")


def test_stores_of_obstore_that_are_no_object_stores() -> None:
    with pytest.raises(TypeError, match=r"found MemoryStore; pass stores of another kind in place of a path"):
        ObjectStore(obstore.store.MemoryStore())
    assert repr(resolve(obstore.store.LocalStore())[0]) == "LocalStore('/')"


def test_a_store_of_obstore_is_the_place_of_its_url(server: str) -> None:
    """With its options: where they differ, so do the stores."""
    kinds = obstore.store
    azure = {"account_name": "acc", "skip_signature": True}
    for theirs, url, options in (
        (kinds.S3Store("b", prefix="a/c", endpoint=server, **OPTIONS), "s3://b/a/c", {"endpoint": server, **OPTIONS}),
        (kinds.GCSStore("b", skip_signature=True), "gs://b", {"skip_signature": True}),
        (kinds.AzureStore("c", prefix="a", **azure), "abfss://c@acc.dfs.core.windows.net/a", {"skip_signature": True}),
        (kinds.HTTPStore.from_url("https://example.org/a"), "https://example.org/a", {}),
    ):
        assert place_of(ObjectStore(theirs)) == place_of(ObjectStore.from_url(url, **options))
        assert str(ObjectStore(theirs)) == str(ObjectStore.from_url(url, **options))


@pytest.mark.parametrize("url", ["abfss://c@acc.example.org/a", "s3:///a", "gs://a?b/c", "az://c@acc/a"])
def test_urls_that_name_no_bucket(url: str) -> None:
    with pytest.raises(ValueError, match="cannot be opened: expected"):
        ObjectStore.from_url(url)


def test_a_text_that_is_no_url() -> None:
    with pytest.raises(UnsupportedOperationError, match="found none"):
        ObjectStore.from_url("bucket/a")


def test_errors_are_one_sentence() -> None:
    """It says what was asked, and what the system has found."""
    pytest.importorskip("obstore")
    options = {"endpoint": "http://127.0.0.1:9", "region": "us-east-1", "client_options": {"allow_http": True}}
    keys = {"access_key_id": "key", "secret_access_key": "secret"}
    store = ObjectStore.from_url("s3://b/x", **options, **keys, retry_config={"max_retries": 0})
    with pytest.raises(StoreError) as caught:
        store.get("a")
    assert str(caught.value) == (
        "cannot read key a in s3://b/x: GET http://127.0.0.1:9/b/x/a: no connection: Connection refused"
    )
