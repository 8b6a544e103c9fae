"""`gpu-run` and names and numbers at the edge: places for results, long names, names that steer terminals, digits."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_engine import ENVIRONMENT, Fake, ended

import lanewise as lw
from lanewise import settings
from lanewise.batch.report import Tally, summary
from lanewise.cli.gpu_run import command
from lanewise.host.files import Filesystem

LONG = "n" * 300
"""A name that no file system takes."""
DIGITS = "9" * 5000
"""More than Python turns into a number."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.wasm").write_bytes(b"\0asm the engine is a fake one")
    np.save(tmp_path / "state.npy", np.zeros(4, np.uint32))
    (tmp_path / "folder").mkdir()
    return tmp_path


def refusal(monkeypatch, capfd, words) -> str:
    """The one sentence about a command line that runs nothing and leaves nothing behind."""
    before = sorted(os.walk("."))
    fake = Fake(monkeypatch)
    assert command([*words, "app.wasm"]) == 2
    assert fake.runs == []
    assert sorted(os.walk(".")) == before
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.removeprefix("gpu-run: ").rstrip("\n")


RESULTS = {
    "--picture": ["--size", "4x4"],
    "--state-out": ["--state", "state.npy"],
    "--output": [],
}
TROUBLE = {
    "folder": "it is a directory; name a file",
    "new/": "it is a directory; name a file",
    "/dev/null": "it is there and is no file; name another",
    "nowhere/file": "the directory is not there",
    "app.wasm/file": "the directory is not there",
    "/proc/file": "no file can be written there (No such file or directory); name another",
    LONG: "no file can be written there (File name too long); name another",
    f"{LONG}/file": "no file can be written there (File name too long); name another",
}


@pytest.mark.parametrize("place", TROUBLE, ids=lambda place: place[:20])
@pytest.mark.parametrize("option", RESULTS)
def test_places_of_results_are_looked_at_before_lanes_run(monkeypatch, capfd, option, place):
    said = refusal(monkeypatch, capfd, [option, place, *RESULTS[option]])
    assert said == f"{option} {place}: {TROUBLE[place]}"


def test_outputs_of_an_earlier_run_stay_and_are_told_of(monkeypatch, capfd, here):
    Fake(monkeypatch)

    def said(*words):
        assert command([*words, "--quiet", "--output-dir", "out", "app.wasm", "{}"]) == 0
        return capfd.readouterr().err

    assert said("--lanes", "12") == ""
    assert said("--lanes", "12") == ""
    before = sorted(os.listdir("out"))
    for name in ("a.out", "99", "07.out", "07.err", "x.err"):  # which no run of numbers leaves
        (here / "out" / name).write_bytes(b"")
    sentence = "gpu-run: --output-dir out: outputs of {}, stay beside those of this one; name another directory if "
    assert said("--lanes", "10").startswith(sentence.format("2 lanes of an earlier run, such as 10.out"))
    assert set(before) < set(os.listdir("out"))
    assert said("--lanes", "11").startswith(sentence.format("1 lane of an earlier run, such as 11.out"))


def test_outputs_of_files_that_are_gone_are_told_of(monkeypatch, capfd, here):
    Fake(monkeypatch)
    words = ["--each-file", "folder/**", "--quiet", "--output-dir", "out", "app.wasm", "{}"]
    (here / "folder" / "sub").mkdir()
    for name in ("a", "b", "sub/c", "sub/d"):
        (here / "folder" / name).write_bytes(b"")
    for gone, said in ((None, ""), ("sub/d", "1 lane of an earlier run, such as sub/d.out"), ("b", "2 lanes of an ")):
        if gone:
            (here / "folder" / gone).unlink()
        assert command(words) == 0
        err = capfd.readouterr().err
        assert said in err
        assert bool(err) == bool(said)


