"""What all verbs share: help, version, completion, places, progress, and a fast start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from blizzarr.cli import progress
from blizzarr.cli.failing import say
from blizzarr.cli.place import Place, complete_path

Run = Callable[..., "tuple[int, str, str, bytes]"]

VERBS = ["info", "tree", "ls", "cat", "show", "create", "copy", "upgrade", "consolidate", "check", "diff", "rm"]


def test_help_lists_the_verbs(run: Run) -> None:
    code, out, _, _ = run("--help")
    assert code == 0
    for verb in VERBS:
        assert f" {verb} " in out
    assert "URL" in out


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb_has_an_example(run: Run, verb: str) -> None:
    code, out, _, _ = run(verb, "--help")
    assert code == 0
    assert f"blizzarr {verb} " in out.partition("Examples:")[2]


@pytest.mark.parametrize(("verb", "here"), [("repair", "check --repair"), ("convert", "copy")])
def test_verbs_that_are_looked_for(run: Run, verb: str, here: str) -> None:
    code, _, err, _ = run(verb, "data.zarr")
    assert code == 2
    assert f"No such command '{verb}'; use {here}" in err


def test_version(run: Run) -> None:
    assert run("--version").out == f"blizzarr {version('blizzarr')}\n"


@pytest.mark.parametrize(("no_colour", "name"), [("", "\x1b[31m\x1b[1mblizzarr:\x1b[0m"), ("1", "blizzarr:")])
def test_errors_have_a_colour_unless_the_user_wants_none(
    monkeypatch: pytest.MonkeyPatch, no_colour: str, name: str
) -> None:
    """NO_COLOR was heeded by everything but errors; see https://no-color.org."""
    said: list[str] = []
    monkeypatch.setattr("typer.echo", lambda text, err: said.append(text))
    monkeypatch.setenv("NO_COLOR", no_colour)
    say("red", "x")
    assert said == [f"{name} x"]


def test_info_without_standard_output(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell closes it by `>&-`."""
    monkeypatch.setattr("sys.stdout", None)
    assert run("info", data)[:3] == (0, "", "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes files")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("check data.zarr", 0),
        ("diff data.zarr data.zarr", 0),
        ("diff data.zarr data.zarr/series", 1),
        ("check data.zarr/nothing", 2),
        ("copy data.zarr copied.zarr", 0),
        ("upgrade data.zarr", 0),
    ],
)
def test_the_status_where_the_shell_has_closed_files(data: Path, arguments: str, status: int, closed: str) -> None:
    command = ["sh", "-c", f'exec "$0" -m blizzarr {arguments} {closed}', sys.executable]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", ["check data.zarr", "check --json data.zarr", "diff data.zarr data.zarr"])
def test_a_report_that_finds_no_space_is_no_damage_and_no_difference(data: Path, arguments: str) -> None:
    command = ["sh", "-c", f'exec "$0" -m blizzarr {arguments} >/dev/full', sys.executable]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "blizzarr: [Errno 28] No space left on device\n")


def test_progress_without_standard_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`print` would have put its lines among those of the report."""
    monkeypatch.setattr("sys.stderr", None)
    monkeypatch.setattr(progress, "_QUIET", -1.0)
    monkeypatch.setattr(progress, "_PAUSE", -1.0)
    with progress.Meter("check", unit="objects") as meter:
        meter(1, 2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS)], ids=str)
def test_help_gives_no_type_to_what_takes_no_value(run: Run, verb: list[str]) -> None:
    assert "<bool>" not in run(*verb, "--help").out


