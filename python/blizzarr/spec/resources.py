"""The kinds of resources in contexts: their JSON, and the objects that they are made into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

from blizzarr.caching import CachePool
from blizzarr.errors import SpecError
from blizzarr.json_values import expected, quote
from blizzarr.spec.duration import duration_text, parse_duration
from blizzarr.spec.members import Members, as_bool, as_integer, as_text, one_of
from blizzarr.stores.memory import MemoryStore

Parse = Callable[[Any], Any]

_UINT64 = as_integer(0, 2**64 - 1, "64-bit unsigned integer")


@dataclass(frozen=True)
class ResourceKind:
    """One kind: how its JSON is read, shown, and made into something that works.

    `config_only` kinds are values: specs contain them where they are used, without a key in the context that several
    share.
    """

    name: str
    parse: Parse
    show: Callable[[Any, bool], Any]
    default: Any
    make: Callable[[Any], Any] | None = None
    """What a working object is made by; None if that is the configuration itself."""
    config_only: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_of, (self.name,)


@dataclass(frozen=True)
class _Member:
    """One member of a resource: how it is read and written, and when it is left out."""

    parse: Parse
    default: Any = None
    show: Callable[[Any], Any] = lambda value: value
    optional: bool = False
    """True if the default is left out even where defaults are asked for."""


def _of_members(
    name: str, members: dict[str, _Member], make: Callable[[Any], Any] | None = None, config_only: bool = False
) -> ResourceKind:
    def parse(value: Any) -> dict[str, Any]:
        left = Members(value)
        config = {member: left.take(member, row.parse, default=row.default) for member, row in members.items()}
        left.end()
        return config

    def show(config: dict[str, Any], include_defaults: bool) -> dict[str, Any]:
        return {
            member: row.show(config[member])
            for member, row in sorted(members.items())
            if config[member] != row.default or (include_defaults and not row.optional)
        }

    default = {member: row.default for member, row in members.items()}
    return ResourceKind(name, parse, show, default, make, config_only)


def _limit(value: Any) -> Any:
    return value if value == "shared" else as_integer(1, 2**64 - 1)(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise expected(value, "64-bit floating-point number")
    return float(value)


def _concurrency(name: str) -> ResourceKind:
    return _of_members(name, {"limit": _Member(_limit, "shared")})


def _retries(name: str, most: int) -> ResourceKind:
    second = 10**9
    return _of_members(
        name,
        {
            "max_retries": _Member(as_integer(0, 2**31 - 1), most),
            "initial_delay": _Member(parse_duration, second, duration_text),
            "max_delay": _Member(parse_duration, 32 * second, duration_text),
        },
        config_only=True,
    )


def _rate_limiter(name: str) -> ResourceKind:
    return _of_members(
        name,
        {
            "read_rate": _Member(_number, optional=True),
            "write_rate": _Member(_number, optional=True),
            "doubling_time": _Member(parse_duration, None, duration_text, optional=True),
        },
    )


_CREDENTIALS = ("default", "anonymous", "environment", "imds", "profile", "ecs")


def _credentials() -> ResourceKind:
    def parse(value: Any) -> dict[str, Any]:
        left = Members(value)
        kind = left.take("type", as_text, default="default")
        if kind not in _CREDENTIALS:
            raise SpecError(
                f"Failed to parse AWS credentials spec: Failed to parse tag name, expected one of: "
                f"{', '.join(_CREDENTIALS)}, but received: {kind}"
            )
        names = ("profile", "config_file", "credentials_file", "endpoint", "auth_token_file")
        config = {name: left.take(name, as_text) for name in names if name in left.left}
        left.end()
        return {"type": kind, **config}

    return ResourceKind("aws_credentials", parse, lambda config, _: dict(config), {"type": "default"}, config_only=True)


def _choice(name: str, members: dict[str, _Member]) -> ResourceKind:
    return _of_members(name, members, config_only=True)


_MOST = (1 << 63) - 1
"""The largest limit of a pool."""


_NO_CACHE = CachePool(0)


def _pool(config: dict[str, Any]) -> CachePool:
    limit = config["total_bytes_limit"]
    return CachePool(min(limit, _MOST)) if limit else _NO_CACHE


_MINUTE = 60 * 10**9

_ROWS = [
    _of_members("cache_pool", {"total_bytes_limit": _Member(_UINT64, 0)}, _pool),
    _concurrency("data_copy_concurrency"),
    _concurrency("file_io_concurrency"),
    _choice(
        "file_io_locking",
        {
            "mode": _Member(one_of("os", "lockfile", "none", "non_atomic"), "os", optional=True),
            "acquire_timeout": _Member(parse_duration, _MINUTE, duration_text, optional=True),
        },
    ),
    _choice("file_io_mode", {"mode": _Member(one_of("default", "memmap", "direct"), "default", optional=True)}),
    _retries("file_io_retries", 0),
    ResourceKind("file_io_sync", as_bool, lambda config, _: config, True, config_only=True),
    _of_members("memory_key_value_store", {}, lambda _: MemoryStore()),
    _concurrency("http_request_concurrency"),
    _retries("http_request_retries", 32),
    _concurrency("gcs_request_concurrency"),
    _retries("gcs_request_retries", 32),
    _of_members("gcs_user_project", {"project_id": _Member(as_text, optional=True)}, config_only=True),
    _rate_limiter("experimental_gcs_rate_limiter"),
    _concurrency("s3_request_concurrency"),
    _retries("s3_request_retries", 32),
    _rate_limiter("experimental_s3_rate_limiter"),
    _credentials(),
]

RESOURCES: dict[str, ResourceKind] = {kind.name: kind for kind in _ROWS}
"""All kinds, by name."""


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
    def is_usual(self) -> bool:
        """True if it is a reference to the default resource of its kind."""
        return self.referent == self.kind.name

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
        raise SpecError(f"Invalid context resource identifier: {quote(name)}")
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
    if isinstance(value, str):
        if value.partition("#")[0] == kind.name:
            return ResourceSpec(kind, referent=value, key=key)
        try:
            return ResourceSpec(kind, config=kind.parse(value), key=key)
        except SpecError as error:
            raise SpecError(
                f"Invalid spec or reference to {quote(kind.name)} resource: {quote(value)} ({error.reason})"
            ) from error
    return ResourceSpec(kind, config=kind.parse(value), key=key)


Resources: TypeAlias = dict[str, Any]
"""Resources by the names of the members of a node: either bound, or as `ResourceSpec`."""


def resources_json(resources: Resources, include_defaults: bool) -> dict[str, Any]:
    """Return the JSON of resources that are not bound."""
    found = {}
    for name, resource in resources.items():
        if include_defaults or resource.immediate or not resource.is_usual:
            json = resource.to_json(include_defaults)
            found[name] = [json] if resource.immediate else json
    return found


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
