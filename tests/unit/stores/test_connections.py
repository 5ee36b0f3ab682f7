"""Stores with the same options share what takes long to make."""

from __future__ import annotations

import pytest

pytest.importorskip("obstore")

from blizzarr.stores.obstore_library import store_of_url


def test_a_url_that_was_opened_before(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "s3://bucket/a"
    first = store_of_url(url, {"region": "eu-west-1"})
    assert store_of_url(url, {"region": "eu-west-1"}) is first
    assert store_of_url(url, {"region": "eu-west-2"}).config["region"] == "eu-west-2"
    assert store_of_url(url, {"region": "eu-west-1", "credential_provider": lambda: None}) is not first
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert store_of_url(url, {"region": "eu-west-1"}).client_options == {"allow_http": "true"}
