"""``create``, ``copy`` and ``rm``: what is there afterwards."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

Run = Callable[..., "tuple[int, str, str, bytes]"]


def test_create_an_array_with_everything(run: Run, data: Path) -> None:
    code, out, err, _ = run(
        *("create", f"{data}/new/f", "--shape", "100,200", "--dtype", "float32", "--chunks", "10,20"),
        *("--shards", "50,100", "--fill-value", "NaN", "--dimension-names", "y,"),
        *("-z", "transpose:order=1;0", "-z", "blosc:cname=zstd,clevel=3", "-z", "crc32c"),
        *("-a", "units=mm", "-a", "scale=[0.5, 0.5]", "-a", "valid=true"),
    )
    assert (code, out) == (0, "")
    assert err == f"Created the array /new/f in {data.absolute()}: (100, 200) float32.\n"
    array = blizzarr.open_array(data, path="new/f", mode="r")
    assert (array.shape, array.dtype, array.chunks, array.shards) == ((100, 200), np.float32, (10, 20), (50, 100))
    assert np.isnan(array.fill_value)
    assert array.dimension_names == ("y", None)
    assert array.filters == (TransposeCodec(order=(1, 0)),)
    assert array.compressors == (BloscCodec("zstd", 3, "shuffle", 4), Crc32cCodec())
    assert array.attrs.asdict() == {"units": "mm", "scale": [0.5, 0.5], "valid": True}
    assert isinstance(blizzarr.open(data, path="new", mode="r"), blizzarr.Group)


def test_create_with_defaults_as_the_library_has_them(run: Run, tmp_path: Path) -> None:
    assert run("create", tmp_path / "a.zarr", "--shape", "4000,4000", "--dtype", "uint8").code == 0
    array = blizzarr.open_array(tmp_path / "a.zarr", mode="r")
    expected = blizzarr.create_array({}, shape=(4000, 4000), dtype="uint8")
    assert (array.chunks, array.shards, array.compressors) == (expected.chunks, None, expected.compressors)


def test_create_a_group_and_a_single_element(run: Run, tmp_path: Path) -> None:
    assert run("create", tmp_path / "g.zarr", "-a", "title=x").code == 0
    assert blizzarr.open_group(tmp_path / "g.zarr", mode="r").attrs["title"] == "x"
    assert (
        run("create", tmp_path / "g.zarr/s", "--shape", "()", "-d", "int8", "--fill-value=-5", "-z", "none").code == 0
    )
    scalar = blizzarr.open_array(tmp_path / "g.zarr", path="s", mode="r")
    assert (scalar.shape, scalar[()], scalar.compressors) == ((), -5, ())
    assert run("create", tmp_path / "g.zarr/n", "--shape", "()", "-d", "float32", "--fill-value=-inf").code == 0
    assert blizzarr.open_array(tmp_path / "g.zarr", path="n", mode="r")[()] == -np.inf


def test_a_new_path_below_a_name_in_zarr_makes_the_groups_above(run: Run, tmp_path: Path) -> None:
    assert run("create", tmp_path / "n.zarr/a/b", "--shape", "3", "-d", "int8").code == 0
    assert [name for name, _ in blizzarr.open_group(tmp_path / "n.zarr", mode="r").walk()] == ["a", "a/b"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--shape", "3"], 2, "expected the type of the elements, like --dtype float32"),
        (["--dtype", "int8", "--chunks", "3"], 2, "--chunks, --dtype need --shape, without which a group is created"),
        (["--shape", "3,x", "--dtype", "int8"], 2, "expected lengths like 64,64,64, found '3,x'"),
        (["--shape", "3", "--dtype", "int8", "-a", "title"], 2, "expected NAME=VALUE, found 'title'"),
        (["--shape", "3", "--dtype", "int8", "-z", "crc32c:3"], 2, "expected NAME:OPTION=VALUE,... like zstd:level=5"),
        (["--shape", "3", "--dtype", "int8", "-z", "brotli"], 1, "brotli"),
        (["--shape", "3", "--dtype", "int8", "-z", '{"name": "zstd"'], 2, 'expected valid JSON, found \'{"name": '),
        (["--shape", "3", "--dtype", "int8", "--dimension-names", "y,x"], 1, "expected 1 name, one for each dimension"),
        (["--shape", "3", "--dtype", "int8", "-z", "ztsd:5"], 1, "did you mean zstd?"),
        (["--shape", "3", "--dtype", "int8", "-z", "gzip:level=77"], 1, "expected an integer in [0, 9], found 77"),
        (
            ["--shape", "3", "--dtype", "int8", "--fill-value", "300"],
            1,
            "expected an integer in [-128, 127], found 300",
        ),
        (["--shape", "3", "--dtype", "int8", "--chunks", "0"], 1, "chunks[0]"),
        (["--shape", "3", "--dtype", "quaternion"], 1, "quaternion"),
    ],
)
def test_create_refuses_and_leaves_nothing(
    run: Run, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    result = run("create", tmp_path / "x.zarr", *arguments)
    assert result.code == code
    assert message in " ".join(result.err.replace("│", " ").split())
    assert not (tmp_path / "x.zarr").exists()


def test_create_does_not_replace_unless_told(run: Run, data: Path) -> None:
    again = ("create", f"{data}/series", "--shape", "2", "-d", "int8")
    result = run(*again)
    assert result.code == 1
    assert "something is here already" in result.err
    assert "; --overwrite replaces it" in result.err
    assert run(*again, "--overwrite").code == 0
    assert blizzarr.open_array(data, path="series", mode="r").shape == (2,)


def test_copy_into_another_layout(run: Run, data: Path, volume: np.ndarray) -> None:
    code, out, err, _ = run("copy", f"{data}/brain/t1", "new.zarr/t1", "-c", "3,-1,5", "-s", "none", "-z", "gzip:1")
    assert (code, out) == (0, "")
    assert err.startswith("Copied 960 bytes to new.zarr/t1 in ")
    array = blizzarr.open_array("new.zarr", path="t1", mode="r")
    np.testing.assert_array_equal(array[:], volume)
    assert (array.chunks, array.shards, array.compressors) == ((3, 8, 5), None, (GzipCodec(1),))
    assert array.dimension_names == ("z", "y", "x")
    assert array.attrs.asdict() == {"units": "a.u."}


def test_copy_a_group(run: Run, data: Path, volume: np.ndarray) -> None:
    assert run("copy", data, "copy.zip", "--codec", "zstd:level=1").code == 0
    copied = blizzarr.open_group("copy.zip", mode="r")
    assert [name for name, _ in copied.walk()] == ["brain", "brain/mask", "brain/t1", "series"]
    assert copied.attrs["title"] == "brain"
    np.testing.assert_array_equal(copied["brain/t1"][:], volume)
    assert copied["series"].compressors == (ZstdCodec(1),)


@pytest.mark.filterwarnings("default")
def test_copy_names_what_it_cannot_read(run: Run, data: Path) -> None:
    """Who removes the source after a copy that succeeded must have everything."""
    Path(f"{data}/brain/bad").mkdir()
    Path(f"{data}/brain/bad/zarr.json").write_text('{"zarr_format": 3}')
    result = run("copy", data, "copy.zarr")
    assert result.code == 1
    assert "these members cannot be read, and were not copied; everything else was" in result.err
    told = "'brain/bad': brain/bad/zarr.json does not conform: node_type: "
    assert result.err.endswith(f'{told}expected "array" or "group", found nothing\n')
    assert result.err.count("brain/bad/zarr.json") == 1
    assert "brain/t1" in blizzarr.open_group("copy.zarr", mode="r")


def test_copy_files_of_numpy(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, volume: np.ndarray) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("v.npy", volume)
    np.savez("v.npz", a=volume, b=np.eye(3))
    assert run("copy", "v.npy", "v.zarr/x", "--chunks", "2,2,2", "--shards", "4,4,4").code == 0
    assert run("copy", "v.npz", "v.zarr/z").code == 0
    root = blizzarr.open_group("v.zarr", mode="r")
    np.testing.assert_array_equal(root["x"][:], volume)
    np.testing.assert_array_equal(root["z/a"][:], volume)
    np.testing.assert_array_equal(root["z/b"][:], np.eye(3))


@pytest.mark.parametrize(
    "arguments",
    [
        ["rm", "--yes", "data.zarr/series[0:2]"],
        ["create", "--overwrite", "data.zarr/series[0:2]"],
        ["copy", "--overwrite", "data.zarr/brain/t1", "data.zarr/series[0:2]"],
        ["copy", "data.zarr/series[0:2]", "x.zarr"],
        ["diff", "data.zarr/series", "data.zarr/series[0:2]"],
        ["upgrade", "data.zarr[0]"],
        ["consolidate", "data.zarr[0]"],
        ["check", "data.zarr[0]"],
        ["info", "data.zarr/series[0:2]"],
        ["tree", "data.zarr[0]"],
        ["ls", "data.zarr[0]"],
    ],
)
def test_a_selection_is_refused_where_whole_nodes_are_meant(run: Run, data: Path, arguments: list[str]) -> None:
    series = blizzarr.open("data.zarr/series", mode="r")[:]
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "expected a whole array or group, found a selection" in " ".join(result.err.replace("│", " ").split())
    np.testing.assert_array_equal(blizzarr.open("data.zarr/series", mode="r")[:], series)
    assert not Path("x.zarr").exists()


def test_copy_refuses_two_minds(run: Run, data: Path) -> None:
    assert run("copy", f"{data}/series", "x.zarr", "--resume", "--overwrite").code == 2
    assert run("copy", f"{data}/brain/t1", f"{data}/series").code == 1
    assert not Path("x.zarr").exists()


def test_interrupted_copy_says_how_to_go_on_and_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends with 130 and a command that finishes what was begun, without doing again what is done."""
    monkeypatch.chdir(tmp_path)
    elements = np.random.default_rng(0).integers(0, 9, (64, 50), dtype=np.int32)
    blizzarr.create_array("a b.zarr", data=elements, chunks=(8, 50))
    from blizzarr.cli.progress import Meter

    shown: list[int] = []
    call = Meter.__call__

    def interrupted(meter: Meter, done: int, total: int) -> None:
        call(meter, done, total)
        shown.append(done)
        if len(shown) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Meter, "__call__", interrupted)
    code, out, err, _ = run("copy", "a b.zarr", "b.zarr", "-c", "16,10", "--memory", "3200B", "--threads", "1")
    assert (code, out) == (130, "")
    said, command = err.strip().splitlines()[-2:]
    assert said == "Interrupted. What was copied is kept; this goes on:"
    arguments = shlex.split(command)
    assert arguments == [
        *("blizzarr", "copy", "--resume", "a b.zarr", "b.zarr"),
        *("--chunks", "16,10", "--memory", "3200B", "--threads", "1"),
    ]
    assert 0 < shown[-1] < elements.nbytes
    kept = {path: path.stat().st_ino for path in Path("b.zarr/c").rglob("*") if path.is_file()}
    assert kept
    assert run(*arguments[1:]).code == 0
    assert {path: path.stat().st_ino for path in kept} == kept
    copied = blizzarr.open_array("b.zarr", mode="r")
    np.testing.assert_array_equal(copied[:], elements)
    assert copied.chunks == (16, 10)
    assert sorted(path.name for path in Path("b.zarr").iterdir()) == ["c", "zarr.json"]


