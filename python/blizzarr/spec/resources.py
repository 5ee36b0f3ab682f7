"""The kinds of resources in contexts: their JSON, durations among it, and the objects that they are made into."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

from blizzarr.caching import CachePool
from blizzarr.errors import SpecError
from blizzarr.json_members import Members, Option, as_bool, as_float, as_integer, as_text, one_of, options_json
from blizzarr.json_values import expected, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.stores.memory import MemoryStore

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|ms|s|m|h)")
_WHOLE = re.compile(rf"([-+]?)((?:{_PART.pattern})+|0)")


def parse_duration(value: Any) -> int:
    """Parse a text into nanoseconds.

    >>> parse_duration("1m30s") // 10**9
    90
    """
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise expected(value, 'Duration formatted as a string using time units "ns", "us" "ms", "s", "m", or "h".')
    total = 0
    for number, unit in _PART.findall(match[2]):
        whole, _, digits = number.partition(".")
        total += int(whole or 0) * _UNITS[unit]
        total += int(digits or 0) * _UNITS[unit] // 10 ** len(digits)
    return -total if match[1] == "-" else total


def duration_text(nanoseconds: int) -> str:
    """Return the shortest text for this number of nanoseconds.

    >>> duration_text(90 * 10**9), duration_text(1_500_000_000), duration_text(500_000_000), duration_text(0)
    ('1m30s', '1.5s', '500ms', '0')
    """
    sign, left = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if not left:
        return "0"
    if left < _UNITS["s"]:
        unit = next(unit for unit in ("ms", "us", "ns") if left >= _UNITS[unit])
        return f"{sign}{_decimal(left, _UNITS[unit])}{unit}"
    hours, left = divmod(left, _UNITS["h"])
    minutes, left = divmod(left, _UNITS["m"])
    parts = (f"{hours}h" if hours else "", f"{minutes}m" if minutes else "")
    return sign + "".join(parts) + (f"{_decimal(left, _UNITS['s'])}s" if left else "")


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


@dataclass(frozen=True)
class ResourceKind:
    """One kind: how its JSON is read, shown, and made into something that works.

    `config_only` kinds are values: specs contain them where they are used, without a key in the context that several
    share.
    """

    name: str
    parse: Callable[[Any], Any]
    show: Callable[[Any, bool], Any]
    default: Any
    make: Callable[[Any], Any] | None = None
    """What a working object is made by; None if that is the configuration itself."""
    config_only: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_of, (self.name,)


def _kind(
    name: str, members: dict[str, Option], make: Callable[[Any], Any] | None = None, config_only: bool = False
) -> ResourceKind:
    def parse(value: Any) -> dict[str, Any]:
        left = Members(value)
        config = left.take_all(members)
        left.end()
        return config

    def show(config: dict[str, Any], include_defaults: bool) -> dict[str, Any]:
        return dict(sorted(options_json(config, members, include_defaults).items()))

    return ResourceKind(name, parse, show, {name: row.default for name, row in members.items()}, make, config_only)


def _duration(seconds: int | None, optional: bool = False) -> Option:
    return Option(parse_duration, None if seconds is None else seconds * 10**9, duration_text, optional)


_NO_CACHE: Final = CachePool(0)
_LARGEST_CACHE: Final = (1 << 63) - 1


def _pool(config: dict[str, Any]) -> CachePool:
    limit = config["total_bytes_limit"]
    return CachePool(min(limit, _LARGEST_CACHE)) if limit else _NO_CACHE


_LIMIT: Final = {
    "limit": Option(lambda value: value if value == "shared" else as_integer(1, 2**64 - 1)(value), "shared")
}
_RETRIES: Final = {"initial_delay": _duration(1), "max_delay": _duration(32)}
_RATES: Final = {
    "read_rate": Option(as_float, None, optional=True),
    "write_rate": Option(as_float, None, optional=True),
    "doubling_time": _duration(None, optional=True),
}
_LOCKING: Final = {
    "mode": Option(one_of("os", "lockfile", "none", "non_atomic"), "os", optional=True),
    "acquire_timeout": _duration(60, optional=True),
}
_CREDENTIALS: Final = {
    "type": Option(one_of("default", "anonymous", "environment", "imds", "profile", "ecs"), "default"),
    **{
        name: Option(as_text, None, optional=True)
        for name in ("profile", "config_file", "credentials_file", "endpoint", "auth_token_file")
    },
}
_MODE: Final = {"mode": Option(one_of("default", "memmap", "direct"), "default", optional=True)}

_KINDS: Final = [
    _kind("cache_pool", {"total_bytes_limit": Option(as_integer(0, 2**64 - 1, "64-bit unsigned integer"), 0)}, _pool),
    _kind("memory_key_value_store", {}, lambda _: MemoryStore()),
    *(_kind(f"{name}_concurrency", _LIMIT) for name in ("data_copy", "file_io")),
    *(_kind(f"{name}_request_concurrency", _LIMIT) for name in ("http", "gcs", "s3")),
    *(
        _kind(f"{name}_retries", {"max_retries": Option(as_integer(0, 2**31 - 1), most), **_RETRIES}, config_only=True)
        for name, most in (("file_io", 0), ("http_request", 32), ("gcs_request", 32), ("s3_request", 32))
    ),
    *(_kind(f"experimental_{name}_rate_limiter", _RATES) for name in ("gcs", "s3")),
    _kind(
        "ocdbt_coordinator", {"address": Option(as_text, None, optional=True), "lease_duration": _duration(None, True)}
    ),
    _kind("file_io_locking", _LOCKING, config_only=True),
    _kind("file_io_mode", _MODE, config_only=True),
    _kind("gcs_user_project", {"project_id": Option(as_text, None, optional=True)}, config_only=True),
    ResourceKind("file_io_sync", as_bool, lambda config, _: config, True, config_only=True),
    # The type is shown even where it is the default.
    replace(
        _kind("aws_credentials", _CREDENTIALS, config_only=True),
        show=lambda config, _: {name: value for name, value in config.items() if value is not None},
    ),
]

RESOURCES: dict[str, ResourceKind] = {kind.name: kind for kind in _KINDS}


@dataclass(slots=True, eq=False)
class ResourceSpec:
    """The spec of a resource: its members, or a reference to another resource."""

    kind: ResourceKind
    config: Any = None
    """The members, parsed."""
    referent: str | None = None
    """The key of the other resource; an empty one means what the context above has."""
    key: str = ""
    is_default: bool = False
    immediate: bool = False
    """True if the resource was bound before it was written down, so that it is bound again when it is read."""

    def to_json(self, include_defaults: bool = False) -> Any:
        """Return the JSON of the members, or the key of the other resource."""
        if self.referent is not None:
            return self.referent or None
        return self.kind.show(self.config, include_defaults)

    @property
    def spec(self) -> ResourceSpec:
        """The spec itself, as of a resource that is bound."""
        return self

    @property
    def value(self) -> Any:
        """Raise: a spec has no working object."""
        raise SpecError(f"Unbound context resource {quote(self.kind.name)}")


def kind_of(key: str) -> ResourceKind:
    """Return the kind of a key, ``kind`` or ``kind#tag``."""
    name = key.partition("#")[0]
    if name not in RESOURCES:
        raise SpecError(f"Invalid context resource identifier: {quote(key)}")
    return RESOURCES[name]


