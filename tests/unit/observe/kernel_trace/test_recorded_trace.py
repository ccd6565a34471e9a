"""A trace of this kernel against the kernel's own rendering of the same buffer."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from tests.unit.observe.kernel_trace.reader import RECORDED, read

TEXT = (RECORDED / "trace").read_bytes().decode(errors="replace")
# Behind the name of the thread, which may hold anything, line ends included.
HEADER = re.compile(r"-(\d+) +\[(\d{3})\] \S{5} (\d+): (\w+): ")
HEADERS = list(HEADER.finditer(TEXT))
# include/linux/interrupt.h
SOFTIRQS = [
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
]
Fields = Mapping[str, int | str]


@pytest.fixture(scope="module")
def events() -> list[KernelEvent]:
    return read(RECORDED, symbols=RECORDED / "kallsyms")[0]


def test_every_event_has_the_time_cpu_name_and_thread_that_the_kernel_prints(
    events: list[KernelEvent],
) -> None:
    printed = [(int(m[3]), int(m[2]), m[4], int(m[1])) for m in HEADERS]
    assert len(printed) > 200
    assert [(e.tsc, e.cpu, e.name, e.fields["common_pid"]) for e in events] == printed


def printed_switch(fields: Fields) -> str:
    return (
        f"prev_comm={fields['prev_comm']} prev_pid={fields['prev_pid']}"
        f" prev_prio={fields['prev_prio']} prev_state="
    )


def printed_next(fields: Fields) -> str:
    return (
        f" ==> next_comm={fields['next_comm']} next_pid={fields['next_pid']}"
        f" next_prio={fields['next_prio']}\n"
    )


def printed_ipi(fields: Fields) -> str:
    return f"cpu={fields['cpu']} callsite={fields['callsite']}+"


RENDERINGS: dict[str, Callable[[Fields], str]] = {
    "sched_switch": printed_switch,
    "irq_handler_entry": lambda f: f"irq={f['irq']} name={f['name']}\n",
    "irq_handler_exit": lambda f: f"irq={f['irq']} ret={'handled' if f['ret'] else 'unhandled'}\n",
    "softirq_entry": lambda f: f"vec={f['vec']} [action={SOFTIRQS[int(f['vec'])]}]\n",
    "softirq_exit": lambda f: f"vec={f['vec']} [action={SOFTIRQS[int(f['vec'])]}]\n",
    "local_timer_entry": lambda f: f"vector={f['vector']}\n",
    "local_timer_exit": lambda f: f"vector={f['vector']}\n",
    "ipi_send_cpu": printed_ipi,
}


def test_fields_are_those_that_the_kernel_prints(events: list[KernelEvent]) -> None:
    seen = set()
    for event, header in zip(events, HEADERS, strict=True):
        if event.name in RENDERINGS:
            seen.add(event.name)
            rendered = RENDERINGS[event.name](event.fields)
            assert TEXT[header.end() :].startswith(rendered), event
    assert {"sched_switch", "local_timer_entry", "softirq_entry", "ipi_send_cpu"} <= seen


def test_the_task_switched_to_is_the_one_that_the_kernel_prints(
    events: list[KernelEvent],
) -> None:
    ends = [*(m.start() for m in HEADERS[1:]), len(TEXT)]
    for event, header, end in zip(events, HEADERS, ends, strict=True):
        if event.name == "sched_switch":
            assert printed_next(event.fields) in TEXT[header.end() : end]


def test_functions_have_the_names_that_the_kernel_prints(events: list[KernelEvent]) -> None:
    expected = [
        TEXT[m.end() :].split("function=")[1].split(" ")[0]
        for m in HEADERS
        if m[4] == "hrtimer_expire_entry"
    ]
    assert {"hrtimer_wakeup", "tick_nohz_handler"} <= set(expected)
    found = [e.fields["function"] for e in events if e.name == "hrtimer_expire_entry"]
    assert found == expected


def test_without_symbols_functions_are_addresses() -> None:
    events = read(RECORDED)[0]
    functions = {e.fields["function"] for e in events if e.name == "hrtimer_expire_entry"}
    addresses = {
        line.split()[2]: f"0x{line.split()[0]}"
        for line in (RECORDED / "kallsyms").read_text().splitlines()
    }
    assert functions == {addresses["hrtimer_wakeup"], addresses["tick_nohz_handler"]}


def timer_functions(symbols: Path) -> set[int | str]:
    events = read(RECORDED, symbols=symbols)[0]
    return {e.fields["function"] for e in events if e.name == "hrtimer_expire_entry"}


def test_symbols_may_be_in_any_order_and_those_of_data_are_none(tmp_path: Path) -> None:
    lines = (RECORDED / "kallsyms").read_text().splitlines()
    timer = next(line.split()[0] for line in lines if line.endswith("hrtimer_wakeup"))
    shuffled = tmp_path / "kallsyms"
    data = f"{timer} d some_table\n{timer} A absolute\nno line of it\n{timer} t\n"
    shuffled.write_text("\n".join([*reversed(lines), data]))
    assert timer_functions(shuffled) == {"hrtimer_wakeup", "tick_nohz_handler"}


def test_a_module_is_no_part_of_a_functions_name(tmp_path: Path) -> None:
    lines = (RECORDED / "kallsyms").read_text().splitlines()
    symbols = tmp_path / "kallsyms"
    symbols.write_text("".join(f"{line}\t[veth]\n" for line in lines))
    assert timer_functions(symbols) == {"hrtimer_wakeup", "tick_nohz_handler"}


def test_symbols_without_addresses_name_nothing(tmp_path: Path) -> None:
    # As /proc/kallsyms is for those who may not see the kernel's addresses.
    symbols = tmp_path / "kallsyms"
    symbols.write_text("0000000000000000 T _text\n0000000000000000 t hrtimer_wakeup\n")
    assert all(str(function).startswith("0xffff") for function in timer_functions(symbols))


def test_a_name_with_quotes_control_characters_and_broken_utf8_is_kept(
    events: list[KernelEvent],
) -> None:
    names = {e.fields["prev_comm"] for e in events if e.name == "sched_switch"}
    assert '"\\\n{}\ufffd\x7f,\x1b[31m' in names


def test_only_events_inside_the_windows_are_read() -> None:
    times = [int(m[3]) for m in HEADERS]
    windows = [(times[10], times[20]), (times[15], times[25]), (times[100], times[100])]
    events, totals = read(RECORDED, windows)
    assert [e.tsc for e in events] == [*times[10:26], times[100]]
    assert [(t.cpu, t.read, t.kept, t.first_tsc, t.last_tsc) for t in totals] == [
        (1, len(times), 17, times[0], times[-1])
    ]
