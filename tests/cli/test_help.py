"""The help texts: every subcommand and option says what it is for."""

import pytest


def test_without_arguments_the_help_is_shown(command):
    done = command()
    assert "info" in done.stdout + done.stderr
    assert "bench" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("subcommand", "said"),
    [
        ([], ["Run whole programs", "info", "bench"]),
        (["info"], ["Show the devices", "--json"]),
        (["bench"], ["Measure this machine", "NAME", "--device", "--quick", "--json", "FILE", "--list"]),
    ],
)
def test_help(command, subcommand, said):
    done = command(*subcommand, "--help")
    assert done.returncode == 0
    for text in said:
        assert text in done.stdout
