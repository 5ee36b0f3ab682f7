"""Data types with fields, and elements with dimensions of their own, as specs say them: TensorStore is the judge."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.spec import Spec
from unit.spec.oracle import outcome

V2_TYPES: list[Any] = [
    [["x", "<i2"], ["y", ">f4", [2]], ["z", "|S3"]],
    [["a", "<i4"]],
    [["a", "<i4", [2, 3]], ["b", ">c8"]],
    [["x", "bfloat16"], ["a", "int4"]],
    *("|S3", "|V2", "<i4", "|b1", "bfloat16", "float4_e2m1fn", "<U3", "|O", "<M8[s]", "|S99999999999999999999", "S"),
    [["a", "<i4"], ["a", "<i2"]],
    [["a", "<i4", [0]]],
    [["a", "<i4", 3]],
    *([["a"]], [["", "<i4"]], ["a"], [["a", "<U3"]], [["a", [["b", "<i2"]]]], [["a", "<i2", [1], 4]], 5, None),
]
V2_METADATA: list[dict[str, Any]] = [
    {},
    {"shape": [4]},
    {"shape": [4], "chunks": [2], "order": "F"},
    {"shape": [4, 5], "chunks": [2, 2], "order": "F", "fill_value": None},
    *({"fill_value": value} for value in (0, "AAAA", "AAECAwQFBgcICQoLDA==", "AAECAw==", "!", 1.5, [1, 2])),
]
OPTIONS: list[dict[str, Any]] = [
    *({}, {"field": "x"}, {"field": "a"}, {"field": ""}, {"field": None}, {"field": "x", "open_as_void": True}),
    *({"open_as_void": True}, {"open_as_void": 1}, {"rank": 3}, {"rank": 1}, {"rank": 0}, {"dtype": "int16"}),
    *({"field": "x", "dtype": "int16"}, {"field": "y", "schema": {"domain": {"shape": [4, 2]}}}),
]


FIELDS: Any = [{"name": "x", "data_type": "int16"}, {"name": "y", "data_type": "float32"}]
V3_TYPES: list[Any] = [
    {"name": "struct", "configuration": {"fields": FIELDS}},
    {"name": "structured", "configuration": {"fields": [["x", "int16"], ["y", "float32"]]}},
    [["x", "int16"], ["a", "bfloat16"]],
    {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int8"}]}},
    {"name": "struct", "configuration": {"fields": [FIELDS[0], FIELDS[0]]}},
    {"name": "struct", "configuration": {"fields": [{"name": "", "data_type": "int8"}]}},
    {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": {"name": "int8"}}]}},
    {"name": "struct", "configuration": {"fields": [["a", "int8"]]}},
    {"name": "structured", "configuration": {"fields": [["", "int8"]]}},
    {"name": "structured", "configuration": {"fields": [["a", "int8", [2]]]}},
    {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "foo"}]}},
    *({"name": name, "configuration": {"fields": []}} for name in ("struct", "structured")),
    *({"name": name, "configuration": {}} for name in ("struct", "raw_bytes", "int16", "foo")),
    *({"name": "raw_bytes", "configuration": {"length_bytes": length}} for length in (0, -1)),
    *(
        "r0",
        "r12",
        "r",
        "rx",
        "int16",
        "string",
        5,
        None,
        [],
        ["a"],
        {"name": "int16"},
        {"name": 5, "configuration": {}},
    ),
]
V3_METADATA: list[dict[str, Any]] = [
    *({}, {"shape": [4]}, {"shape": [4], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}}),
    *({"fill_value": value} for value in (1, {"x": 1, "y": 2}, {"x": 1}, [1, 2], [1], "AQACAAAA", "AQI=", "!", None)),
]
V3_OPTIONS: list[dict[str, Any]] = [
    *({}, {"field": "x"}, {"field": "a"}, {"field": "q"}, {"field": None}, {"field": "x", "open_as_void": True}),
    *({"open_as_void": 1}, {"rank": 3}, {"rank": 1}, {"dtype": "int16"}, {"field": "x", "dtype": "int16"}),
]


def told(spec: Any) -> Any:
    """What a spec says of itself."""
    fill = spec.fill_value
    shown = None if fill is None else (fill.shape, fill.tolist() if fill.dtype.kind not in "SV" else None)
    layout, schema = spec.chunk_layout.to_json(), outcome(lambda: repr(spec.schema))
    return json.dumps([spec.to_json(), layout], sort_keys=True), schema, repr(spec.domain), shown


def as_it_is(found: Any) -> Any:
    """The same."""
    return found


def is_void_with_fill(metadata: dict[str, Any], option: dict[str, Any]) -> bool:
    """Where TensorStore says the fill value of the first field, whose data type and shape are others."""
    return "open_as_void" in option and metadata.get("fill_value") is not None


def is_lenient(dtype: Any, metadata: dict[str, Any]) -> bool:
    """Whether documents of v2 have more than TensorStore reads: 0 for empty elements, names and shapes of NumPy's."""
    fields = dtype if isinstance(dtype, list) else []
    if dtype == "float4_e2m1fn" and "fill_value" in metadata:
        # TensorStore has its fill values in base64, as it has those of fields.
        return True
    is_zero = metadata.get("fill_value") == 0 and dtype not in ("<i4", "bfloat16")
    return is_zero or any(isinstance(field, list) and (field[0] == "" or field[2:] == [3]) for field in fields)


