"""What is wrong with a command line is reported as every other mistake is."""

import pytest

from tests.unit.cli.runs_command import Plimsoll


@pytest.mark.parametrize(
    ("words", "said", "remedy"),
    [
        (["runn"], "plimsoll: there is no command 'runn'", "did you mean run?"),
        (["Ports"], "plimsoll: there is no command 'Ports'", "did you mean ports?"),
        (["xyzzy"], "plimsoll: there is no command 'xyzzy'", "see plimsoll --help"),
        (["lab", "dwn", "x"], "plimsoll lab: there is no command 'dwn'", "did you mean down?"),
        (["runs", "shw"], "plimsoll runs: there is no command 'shw'", "did you mean show?"),
        (["metrics", "gt"], "plimsoll metrics: there is no command 'gt'", "did you mean get?"),
        (["tune", "audi"], "plimsoll tune: there is no command 'audi'", "did you mean audit?"),
        (
            ["import", "trafficgn"],
            "plimsoll import: there is no command 'trafficgn'",
            "did you mean trafficgen?",
        ),
        (
            ["trial", "x.yaml", "--lod", "5kpps"],
            "plimsoll trial: there is no option --lod",
            "did you mean --load?",
        ),
        (
            ["ports", "--xyzzy"],
            "plimsoll ports: there is no option --xyzzy",
            "see plimsoll ports --help",
        ),
        (["ports", "-x"], "plimsoll ports: there is no option -x", "see plimsoll ports --help"),
        (
            ["lab", "down"],
            "plimsoll lab down: the argument lab is missing",
            "give it; plimsoll lab down --help says what it takes",
        ),
        (
            ["trial", "x.yaml"],
            "plimsoll trial: the option --load is missing",
            "give it; plimsoll trial --help says what it takes",
        ),
        (
            ["simulate", "drift", "--seed"],
            "--seed: requires an argument",
            "see the command's --help",
        ),
        (
            ["generators", "extra"],
            "plimsoll generators: got unexpected extra argument(s) (extra)",
            "see plimsoll generators --help",
        ),
    ],
)
def test_a_mistake_is_an_error_and_its_remedy(
    plimsoll: Plimsoll, words: list[str], said: str, remedy: str
) -> None:
    assert plimsoll(*words) == 2
    assert (plimsoll.out, plimsoll.err) == ("", f"error: {said} remedy: {remedy}")


def test_a_value_that_an_option_does_not_take_is_reported_for_the_option(
    plimsoll: Plimsoll,
) -> None:
    assert plimsoll("simulate", "drift", "--seed", "x") == 2
    assert plimsoll.err.startswith("error: --seed: ")
    assert "a valid integer" in plimsoll.err
    assert plimsoll.err.endswith("remedy: plimsoll simulate --help says what it takes")


def test_a_command_line_that_drives_the_terminal_does_not(plimsoll: Plimsoll) -> None:
    assert plimsoll("ports", "--\x1b[31mred") == 2
    assert "\x1b[31m" not in plimsoll.err


@pytest.mark.parametrize("words", [[], ["lab"]])
def test_a_group_without_a_command_shows_its_help(plimsoll: Plimsoll, words: list[str]) -> None:
    assert plimsoll(*words) == 2
    assert "Usage: plimsoll" in plimsoll.out
    assert plimsoll.err == ""
