"""Codecs that packages register with zarr-python (entry points ``zarr.codecs``), as codecs of this library.

A codec of zarr-python is asynchronous: each chunk runs in an event loop of its own, unless the codec has synchronous
methods, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Self

from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.codecs.in_numpy import Layout
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, Problem
from blizzarr.problems import Problems


def adapted(name: str, theirs: Any, package: str = "zarr") -> type[Codec]:
    """Return a codec of this library for a class of zarr-python's codecs; raise `AttributeError` if it is none.

    - `package`: the module in the place of zarr-python that has its base classes.
    """
    bases = import_module(f"{package}.abc.codec")
    kinds = (bases.ArrayArrayCodec, bases.ArrayBytesCodec, bases.BytesBytesCodec)
    stages = [stage for stage, base in zip(Stage, kinds, strict=True) if issubclass(theirs, base)]
    if not stages:
        raise AttributeError(f"{theirs!r} is no codec of zarr-python")
    members = {"name": name, "stage": stages[0], "theirs": theirs, "package": package}
    members["fixed_size"] = bool(theirs.is_fixed_size)
    return type(theirs.__name__, (ZarrPythonCodec,), members)


@dataclass(frozen=True)
class ZarrPythonCodec(Codec):
    """The base class of the codecs that `adapted` makes; `document` has the options as zarr-python writes them."""

    theirs: ClassVar[Any]
    package: ClassVar[str]

    document: Mapping[str, Any] = field(hash=False)

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = cls.given(configuration, problems, path)
        return codec if codec is not None and codec.fits(chunk, path, problems) else None

    @classmethod
    def given(cls, options: Mapping[str, Any], problems: Problems, path: str = "codec") -> Self | None:
        named = {"name": cls.name, "configuration": dict(options)} if options else {"name": cls.name}
        try:
            return cls(cls.theirs.from_dict(named).to_dict())
        except Exception as error:
            # What it raises for options that it does not take is up to the codec.
            problems.refused(path, cls.name, error)
            return None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or chunk.shape is None:
            return True
        try:
            self._with_spec(chunk)
        except Exception as error:
            problems.items.append(Problem(path, f"a chunk that {self.name} of zarr-python takes", repr(error)))
            return False
        return True

    def after(self, chunk: Chunk) -> Chunk:
        if self.stage is not Stage.FILTER or chunk.dtype is None or chunk.shape is None:
            return chunk
        codec, spec = self._with_spec(chunk)
        made = codec.resolve_metadata(spec)
        dtype = DataType.parse(made.dtype.to_json(zarr_format=3))
        return chunk._replace(dtype=dtype, shape=tuple(made.shape), is_big=False)

    def steps(self, chunk: Chunk) -> list[Step]:
        codec, spec = self._with_spec(chunk)
        taken = None if self.stage is Stage.COMPRESSOR else Layout.of(chunk)
        made = Layout.of(self.after(chunk)) if self.stage is Stage.FILTER else None
        step = ("python", _Running(self.name, codec, spec, taken, made, self.fixed_size))
        return [("bytes", 0), step] if self.stage is Stage.SERIALIZER else [step]

    def step(self, chunk: Chunk) -> Step:
        return self.steps(chunk)[-1]

    def to_json(self) -> dict[str, Any]:
        return dict(self.document)

    def configuration(self) -> dict[str, Any]:
        return dict(self.document.get("configuration", {}))

    def _with_spec(self, chunk: Chunk) -> tuple[Any, Any]:
        """Return zarr-python's codec, and its description of chunks; raise what zarr-python raises."""
        specs, buffers, dtypes = (
            import_module(f"{self.package}.{name}") for name in ("core.array_spec", "core.buffer", "dtype")
        )
        assert chunk.dtype is not None
        assert chunk.shape is not None
        dtype = getattr(chunk.dtype, "theirs", None) or dtypes.parse_dtype(chunk.dtype.to_json(), zarr_format=3)
        config, prototype = specs.ArrayConfig("C", True), buffers.default_buffer_prototype()
        spec = specs.ArraySpec(chunk.shape, dtype, dtype.default_scalar(), config, prototype)
        return self.theirs.from_dict(dict(self.document)).evolve_from_array_spec(spec), spec


@dataclass(frozen=True, slots=True)
class _Running:
    """The step of the engine that calls a codec of zarr-python."""

    name: str
    codec: Any
    spec: Any
    taken: Layout | None
    """The layout of what it encodes; None for bytes."""
    made: Layout | None
    """The layout of what it makes; None for bytes."""
    fixed_size: bool

    def encoded_size(self, decoded: int) -> int:
        return self.codec.compute_encoded_size(decoded, self.spec)

    def encode(self, decoded: bytes) -> Any:
        return self._of(self._call("encode", self._to(decoded, self.taken)), self.made)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        return self._of(self._call("decode", self._to(encoded, self.made)), self.taken)

    def _to(self, stored: bytes, layout: Layout | None) -> Any:
        prototype = self.spec.prototype
        if layout is None:
            return prototype.buffer.from_bytes(stored)
        return prototype.nd_buffer.from_numpy_array(layout.array(stored))

    def _of(self, made: Any, layout: Layout | None) -> Any:
        if made is None:
            raise CodecError("expected bytes or an array, found nothing")
        return made.to_bytes() if layout is None else layout.stored(made.as_numpy_array())

    def _call(self, verb: str, data: Any) -> Any:
        at_once = getattr(self.codec, f"_{verb}_sync", None)
        if at_once is not None:
            return at_once(data, self.spec)
        return _result(getattr(self.codec, f"_{verb}_single")(data, self.spec))


def _result(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, in any thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # This thread has a loop that runs, as that of a notebook, and may have no second one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
