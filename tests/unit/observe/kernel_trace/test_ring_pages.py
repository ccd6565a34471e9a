"""Pages written by hand: names that are hostile, pages that are damaged."""

import random
import re
import struct
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.observe.kernel_trace.trace_program import parse_output
from tests.unit.observe.kernel_trace.reader import ALWAYS, RECORDED, directory_of, read, run
from tests.unit.observe.kernel_trace.ring_page import PAGE_BYTES, event, page


def event_id(name: str) -> int:
    found = re.search(r"ID: (\d+)", (RECORDED / f"events/{name}/format").read_text())
    assert found is not None
    return int(found[1])


def switch(prev_comm: bytes, prev_pid: int = 7, next_comm: bytes = b"next") -> bytes:
    """The data of a sched_switch, as its format says: 64 bytes."""
    common = struct.pack("<HBBi", event_id("sched/sched_switch"), 0, 0, prev_pid)
    prev = struct.pack("<16siiq", prev_comm, prev_pid, 120, 1)
    return common + prev + struct.pack("<16sii", next_comm, -1, 120)


def interrupt(name: bytes, location: int | None = None) -> bytes:
    """The data of an irq_handler_entry; `location` is where it says that the name is."""
    common = struct.pack("<HBBi", event_id("irq/irq_handler_entry"), 0, 0, 0)
    where = 16 | len(name) << 16 if location is None else location
    return common + struct.pack("<iI", 24, where) + name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b'","fields":{"a":1', '","fields":{"a":'),
        (b"new\nline\0rest", "new\nline"),
        (b"\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\xa2", "ä€🚢"),
        (b"\xe2\x82A", "\ufffd\ufffdA"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
        (b"\xc0\xaf\xf5\x80", "\ufffd" * 4),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"fifteen bytes\xf0\x9f\x9a", "fifteen bytes" + "\ufffd" * 3),
        (b"", ""),
    ],
)
def test_any_name_is_read_as_text(tmp_path: Path, name: bytes, expected: str) -> None:
    comm = name[:16]
    where = directory_of(tmp_path / "t", {0: page(1000, [event(switch(comm), 5)])})
    events, _ = read(where)
    assert [(e.tsc, e.cpu, e.name) for e in events] == [(1005, 0, "sched_switch")]
    assert events[0].fields["prev_comm"] == expected[:16]
    assert events[0].fields["next_pid"] == -1


def test_the_buffers_of_all_cpus_are_merged_by_time(tmp_path: Path) -> None:
    pages = {
        3: page(1000, [event(switch(b"a")), event(switch(b"b"), 20)]),
        0: page(1010, [event(interrupt(b"eth0\0"))]),
    }
    events, totals = read(directory_of(tmp_path / "t", pages))
    assert [(e.tsc, e.cpu) for e in events] == [(1000, 3), (1010, 0), (1020, 3)]
    assert events[1].fields == {"common_pid": 0, "irq": 24, "name": "eth0"}
    assert sorted((t.cpu, t.read) for t in totals) == [(0, 1), (3, 2)]


@pytest.mark.parametrize("location", [0xFFFF, 16 | 0xFFFF << 16, 2000 | 4 << 16])
def test_a_text_that_does_not_lie_in_its_event_is_left_out(tmp_path: Path, location: int) -> None:
    content = page(1000, [event(interrupt(b"eth0\0", location))])
    events, _ = read(directory_of(tmp_path / "t", {0: content}))
    assert len(events) == 1
    assert events[0].fields.get("name", "") == ""
    assert events[0].fields["irq"] == 24


def test_an_event_shorter_than_its_format_has_the_fields_that_fit(tmp_path: Path) -> None:
    content = page(1000, [event(switch(b"short")[:28])])
    events, _ = read(directory_of(tmp_path / "t", {0: content}))
    assert events[0].fields == {"common_pid": 7, "prev_comm": "short", "prev_pid": 7}


def test_events_that_were_not_enabled_are_counted_and_not_shown(tmp_path: Path) -> None:
    content = page(1000, [event(struct.pack("<HBBi", 65535, 0, 0, 1))])
    events, totals = read(directory_of(tmp_path / "t", {0: content}))
    assert events == []
    assert totals[0].read == 1