@pytest.mark.parametrize("place", ["folder", "folder/inner"])
def test_a_directory_that_may_not_be_read_is_one_sentence(here, place):
    (here / "folder" / "inner").mkdir()
    code = (
        "import os, sys; from lanewise.cli.gpu_run import main; import lanewise.batch.engine; os.setuid(65534); main()"
    )
    (here / "folder").chmod(0)
    here.chmod(0o755)
    if os.getuid():
        code = code.replace("os.setuid(65534); ", "")
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, "--dir", place, "app.wasm"],
            env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        (here / "folder").chmod(0o755)
    said = f"gpu-run: --dir {place}: it cannot be read: Permission denied; name one that the program may use\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_directory_that_cannot_be_opened_is_told_of_without_numbers(monkeypatch, here):
    def refuse(*path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(lw.ArgumentError, match=r"^the directory folder cannot be read: Permission denied; give "):
        Filesystem([(Path("folder"), "folder")])


@pytest.mark.parametrize("place", ["new.jpg", "state.npy", "folder/a.PNG.gz"])
def test_a_picture_is_called_what_it_is(monkeypatch, capfd, place):
    said = refusal(monkeypatch, capfd, ["--picture", place, "--size", "4x4"])
    assert said == f"--picture {place}: it is written as PNG; name a file that ends in .png"


@pytest.mark.parametrize("place", ["new.PNG", "new.png", "n" * 255, "link"])
@pytest.mark.parametrize("option", RESULTS)
def test_places_that_are_good_are_left_as_they_are(monkeypatch, here, option, place):
    (here / "link").symlink_to("folder/absent")
    before = sorted(os.walk("."))
    fake = Fake(monkeypatch)
    assert command([option, place, *RESULTS[option], "app.wasm"]) == 0
    assert fake.task.lanes == 1
    assert sorted(os.walk(".")) == before


@pytest.mark.parametrize("same", ["x.bin", "./x.bin", "folder/../x.bin", "link/x.bin", "{here}/x.bin"])
def test_two_results_cannot_go_to_one_file(monkeypatch, capfd, here, same):
    (here / "link").symlink_to(".")
    place = same.format(here=here)
    said = refusal(monkeypatch, capfd, ["--output", "x.bin", "--picture", place, "--size", "4x4"])
    assert said == f"--output and --picture name the same file, {place}; name another"


def test_a_place_is_shown_on_one_line(monkeypatch, capfd):
    said = refusal(monkeypatch, capfd, ["--output", "no\nwhere/\x1b[31m"])
    assert said == r"--output 'no\nwhere/\x1b[31m': the directory is not there"


def test_outputs_have_names_as_long_as_file_systems_take(monkeypatch, capfd, here):
    name = "n" * 251
    (here / "folder" / name).write_bytes(b"")
    Fake(monkeypatch, lambda lane: ended(lane, stdout=b"out", stderr=b"err"))
    assert command(["--each-file", "folder/*", "--output-dir", "out", "--quiet", "app.wasm", "{}"]) == 0
    written = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    assert written == {f"{name}.out": b"out", f"{name}.err": b"err"}


def test_an_output_whose_name_is_too_long_is_one_sentence(monkeypatch, capfd, here):
    name = "n" * 252
    (here / "folder" / name).write_bytes(b"")
    fake = Fake(monkeypatch)
    assert command(["--each-file", "folder/*", "--output-dir", "out", "--quiet", "app.wasm", "{}"]) == 3
    assert capfd.readouterr().err == f"gpu-run: 'out/{name}.out' cannot be written: File name too long\n"
    assert fake.runs[0].asked_to_stop
    assert list((here / "out").iterdir()) == []


NUMBERS = {
    "--lanes": (DIGITS, "is not a whole number from 1 to 4294967295"),
    "--fuel": (DIGITS, "is not a whole number from 1 to 9223372036854775807"),
    "--seed": (DIGITS, "is not a whole number from 0 to 18446744073709551615"),
    "--threads": (DIGITS, "is not a whole number from 0 to 63"),
    "--memory": (f"{DIGITS}K", "is not a size; write a number of bytes, or one with K, M or G behind it"),
    "--output-limit": (DIGITS, "is not a size; write a number of bytes, or one with K, M or G behind it"),
    "--timeout": (DIGITS, "is not a time to wait; write seconds above 0, or such as 500ms, 5s, 2m"),
    "--group": (DIGITS, "is not a size of groups; write a power of two up to 256"),
    "--size": (
        f"{DIGITS}x1",
        "is not a size of pictures; write WIDTHxHEIGHT, such as 256x256, with 16,384 pixels to a side at most",
    ),
    "--placement": (
        f"flat/1/{DIGITS}",
        "is no placement; write LAYOUT/LANES/RESIDENT, such as interleaved/32/all or flat/1/4224, or search",
    ),
}


@pytest.mark.parametrize("option", NUMBERS)
def test_numbers_of_thousands_of_digits_are_refused_in_few_words(monkeypatch, capfd, option):
    text, trouble = NUMBERS[option]
    assert refusal(monkeypatch, capfd, [option, text]) == f"{option}: '{text[:32]}...' {trouble}"


@pytest.mark.parametrize(
    ("place", "near"),
    [("words/32/all", "interleaved/32/all"), ("flat/8/all/64r/u", "flat/8/all/64r"), ("flat/32/fit", "flat/32/all")],
)
def test_placements_of_functions_are_not_for_programs(monkeypatch, capfd, place, near):
    words = f"--placement: '{place}' is for functions; programs are flat or interleaved, not unrolled, and not fit"
    words += f"; write {near}"
    assert refusal(monkeypatch, capfd, ["--placement", place]) == words
    with pytest.raises(lw.ArgumentError, match="is for functions"):
        lw.run(Path(__file__).parents[2] / "examples" / "programs" / "pi.wasm", lanes=2, device="cpu", placement=place)


def test_a_side_of_a_picture_may_be_the_second_that_is_too_long(monkeypatch, capfd):
    assert "is not a size of pictures" in refusal(monkeypatch, capfd, ["--size", f"1x{DIGITS}"])


def test_zeros_before_a_number_mean_nothing(monkeypatch):
    fake = Fake(monkeypatch)
    assert command(["--seed", "0" * 5000 + "7", "--fuel", "0012", "app.wasm"]) == 0
    assert (fake.task.seed, fake.task.limits.fuel) == (7, 12)


@pytest.mark.parametrize("digits", ["", "x", "-1", "+1", "1 ", "1.0", "0x1", "9" * 41])
def test_what_is_no_whole_number(digits):
    assert settings.whole_number(digits) is None


@pytest.mark.parametrize(("digits", "number"), [("0", 0), ("000", 0), ("0010", 10), ("9" * 40, 10**40 - 1)])
def test_what_is_a_whole_number(digits, number):
    assert settings.whole_number(digits) == number


@pytest.mark.parametrize(
    ("variable", "read"),
    [
        ("LANEWISE_CACHE_SIZE", settings.cache_limit),
        ("LANEWISE_CPU_THREADS", settings.cpu_threads),
        ("LANEWISE_KEPT_MEMORY", lambda: settings.kept_memory(1)),
    ],
)
def test_a_setting_of_thousands_of_digits_is_refused(monkeypatch, variable, read):
    monkeypatch.setenv(variable, DIGITS)
    with pytest.raises(lw.LanewiseError, match=rf"^{variable} is '9{{32}}\.\.\.'; write [^9]*$"):
        read()


def test_a_device_with_thousands_of_digits_is_refused():
    with pytest.raises(lw.NoDeviceError, match=r"^there is no device 'cuda:9{27}\.\.\.'; write [^9]*$"):
        lw.device(f"cuda:{DIGITS}")


def test_the_names_of_devices_say_which_runs_nothing():
    with pytest.raises(lw.NoDeviceError, match=r"cuda:1 or null, which compiles and runs nothing$"):
        lw.device("foo")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("größe 日本.txt", "größe 日本.txt"),
        ("it's\\n.txt", "it's\\n.txt"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[2J\x07", r"'\x1b[2J\x07'"),
        ("\u202ecod.exe", r"'\u202ecod.exe'"),
        ("\udcff", r"'\udcff'"),
    ],
)
def test_names_of_files_do_not_steer_the_terminal(name, words):
    tally = Tally(11, lambda lane: name)
    for lane in range(11):
        tally.add(ended(lane, 1))
    assert tally.name(3) == f"lane 3 ({words})"
    lines = summary(tally, 1, "cpu", "")
    assert lines[2].endswith(f"first lane 0 ({words})")
    assert all(line.isprintable() for line in lines)


def test_a_summary_of_files_with_odd_names_is_harmless(monkeypatch, capfd, here):
    (here / "folder" / "a\x1b[31m\nb").write_bytes(b"")
    Fake(monkeypatch, lambda lane: ended(lane, 1))
    assert command(["--each-file", "folder/*", "app.wasm", "{}"]) == 1
    assert capfd.readouterr().err.endswith("  1 exit code 1, lane 0 ('folder/a\\x1b[31m\\nb')\n")


@pytest.mark.parametrize("option", ["--state-out", "--picture", "--output"])
def test_results_do_not_take_the_place_of_the_program(option, here, monkeypatch, capfd):
    beside = {"--state-out": ["--state", "state.npy"], "--picture": ["--size", "2x2"], "--output": []}[option]
    os.symlink(".", "there")
    for path in ("app.wasm", "there/app.wasm"):
        said = refusal(monkeypatch, capfd, [*beside, option, path])
        assert said == f"{option} {path}: that would overwrite app.wasm, which the run reads; name another file"


def test_a_state_may_be_replaced_by_what_becomes_of_it(here, monkeypatch):
    Fake(monkeypatch, ended)
    assert command(["--lanes", "2", "--state", "state.npy", "--state-out", "state.npy", "app.wasm"]) == 0


def test_outputs_of_lanes_do_not_take_the_place_of_inputs(here, monkeypatch, capfd):
    for name in ("f", "f.out"):
        (here / "folder" / name).write_text(name)
    words = ["--each-file", "folder/*", "--output-dir", "folder", "app.wasm", "{}"]
    fake = Fake(monkeypatch, ended)
    assert command(words) == 2
    assert fake.runs == []
    assert capfd.readouterr().err == (
        "gpu-run: --output-dir folder: the output of a lane would overwrite folder/f.out, which the run reads; "
        "name another directory\n"
    )
    (here / "folder" / "f.out").unlink()
    assert command(words) == 0
    for name in ("f.out", "f.err"):
        (here / "folder" / name).unlink()
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "f").symlink_to(here / "folder" / "f.out")
    (here / "folder" / "f.out").write_text("what a link leads to")
    assert command(["--each-file", "elsewhere/*", "--output-dir", "folder", "app.wasm", "{}"]) == 2


def test_a_program_that_is_a_link_to_nothing_is_called_that(here, capfd):
    os.symlink("nothing.wasm", "link.wasm")
    assert command(["link.wasm"]) == 2
    assert capfd.readouterr().err == (
        "gpu-run: the program 'link.wasm' is a link to 'nothing.wasm', which is not there; "
        "give the path of a .wasm file, or of a static AArch64 program of Linux\n"
    )
