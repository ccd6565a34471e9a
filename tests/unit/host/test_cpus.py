import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError, MachineError
from plimsoll.host import cpus
from plimsoll.host.cpus import (
    allowed_cpus,
    check_cpus,
    format_cpu_list,
    online_cpus,
    parse_cpu_list,
)
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", (0,)),
        ("2-5,8", (2, 3, 4, 5, 8)),
        ("8, 2-3", (2, 3, 8)),
        ("7-7", (7,)),
    ],
)
def test_a_cpu_list_is_read_as_the_kernel_writes_it(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpu_list(text) == cpus


def test_more_cpus_than_linux_has_are_reported(says: Says) -> None:
    """CONFIG_NR_CPUS is 8192 at most on x86."""
    with pytest.raises(InputError) as caught:
        parse_cpu_list("0-8192", "tester.cpus")
    assert caught.value == says("0-8192", "tester.cpus", "8191")
    assert len(parse_cpu_list("0-8191")) == 8192


@pytest.mark.parametrize(
    "text", ["", "a", "-1", "5-2", pytest.param("1-", id="no end"), "1,,2", "0x1", "\u0661"]
)
def test_anything_else_is_refused_with_its_place(text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_cpu_list(text, where="tester.cpus")
    assert caught.value == says("tester.cpus", "2-5,8")


def test_a_cpu_named_twice_in_a_list_is_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_cpu_list("1-3,2")
    assert caught.value == says("1-3,2")


@given(st.frozensets(st.integers(0, 300), min_size=1))
def test_what_is_formatted_is_read_back(cpus: frozenset[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == tuple(sorted(cpus))


def test_runs_of_cpus_are_written_as_ranges() -> None:
    assert format_cpu_list({8, 2, 3, 4, 0}) == "0,2-4,8"


def test_sound_assignments_pass() -> None:
    check_cpus([("lab.cpu", 1), ("tester.cpus", 2)], online={0, 1, 2}, allowed={0, 1, 2})


def test_a_cpu_that_does_not_exist_is_named_with_its_place_and_the_choice(says: Says) -> None:
    with pytest.raises(InputError) as refused:
        check_cpus([("lab.cpu", 7)], online={0, 1, 2, 5}, allowed={0, 1, 2, 5})
    assert refused.value.where == "lab.cpu"
    assert refused.value == says("7")
    assert refused.value.remedy.endswith("0-2,5")


def test_a_cpu_outside_the_affinity_is_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        check_cpus([("lab.cpu", 1)], online={0, 1, 2}, allowed={0, 2})
    assert caught.value == says("lab.cpu", "1", "0,2")


def test_a_cpu_used_twice_is_refused_naming_both_places(says: Says) -> None:
    with pytest.raises(InputError) as refused:
        check_cpus([("lab.cpu", 1), ("tester.cpus", 1)], online={0, 1}, allowed={0, 1})
    assert refused.value.where == "tester.cpus"
    assert refused.value == says("1", "lab.cpu")


def test_this_machine_counts_as_python_sees_it() -> None:
    assert len(online_cpus()) == os.cpu_count()
    assert allowed_cpus() <= online_cpus()


def test_without_sysfs_the_remedy_is_to_mount_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(cpus, "online_cpus", lambda: online_cpus(tmp_path / "online"))
    with pytest.raises(MachineError) as refused:
        check_cpus([("lab.cpu", 1)])
    assert refused.value == says("-t")
    assert "mount -t sysfs" in str(refused.value.remedy)
