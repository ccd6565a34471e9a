"""binary-search.py command lines, read exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.benchmark.trafficgen.command import parse_trafficgen_command
from plimsoll.errors import InputError
from tests.worded.says import Says

WORDS = ["--rate", "60", "--rate-unit=%", "--warmup-trial", "--traffic-profile", "a b.json"]


@pytest.mark.parametrize(
    "before",
    [
        [],
        ["binary-search.py"],
        ["./binary-search.py"],
        ["python3", "-u", "/opt/trafficgen/binary-search.py"],
        ["/usr/bin/python3.11", "binary-search.py"],
    ],
)
def test_options_are_read_whatever_starts_the_program(before: list[str]) -> None:
    command = parse_trafficgen_command([*before, *WORDS])
    assert dict(command.given) == {
        "rate": 60.0,
        "rate-unit": "%",
        "warmup-trial": True,
        "traffic-profile": "a b.json",
    }


def test_one_word_may_hold_the_whole_line() -> None:
    line = "python3 binary-search.py --rate 60 \\\n  --traffic-profile 'a b.json'"
    assert dict(parse_trafficgen_command([line]).given) == {
        "rate": 60.0,
        "traffic-profile": "a b.json",
    }


def test_what_is_not_given_is_as_trafficgen_has_it() -> None:
    command = parse_trafficgen_command([])
    assert command.whole("validation-runtime") == 30
    assert command.number("search-granularity") == 0.1
    assert command.text("traffic-generator") == "trex-txrx"
    assert not command.flag("warmup-trial")
    assert command.origin("max-retries") == "--max-retries is 1 by default"


def test_of_an_option_given_twice_the_last_counts() -> None:
    assert parse_trafficgen_command(["--rate=1", "--rate=2"]).number("rate") == 2


def test_values_may_look_like_anything_but_options() -> None:
    command = parse_trafficgen_command(["--min-rate", "-5", "--src-ips=", "--pre-trial-cmd=--x"])
    assert dict(command.given) == {"min-rate": -5.0, "src-ips": "", "pre-trial-cmd": "--x"}
    same_as_devices = parse_trafficgen_command(["--active-device-pairs", "--"])
    assert same_as_devices.text("active-device-pairs") == "--"


def test_a_toggle_needs_no_value() -> None:
    command = parse_trafficgen_command(["--astf-ipv6", "--rate", "1"])
    assert (command.text("astf-ipv6"), command.number("rate")) == ("ON", 1)
    assert parse_trafficgen_command(["--astf-ipv6"]).text("astf-ipv6") == "ON"
    assert parse_trafficgen_command(["--astf-ipv6", "OFF"]).text("astf-ipv6") == "OFF"


def test_an_option_is_written_as_it_was_given() -> None:
    command = parse_trafficgen_command(["--rate=060.0", "--pre-trial-cmd", "ls -l", "--no-promisc"])
    assert command.written("rate") == "--rate 060.0"
    assert command.origin("pre-trial-cmd") == "--pre-trial-cmd 'ls -l'"
    assert command.written("no-promisc") == "--no-promisc"


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--rte", "5"], ("--rte", "binary-search.py")),
        # argparse would take this for --rate-tolerance.
        (
            ["--rate-tol", "5"],
            ("--rate-tol", "binary-search.py"),
        ),
        (
            ["--zz"],
            ("--zz", "binary-search.py", "--help"),
        ),
        (["--rate"], ("--rate",)),
        (["--rate", "--min-rate", "1"], ("--rate",)),
        (["--warmup-trial=yes"], ("yes", "--warmup-trial")),
        (["--rate", "fast"], ("fast", "--rate")),
        (["--rate", "nan"], ("nan", "--rate")),
        (["--rate", "1e999"], ("1e999", "--rate")),
        (
            ["--search-runtime", "1.5"],
            ("1.5", "--search-runtime"),
        ),
        (
            ["--rate-unit", "pps"],
            ("pps", "--rate-unit"),
        ),
        (
            ["--rate", "1", "extra"],
            ("extra", "binary-search.py"),
        ),
        (
            ["-r", "5"],
            ("-r", "binary-search.py"),
        ),
        (
            ["sudo", "binary-search.py", "--rate", "1"],
            ("sudo", "binary-search.py"),
        ),
        (
            ["binary-search.py --pre-trial-cmd 'x"],
            ("command line",),
        ),
    ],
)
def test_mistakes_are_reported(words: list[str], facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_trafficgen_command(words)
    assert caught.value == says(*facts)


@given(st.lists(st.text(max_size=20) | st.sampled_from(WORDS), max_size=8))
def test_any_words_are_read_or_refused_with_a_remedy(words: list[str]) -> None:
    refused: InputError | None = None
    try:
        parse_trafficgen_command(words)
    except InputError as error:
        refused = error
    assert refused is None or (refused.where and refused.remedy)