@pytest.mark.parametrize("dtype", V2_TYPES, ids=str)
def test_specs_of_v2(dtype: Any) -> None:
    """The same spec, domain, layout and schema, or the same error."""
    for metadata, option in product(V2_METADATA, OPTIONS):
        said = {"driver": "zarr", "kvstore": "memory://", "metadata": {"dtype": dtype, **metadata}, **option}
        found = [
            outcome(lambda library=library, said=said: told(library(said)), as_it_is) for library in (ts.Spec, Spec)
        ]
        if (found[0][0] == "gives" and is_void_with_fill(metadata, option)) or is_lenient(dtype, metadata):
            assert found[1][0] == "gives" or found[1][0] == found[0][0]
            continue
        assert found[0] == found[1], (metadata, option)


@pytest.mark.parametrize("dtype", V3_TYPES, ids=str)
def test_specs_of_v3(dtype: Any) -> None:
    """The same for v3, of what TensorStore 0.1.86 survives: nothing that has bytes within elements."""
    for metadata, option in product(V3_METADATA, V3_OPTIONS):
        if "shape" in metadata and option.get("rank") == 3:
            continue
        said = {"driver": "zarr3", "kvstore": "memory://", "metadata": {"data_type": dtype, **metadata}, **option}
        found = [
            outcome(lambda library=library, said=said: told(library(said)), as_it_is) for library in (ts.Spec, Spec)
        ]
        if is_as_documents_have_it(dtype, metadata):
            assert found[1][0] in ("gives", found[0][0])
            continue
        assert found[0] == found[1], (metadata, option)


def is_as_documents_have_it(dtype: Any, metadata: dict[str, Any]) -> bool:
    """Whether documents of v3 have more than TensorStore reads, or with fewer digits: bytes and lists of fields."""
    if dtype == {"name": "int16"} or '{"name": "int8"}' in json.dumps(dtype):
        return True
    return isinstance(metadata.get("fill_value"), str | list | dict) and not isinstance(dtype, str)


def test_void_fill_values() -> None:
    """The fill value of elements by their bytes is that of all fields, as they are stored."""
    metadata = {"dtype": [["x", "<i2"], ["y", ">f4", [2]], ["z", "|S3"]], "fill_value": "AAECAwQFBgcICQoLDA=="}
    spec = Spec({"driver": "zarr", "kvstore": "memory://", "metadata": metadata, "open_as_void": True})
    assert spec.fill_value is not None
    assert spec.fill_value.tobytes() == bytes(range(13))


def test_urls() -> None:
    """None of them says a field."""
    for option in ({"field": "x"}, {"open_as_void": True}, {"metadata_key": ".x"}):
        said = {"driver": "zarr", "kvstore": "memory://", **option}
        found = [outcome(lambda library=library: library(said).url, str) for library in (ts.Spec, Spec)]  # noqa: B023
        assert found[0][0] == found[1][0] == "ValueError"
        assert "zarr2 URL syntax not supported" in found[0][1]
        assert "zarr2 URL syntax not supported" in found[1][1]
