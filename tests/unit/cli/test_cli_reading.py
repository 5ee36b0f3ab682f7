"""``info``, ``tree``, ``ls`` and ``cat``: what they print is what is there."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import blizzarr
from blizzarr.dtypes import DataType

Run = Callable[..., "tuple[int, str, str, bytes]"]


def test_info_of_an_array(run: Run, data: Path) -> None:
    code, out, err, _ = run("info", f"{data}/brain/t1")
    assert (code, err) == (0, "")
    head, *rows = out.splitlines()
    assert head == f"Array /brain/t1 in {data.absolute()}"
    found = {row[:17].strip(): row[17:].strip() for row in rows}
    assert found["Shape"] == "6 \xd7 8 \xd7 10"
    assert found["Chunks"] == "2 \xd7 4 \xd7 5 (12 of 80 bytes)"
    assert found["Shards"] == "4 \xd7 8 \xd7 10 (2 of 640 bytes)"
    assert found["Attribute units"] == '"a.u."'


def test_info_of_an_array_with_storage_transformers(run: Run, tmp_path: Path) -> None:
    place, stack = tmp_path / "a.zarr", {"name": "blizzarr.hashed", "configuration": {"levels": 1, "width": 2}}
    blizzarr.create_array(place, shape=2, dtype="int8", storage_transformers=stack)
    assert "  Transformers  blizzarr.hashed(levels 1, width 2)\n" in run("info", place).out
    assert json.loads(run("info", place, "--json").out)["storage_transformers"] == [stack]


def test_info_as_json(run: Run, data: Path) -> None:
    code, out, _, _ = run("info", "--json", f"{data}/brain/t1")
    document = json.loads(out)
    stored = document.pop("stored")
    assert code == 0
    assert document.pop("codecs")[0]["name"] == "sharding_indexed"
    assert document == {
        "store": str(data.absolute()),
        "path": "/brain/t1",
        "node_type": "array",
        "format": "v3",
        "shape": [6, 8, 10],
        "data_type": "uint16",
        "dimension_names": ["z", "y", "x"],
        "chunks": [2, 4, 5],
        "shards": [4, 8, 10],
        "storage_transformers": [],
        "order": "C",
        "fill_value": 0,
        "raw_bytes": 960,
        "attributes": {"units": "a.u."},
    }
    shards = [path for path in Path(f"{data}/brain/t1/c").rglob("*") if path.is_file()]
    assert stored == {"objects": 2, "bytes": sum(path.stat().st_size for path in shards), "complete": True}


def test_info_of_a_group(run: Run, data: Path) -> None:
    out = run("info", data).out
    assert out.splitlines()[0] == f"Group / in {data.absolute()}"
    assert "Members          1 array, 1 group" in out
    assert 'Attribute title  "brain"' in out
    assert json.loads(run("info", "--json", data).out)["node_type"] == "group"


@pytest.mark.parametrize("form", ["n5", "v1", "v2", "v3", "v3_draft"])
def test_documents_are_no_chunks(run: Run, tmp_path: Path, form: str) -> None:
    blizzarr.create_array(tmp_path / "a", data=np.arange(12).reshape(3, 4), chunks=2, zarr_format=form)
    assert "in 4 of 4 chunks" in run("info", tmp_path / "a").out


def test_a_format_has_the_name_that_people_say(run: Run, tmp_path: Path) -> None:
    """N5 is none of Zarr's versions."""
    for form, said in (("n5", "N5"), ("v2", "Zarr v2")):
        blizzarr.create_group(tmp_path / form, zarr_format=form).create_array("a", data=np.arange(3))
        for path in (tmp_path / form, tmp_path / form / "a"):
            line = next(line for line in run("info", path).out.splitlines() if line.startswith("  Format "))
            assert line.split(None, 1)[1] == said


