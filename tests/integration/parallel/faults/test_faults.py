"""Whatever call of a run fails, it ends in a documented way, and what is left can be used.

The run is one on a simulated DUT, which has all that a run does but ports and processes. strace
lets one of its calls fail (inject=): each kind of call on each kind of object, at its first and at
one later place, with two errors each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.parallel.faults.fault_case import MAX_CASES, FaultCase, cases_of, kind_of
from tests.integration.parallel.faults.faulty_run import Nursery, mistakes, nursery, trace_of
from tests.integration.parallel.faults.nursery import MARK

_SEED = 44
_DRAWN = 30
_PARTS = 10
# What breaks most easily, and cannot be drawn by chance.
_KNOWN = (
    FaultCase("fsync", "journal", 1, "EIO"),
    FaultCase("rename", "run", 1, "EIO"),
    FaultCase("flock", "lock", 1, "ENOLCK"),
)


@pytest.fixture(scope="module")
def runs() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


@pytest.fixture(scope="module")
def cases(runs: Nursery, tmp_path_factory: pytest.TempPathFactory) -> list[FaultCase]:
    return cases_of(trace_of(runs, tmp_path_factory.mktemp("traced")), _SEED)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ('openat(AT_FDCWD</w>, "/w/runs/r/journal.jsonl", O_RDONLY) = 3', "journal"),
        ("flock(5</w/runs/r/lock>, LOCK_EX|LOCK_NB) = 0", "lock"),
        ('rename("runs/r/.t.parquet.unfinished", "runs/r/t.parquet") = 0', "Parquet"),
        ('rename("runs/r/.environment.json.7", "runs/r/environment.json") = 0', "run"),
        ('write(1<pipe:[7]>, "x", 1) = 1', "pipe"),
        ("socket(AF_UNIX, SOCK_STREAM, 0) = 7<socket:[9]>", "socket"),
        ('read(6</proc/7/cgroup>, "0", 1023) = 10', "cgroup"),
        ('openat(AT_FDCWD</w>, "/sys/kernel/tracing/trace", O_RDONLY) = 3', "tracefs"),
        ("mmap(NULL, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0) = 0x7f0000000000", "none"),
    ],
)
def test_a_call_is_of_the_kind_of_its_object(call: str, kind: str) -> None:
    assert kind_of(call) == kind


def test_each_pair_has_its_first_and_one_later_call_with_two_errors() -> None:
    trace = [
        "fsync(3</w/runs/r/journal.jsonl>) = 0",
        f'access("{MARK}", R_OK) = -1 ENOENT',
        "getpid() = 7",
        *["fsync(3</w/runs/r/journal.jsonl>) = 0"] * 3,
        'mkdir("/w/runs/r", 0750) = 0',
    ]
    found = cases_of(trace, seed=1)
    assert {(case.call, case.kind) for case in found} == {("fsync", "journal"), ("mkdir", "run")}
    places = {case.place for case in found if case.call == "fsync"}
    # Those before Plimsoll began count, as strace counts them, and are left alone.
    assert min(places) == 2
    assert max(places) in {3, 4}
    assert len(found) == 2 * 2 + 2


@pytest.mark.slow
def test_the_faults_that_are_known(runs: Nursery, tmp_path: Path) -> None:
    assert [each for case in _KNOWN for each in mistakes(runs, tmp_path, case)] == []


@pytest.mark.slow
def test_faults_drawn_by_chance(runs: Nursery, cases: list[FaultCase], tmp_path: Path) -> None:
    drawn = random.Random(_SEED).sample(cases, _DRAWN)  # noqa: S311 - a choice of tests
    assert [each for case in drawn for each in mistakes(runs, tmp_path, case)] == []


@pytest.mark.full
@pytest.mark.parametrize("part", range(_PARTS))
def test_all_faults(runs: Nursery, cases: list[FaultCase], tmp_path: Path, part: int) -> None:
    assert len(cases) <= MAX_CASES
    chosen = cases[part::_PARTS]
    assert [each for case in chosen for each in mistakes(runs, tmp_path, case)] == []
