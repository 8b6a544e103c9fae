"""The help texts: every subcommand and option says what it is for."""

import pytest

import lanewise as lw


def test_without_arguments_the_help_is_shown(command):
    done = command()
    assert "info" in done.stdout + done.stderr
    assert "bench" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("subcommand", "said"),
    [
        ([], ["typed Python kernels", "info", "bench", "--version"]),
        (["info"], ["Show the devices", "--json"]),
        (["bench"], ["Measure this machine", "NAME", "--device", "--quick", "--json", "FILE", "--list"]),
    ],
)
def test_help(command, subcommand, said):
    done = command(*subcommand, "--help")
    assert done.returncode == 0
    for text in said:
        assert text in done.stdout


def test_version(command):
    done = command("--version")
    assert done.returncode == 0
    assert done.stdout == f"lanewise {lw.__version__}\n"