@pytest.mark.filterwarnings("default")
def test_a_directory_that_no_document_makes_a_group(run: Run, tmp_path: Path) -> None:
    """It is read as one, but not removed as one; the name of the format is that of the specification."""
    blizzarr.save(tmp_path / "a/b.zarr", np.arange(3))
    said = run("info", tmp_path)
    assert "Format" in said.out
    assert "Zarr v3, as nodes are below it; no document says that" in said.out
    assert "if it is meant to be one, blizzarr upgrade stores the missing documents" in said.err
    assert run("ls", tmp_path)[:3] == (0, "a/\n", "")
    refused = run("rm", "-y", tmp_path)
    assert refused.code == 2
    assert "a plain directory above some" in " ".join(refused.err.replace("\u2502", "").split())
    assert (tmp_path / "a/b.zarr/zarr.json").is_file()
    assert blizzarr.open_group(tmp_path, mode="r").info.zarr_format == "v3"


def test_examples_have_lines_of_their_own(run: Run) -> None:
    lines = [line.strip() for line in run("check", "--help").out.splitlines()]
    assert "Examples:" in lines
    assert "blizzarr check --fast data.zarr/brain" in lines
    assert "blizzarr check data.zarr" in lines


def test_tree(run: Run, data: Path) -> None:
    assert run("tree", data).out.splitlines() == [
        "/",
        "├── brain",
        "│   ├── mask (6, 8) bool",
        "│   └── t1 (6, 8, 10) uint16",
        "└── series (4,) float32",
    ]
    assert run("tree", data, "--depth", 1).out.splitlines() == ["/", "├── brain", "└── series (4,) float32"]


def test_tree_as_json(run: Run, data: Path) -> None:
    root = json.loads(run("tree", "--json", data).out)
    brain, series = root["children"]
    assert [child["name"] for child in brain["children"]] == ["mask", "t1"]
    assert brain["children"][1] == {
        "name": "t1",
        "path": "/brain/t1",
        "node_type": "array",
        "shape": [6, 8, 10],
        "data_type": "uint16",
    }
    assert series["shape"] == [4]


def test_members_that_cannot_be_read_are_shown(run: Run, data: Path) -> None:
    Path(f"{data}/bad").mkdir()
    Path(f"{data}/bad/zarr.json").write_text('{"zarr_format": 3}')
    root = json.loads(run("tree", "--json", data).out)
    assert [(child["name"], child["node_type"]) for child in root["children"]][-1] == ("bad", None)
    assert "bad (unreadable:" in run("tree", data).out
    listed = run("ls", "-l", data)
    assert listed.out.splitlines()[-1].split()[:2] == ["bad", "unreadable"]
    assert max(map(len, listed.out.splitlines()[:-1])) < 60  # the reason makes no column of the others wider
    assert listed.err == ""
    assert "Unreadable" in run("info", data).out


def test_ls(run: Run, data: Path) -> None:
    assert run("ls", data).out.splitlines() == ["brain/", "series"]
    lines = run("ls", "-l", f"{data}/brain").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["name", "type"], ["mask", "bool"], ["t1", "uint16"]]
    assert "2 \xd7 4 \xd7 5 in shards of 4 \xd7 8 \xd7 10" in lines[-1]
    listed = json.loads(run("ls", "--json", f"{data}/brain").out)
    assert [(node["name"], node["shape"]) for node in listed] == [("mask", [6, 8]), ("t1", [6, 8, 10])]
    assert run("ls", f"{data}/series").out.splitlines() == ["series"]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["data.zarr/brain/t1"], ...),
        (["data.zarr/brain/t1[1:5:2, 3, ::-2]"], np.s_[1:5:2, 3, ::-2]),
        (["data.zarr/brain/t1", "0,...,1:3"], np.s_[0, ..., 1:3]),
        (["data.zarr/brain/t1", "[-1]"], np.s_[-1]),
        (["data.zarr/brain/t1[2,3,4]"], np.s_[2, 3, 4]),
        (["data.zarr/brain/t1[4:4]"], np.s_[4:4]),
    ],
)
def test_cat_as_npy(run: Run, data: Path, volume: np.ndarray, arguments: list[str], key: object) -> None:
    code, _, err, raw = run("cat", *arguments, "--format", "npy")
    assert (code, err) == (0, "")
    found = np.load(io.BytesIO(raw))
    np.testing.assert_array_equal(found, volume[key])
    assert found.dtype == volume.dtype


