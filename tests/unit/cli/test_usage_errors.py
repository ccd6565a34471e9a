"""What is wrong with a command line is reported as every other mistake is."""

import pytest

from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["runn"], ("runn",)),
        (["Ports"], ("Ports",)),
        (["xyzzy"], ("xyzzy", "plimsoll --help")),
        (["lab", "dwn", "x"], ("dwn", "lab", "plimsoll lab")),
        (["runs", "shw"], ("shw", "plimsoll runs")),
        (["metrics", "gt"], ("gt", "metrics", "plimsoll metrics")),
        (["tune", "audi"], ("audi", "tune", "plimsoll tune")),
        (
            ["import", "trafficgn"],
            ("trafficgn", "import", "plimsoll import"),
        ),
        (
            ["trial", "x.yaml", "--lod", "5kpps"],
            ("trial", "--lod", "--load", "plimsoll trial"),
        ),
        (
            ["ports", "--xyzzy"],
            ("ports", "--xyzzy", "plimsoll ports --help", "plimsoll ports"),
        ),
        (
            ["ports", "-x"],
            ("ports", "-x", "plimsoll ports --help", "plimsoll ports"),
        ),
        (
            ["lab", "down"],
            ("lab", "plimsoll lab down --help", "plimsoll lab down"),
        ),
        (
            ["trial", "x.yaml"],
            ("trial", "--load", "plimsoll trial --help", "plimsoll trial"),
        ),
        (
            ["simulate", "drift", "--seed"],
            ("--seed", "--help"),
        ),
        (
            ["generators", "extra"],
            ("generators", "extra", "plimsoll generators --help", "plimsoll generators"),
        ),
    ],
)
def test_a_mistake_is_an_error_and_its_remedy(
    plimsoll: Plimsoll, words: list[str], facts: tuple[str, ...], says: Says
) -> None:
    assert plimsoll(*words) == 2
    assert plimsoll.out == ""
    assert plimsoll.err == says("error", "remedy", *facts)


def test_a_value_that_an_option_does_not_take_is_reported_for_the_option(
    plimsoll: Plimsoll,
    says: Says,
) -> None:
    assert plimsoll("simulate", "drift", "--seed", "x") == 2
    assert plimsoll.err.startswith("error: --seed: ")
    assert plimsoll.err == says("plimsoll simulate --help")


def test_a_command_line_that_drives_the_terminal_does_not(plimsoll: Plimsoll) -> None:
    assert plimsoll("ports", "--\x1b[31mred") == 2
    assert "\x1b[31m" not in plimsoll.err


@pytest.mark.parametrize("words", [[], ["lab"]])
def test_a_group_without_a_command_shows_its_help(plimsoll: Plimsoll, words: list[str]) -> None:
    assert plimsoll(*words) == 2
    assert "Usage: plimsoll" in plimsoll.out
    assert plimsoll.err == ""
