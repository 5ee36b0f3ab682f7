"""The places and options of stores of obstore, which is not imported for this: whoever has one has imported it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from blizzarr.stores.keys import check_object_key
from blizzarr.stores.object_settings import ObjectSettings
from blizzarr.stores.protocol import Listing, Value

_PROTOCOLS: Final = {"S3Store": "s3", "GCSStore": "gcs", "AzureStore": "azure", "HTTPStore": "http"}


def kind_of_obstore(target: object) -> str | None:
    """Return the name of the class of obstore that a store is of, or derives from; None for all else."""
    for kind in type(target).__mro__:
        if kind.__module__.partition(".")[0] == "obstore" and kind.__name__.endswith("Store"):
            return kind.__name__
    return None


def settings_of_obstore(target: Any) -> ObjectSettings:
    """Return the settings of a store of obstore for S3, Google Cloud, Azure or HTTP.

    Raise `TypeError` if it is something else.
    Raise `ValueError` if it does not tell its configuration.
    """
    protocol = _PROTOCOLS.get(kind_of_obstore(target) or "")
    if protocol is None:
        raise TypeError(
            f"expected a store of obstore for S3, Google Cloud, Azure or HTTP, found {type(target).__name__}; pass "
            "stores of another kind in place of a path, as to blizzarr.open"
        )
    options: Mapping[str, Any] = {} if protocol == "http" else _config(target)
    bucket = target.url if protocol == "http" else options.get("bucket") or options.get("container_name")
    if bucket is None:
        raise ValueError(f"expected the name of a bucket from a {type(target).__name__} of obstore, found none")
    return ObjectSettings.of(
        *(protocol, bucket, str(getattr(target, "prefix", None) or "").strip("/"), options),
        client_options=target.client_options,
        retry_config=target.retry_config,
        credential_provider=getattr(target, "credential_provider", None),
    )


class ObstoreMemory:
    """The methods of a store for a `MemoryStore` of obstore."""

    in_memory = True

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __repr__(self) -> str:
        return repr(self.memory)

    def get(self, key: str) -> Value | None:
        answer = self.get_with_version(key)
        return None if answer is None else answer[0]

    def get_with_version(self, key: str) -> tuple[Value, str] | None:
        try:
            result = self.memory.get(check_object_key(key))
        except FileNotFoundError:
            return None
        return memoryview(result.bytes()).cast("B"), str(result.meta["e_tag"])

    def size(self, key: str) -> int | None:
        head = self._head(key)
        return None if head is None else int(head["size"])

    def version(self, key: str) -> str | None:
        head = self._head(key)
        return None if head is None else str(head["e_tag"])

    def set(self, key: str, value: Value) -> None:
        self.memory.put(check_object_key(key), bytes(value))

    def set_if_version(self, key: str, value: Value, version: str | None) -> bool:
        import obstore.exceptions

        try:
            self.memory.put(
                check_object_key(key), bytes(value), mode="create" if version is None else {"e_tag": version}
            )
        except (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError, FileNotFoundError):
            return False
        return True

    def delete(self, key: str) -> None:
        self.memory.delete(check_object_key(key))

    def list(self, prefix: str = "") -> list[str]:
        return [entry["path"] for part in self.memory.list(prefix or None) for entry in part]

    def list_dir(self, prefix: str = "") -> Listing:
        listed = self.memory.list_with_delimiter(prefix or None)
        keys = sorted(entry["path"] for entry in listed["objects"])
        return Listing(tuple(keys), tuple(sorted(f"{path}/" for path in listed["common_prefixes"])))

    def _head(self, key: str) -> Any:
        try:
            return self.memory.head(check_object_key(key))
        except FileNotFoundError:
            return None


def directory_of_obstore(target: Any) -> str:
    """Return the directory of a `LocalStore` of obstore.

    Raise `ValueError` if it does not tell which.
    """
    path = "/" if target.prefix is None else os.fspath(target.prefix)
    if not os.path.isabs(path):
        # obstore keeps the directory that it found, but tells only the name that it was given.
        raise ValueError(
            f"expected a LocalStore of obstore with an absolute path, found {path!r}, which is another directory if "
            "the working directory has changed since; pass the path itself"
        )
    return os.path.abspath(path)


def _config(target: Any) -> Any:
    try:
        return target.config
    except Exception:
        raise
    except BaseException as error:
        # A panic in Rust, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(
            f"this {type(target).__name__} of obstore cannot tell its configuration: pass options of the HTTP client, "
            "like allow_http and timeout, as client_options={...}"
        ) from None