def test_a_group_whose_copy_was_interrupted_says_how_to_go_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = blizzarr.create_group("a.zarr")
    root.create_array("b", data=np.arange(1000), chunks=10)
    assert run("copy", "a.zarr", "b.zarr").code == 0
    Path("b.zarr/b/blizzarr-copy.json").write_text("{}")
    code, _, err, _ = run("copy", "a.zarr", "b.zarr")
    assert (code, "--resume finishes it, --overwrite begins again" in err) == (1, True)


def test_rm(run: Run, data: Path) -> None:
    notes = Path(f"{data}/brain/notes.txt")
    notes.write_text("mine")
    code, _, err, _ = run("rm", f"{data}/brain", "--yes")
    assert code == 1
    assert "files that are not ours: brain/notes.txt; move them away, or say --keep-foreign, which" in err
    assert list(blizzarr.open_group(data, mode="r")) == ["brain", "series"]
    code, _, err, _ = run("rm", f"{data}/brain", "--yes", "--keep-foreign")
    assert code == 0
    assert err == "Removed the group data.zarr/brain and its 2 members.\n"
    assert list(blizzarr.open_group(data, mode="r")) == ["series"]
    assert notes.read_text() == "mine"


def test_rm_of_everything_leaves_no_empty_directory(run: Run, data: Path) -> None:
    notes = data / "notes.txt"
    notes.write_text("mine")
    code, _, err, _ = run("rm", f"{data}/brain", "-y")
    assert (code, err) == (0, "Removed the group data.zarr/brain and its 2 members.\n")
    code, _, err, _ = run("rm", data, "-y", "--keep-foreign")
    assert (code, err) == (0, "Removed the group data.zarr and its 1 member.\n")
    assert list(data.iterdir()) == [notes]
    notes.unlink()
    blizzarr.create_array(data, shape=3, dtype="int8")
    assert run("rm", data, "-y").code == 0
    assert not data.exists()


