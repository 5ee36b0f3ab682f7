"""Credentials for S3 as users have them: files, programs, logins in the browser, instances, and none."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from blizzarr.stores import ObjectStore
from blizzarr.stores.aws_profiles import profile_of
from support.object_servers import new_bucket, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a file of credentials, and none in the environment."""
    names = ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "PROFILE", "REGION", "DEFAULT_REGION", "SKIP_SIGNATURE"]
    for name in names:
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = me\naws_secret_access_key = mine\n"
        "[lab]\naws_access_key_id = lab\naws_secret_access_key = labs\n"
    )
    (tmp_path / "config").write_text(
        "[default]\nregion = eu-central-1\n[profile lab]\nregion = x\n[profile other]\ncredential_process = ./nobody\n"
    )
    return tmp_path


def test_keys_in_a_file(home: Path, s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"access_key_id": "me", "secret_access_key": "mine"}
    assert profile_of({}).options == {"region": "eu-central-1", **keys}
    assert profile_of({"region": "y"}).options == keys
    assert profile_of({"access_key_id": "a"}) == profile_of({"skip_signature": "true"}) == ({}, None)
    store = ObjectStore.from_url(f"s3://{new_bucket(s3)}/a", endpoint=s3)
    store.set("b", b"value")
    assert bytes(store.get("b") or b"") == b"value"
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert profile_of({}).options == {"region": "x", "access_key_id": "lab", "secret_access_key": "labs"}
    monkeypatch.setenv("AWS_DEFAULT_REGION", "y")
    assert profile_of({}).options == {"access_key_id": "lab", "secret_access_key": "labs"}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "env")
    assert profile_of({}) == ({}, None)


def test_a_program_that_provides_credentials(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    program = home / "provide.py"
    program.write_text(
        "import json; print(json.dumps({'Version': 1, 'AccessKeyId': 'p', 'SecretAccessKey': 's', "
        "'Expiration': '2099-01-01T00:00:00Z'}))"
    )
    (home / "config").write_text(f"[profile other]\ncredential_process = {sys.executable} {program}\n")
    monkeypatch.setenv("AWS_PROFILE", "other")
    profile = profile_of({})
    assert profile.provider is not None
    found = profile.provider()
    assert (found["access_key_id"], found["secret_access_key"]) == ("p", "s")
    assert found["expires_at"] == datetime(2099, 1, 1, tzinfo=UTC)


@contextmanager
def places(answers: dict[tuple[str, str], bytes]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A server with an answer for each method and path; yields its URL, and what was asked with which credentials."""
    asked: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append((self.command, path, self.headers.get("Authorization", "")))
            answer = answers.get((self.command, path))
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Length", str(len(answer or b"")))
            if self.command == "GET":
                self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
            self.end_headers()
            self.wfile.write(answer or b"")

        def do_PUT(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_credentials_of_a_login_in_the_browser(home: Path) -> None:
    """SSO: the token that `aws sso login` has left is exchanged for keys, by botocore."""
    pytest.importorskip("botocore")
    (home / "config").write_text(
        "[profile lab]\nregion = x\nsso_start_url = https://lab.example/start\nsso_region = x\n"
        "sso_account_id = 1234\nsso_role_name = reader\n"
    )
    (home / "credentials").write_text("")
    cache = home / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    token = {"accessToken": "from the browser", "expiresAt": "2099-01-01T00:00:00Z"}
    (cache / f"{hashlib.sha1(b'https://lab.example/start').hexdigest()}.json").write_text(json.dumps(token))
    keys = {"accessKeyId": "sso-key", "secretAccessKey": "s", "sessionToken": "t", "expiration": 4_070_908_800_000}
    answers = {
        ("GET", "/federation/credentials"): json.dumps({"roleCredentials": keys}).encode(),
        ("GET", "/bucket/a/k"): b"value",
    }
    with places(answers) as (url, asked):
        # botocore looks where the home is when it is imported.
        program = f"""from blizzarr.stores import ObjectStore
store = ObjectStore.from_url("s3://bucket/a", endpoint={url!r})
assert [bytes(store.get("k") or b"") for _ in range(2)] == [b"value"] * 2"""
        environment = {**os.environ, "HOME": str(home), "AWS_PROFILE": "lab", "AWS_ENDPOINT_URL_SSO": url}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    assert [path for _, path, _ in asked] == ["/federation/credentials", "/bucket/a/k", "/bucket/a/k"]
    assert "Credential=sso-key/" in asked[1][2]


def test_credentials_of_an_instance(home: Path) -> None:
    """A machine in the cloud has a service that knows its role."""
    for name in ("credentials", "config"):
        (home / name).write_text("")
    roles = "/latest/meta-data/iam/security-credentials/"
    keys = {
        "AccessKeyId": "instance-key",
        "SecretAccessKey": "s",
        "Token": "t",
        "Expiration": "2099-01-01T00:00:00Z",
        "Code": "Success",
        "LastUpdated": "2024-01-01T00:00:00Z",
        "Type": "AWS-HMAC",
    }
    answers = {
        ("PUT", "/latest/api/token"): b"session",
        ("GET", roles): b"reader",
        ("GET", f"{roles}reader"): json.dumps(keys).encode(),
        ("GET", "/bucket/a/k"): b"value",
    }
    with places(answers) as (url, asked):
        store = ObjectStore.from_url("s3://bucket/a", endpoint=url, region="x", metadata_endpoint=url)
        assert [bytes(store.get("k") or b"") for _ in range(2)] == [b"value"] * 2
    assert [path for _, path, _ in asked] == ["/latest/api/token", roles, f"{roles}reader", *["/bucket/a/k"] * 2]
    assert "Credential=instance-key/" in asked[3][2]


def test_no_credentials_are_sent_to_what_is_public(home: Path) -> None:
    with places({("GET", "/bucket/a/k"): b"value"}) as (url, asked):
        store = ObjectStore.from_url("s3://bucket/a", endpoint=url, region="x", skip_signature=True)
        assert bytes(store.get("k") or b"") == b"value"
    assert asked == [("GET", "/bucket/a/k", "")]