def test_help_needs_neither_numpy_nor_the_engine() -> None:
    """They take longer to load than everything else together."""
    code = (
        "import sys, types; package = types.ModuleType('blizzarr'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['blizzarr'] = package\n"
        "import blizzarr.cli\n"
        "print(sorted({'numpy', 'blizzarr._native', 'rich'} & set(sys.modules)))"
    )
    where = str(Path(progress.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", code, where], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_completion_offers_nodes_and_files(data: Path) -> None:
    Path("v.npy").touch()
    Path("notes.txt").touch()
    Path(".hidden").mkdir()
    assert complete_path("") == ["data.zarr", "v.npy"]
    assert complete_path("data.zarr/b") == ["data.zarr/brain"]
    assert complete_path("data.zarr/brain/") == ["data.zarr/brain/mask", "data.zarr/brain/t1"]
    assert complete_path("data.zarr/series/") == []
    assert complete_path("no/such/") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_in_a_shell(data: Path, shell: str) -> None:
    line = "blizzarr info data.zarr/br"
    environment = {
        "_BLIZZARR_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": "data.zarr/br",
    }
    code = "import sys; sys.argv[0] = 'blizzarr'; from blizzarr.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert "data.zarr/brain" in done.stdout


@pytest.mark.parametrize(
    ("text", "target", "path"),
    [
        ("data.zarr", "data.zarr", ""),
        ("data.zarr/", "data.zarr", ""),
        ("./data.zarr/brain/t1", "data.zarr", "brain/t1"),
        ("data.zarr/brain/new", "data.zarr", "brain/new"),
        ("fresh.zarr/a/b", "fresh.zarr", "a/b"),
        ("plain/a", "plain/a", ""),
        ("data.zip/a/b", "data.zip/a/b", ""),
        ("memory://a/b", "memory://a/b", ""),
    ],
)
def test_places(data: Path, text: str, target: str, path: str) -> None:
    place = Place.parse(text)
    assert (place.target, place.path) == (target, path)


def test_place_from_inside_the_hierarchy(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = data.absolute()
    monkeypatch.chdir(root / "brain")
    place = Place.parse("t1[0]")
    assert (place.text, place.target, place.path, place.key) == ("t1", str(root), "brain/t1", (0,))
    assert Place.parse(".").path == "brain"


def test_a_directory_whose_name_ends_in_a_bracket_is_no_selection(data: Path) -> None:
    Path("odd[1]").mkdir()
    assert (Place.parse("odd[1]").text, Place.parse("odd[1]").selection) == ("odd[1]", None)


def test_progress_without_a_terminal_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.Meter("copy") as meter:
        meter(0, 100 << 20)
        for now in (1.0, 4.0, 10.0, 11.0, 12.0, 20.0):
            meter(int(now * 4) << 20, 100 << 20)
    assert capsys.readouterr().err.splitlines() == [
        "copy: 40 %, 40.0 MiB of 100 MiB, 4.00 MiB/s, 15.0 s left",
        "copy: 80 %, 80.0 MiB of 100 MiB, 4.00 MiB/s, 5.0 s left",
    ]


def test_the_first_steps_of_many_say_nothing_about_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.Meter("upgrade", unit="steps") as meter:
        meter(0, 66_000)
        for now in (6.0, 12.0):
            meter({6.0: 1, 12.0: 33_000}[now], 66_000)
    assert capsys.readouterr().err.splitlines() == [
        "upgrade: 0 %, 1 of 66,000 steps",
        "upgrade: 50 %, 33,000 of 66,000 steps, 2,750 steps/s, 12.0 s left",
    ]


def test_what_an_earlier_run_has_done_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    with progress.Meter("copy", going_on=True) as meter:
        meter(0, 100)
        meter(60, 100)
        meter(100, 100)
    assert (meter.done, meter.done_by_this_run) == (100, 40)


def test_progress_on_a_terminal_is_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    with progress.Meter("copy") as meter:
        meter(0, 2 << 20)
        meter(1 << 20, 2 << 20)
        meter(2 << 20, 2 << 20)
    shown = capsys.readouterr().err
    assert "copy" in shown
    assert "100%" in shown
    assert "2.0/2.0 MiB" in shown
    assert "iB/s" in shown


def test_a_node_at_the_root_of_the_file_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no directory above it to go on to."""
    monkeypatch.setattr("blizzarr.cli.place._is_node", lambda directory, groups=False: True)
    assert (Place.parse("/a/b").target, Place.parse("/a/b").path) == ("/", "a/b")


def test_every_verb_takes_urls(run: Run, tmp_path: Path) -> None:
    """Of a store whose root they name, or of a node in it."""
    np.save(tmp_path / "h.npy", np.arange(10))
    url = "memory://urls/x.zarr"
    for command in (
        ("create", url),
        ("create", f"{url}/a", "--shape", "4", "--dtype", "int16"),
        ("copy", tmp_path / "h.npy", f"{url}/h"),
        ("copy", url, "memory://urls/y.zarr"),
        ("info", f"{url}/h"),
        ("tree", url),
        ("ls", url),
        ("cat", f"{url}/h[2:4]"),
        ("show", f"{url}/h", "-o", tmp_path / "h.png"),
        ("check", url),
        ("diff", url, "memory://urls/y.zarr"),
        ("copy", f"{url}/h", f"file://{tmp_path}/y.zarr"),
        ("upgrade", f"file://{tmp_path}/y.zarr"),
        ("rm", "--yes", f"{url}/h"),
    ):
        assert run(*command)[0] == 0, command
    assert run("ls", url)[1] == "a\n"


def test_a_copy_moves_while_one_part_of_it_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard of slow codecs is one call of the engine: nothing moved, and no rate was known, until it was done."""
    for name in ("_QUIET", "_PAUSE", "_TICK"):
        monkeypatch.setattr(progress, name, 0.01)
    counted = [0, 0]
    monkeypatch.setattr(progress, "_so_far", lambda: sum(counted))
    with progress.Meter("copy", is_copy=True) as meter:
        meter(0, 100 << 20)
        lines: list[str] = []
        for now in ([100 << 20, 0], [100 << 20, 50 << 20], [150 << 20, 200 << 20]):
            counted[:] = now
            _wait_for_lines(capsys, lines)
        meter(100 << 20, 100 << 20)
    # On a busy machine one state is drawn more than once.
    assert list(dict.fromkeys(line.split(",")[0] for line in lines)) == ["copy: 50 %", "copy: 75 %", "copy: 100 %"]
    assert all("/s, " in line and line.endswith(" left") for line in lines)
    assert meter.done == 100 << 20


def _wait_for_lines(capsys: pytest.CaptureFixture[str], lines: list[str]) -> None:
    """Wait until something new is said."""
    before = list(lines)
    for _ in range(1000):
        said = capsys.readouterr().err.splitlines()
        lines += [line for line in said if not lines or line.split(",")[0] != lines[-1].split(",")[0]]
        if len(lines) > len(before):
            return
        time.sleep(0.01)
    raise AssertionError(f"nothing more was said after {before}")
