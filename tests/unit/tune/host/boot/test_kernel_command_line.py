"""Forms of arguments: Linux, Documentation/admin-guide/kernel-parameters.rst, "cpu lists"."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.tune.host.boot.kernel_command_line import (
    KernelCommandLine,
    parse_isolcpus,
    parse_kernel_cpu_list,
)
from tests.worded.says import Says

ONLINE = range(8)


def test_words_are_split_as_the_kernel_does(says: Says) -> None:
    line = KernelCommandLine.parse(
        'ro isolcpus=2-3  dyndbg="file a.c +p; file b.c +p" nohz_full=1 nohz_full=2-3 '
        '"quoted=a b" -- single nohz_full=7'
    )
    assert "ro" in line
    assert line.last("ro") == ""
    assert line.last("dyndbg") == says("a.c", "+p", "b.c")
    assert line.last("quoted") == "a b"
    assert line.values("nohz_full") == ("1", "2-3")
    assert line.last("nohz_full") == "2-3"
    # What follows "--" is for the first process.
    assert "single" not in line
    assert line.last("absent") is None


def test_dashes_and_underscores_in_names_are_the_same() -> None:
    line = KernelCommandLine.parse("intel-idle.max-cstate=0 tsc=reliable-not")
    assert line.last("intel_idle.max_cstate") == "0"
    assert "intel-idle.max-cstate" in line
    assert line.last("tsc") == "reliable-not"


def test_an_argument_is_reported_as_it_counts() -> None:
    line = KernelCommandLine.parse("nosoftlockup skew_tick=0 skew_tick=1")
    assert line.shown("nosoftlockup") == "nosoftlockup"
    assert line.shown("skew_tick") == "skew_tick=1"
    assert line.shown("tsc") == "no tsc"


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", [0]),
        ("1,2,10-12", [1, 2, 10, 11, 12]),
        # The documentation's own example: 0,1 used of each group of 4 in 0-7.
        ("0-7:2/4", [0, 1, 4, 5]),
        ("N", [7]),
        ("2-N", [2, 3, 4, 5, 6, 7]),
        ("all", range(8)),
        ("5-5", [5]),
        ("1-6:1/2,0", [0, 1, 3, 5]),
        ("ALL:1/2", [0, 2, 4, 6]),
        # bitmap_parselist skips commas and blanks between regions.
        ("2-4,", [2, 3, 4]),
        (",2,,4", [2, 4]),
        ("2-4 5, 6", [2, 3, 4, 5, 6]),
    ],
)
def test_a_list_of_cpus(text: str, cpus: list[int]) -> None:
    assert parse_kernel_cpu_list(text, ONLINE) == frozenset(cpus)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "3-1",
        "x",
        pytest.param("1-", id="no end"),
        "0-7:0/4",
        "0-7:5/4",
        "0-999999",
        "-1",
        "0-7:2/0",
        "n",
        "5:1/2",
        "2 -4",
    ],
)
def test_anything_else_is_no_list(text: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        parse_kernel_cpu_list(text, ONLINE)
    assert caught.value == says()


@given(st.frozensets(st.integers(0, 511), min_size=1))
def test_single_numbers_are_themselves(cpus: frozenset[int]) -> None:
    assert parse_kernel_cpu_list(",".join(map(str, cpus)), ONLINE) == cpus


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 9), st.integers(1, 9))
def test_a_stride_takes_the_first_of_each_group(
    first: int, length: int, used: int, group: int
) -> None:
    used = min(used, group)
    last = first + length
    expected = set()
    for start in range(first, last + 1, group):
        expected |= set(range(start, min(start + used, last + 1)))
    assert parse_kernel_cpu_list(f"{first}-{last}:{used}/{group}", ONLINE) == expected


@given(st.text(max_size=60))
def test_no_command_line_raises(text: str) -> None:
    line = KernelCommandLine.parse(text)
    for name, value in line.words:
        assert "-" not in name
        for parse in (parse_kernel_cpu_list, parse_isolcpus):
            with contextlib.suppress(ValueError):
                parse(value or "", ONLINE)


@pytest.mark.parametrize(
    ("text", "flags", "cpus"),
    [
        ("2-3", {"domain"}, {2, 3}),
        ("managed_irq,2-3", {"managed_irq"}, {2, 3}),
        ("nohz,domain,managed_irq,2,3", {"nohz", "domain", "managed_irq"}, {2, 3}),
        # The kernel skips a flag that it does not know, and takes "all" for one.
        ("managed_irq,odd_flag,all,Domain,2-3,", {"managed_irq"}, {2, 3}),
        ("unknown,2-3", {"domain"}, {2, 3}),
    ],
)
def test_isolcpus(text: str, flags: set[str], cpus: set[int]) -> None:
    found = parse_isolcpus(text, ONLINE)
    assert (found.flags, found.cpus) == (flags, cpus)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ()),
        ("domain", ("domain",)),
        ("domain,", ()),
        ("domain,all", ("all",)),
        ("managed-irq,2-3", ("managed-irq",)),
    ],
)
def test_isolcpus_without_cpus(text: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        parse_isolcpus(text, ONLINE)
    assert caught.value == says(*facts)