@pytest.mark.parametrize("text", ["ab", b"ab"])
def test_one_text_of_a_fixed_length_as_npy(run: Run, tmp_path: Path, text: str | bytes) -> None:
    """It is as long as the elements, although NumPy's scalar is as long as the text."""
    texts = np.array([text, text * 2, text * 3])
    blizzarr.create_array(tmp_path / "texts.zarr", data=texts)
    blizzarr.create_array(tmp_path / "text.zarr", data=texts[:1].reshape(()))
    for argument in ("texts.zarr[0]", "text.zarr"):
        code, _, err, raw = run("cat", f"{tmp_path}/{argument}", "--format", "npy")
        assert (code, err) == (0, "")
        found = np.load(io.BytesIO(raw))
        assert (found.shape, found.dtype, found[()]) == ((), texts.dtype, text)


def test_cat_into_a_file_named_by_its_format(run: Run, data: Path, volume: np.ndarray) -> None:
    assert run("cat", f"{data}/brain/t1[0]", "-o", "plane.npy").code == 0
    np.testing.assert_array_equal(np.load("plane.npy"), volume[0])
    assert run("cat", f"{data}/brain/t1[0]", "-o", "plane.csv").code == 0
    np.testing.assert_array_equal(np.loadtxt("plane.csv", delimiter=","), volume[0])
    assert run("cat", f"{data}/series", "-o", "-").out == run("cat", f"{data}/series").out != ""
    assert not Path("-").exists()


def test_cat_as_text(run: Run, data: Path) -> None:
    assert run("cat", f"{data}/series").out.splitlines() == [" 0.1", " nan", " inf", "-2.5"]
    for number, texts in enumerate((np.array(["ab", "ü"]), np.array(["ab", "ü"], object))):
        blizzarr.create_array(f"texts{number}.zarr", data=texts)
        assert run("cat", f"texts{number}.zarr").out.splitlines() == ["ab", "ü"], "no blanks that grep -x would see"
    assert run("cat", f"{data}/brain/t1[0, :2, 7:]").out.splitlines() == [" 7  8  9", "17 18 19"]
    assert run("cat", f"{data}/brain/t1[1:3, :1, ::-5]").out.splitlines() == [
        "# [1, :, :]",
        "89 84",
        "# [2, :, :]",
        "169 164",
    ]