DEFAULT_RESOURCES: Final = {name: ResourceSpec(kind, referent=name) for name, kind in RESOURCES.items()}
"""The references to the default resources of all kinds."""
DEFAULT_SPECS: Final = {
    name: ResourceSpec(kind, config=kind.default, key=name, is_default=True) for name, kind in RESOURCES.items()
}
"""The specs of the default resources themselves."""


def resource_spec(kind: ResourceKind, value: Any, key: str = "") -> ResourceSpec:
    """Parse the JSON of a resource: null for that of the parent context, a key, or members."""
    if value is None:
        return ResourceSpec(kind, referent="", key=key)
    if isinstance(value, str) and value.partition("#")[0] == kind.name:
        return ResourceSpec(kind, referent=value, key=key)
    with prefixed(f"Invalid spec of, or reference to, {quote(kind.name)}"):
        return ResourceSpec(kind, config=kind.parse(value), key=key)


Resources: TypeAlias = dict[str, Any]
"""Resources by the names of the members of a node: either bound, or as `ResourceSpec`."""


def resources_json(resources: Resources, include_defaults: bool) -> dict[str, Any]:
    """Return the JSON of resources that are not bound."""
    members = {}
    for name, resource in resources.items():
        if include_defaults or resource.immediate or resource.referent != resource.kind.name:
            json = resource.to_json(include_defaults)
            members[name] = [json] if resource.immediate else json
    return members


class UsesResources:
    """A driver whose stores use resources."""

    resources: tuple[str, ...] = ()
    """The names of the resources that its stores have."""
    optional_resources: tuple[str, ...] = ()
    """The names of resources that its stores have only where they are given."""

    @cached_property
    def default_resources(self) -> Resources:
        """The resources of a store that names none: references to the defaults."""
        return {name: DEFAULT_RESOURCES[name] for name in self.resources}

    def take_resources(self, members: Members) -> Resources:
        """Take the resources of a store; those that are not given are the defaults of the context."""
        resources = self.default_resources.copy()
        for name in (*self.resources, *self.optional_resources):
            if name in members.left:
                taken = members.take(name, partial(_resource, name.removeprefix("metadata_")), None)
                if taken is not None:
                    resources[name] = taken
        return resources


def _resource(name: str, value: Any) -> ResourceSpec:
    if isinstance(value, list):
        # The resource was bound when it was written.
        if len(value) != 1:
            raise expected(value, "single-element array")
        value = value[0]
    if value is None:
        raise expected(value, "non-null value")
    return resource_spec(RESOURCES[name], value)
