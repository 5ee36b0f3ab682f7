"""Rows 112 to 120 and 128: what goes wrong between us and a server of objects."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import (
    BlizzarrError,
    ChunkError,
    ConflictError,
    StoreError,
    UnknownOutcomeError,
    UnsupportedOperationError,
)
from blizzarr.hierarchy import documents
from blizzarr.stores import ObjectStore
from support.faulty_server import FaultyServer, times
from support.remote_arrays import KEY, PARTS, VALUES, known, outcome, stored


def test_row_112_a_missing_object_is_the_fill_value(server: FaultyServer, array: Any) -> None:
    del server.objects[KEY]
    assert (array[:] == 9).all()
    assert (array[3:7] == 9).all()


@pytest.mark.parametrize(
    "status",
    [
        204,
        301,
        403,
        410,
        429,
        503,
        *(pytest.param(status, marks=pytest.mark.thorough) for status in (304, 400, 401, 405, 500, 502)),
    ],
)
def test_row_113_any_other_status_is_an_error(server: FaultyServer, array: Any, status: int) -> None:
    """It names the key; a part that is to be written is not merged into fill values either."""
    server.fault = times(1000, status)
    before = dict(server.objects)
    for part in PARTS:
        with pytest.raises((StoreError, ChunkError)) as caught:
            array[part]
        assert caught.value.key == "c/0"
        if isinstance(caught.value, StoreError) and status >= 400:
            assert str(status) in str(caught.value)
    with pytest.raises((StoreError, ChunkError)):
        array[3:7] = 1
    assert server.objects == before


def test_row_113_servers_that_refuse_what_is_missing(server: FaultyServer) -> None:
    """Nodes of v3 have one document and can be opened; what else is refused is no fill value and no empty attribute."""
    array = stored(server, "plain")
    array.resize(128)
    server.fault = lambda method, path: None if path in server.objects else 403
    for opened in (blizzarr.open(server.store(), mode="r"), blizzarr.open_array(server.store(), mode="r")):
        assert np.array_equal(opened[:64], VALUES)
        with pytest.raises(StoreError, match="403"):
            opened[64:]
    with pytest.raises(StoreError, match="403"):
        blizzarr.open(server.store(), path="b", mode="r")
    del server.objects["/bucket/a/zarr.json"]
    server.objects["/bucket/a/.zarray"] = document_of_v2()
    with pytest.raises(StoreError, match="403"):
        blizzarr.open(server.store(), mode="r")


def document_of_v2() -> bytes:
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, data=VALUES, chunks=64, zarr_format=2)
    return bytes(values[".zarray"])


def test_row_113_a_page_of_a_proxy_says_nothing_of_an_object(server: FaultyServer, array: Any) -> None:
    """404 with a page for people is not the answer of a store; behind HTTP, it is how servers say so."""
    server.fault = times(1000, "404 of a proxy")
    for part in PARTS:
        with pytest.raises(StoreError, match="404: a page of HTML") as caught:
            array[part]
        assert caught.value.key == "c/0"
    assert ObjectStore.from_url(f"{server.url}/bucket/a").get("c/0") is None


def test_row_113_a_page_of_a_proxy_stores_nothing(server: FaultyServer, array: Any) -> None:
    """200 with such a page, even with an ETag, is no answer to a write."""
    before = dict(server.objects)
    server.fault = lambda method, path: "html" if method == "PUT" else None
    for write in (
        lambda: array.__setitem__(3, 7),
        lambda: array.__setitem__(slice(None), 7),
        lambda: array.attrs.update(a=1),
        lambda: array.resize(100),
    ):
        with pytest.raises(StoreError, match="page of HTML"):
            write()
    assert server.objects == before


@pytest.mark.parametrize("fault", [500, 503, "reset"])
def test_row_114_what_fails_for_a_while_is_tried_again(server: FaultyServer, array: Any, fault: int | str) -> None:
    for part in PARTS:
        server.fault = times(2, fault)
        assert np.array_equal(array[part], VALUES[part])
    server.fault = times(2, 503, "PUT")
    array[3:7] = 1
    server.fault = lambda method, path: None
    assert array[2:8].tolist() == [3, 1, 1, 1, 1, 8]


def test_row_114_at_last_it_is_an_error_that_says_how_often(server: FaultyServer, array: Any) -> None:
    server.fault = times(1000, 503)
    with pytest.raises(StoreError, match=r"after 3 retries|retries: 3|max_retries: ?3"):
        array[:]


def test_row_115_a_body_that_ends_early_is_requested_again(server: FaultyServer, array: Any) -> None:
    """And then an error, never fewer bytes."""
    for part in PARTS:
        server.fault = times(2, "cut")
        assert np.array_equal(array[part], VALUES[part])
    server.fault = times(1000, "cut")
    with pytest.raises(StoreError) as caught:
        array[:]
    assert caught.value.key == "c/0"


@pytest.mark.parametrize("has_tags", [True, False])
def test_row_115_a_body_is_requested_as_often_as_other_requests(server: FaultyServer, has_tags: bool) -> None:
    """`max_retries` counts all that goes wrong."""
    value = bytes(range(256)) * 4
    server.objects["/bucket/a/b"] = value
    if not has_tags:
        server.tags = lambda value: None
    store = server.store()
    server.fault = times(3, "cut", ending="b")
    assert bytes(store.get("b") or b"") == value
    server.requests.clear()
    server.fault = times(1000, "cut", ending="b")
    if not has_tags:
        with pytest.raises(StoreError):
            store.get("b")
        assert len(server.requests) == 4


def test_row_115_a_body_that_stalls_is_requested_again(server: FaultyServer) -> None:
    stored(server, "plain")
    array = blizzarr.open_array(server.store(client_options={"allow_http": True, "timeout": "300ms"}))
    server.fault = times(1, "stall")
    assert np.array_equal(array[:], VALUES)


@pytest.mark.parametrize("fault", ["html", "gzip", "wrong range"])
def test_row_116_other_bytes_than_were_asked_for_are_no_elements(server: FaultyServer, array: Any, fault: str) -> None:
    """An error, or what was asked for."""
    server.fault = times(1000, fault)
    for part in PARTS:
        found = outcome(lambda part=part: array[part])
        assert found.key == "c/0" if isinstance(found, BlizzarrError) else np.array_equal(found, VALUES[part])


def test_row_116_a_page_in_place_of_a_document(server: FaultyServer) -> None:
    stored(server, "plain")
    server.fault = times(1000, "html", ending="zarr.json")
    with pytest.raises(BlizzarrError, match=r"zarr\.json"):
        blizzarr.open_array(server.store())


def test_row_116_a_page_in_place_of_a_chunk_is_not_copied(server: FaultyServer) -> None:
    """Chunks of one layout are copied as they are stored."""
    array = stored(server, "plain")
    server.fault = times(1000, "html")
    for part in PARTS:
        with pytest.raises(StoreError, match="it is a page of HTML, which is no answer of a store"):
            array[part]
    copied: dict[str, bytes] = {}
    with pytest.raises(StoreError, match="page of HTML"):
        blizzarr.copy(array, copied)
    assert "c/0" not in copied


def test_row_117_a_lost_answer_is_no_conflict_and_no_lost_write(server: FaultyServer, array: Any) -> None:
    """What was written, but not confirmed, is there once; only `append` cannot tell it from what others append."""
    known(server)
    server.fault = times(1, "applied, but no answer", "PUT")
    array[3:7] = 1
    assert array[2:8].tolist() == [3, 1, 1, 1, 1, 8]
    server.fault = times(1, "applied, but no answer", "PUT", "zarr.json")
    array.attrs["a"] = 1
    server.fault = times(1, "applied, but no answer", "PUT", "zarr.json")
    array.resize(70)
    server.fault = times(1, "applied, but no answer", "PUT", "zarr.json")
    del array.attrs["a"]
    assert blizzarr.open_array(server.store()).attrs.asdict() == {}
    assert array.shape == (70,)
    server.fault = times(1, "applied, but no answer", "PUT", "zarr.json")
    with pytest.raises(UnknownOutcomeError, match="refresh"):
        array.append([5, 6])
    array.refresh()
    array.append([5, 6], at=70)
    assert blizzarr.open_array(server.store())[70:].tolist() == [5, 6]


def test_row_117_a_removal_of_many_objects_is_repeated_after_a_lost_answer(server: FaultyServer) -> None:
    """Although it is a POST; whether it was carried out makes no difference."""
    group = blizzarr.create_group(server.store(client_options={"allow_http": True, "timeout": "300ms"}))
    group.create_array("b", data=VALUES, chunks=8)
    server.fault = times(2, "silence", "POST", "?delete")
    del group["b"]
    assert [*server.objects] == ["/bucket/a/zarr.json"]
    server.fault = times(1000, "silence", "POST", "?delete")
    with pytest.raises(StoreError, match=r"POST .*no answer in time, after 3 retries"):
        server.store(client_options={"allow_http": True, "timeout": "50ms"}).delete_many(["c/0", "c/1"])


def test_row_117_nothing_but_what_users_store_is_stored(server: FaultyServer) -> None:
    """No marks in objects, and no objects to try things out."""
    array = stored(server, "plain")
    array[3:7] = 1
    array.attrs["a"] = 1
    array.append([5])
    assert server.objects.keys() == {f"/bucket/a/{name}" for name in ("zarr.json", "c/0", "c/1")}
    assert not any(server.metadata.values())


def changed_by_others(server: FaultyServer, fault: str | int) -> None:
    """Lose, or refuse, the next change of the document; others change it before the request is made again."""
    requests = iter([fault, None])

    def go_on(method: str, path: str) -> Any:
        if method != "PUT" or not path.endswith("zarr.json"):
            return None
        again = next(requests, fault)
        if again is None:
            document = json.loads(server.objects[path])
            document["attributes"] = {"theirs": 1}
            server.objects[path] = json.dumps(document).encode()
            server.fault = lambda method, path: None
        return again

    server.fault = go_on


def test_row_117_a_write_that_was_not_made_is_made(server: FaultyServer) -> None:
    array = stored(known(server), "plain")
    array.attrs["a"] = 1
    changed_by_others(server, 412)
    array.append([5, 6])
    changed_by_others(server, 503)
    array.append([7])
    found = blizzarr.open_array(server.store())
    assert found[64:].tolist() == [5, 6, 7]
    assert found.attrs.asdict() == {"theirs": 1}


def test_row_117_a_connection_that_ends_before_the_write_is_made(server: FaultyServer) -> None:
    """What is stored has not changed since, so that the request is made again."""
    array = stored(server, "plain")
    server.fault = times(1, 500, "PUT", "zarr.json")
    array.append([5, 6])
    assert blizzarr.open_array(server.store())[64:].tolist() == [5, 6]


def test_row_117_what_cannot_be_known_is_said(server: FaultyServer) -> None:
    """Others have changed the document since: an error, and not a second append."""
    array = stored(known(server), "plain")
    changed_by_others(server, "applied, but no answer")
    with pytest.raises(UnknownOutcomeError, match="refresh"):
        array.append([5, 6])
    found = blizzarr.open_array(server.store())
    assert found.shape == (66,)
    assert found[64:].tolist() == [9, 9]
    array.refresh()
    array.append([5, 6], at=64)
    assert array[64:].tolist() == [5, 6]
    changed_by_others(server, "applied, but no answer")
    array.attrs["ours"] = 2
    assert blizzarr.open_array(server.store()).attrs.asdict() == {"theirs": 1, "ours": 2}
    changed_by_others(server, "applied, but no answer")
    with pytest.raises(UnknownOutcomeError):
        array.attrs.pop("ours", None)
    changed_by_others(server, "applied, but no answer")
    with pytest.raises(UnknownOutcomeError):
        array.resize(60)


def test_row_117_a_value_of_which_it_is_not_known_who_wrote_it(server: FaultyServer) -> None:
    """Two that count may write the same: neither is told that its write was made, or refused, if that is not known."""
    store = known(server).store()
    store.set("count", b"5")
    _, version = store.get_with_version("count") or (b"", "")
    server.fault = times(1, "applied, but no answer", "PUT", "count")
    with pytest.raises(UnknownOutcomeError) as caught:
        store.set_if_version("count", b"6", version)
    assert caught.value.key == "count"
    server.fault = times(1, "applied, but no answer", "PUT", "new")
    assert store.replace("new", None, b"1") is True


def test_row_117_what_cannot_be_known_at_the_last_attempt_is_said(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = stored(known(server), "plain")
    monkeypatch.setattr(documents, "_ATTEMPTS", 1)
    changed_by_others(server, "applied, but no answer")
    with pytest.raises(UnknownOutcomeError):
        array.append([5, 6])
    assert blizzarr.open_array(server.store()).shape == (66,)


def test_row_118_a_request_that_was_made_once_is_surely_refused(server: FaultyServer) -> None:
    """No answer can have been lost."""
    array = stored(server, "plain")

    def longer(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("zarr.json"):
            server.fault = lambda method, path: None
            document = json.loads(server.objects[path])
            document["shape"] = [66]
            server.objects[path] = json.dumps(document).encode()

    server.fault = longer
    array.append([5])
    assert blizzarr.open_array(server.store())[64:].tolist() == [9, 9, 5]
    server.fault = longer
    with pytest.raises(ConflictError) as caught:
        array.resize(60)
    assert type(caught.value) is ConflictError
    server.objects["/bucket/a/there"] = b"theirs"
    assert array.store.replace("there", None, b"ours") is False


def test_row_118_a_conflict_is_tried_again(server: FaultyServer, array: Any) -> None:
    """409: another request was under way; 412: another version is there."""
    for status in (409, 412):
        server.fault = times(2, status, "PUT")
        array[3:7] = status
        assert array[2:8].tolist() == [3, *[status] * 4, 8]
    server.fault = times(2, 409, "PUT")
    array[:] = 7
    assert (array[:] == 7).all()


@pytest.mark.parametrize("heeded", [set(), {"If-Match"}, {"If-None-Match"}])
def test_row_119_a_server_that_ignores_conditions_is_found_out(
    server: FaultyServer, array: Any, heeded: set[str]
) -> None:
    """Before anything is overwritten, unless the user says that nobody else writes."""
    server.conditions = heeded
    before = dict(server.objects)
    for write in (
        lambda: array.__setitem__(slice(3, 7), 1),
        lambda: array.attrs.update(a=1),
        lambda: array.append([1]),
    ):
        with pytest.raises(UnsupportedOperationError, match="unsafe_shared_writes=True"):
            write()
    assert server.objects == before
    with pytest.raises(UnsupportedOperationError, match="unsafe_shared_writes=True"):
        array.store.replace("new", None, b"value")
    assert array.store.replace("c/0", None, b"other") is False
    del server.objects["/bucket/a/new"]
    assert server.objects == before
    alone = blizzarr.open_array(server.store(unsafe_shared_writes=True))
    alone[3:7] = 1
    alone.append([7])
    assert alone[2:8].tolist() == [3, 1, 1, 1, 1, 8]
    assert alone[64] == 7


@pytest.mark.parametrize("tags", ["weak", "none", "without quotes"])
def test_row_120_etags_that_cannot_be_relied_on(server: FaultyServer, array: Any, tags: str) -> None:
    """Reading works; shared writing works, or says why not, and does not go on for ever."""
    strong = server.tags
    server.tags = {
        "weak": lambda value: f"W/{strong(value)}",
        "none": lambda value: None,
        "without quotes": lambda value: str(strong(value)).strip('"'),
    }[tags]
    assert np.array_equal(array[:], VALUES)
    assert np.array_equal(array[3:7], VALUES[3:7])
    refused = outcome(lambda: array.__setitem__(slice(3, 7), 1))
    if tags == "without quotes":
        assert array[2:8].tolist() == [3, 1, 1, 1, 1, 8]
    else:
        assert isinstance(refused, UnsupportedOperationError)
        assert "ETag" in str(refused)


def test_row_120_credentials_that_expire_meanwhile(server: FaultyServer, array: Any) -> None:
    assert array[0] == 1
    server.fault = lambda method, path: 403
    with pytest.raises(StoreError, match="pass credentials"):
        array[0]


def test_row_128_no_credentials_are_shown(server: FaultyServer) -> None:
    secrets = {"access_key_id": "AKIASECRETID", "secret_access_key": "verysecret", "skip_signature": False}
    store = server.store(**secrets, client_options={"allow_http": True, "default_headers": {"x-token": "topsecret"}})
    server.fault = lambda method, path: 403
    texts = [repr(store), str(store), store.place]
    with pytest.raises(StoreError) as caught:
        blizzarr.open_array(store)
    texts += [str(caught.value), repr(caught.value)]
    with pytest.raises(ValueError, match="found '\\?'") as refused:
        blizzarr.open("https://example.org/a?X-Amz-Signature=verysecret")
    texts.append(str(refused.value))
    for text in texts:
        assert "secret" not in text.lower()