def test_cat_as_csv_of_records_is_a_table(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each record was one cell of JSON, which no program that reads tables takes apart."""
    monkeypatch.chdir(tmp_path)
    fields = np.dtype([("id", "i8"), ("a,b", "S3"), ("x", "f4"), ("when", "M8[D]"), ("n", [("y", "i2")])])
    rows = np.array([(1, b"p,q", 0.1, "2020-01-01", (3,)), (2, b"", np.nan, "NaT", (4,))], fields)
    blizzarr.create_array("t.zarr", data=rows, chunks=1)
    lines = ['id,"a,b",x,when,n', '1,"p,q",0.1,2020-01-01,"{""y"": 3}"', '2,,nan,NaT,"{""y"": 4}"']
    assert run("cat", "t.zarr", "-f", "csv").out.splitlines() == lines
    assert run("cat", "t.zarr[::-1]", "-f", "csv").out.splitlines() == [lines[0], lines[2], lines[1]]
    assert run("cat", "t.zarr[:0]", "-f", "csv").out.splitlines() == lines[:1]
    pairs = np.array([([1, 2],)], [("v", "i4", 2)])
    blizzarr.create_array("pairs.zarr", data=pairs, zarr_format=2)
    assert run("cat", "pairs.zarr", "-f", "csv").out.splitlines() == ["v", '"[1, 2]"']


def test_cat_as_csv_of_a_volume_has_columns_for_the_places(run: Run, data: Path) -> None:
    assert run("cat", f"{data}/brain/t1[4:, 6::-6, ::9]", "-f", "csv").out.splitlines() == [
        "z,y,0,9",
        "4,6,380,389",
        "4,0,320,329",
        "5,6,460,469",
        "5,0,400,409",
    ]


def test_cat_as_json(run: Run, data: Path, volume: np.ndarray) -> None:
    assert json.loads(run("cat", f"{data}/brain/t1", "-f", "json").out) == volume.tolist()
    assert json.loads(run("cat", f"{data}/series", "-f", "json").out) == [0.1, "NaN", "Infinity", -2.5]
    assert json.loads(run("cat", f"{data}/brain/mask[0]", "-f", "json").out) == [False] * 8
    assert json.loads(run("cat", f"{data}/series[0]", "-f", "json").out) == 0.1


def test_cat_reads_in_parts(run: Run, data: Path, volume: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is larger than memory can be printed all the same."""
    monkeypatch.setattr("blizzarr.display.rows._BLOCK_BYTES", 1)
    assert json.loads(run("cat", f"{data}/brain/t1", "-f", "json").out) == volume.tolist()
    np.testing.assert_array_equal(np.load(io.BytesIO(run("cat", f"{data}/brain/t1", "-f", "npy").raw)), volume)
    out = run("cat", f"{data}/brain/t1", "-f", "csv").out.splitlines()
    assert out[1 + 5 * 8] == "5,0," + ",".join(map(str, volume[5, 0]))


def test_cat_of_a_group_says_what_is_in_it(run: Run, data: Path) -> None:
    code, out, err, _ = run("cat", data)
    assert (code, out) == (1, "")
    assert err == (
        "blizzarr: data.zarr: expected an array, found a group with brain, series in it; "
        "add the path of an array in it\n"
    )


def test_the_usage_has_brackets_around_what_may_be_left_out(run: Run) -> None:
    """The argument was shown as [[SELECTION]]."""
    for verb in ("cat", "show"):
        usage = next(line for line in run(verb, "--help").out.splitlines() if "Usage:" in line)
        assert usage.rstrip().endswith(" [SELECTION]")


def test_an_output_that_cannot_be_made_is_named_first(run: Run, data: Path) -> None:
    """The text was that of Python: [Errno 2] No such file or directory: 'none/x.npy'."""
    code, out, err, _ = run("cat", f"{data}/brain/t1", "-o", "none/x.npy")
    assert (code, out, err) == (1, "", "blizzarr: none/x.npy: No such file or directory\n")


def test_zip_files_are_read_like_directories(run: Run, data: Path, volume: np.ndarray) -> None:
    blizzarr.copy(blizzarr.open(data, mode="r"), "data.zip")
    assert run("tree", "data.zip").out == run("tree", data).out
    np.testing.assert_array_equal(np.load(io.BytesIO(run("cat", "data.zip/brain/t1", "-f", "npy").raw)), volume)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["cat", "data.zarr/brain/t1[6]"], 1, "index 6 is out of bounds for axis 0 with valid range [-6, 6)"),
        (["cat", "data.zarr/brain/t1[0,a]"], 2, "expected integers, slices like 2:10 or ::2, and '...'"),
        (["cat", "data.zarr/brain/t1[::0]"], 2, "expected integers, slices"),
        (["cat", "data.zarr/brain/t1[0]", "1"], 2, "expected one selection"),
        (
            ["cat", "data.zarr/series[1:2"],
            2,
            "like [0:10, ::2] behind 'data.zarr/series', found 'data.zarr/series[1:2'",
        ),
        (["cat", "data.zarr/series[[0,2]]"], 2, "behind 'data.zarr/series', found 'data.zarr/series[[0,2]]'"),
        (["cat", "data.zarr/series", "-o", "x.xlsx"], 2, "ends in .txt, .csv, .json or .npy, or --format, found 'x"),
        (["cat", "data.zarr/brain/t1", "-f", "xml"], 2, "xml"),
        (["info", "data.zarr/nothing"], 1, "no array or group here"),
        (["info", "nowhere.zip"], 1, "there is no file nowhere.zip"),
        (["info", "nosuch://bucket/key"], 1, "fsspec cannot open a URL of nosuch"),
        (["show", "data.zarr/brain/t1", "--cmap", "nothing"], 1, "expected one of the colour maps viridis"),
        (["show", "data.zarr/series", "--origin", "left"], 2, "expected 'upper' or 'lower', found 'left'"),
        (["show", "data.zarr/series", "-o", "x.jpg"], 2, "expected a file name that ends in .png, found 'x.jpg'"),
        (["show", "data.zarr/series", "-o", "-"], 2, "expected a file name that ends in .png, found '-'"),
        (["copy", "data.zarr", "data.zarr"], 1, "found / in "),
        (["copy", "data.zarr/series", "series.npy"], 2, "cat -o FILE.npy writes a NumPy file"),
        (["show", "data.zarr/series", "-o", "no/such/place.png"], 1, "no/such/place.png"),
        (["tree"], 2, "Missing argument"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_errors_are_one_message_without_a_traceback(
    run: Run, data: Path, arguments: list[str], code: int, message: str
) -> None:
    result = run(*arguments)
    assert result.code == code
    assert message in " ".join(result.err.replace("│", " ").split())
    assert "Traceback" not in result.err
    assert result.out == ""


def test_traceback_on_request(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from blizzarr.cli import main

    monkeypatch.setenv("BLIZZARR_TRACEBACK", "1")
    with pytest.raises(blizzarr.errors.NodeNotFoundError):
        main(["info", f"{data}/nothing"])


def test_names_do_not_command_the_terminal(run: Run, tmp_path: Path) -> None:
    """Escape sequences, line ends and marks of direction in names and attributes are shown, not obeyed."""
    name = "evil\x1b[2J\n\x9b31m\u202e"
    group = blizzarr.create_group(tmp_path / "a.zarr", attributes={name: name})
    group.create_array(name, shape=(2,), dtype="int8")
    shown = r"evil\x1b[2J\n\x9b31m\u202e"
    for arguments in (["tree"], ["ls"], ["ls", "-l"], ["info"], ["info", "--json"], ["ls", "--json"], ["cat"]):
        _, out, err, _ = run(*arguments, tmp_path / "a.zarr")
        assert all(character.isprintable() or character == "\n" for character in out + err), arguments
        if "--json" not in arguments and arguments != ["cat"]:
            assert shown in out, arguments
    assert shown in str(group.tree())
    assert "\x1b" not in f"{group.info}{group[name].info}"


def test_json_is_json(run: Run, tmp_path: Path) -> None:
    """Attributes may have numbers that JSON has not."""
    blizzarr.create_group(tmp_path / "a.zarr", attributes={"a": 1})
    document = tmp_path / "a.zarr" / "zarr.json"
    document.write_text(document.read_text().replace(": 1", ": [NaN, -Infinity]"))
    found = json.loads(run("info", "--json", tmp_path / "a.zarr")[1], parse_constant=pytest.fail)
    assert found["attributes"] == {"a": ["NaN", "-Infinity"]}


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (np.array([1.5, -0.25]).astype(DataType.parse("bfloat16").numpy), ["1.5", "-0.25"]),
        (np.array([1, -2]).astype(DataType.parse("int4").numpy), ["1", "-2"]),
        (np.array([2.0, np.nan]).astype(DataType.parse("float8_e5m2").numpy), ["2", "nan"]),
        (np.array([-(2**63) + 1, 1], "m8[ns]"), ["-9223372036854775807 nanoseconds", "1 nanoseconds"]),
        (np.array([5, -(2**63)]).view("M8"), ["5 generic time units", "NaT"]),
    ],
    ids=["bfloat16", "int4", "float8_e5m2", "m8[ns]", "M8"],
)
def test_cat_of_types_that_numpy_has_no_text_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: npt.NDArray[Any], texts: list[str]
) -> None:
    """Nor all of the text: it cuts off the units of durations."""
    monkeypatch.chdir(tmp_path)
    array = blizzarr.create_array("a.zarr", data=data, fill_value=data[0])
    assert [line.strip() for line in run("cat", "a.zarr")[1].splitlines()] == texts
    assert run("cat", "a.zarr", "--format", "csv")[1].splitlines() == texts
    numbers = data.dtype.kind not in "mM" and [float(text) if text != "nan" else "NaN" for text in texts]
    assert json.loads(run("cat", "a.zarr", "--format", "json")[1]) == (numbers or texts)
    assert f"Fill value   : {texts[0]}" in repr(array.info)
    array[0] = data[1]
    blizzarr.create_array("b.zarr", data=data)
    assert f"{texts[1]} against {texts[0]}" in run("diff", "a.zarr", "b.zarr")[1]
    assert json.loads(run("diff", "a.zarr", "b.zarr", "--json")[1])


