"""The object ``zarr.config``: zarr-python's keys, those that the engine has too onto `blizzarr.config`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import reduce
from operator import getitem
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias

from blizzarr.config import config as engine_config
from blizzarr.zarr.codecs.named import CLASSES

__all__ = ["BadConfigError", "Config", "config"]

_DEFAULTS: Final[dict[str, Any]] = {
    "default_zarr_format": 3,
    "array": {
        "order": "C",
        "write_empty_chunks": False,
        "read_missing_chunks": True,
        "target_shard_size_bytes": None,
        "rectilinear_chunks": True,
        "sharding_coalesce_max_gap_bytes": 1 << 20,
        "sharding_coalesce_max_bytes": 1 << 24,
        "allow_unsafe_pickle_decode": False,
    },
    "async": {"concurrency": 10, "timeout": None},
    "threading": {"max_workers": None},
    "json_indent": 2,
    "codec_pipeline": {"path": "blizzarr", "batch_size": 1, "max_workers": None},
    "codecs": {name: f"{kind.__module__}.{kind.__qualname__}" for name, kind in CLASSES.items()},
    "buffer": "blizzarr.zarr.buffer.Buffer",
    "ndbuffer": "blizzarr.zarr.buffer.NDBuffer",
}

_ENGINE: Final = {"threading.max_workers": "threads", "array.target_shard_size_bytes": "shard_bytes"}
"""The settings of the engine by their keys; None is its default."""

_PICKLE: Final = "array.allow_unsafe_pickle_decode"

_Values: TypeAlias = list[tuple[str, Any]]
"""Settings with their values, in the order in which they were changed."""

_ABSENT: Final = object()
"""The value of a setting that there is not."""


class BadConfigError(ValueError):
    """A setting has a value that it cannot have."""


class Config:
    """Settings by key, like ``array.order``.

    What the engine has no use for (pipelines, codecs, buffers, the order in which elements are returned, how parts of
    shards are joined, leave for rectilinear chunks) is kept, but has no effect. ``array.allow_unsafe_pickle_decode``
    puts ``"pickle"`` into `blizzarr.config.allowed_codecs`.

    Examples
    --------
    >>> with config.set({"array.order": "F", "default_zarr_format": 2}):
    ...     config["array.order"], config.get("default_zarr_format")
    ('F', 2)
    >>> config.get("array.order")
    'C'
    """

    def __init__(self) -> None:
        self.config = deepcopy(_DEFAULTS)
        self._usual = {name: getattr(engine_config, name) for name in _ENGINE.values()}

    @property
    def defaults(self) -> list[dict[str, Any]]:
        """The settings before any change."""
        return [deepcopy(_DEFAULTS)]

    def __getitem__(self, key: str) -> Any:
        return reduce(getitem, key.split("."), self.config)

    def __contains__(self, key: str) -> bool:
        return self.get(key, self) is not self

    def __iter__(self) -> Iterator[str]:
        return iter(self.config)

    def get(self, key: str, default: Any = ...) -> Any:
        """Return a setting; `default`, if one is given and there is no such setting.

        Raises
        ------
        KeyError
            If there is no such setting, and no default.
        """
        try:
            return self[key]
        except (KeyError, TypeError):
            if default is ...:
                raise KeyError(key) from None
            return default

    def set(self, arg: Mapping[str, Any] | None = None, **kwargs: Any) -> _Restore:
        """Change settings; as the context of a ``with`` block, restore them at its end.

        Raises
        ------
        BadConfigError
            If a setting cannot have that value; no setting has changed then.
        """
        named = {key.replace("__", "."): value for key, value in kwargs.items()}
        before: _Values = []
        try:
            for key, value in {**(arg or {}), **named}.items():
                self._put(key, value, before)
        except ValueError:
            self._restore(before)
            raise
        return _Restore(self, before)

    def update(self, new: Mapping[str, Any], priority: Literal["old", "new"] = "new") -> None:
        """Change settings, given as nested mappings; with the priority "old", only those that there are not yet."""
        self.set(_added(new, self.config) if priority == "old" else new)

    def reset(self) -> None:
        """Set everything to its default."""
        before, self.config = self.config, deepcopy(_DEFAULTS)
        for key in ("array.write_empty_chunks", _PICKLE, *_ENGINE):
            if reduce(getitem, key.split("."), before) != self[key]:
                self._put(key, self[key], [])

    refresh = reset

    def to_dict(self) -> dict[str, Any]:
        """Return all settings."""
        return deepcopy(self.config)

    def pprint(self, **options: Any) -> None:
        """Print all settings, with the options of `pprint.pprint`."""
        from pprint import pprint

        pprint(self.config, **options)

    def enable_gpu(self) -> None:
        """Refuse: elements are read into arrays of NumPy.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("elements are read into arrays of NumPy only; copy them to the GPU from there")

    def _put(self, key: str, value: Any, before: _Values) -> None:
        """Change a setting, and add its former value to `before`."""
        if isinstance(value, Mapping) and isinstance(self.get(key, None), dict):
            for name, inner in value.items():
                self._put(f"{key}.{name}", inner, before)
            return
        above_all, _, name = key.partition(".")
        if above_all == "array":
            check_array_setting(name, value)
        if key == "default_zarr_format" and value not in (2, 3):
            raise BadConfigError(f"expected default_zarr_format to be 2 or 3, found {value!r}")
        *above, name = key.split(".")
        settings = self.config
        for part in above:
            settings = settings.setdefault(part, {})
        before.append((key, settings.get(name, _ABSENT)))
        if value is _ABSENT:
            settings.pop(name, None)
        else:
            settings[name] = value
        if key == "array.write_empty_chunks":
            engine_config.write_empty_chunks = bool(value)
        elif key == _PICKLE:
            others = tuple(codec for codec in engine_config.allowed_codecs if codec != "pickle")
            engine_config.allowed_codecs = (*others, "pickle") if value else others
        elif key in _ENGINE:
            setattr(engine_config, _ENGINE[key], self._usual[_ENGINE[key]] if value is None else value)

    def _restore(self, before: _Values) -> None:
        for key, value in reversed(before):
            self._put(key, value, [])


class _Restore:
    """Restores, at the end of a ``with`` block, the settings that were changed for it, and no others."""

    def __init__(self, changed: Config, before: _Values) -> None:
        self._changed, self._before = changed, before

    def __enter__(self) -> Config:
        return self._changed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._changed._restore(self._before)


def _added(new: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are not there yet."""
    both = {name: (value, there[name]) for name, value in new.items() if name in there}
    deeper = {name: _added(*pair) for name, pair in both.items() if all(isinstance(one, Mapping) for one in pair)}
    return {name: value for name, value in new.items() if name not in both} | deeper


def check_array_setting(name: str, value: Any) -> None:
    """Refuse a value that a setting of arrays cannot have.

    Raise `BadConfigError` if it cannot.
    """
    if name == "order" and value not in ("C", "F"):
        raise BadConfigError(f"expected array.order to be 'C' or 'F', found {value!r}")
    if name == "read_missing_chunks" and not value:
        raise BadConfigError(
            f"expected array.read_missing_chunks to be True, found {value!r}: chunks that are not stored are always "
            "read as the fill value; nchunks_initialized of an array says how many are stored"
        )


config = Config()
"""The settings of this process."""