def test_rm_of_what_is_damaged(run: Run, data: Path) -> None:
    """Whoever is told to remove it, because nothing else can be done with it, can."""
    (data / "series/zarr.json").write_text("{")
    code, _, err, _ = run("rm", f"{data}/series", "-y")
    assert (code, err) == (0, "Removed data.zarr/series, whose document is damaged, and what is in it.\n")
    assert not (data / "series").exists()
    assert run("tree", data, "--depth", "1").out.splitlines() == ["/", "└── brain"]
    (data / "zarr.json").write_text("{")
    (data / "notes.txt").write_text("mine")
    code, _, err, _ = run("rm", data, "-y")
    assert (code, "files that are not ours: notes.txt" in err) == (1, True)
    (data / "notes.txt").unlink()
    assert run("rm", data, "-y").code == 0
    assert not data.exists()


def test_rm_asks(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(yes: bool) -> Callable[[str], bool]:
        return lambda question: (asked.append(question), yes)[1]

    monkeypatch.setattr("typer.confirm", answer(False))
    result = run("rm", f"{data}/series")
    assert (result.code, result.err) == (1, "Nothing was removed.\n")
    assert asked == ["Remove the array data.zarr/series (4,)?"]
    assert "series" in blizzarr.open_group(data, mode="r")
    monkeypatch.setattr("typer.confirm", answer(True))
    assert run("rm", f"{data}/series").code == 0
    assert "series" not in blizzarr.open_group(data, mode="r")


def test_rm_leaves_no_stale_consolidated_metadata(run: Run, data: Path) -> None:
    """The group above would go on listing what is gone."""
    blizzarr.consolidate_metadata(data)
    assert run("rm", f"{data}/series", "-y").code == 0
    assert run("tree", data, "--depth", "1").out.splitlines() == ["/", "└── brain"]


def test_copy_into_chunks_and_shards_by_name(run: Run, data: Path, volume: np.ndarray) -> None:
    """By dimension, and by array; what is not named stays."""
    named = ["--chunks", "z=3,x=10", "--chunks", "/brain/mask:6,4", "--shards", "z=6"]
    assert run("copy", data, "out.zarr", *named).code == 0
    root = blizzarr.open_group("out.zarr", mode="r")
    assert (root["brain/t1"].chunks, root["brain/t1"].shards) == ((3, 4, 10), (6, 8, 10))
    assert (root["brain/mask"].chunks, root["series"].chunks) == ((6, 4), (4,))
    assert np.array_equal(root["brain/t1"][...], volume)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--chunks", "zz=3"], 1, "expected the name of a dimension, found 'zz'"),
        (["--chunks", "/brain/t:3,3,3"], 1, "did you mean '/brain/t1'?"),
        (["--chunks", "z=3", "--chunks", "4"], 2, "expected the names of dimensions or the path of an array in each"),
        (["--chunks", "z=a"], 2, "expected DIMENSION=LENGTH,... like time=31,lat=45, found 'z=a'"),
        (["--shards", "/brain/t1:z=6,3"], 2, "expected DIMENSION=LENGTH"),
    ],
)
def test_copy_refuses_names_that_are_not_there(
    run: Run, data: Path, arguments: list[str], code: int, message: str
) -> None:
    result = run("copy", data, "out.zarr", *arguments)
    assert result.code == code
    assert message in " ".join(result.err.replace("│", " ").split())
    assert not Path("out.zarr").exists()