def test_a_terminal_gets_lines_that_fit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go on below themselves; elsewhere programs find one fact, or one node, in each line."""
    monkeypatch.chdir(tmp_path)
    root = blizzarr.create_group("wide.zarr")
    fields = [("longitude", "f8"), ("latitude", "f8"), ("temperature", "f4"), ("humidity", "i4")]
    root.create_array("records", shape=(10,), dtype=fields)
    attributes = {"n" * 50: 1, "history": "made of words " * 9}
    names = ["time_of_observation", "latitude_in_degrees", "longitude_in_degrees", "ensemble_member"]
    codecs = ["bytes", {"name": "blosc", "configuration": {"cname": "zstd", "shuffle": "noshuffle"}}, "crc32c", "gzip"]
    options = {"chunks": (10, 20, 30, 4), "dtype": "f4", "dimension_names": names, "attributes": attributes}
    root.create_array("a/b/c/temperature", shape=(365_000, 180_000, 360_000, 40), **options, codecs=codecs)
    commands = [("tree", "wide.zarr"), ("info", "wide.zarr/a/b/c/temperature")]
    whole = [run(*command).out for command in commands]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = [re.sub("\x1b.*?m", "", run(*command).out) for command in commands]
    for before, after in zip(whole, shown, strict=True):
        assert max(map(len, before.splitlines())) > 100
        # Paths stay whole, so that they can be copied.
        assert max(len(line) for line in after.splitlines() if "in /" not in line) <= 80
        assert re.sub("[│ \n]", "", after) == re.sub("[│ \n]", "", before)
    assert "  Dimensions         time_of_observation, latitude_in_degrees," in shown[1].splitlines()
    assert "                     longitude_in_degrees, ensemble_member" in shown[1].splitlines()
    assert "      '<f4'), ('humidity', '<i4')]" in shown[0].splitlines()


@pytest.mark.parametrize(
    ("dtype", "fill_value", "text"),
    [
        ("float32", np.nan, "NaN"),
        ("float64", -np.inf, "-Infinity"),
        ("float64", np.uint64(0x7FF8000000000001).view("f8"), "0x7ff8000000000001"),
        ("complex64", complex(np.nan, 1), "[NaN, 1.0]"),
        ("U3", "NaN", '"NaN"'),
    ],
)
def test_info_writes_numbers_without_quotes(run: Run, tmp_path: Path, dtype: str, fill_value: Any, text: str) -> None:
    blizzarr.create_array(tmp_path / "a.zarr", shape=2, dtype=dtype, fill_value=fill_value)
    assert f"Fill value   {text}\n" in run("info", str(tmp_path / "a.zarr"))[1]


def test_a_file_that_would_be_cut_is_removed(run: Run, data: Path) -> None:
    chunk = next(path for path in Path("data.zarr/series/c").rglob("*") if path.is_file())
    chunk.write_bytes(b"damaged")
    assert run("cat", "data.zarr/series", "-o", "series.npy").code == 1
    assert not Path("series.npy").exists()
    # Like /dev/stdout.
    Path("link").symlink_to("series.npy")
    assert run("cat", "data.zarr/series", "-f", "npy", "-o", "link").code == 1
    assert (Path("link").is_symlink(), Path("link").read_bytes()) == (True, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_device_stays_although_it_is_full(run: Run, data: Path) -> None:
    full = run("cat", "data.zarr/series", "-o", "/dev/full")
    assert (full.code, full.err) == (1, "blizzarr: /dev/full: No space left on device\n")
    assert Path("/dev/full").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes files")
def test_elements_for_a_standard_output_that_is_closed_are_an_error(data: Path) -> None:
    command = ["sh", "-c", 'exec "$0" -m blizzarr cat data.zarr/series >&-', sys.executable]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "blizzarr: [Errno 9] Bad file descriptor\n")


def test_a_zip_file_is_no_place_to_remove_from(run: Run, data: Path) -> None:
    blizzarr.copy("data.zarr", "data.zip")
    for path in ("data.zip", "data.zip/brain/t1"):
        refused = run("rm", path)
        assert refused.code == 2
        assert "remove the file, or copy what is to stay" in " ".join(refused.err.replace("│", " ").split())
    assert blizzarr.diff("data.zarr", "data.zip").same