def test_the_record_is_complete_from_the_first_event_behind_the_last_gap(tmp_path: Path) -> None:
    whole, after_loss = [event(switch(b"x"), 1)], [event(switch(b"y"), 2)]
    content = page(1000, whole) + page(2000, after_loss, missed=True) + page(3000, whole)
    _, totals = read(directory_of(tmp_path / "t", {0: content}))
    assert (totals[0].gaps, totals[0].first_tsc, totals[0].complete_from_tsc) == (1, 1001, 2002)
    _, totals = read(directory_of(tmp_path / "u", {0: page(1000, whole)}))
    assert (totals[0].gaps, totals[0].complete_from_tsc) == (0, 1001)


@pytest.mark.parametrize(
    "damaged",
    [
        b"short",
        struct.pack("<QQ", 1000, 5000).ljust(PAGE_BYTES, b"\xff"),
        page(1000, [event(switch(b"a"))])[:40],
        page(1000, [struct.pack("<II", 0, 60000)]),
    ],
)
def test_a_damaged_page_is_counted_and_the_next_is_read(tmp_path: Path, damaged: bytes) -> None:
    content = damaged.ljust(PAGE_BYTES, b"\0") if len(damaged) == PAGE_BYTES else damaged
    _, totals = read(directory_of(tmp_path / "t", {0: content}))
    assert totals[0].damaged_pages == 1
    if len(damaged) == PAGE_BYTES:
        good = page(2000, [event(switch(b"good"))])
        events, _ = read(directory_of(tmp_path / "u", {0: damaged + good}))
        assert [e.fields["prev_comm"] for e in events] == ["good"]


def test_no_damage_ends_the_program(tmp_path: Path) -> None:
    chance = random.Random(13)  # noqa: S311 - the same pages each time
    original = (RECORDED / "per_cpu/cpu1/trace_pipe_raw").read_bytes()[:PAGE_BYTES]
    pages = {}
    for cpu in range(300):
        changed = bytearray(original)
        for _ in range(chance.randrange(1, 40)):
            changed[chance.randrange(PAGE_BYTES)] = chance.randrange(256)
        pages[cpu] = bytes(changed[: chance.choice([PAGE_BYTES, chance.randrange(PAGE_BYTES)])])
    _, totals = read(directory_of(tmp_path / "t", pages), ALWAYS, RECORDED / "kallsyms")
    assert len(totals) == 300


def test_more_events_than_the_limit_are_counted(tmp_path: Path) -> None:
    content = page(1000, [event(switch(b"a"), 1)] * 5)
    where = directory_of(tmp_path / "t", {0: content})
    done = run("--limit", "2", str(where), windows="1002 2000\n")
    events, totals = parse_output(done.stdout.encode())
    assert [e.tsc for e in events] == [1002, 1003]
    assert (totals[0].read, totals[0].kept, totals[0].left_out) == (5, 2, 2)


@pytest.mark.parametrize(
    "windows",
    ["5 4\n", "1 2\n2 3\n", "-1 2\n", "1\n", "1 2 3\n", "1 99999999999999999999\n"],
)
def test_bad_windows_are_refused_with_their_line(windows: str) -> None:
    done = run(str(RECORDED), windows=windows)
    assert done.returncode == 1
    line = windows.count("\n") or 1
    assert f"stdin, line {line}: not a window behind the last one" in done.stderr
    assert done.stdout == ""


def test_a_missing_directory_is_named() -> None:
    done = run("/proc/nonexistent")
    assert done.returncode == 1
    assert "/proc/nonexistent/events/header_page: No such file or directory" in done.stderr
    with pytest.raises(MachineError, match="/proc/nonexistent/events/header_page"):
        read(Path("/proc/nonexistent"))


@pytest.mark.parametrize("output", [b"nonsense\n", b'{"fields": 1}\n', b"[]\n", b'{"cpu": 1}\n'])
def test_damaged_output_is_an_error(output: bytes) -> None:
    with pytest.raises(MachineError, match="what it printed is damaged"):
        parse_output(output)