@pytest.mark.filterwarnings("default")
def test_copy_what_is_intact(run: Run, data: Path, volume: np.ndarray) -> None:
    """What is lost is listed and reads as the fill value; without the option, nothing is copied quietly."""
    blizzarr.open_array(data, path="brain/mask")[...] = True
    Path(data, "brain/mask/c/0/0").write_bytes(b"damaged")
    strict = run("copy", f"{data}/brain/mask", "mask.zarr", "-z", "none")
    assert strict.err.endswith("; --resume --skip-damaged copies what is intact\n")
    Path(data, "series/zarr.json").write_text("{}")
    assert run("copy", data, "strict.zarr", "-z", "none").code == 1
    result = run("copy", data, "out.zarr", "--skip-damaged")
    assert result.code == 1
    lines = result.err.splitlines()
    assert lines[-3] == "Not copied, because blizzarr cannot read it (2):"
    assert lines[-2].startswith("  series/zarr.json does not conform")
    assert lines[-1].startswith(f"  cannot decode chunk c/0/0 of /brain/mask in {data.absolute()}: zstd: ")
    root = blizzarr.open_group("out.zarr", mode="r")
    assert sorted(name for name, _ in root.walk()) == ["brain", "brain/mask", "brain/t1"]
    assert np.array_equal(root["brain/t1"][...], volume)
    assert run("copy", "out.zarr", "again.zarr", "--skip-damaged").code == 0


