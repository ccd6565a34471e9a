"""Lists and masks of CPUs: Linux, lib/bitmap-str.c prints groups of 32 bits, highest first."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.cpus.cpu_sets import (
    format_cpu_mask,
    name_cpus,
    parse_cpu_mask,
    read_cpu_list,
    read_cpu_mask,
)
from plimsoll.tune.host.view.unread import CannotRead
from tests.worded.says import Says

PATH = "/proc/irq/default_smp_affinity"


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", []),
        ("1", [0]),
        ("00ff", range(8)),
        ("FF\n", range(8)),
        ("0xf0", [4, 5, 6, 7]),
        # Two groups: bit 0 of the higher one is CPU 32.
        ("1,00000000", [32]),
        ("00000000,80000001", [0, 31]),
        ("3,00000000,00000001", [0, 64, 65]),
        # A short group stands for its low bits.
        ("1,1", [0, 32]),
    ],
)
def test_a_mask_is_read(text: str, cpus: list[int]) -> None:
    assert parse_cpu_mask(text) == frozenset(cpus)


@pytest.mark.parametrize(
    "text", ["", ",", "1,", "0-3", "g", "1 2", "123456789", "-1", "0x", "f," * 300 + "f", "\u0661"]
)
def test_anything_else_is_no_mask(text: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        parse_cpu_mask(text)
    assert caught.value == says()


@pytest.mark.parametrize(
    ("cpus", "text"),
    [
        ([], "0"),
        ([0], "1"),
        ([0, 33], "2,00000001"),
        ([31], "80000000"),
        ([64], "1,00000000,00000000"),
    ],
)
def test_a_mask_is_written_as_the_kernel_takes_it(cpus: list[int], text: str) -> None:
    assert format_cpu_mask(cpus) == text


@given(st.frozensets(st.integers(0, 8191), max_size=64))
def test_what_is_written_reads_back(cpus: frozenset[int]) -> None:
    assert parse_cpu_mask(format_cpu_mask(cpus)) == cpus


@given(st.text(max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(ValueError):
        parse_cpu_mask(text)


@pytest.mark.parametrize("text", ["", "\n", "(null)"])
def test_no_cpus_are_an_empty_list(text: str) -> None:
    assert read_cpu_list(CapturedHost(files={PATH: text}), PATH) == frozenset()


def test_a_list_and_a_mask_are_read_from_files() -> None:
    view = CapturedHost(files={PATH: "0-2,8\n"})
    assert read_cpu_list(view, PATH) == {0, 1, 2, 8}
    assert read_cpu_mask(CapturedHost(files={PATH: "0f"}), PATH) == {0, 1, 2, 3}


def test_what_is_neither_cannot_be_read_and_says_where() -> None:
    view = CapturedHost(files={PATH: "2-0"})
    for read in (read_cpu_list, read_cpu_mask):
        with pytest.raises(CannotRead) as caught:
            read(view, PATH)
        assert caught.value.where == PATH
        assert caught.value.unread.cause == "unreadable"


def test_cpus_are_named_in_words() -> None:
    assert name_cpus({4}) == "CPU 4"
    assert name_cpus({2, 3, 4, 9}, "isolated") == "isolated CPUs 2-4,9"
