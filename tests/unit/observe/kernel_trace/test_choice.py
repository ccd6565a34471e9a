"""What is recorded where, and why it cannot be."""

import errno
from pathlib import Path

import pytest

from plimsoll.observe.kernel_trace.instance import (
    ELSEWHERE,
    by_threads,
    cpu_mask,
    matching_events,
    on_cpus,
)
from plimsoll.observe.kernel_trace.kernel_trace import LostEvents, losses, refusal, why_no_tracefs
from plimsoll.observe.kernel_trace.trace_program import (
    CpuTotals,
    KernelEvent,
    merged,
    with_thread_names,
)


@pytest.mark.parametrize(
    ("cpus", "mask"),
    [
        ({0}, "00000001"),
        ({1, 5}, "00000022"),
        ({31}, "80000000"),
        ({0, 33}, "00000002,00000001"),
        ({64}, "00000001,00000000,00000000"),
    ],
)
def test_masks_are_as_the_kernel_reads_them(cpus: set[int], mask: str) -> None:
    assert cpu_mask(cpus) == mask


def test_filters_name_the_cpus_under_test() -> None:
    assert on_cpus("target_cpu")({1}) == "target_cpu == 1"
    assert on_cpus("cpu")({2, 3, 4, 9}) == "(cpu >= 2 && cpu <= 4) || cpu == 9"
    mask = next(event for event in ELSEWHERE if event.name == "ipi:ipi_send_cpumask")
    assert mask.filter_of({1, 2, 7}) == "cpumask & CPUS{1-2,7}"
    moves = next(event for event in ELSEWHERE if event.name == "sched:sched_migrate_task")
    assert moves.filter_of({1}) == "dest_cpu == 1 || orig_cpu == 1"
    assert by_threads("pid", {22, 7}) == "pid == 7 || pid == 22"


def test_events_are_found_by_glob_and_only_where_they_can_be_enabled(tmp_path: Path) -> None:
    for name in ("local_timer_entry", "local_timer_exit", "vector_setup"):
        (tmp_path / "irq_vectors" / name).mkdir(parents=True)
        (tmp_path / "irq_vectors" / name / "enable").touch()
    (tmp_path / "irq_vectors" / "odd_entry").mkdir()
    assert matching_events(tmp_path, "irq_vectors:*_entry") == ["irq_vectors:local_timer_entry"]
    assert matching_events(tmp_path, "tlb:tlb_flush") == []


def test_windows_that_overlap_become_one() -> None:
    assert merged([(30, 40), (1, 5), (5, 9), (2, 3)]) == [(1, 9), (30, 40)]
    assert merged([]) == []


def totals(**changes: int) -> CpuTotals:
    figures = {
        "cpu": 1,
        "read": 10,
        "kept": 10,
        "left_out": 0,
        "damaged_pages": 0,
        "gaps": 0,
        "first_tsc": 100,
        "last_tsc": 900,
        "complete_from_tsc": 100,
    }
    return CpuTotals("there", **(figures | changes))


@pytest.mark.parametrize(
    ("figures", "overrun", "expected"),
    [
        (totals(), 0, []),
        (totals(), 7, [LostEvents(1, False, 7, 100)]),
        (totals(gaps=1, complete_from_tsc=500), 7, [LostEvents(1, False, 7, 500)]),
        (totals(gaps=1, complete_from_tsc=500), 0, [LostEvents(1, False, 0, 500)]),
        (totals(left_out=3), 0, [LostEvents(1, False, 3, None)]),
        (totals(damaged_pages=1), 0, [LostEvents(1, False, 0, None)]),
        (totals(read=0, kept=0, complete_from_tsc=0), 2, [LostEvents(1, False, 2, None)]),
    ],
)
def test_losses_say_from_when_on_the_record_is_complete(
    figures: CpuTotals, overrun: int, expected: list[LostEvents]
) -> None:
    assert losses(figures, overrun, elsewhere=False) == expected


def test_threads_are_named_by_the_events_then_by_proc(tmp_path: Path) -> None:
    (tmp_path / "30").mkdir()
    (tmp_path / "30" / "comm").write_bytes(b"odd\n\xffname\n")
    switch = {"prev_pid": 20, "prev_comm": "loop", "next_pid": 0, "next_comm": "swapper/1"}
    events = [
        KernelEvent(1, 1, "irq_handler_entry", {"common_pid": pid}) for pid in (20, 30, 40, 0)
    ]
    events.append(KernelEvent(2, 1, "sched_switch", {"common_pid": 20, **switch}))
    named = with_thread_names(events, tmp_path)
    assert [event.fields.get("common_comm") for event in named] == [
        "loop",
        "odd\n\ufffdname",
        None,
        None,
        "loop",
    ]


def no_tracefs() -> Path:
    raise OSError(errno.EPERM, "Operation not permitted", "tracefs")


def test_no_tracefs_is_said_with_what_to_do() -> None:
    found = why_no_tracefs(no_tracefs)
    assert found is not None
    assert found.reason == "tracefs is not mounted, and cannot be: Operation not permitted"
    assert "mount -t tracefs" in found.remedy


def test_a_tracefs_in_which_nothing_can_be_made_is_refused(tmp_path: Path) -> None:
    found = why_no_tracefs(lambda: tmp_path)
    assert found is not None
    assert f"{tmp_path}/instances" in found.reason
    assert found.remedy.startswith("run as root")
    (tmp_path / "instances").mkdir()
    assert why_no_tracefs(lambda: tmp_path) is None


def test_what_the_kernel_refuses_is_said_with_what_to_do() -> None:
    locked = refusal(OSError(errno.EPERM, "Operation not permitted", "/t/instances/x"))
    assert "lockdown" in locked.remedy
    full = refusal(OSError(errno.ENOMEM, "Cannot allocate memory", "/t/instances/x"))
    assert (
        full.reason == "the kernel refuses a trace instance: /t/instances/x: Cannot allocate memory"
    )