def test_consolidate(run: Run, data: Path) -> None:
    result = run("consolidate", f"{data}/brain")
    assert (result.code, result.err) == (0, f"Consolidated the metadata of 2 members of {data}/brain.\n")
    assert sorted(blizzarr.open_group(data, path="brain", mode="r").metadata.consolidated) == ["mask", "t1"]
    assert run("consolidate", f"{data}/series").code == 1
    assert run("copy", f"{data}/brain", "out.zarr").code == 0
    assert "Consolidated  yes" in run("info", "out.zarr").out


@pytest.mark.filterwarnings("always")
def test_an_unfinished_copy_is_called_so(run: Run, tmp_path: Path) -> None:
    source = blizzarr.create_group(tmp_path / "a.zarr")
    source.create_array("x", data=np.arange(12).reshape(3, 4), chunks=2)
    source.create_array("y", data=np.arange(12).reshape(3, 4), chunks=2)
    with pytest.raises(ZeroDivisionError):
        blizzarr.copy(source, tmp_path / "b.zarr", chunks=3, progress=lambda done, total: done and 1 / 0)
    said = f"{tmp_path}/b.zarr is an unfinished copy, in which elements are missing"
    for verb in ("tree", "info", "ls"):
        err = run(verb, tmp_path / "b.zarr").err
        assert err.count(said) == err.count("the same copy with --resume finishes it") == 1
    assert "/x in" in (err := run("cat", tmp_path / "b.zarr/x").err)
    assert err.count("is an unfinished copy") == 1
    assert run("copy", "--resume", tmp_path / "a.zarr", tmp_path / "b.zarr", "--chunks", "3,3").code == 0
    for verb in ("tree", "info", "ls"):
        assert run(verb, tmp_path / "b.zarr").err == ""


@pytest.mark.parametrize("place", ["x.zarr", "x.zip", "file://{}/y.zarr"])
def test_a_slash_says_that_brackets_are_part_of_a_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place.format(tmp_path)
    blizzarr.create_group(place)
    for name, element in (("a", 7), ("a[1]", 8)):
        with blizzarr.open_group(place, mode="r+") as group:
            group.create_array(name, data=[element, element + 10])
    assert run("create", f"{place}/a[2]/", "--shape", "3", "--dtype", "i2")[0] == 0
    assert run("copy", f"{place}/a[1]/", "b.zarr/c[0]/")[0] == 0
    assert run("cat", f"{place}/a[1]/")[1].split() == ["8", "18"]
    assert run("cat", f"{place}/a[1][1]")[1] == "18\n"
    assert run("cat", f"{place}/a[0]")[1] == "7\n"
    assert run("cat", "b.zarr/c[0]/", "1")[1] == "18\n"
    assert list(blizzarr.open_group(place)) == ["a", "a[1]", "a[2]"]
    assert blizzarr.open_array(place, path="a[2]").shape == (3,)
    code, _, err, _ = run("info", f"{place}/a[9]")
    assert code == 2
    assert "a name that ends in brackets, add a slash:" in " ".join(err.replace("│", " ").split())
