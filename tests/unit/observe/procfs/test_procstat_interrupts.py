"""Interrupts by line and CPU, against tables that are parsed once more, naively, here."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.procfs.procstat_interrupts import Interrupts, _names
from plimsoll.observe.procfs.procstat_softirqs import Softirqs
from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.observer import ObservedHost
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from tests.unit.observe.trees import HostTree, Line, interrupts_text
from tests.unit.observe.watched import Rows, Watched

RATE = "interrupts-sec"


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> HostTree:
    """Four CPUs; interrupt 24 has fired on CPU 2 alone, 25 nowhere; the timer everywhere."""
    tree = HostTree(tmp_path, cpus=4, interrupts=0)
    tree.tables.interrupts = {
        "24": Line({2: 100}, "IR-PCI-MSI 524288-edge      eth0-TxRx-0"),
        "25": Line({}, "IR-PCI-MSI 524289-edge      eth0-TxRx-1"),
        "LOC": Line(dict.fromkeys(range(4), 1000), "Local timer interrupts"),
    }
    tree.write()
    return tree


def watched(tree: HostTree) -> Watched:
    return Watched(Interrupts, ObservedHost(tree.files))


def naive(text: str) -> Counter[tuple[str, str]]:
    """The counts by line and CPU, "" for the whole host's."""
    header, *lines = text.splitlines()
    cpus = [name.removeprefix("CPU") for name in header.split()]
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        label, _, rest = line.partition(":")
        words = rest.split()
        columns = cpus if len(words) > 1 else [""]
        for cpu, count in zip(columns, words, strict=False):
            found[label.strip(), cpu] = int(count)
    return found


def counted(rows: Rows) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows.matching(RATE):
        assert row.count is not None
        found[row.names["irq"], row.names.get("cpu", "")] += row.count
    return found


def test_totals_are_the_deltas_of_the_file(tree: HostTree) -> None:
    before = naive(interrupts_text(tree.tables))
    interrupts = watched(tree)
    for _ in range(5):
        tree.advance()
        tree.tables.whole_host["MIS"] += 2
        tree.write()
        rows = interrupts.read()
    after = naive(interrupts_text(tree.tables))
    expected = {pair: after[pair] - before[pair] for pair in after if after[pair] > before[pair]}
    assert len(expected) > 100
    assert {pair: count for pair, count in counted(rows).items() if count} == expected
    # They are rates over the seconds that the rows cover.
    for row in rows.matching(RATE):
        assert row.value == pytest.approx((row.count or 0) * 1000 / (row.end_ms - row.begin_ms))


def test_a_line_says_who_it_is_of(tree: HostTree) -> None:
    tree.advance()
    interrupts = watched(tree)
    tree.advance()
    tree.write()
    rows = interrupts.read()
    device = rows.matching(RATE, desc="i40e-ens7f1-TxRx-0")[0].names
    assert device == {
        "hostname": "host", "cstype": "profiler",
        "cpu": "1", "irq": "25", "type": "IR-PCI-MSI edge", "desc": "i40e-ens7f1-TxRx-0",
    }  # fmt: skip
    timer = rows.matching(RATE, irq="LOC", cpu="39")[0].names
    assert (timer["type"], timer["desc"]) == ("Local timer interrupts", "Local timer interrupts")
    whole_host = rows.matching(RATE, irq="ERR")[0]
    assert "cpu" not in whole_host.names
    assert whole_host.count == 0


@pytest.mark.parametrize(
    ("text", "kind", "desc"),
    [
        ("IO-APIC   5-edge      ACPI:Ged", "IO-APIC edge", "ACPI:Ged"),
        ("IR-IO-APIC    9-fasteoi   acpi", "IR-IO-APIC fasteoi", "acpi"),
        (
            "PCI-MSIX-0000:87:00.0   39-edge      i40e-ens7f0-TxRx-39",
            "PCI-MSIX-0000:87:00.0 edge",
            "i40e-ens7f0-TxRx-39",
        ),
        ("IR-PCI-MSI 376832-edge      ahci[0000:00:17.0]", "IR-PCI-MSI edge", "ahci[0000:00:17.0]"),
        ("IR-PCI-MSI 16384-edge      PCIe PME, aerdrv", "IR-PCI-MSI edge", "PCIe PME, aerdrv"),
        ("Hyper-V PCIe MSI 4194304-edge      mlx5_async0", "Hyper-V PCIe MSI edge", "mlx5_async0"),
        ("xen-dyn    -event     xenbus", "xen-dyn event", "xenbus"),
        ("IR-PCI-MSI-edge      eth0-TxRx-0", "IR-PCI-MSI-edge", "eth0-TxRx-0"),
        ("GICv3  27 Level     arch_timer", "GICv3 level", "arch_timer"),
        ("ITS-MSI 134742016 Edge      nvme0q0", "ITS-MSI edge", "nvme0q0"),
        ("XT-PIC      timer", "XT-PIC", "timer"),
        ("IO-APIC   6-edge", "IO-APIC edge", None),
    ],
)
def test_chip_trigger_and_users_are_distinguished(text: str, kind: str, desc: str | None) -> None:
    names = _names(b"24", text.encode())
    assert (names["type"], names.get("desc")) == (kind, desc)


def test_a_pair_that_has_never_fired_is_not_reported_but_its_line_is(small: HostTree) -> None:
    interrupts = watched(small)
    rows = interrupts.read()
    recorded = {(row.names["irq"], row.names.get("cpu", "")) for row in rows.rows}
    timers = {("LOC", str(cpu)) for cpu in range(4)}
    assert recorded == {("24", "2"), ("25", "0"), ("ERR", ""), ("MIS", ""), *timers}
    assert set(counted(rows).values()) == {0}


def test_a_pair_that_fires_late_stood_at_zero_before(small: HostTree) -> None:
    interrupts = watched(small)
    interrupts.read()
    interrupts.read()
    small.tables.interrupts["24"].counts[3] = 7
    small.write()
    rows = interrupts.read()
    assert rows.times(RATE, irq="24", cpu="3") == [(0, 2), (2, 3)]
    assert rows.counts(RATE, irq="24", cpu="3") == [0, 7]


def test_a_cpu_that_goes_offline_is_absent_and_comes_back(small: HostTree) -> None:
    timer = small.tables.interrupts["LOC"].counts
    interrupts = watched(small)
    timer[1] += 10
    small.write()
    interrupts.read()
    small.offline(1)
    timer[2] += 5
    small.write()
    interrupts.read()
    # What the kernel counts for it while nobody sees it is no count of ours.
    timer[1] += 300
    small.online(1)
    small.write()
    interrupts.read()
    timer[1] += 4
    timer[2] += 6
    small.write()
    rows = interrupts.read()
    assert rows.times(RATE, irq="LOC", cpu="1") == [(0, 1), (3, 4)]
    assert rows.counts(RATE, irq="LOC", cpu="1") == [10, 4]
    assert sum(n or 0 for n in rows.counts(RATE, irq="LOC", cpu="2")) == 11
    assert rows.times(RATE, irq="LOC", cpu="0") == [(0, 4)]


def test_lines_come_and_go(small: HostTree) -> None:
    lines = small.tables.interrupts
    interrupts = watched(small)
    gone = lines.pop("24")
    lines["26"] = Line({0: 50}, "IR-PCI-MSI 524290-edge      nvme0q1")
    small.write()
    interrupts.read()
    lines["26"].counts[0] += 3
    # Another driver has the number now.
    lines["24"] = Line({2: 1}, "IR-PCI-MSI 524288-edge      mlx5_comp0")
    small.write()
    interrupts.read()
    lines["24"].counts[2] += 2
    lines["LOC"].counts[0] += 9
    small.write()
    rows = interrupts.read()
    assert gone.counts[2] == 100
    assert rows.matching(RATE, desc="eth0-TxRx-0") == []
    assert rows.times(RATE, desc="nvme0q1") == [(1, 2), (2, 3)]
    assert rows.counts(RATE, desc="nvme0q1") == [3, 0]
    assert rows.counts(RATE, desc="mlx5_comp0") == [2]
    assert rows.counts(RATE, irq="LOC", cpu="0") == [0, 9]


def test_a_driver_that_is_loaded_anew_counts_from_zero(small: HostTree) -> None:
    interrupts = watched(small)
    small.tables.interrupts["24"] = Line({2: 3}, "IR-PCI-MSI 600000-edge      eth0-TxRx-0")
    small.write()
    interrupts.read()
    small.tables.interrupts["24"].counts[2] = 5
    small.write()
    rows = interrupts.read()
    assert rows.times(RATE, desc="eth0-TxRx-0") == [(1, 2)]
    assert rows.counts(RATE, desc="eth0-TxRx-0") == [2]


def test_a_counter_that_wraps_goes_on(small: HostTree) -> None:
    counts = small.tables.interrupts["24"].counts
    counts[2] = 2**32 - 10
    small.write()
    interrupts = watched(small)
    counts[2] += 25
    small.write()
    interrupts.read()
    counts[2] += 4
    small.write()
    assert interrupts.read().counts(RATE, irq="24", cpu="2") == [25, 4]


def test_a_counter_that_was_set_back_is_absent_for_that_long(small: HostTree) -> None:
    counts = small.tables.interrupts["24"].counts
    interrupts = watched(small)
    counts[2] = 40
    small.write()
    interrupts.read()
    counts[2] = 41
    small.write()
    rows = interrupts.read()
    assert rows.times(RATE, irq="24", cpu="2") == [(1, 2)]
    assert rows.counts(RATE, irq="24", cpu="2") == [1]


@pytest.mark.parametrize("lines_of_old_table", [1, 2, 3])
def test_a_cpu_that_goes_while_the_table_is_written(
    small: HostTree, monkeypatch: pytest.MonkeyPatch, lines_of_old_table: int
) -> None:
    interrupts = watched(small)
    four = interrupts_text(small.tables)
    small.tables.interrupts["24"].counts[2] += 6
    small.tables.interrupts["LOC"].counts[0] += 8
    small.offline(3)
    small.write()
    three = interrupts_text(small.tables)
    torn = "".join(
        [
            *four.splitlines(keepends=True)[:lines_of_old_table],
            *three.splitlines(keepends=True)[lines_of_old_table:],
        ]
    )
    texts = iter([torn.encode(), three.encode()])
    with monkeypatch.context() as patched:
        patched.setattr(RereadFile, "read", lambda _: next(texts))
        rows = interrupts.read()
    assert rows.counts(RATE, irq="24", cpu="2") == [6]
    assert rows.counts(RATE, irq="LOC", cpu="0") == [8]
    assert rows.matching(RATE, irq="LOC", cpu="3") == []


def test_hundreds_of_cpus_and_endless_users(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, cpus=512, interrupts=8)
    users = ", ".join(f"user-{number}" for number in range(3000))
    tree.tables.interrupts["24"].text = f"IR-IO-APIC    9-fasteoi   {users}"
    tree.write()
    interrupts = watched(tree)
    tree.tables.interrupts["24"].counts[511] += 12
    tree.write()
    (_, row) = sorted(
        interrupts.read().matching(RATE, desc=users), key=lambda row: row.names["cpu"]
    )
    assert (row.names["cpu"], row.count) == ("511", 12)


@pytest.mark.parametrize(
    ("name", "desc"),
    [
        ('"; DROP TABLE rows; --', '"; DROP TABLE rows; --'),
        ("\x1b[31m\x00\x07", "\\x1b[31m\\x00\\x07"),
        ("\udcff\udcfe-caf\u00e9", "\\xff\\xfe-caf\u00e9"),
        ("{'a': 1}, \\", "{'a': 1}, \\"),
        ("5-edge      77 Level", "5-edge      77 Level"),
    ],
)
def test_hostile_names_stay_names(small: HostTree, name: str, desc: str) -> None:
    small.tables.interrupts["24"].text = f"IR-PCI-MSI 524288-edge      {name}"
    small.write()
    interrupts = watched(small)
    small.tables.interrupts["24"].counts[2] += 1
    small.write()
    rows = interrupts.read()
    assert rows.counts(RATE, desc=desc) == [1]
    assert rows.counts(RATE, irq="25") == [0]


def test_a_file_that_a_container_hides_is_named_and_the_rest_is_read(small: HostTree) -> None:
    (small.files.proc / "interrupts").write_text("")
    sampler = Sampler(ObservedHost(small.files), [Interrupts, Softirqs], "host", "trial-0001")
    assert list(sampler.missing) == ["procstat interrupts"]
    said = sampler.missing["procstat interrupts"]
    assert said.endswith("proc/interrupts is not a table of counters by CPU")
    assert sampler.sources == ("procstat",)
    assert any('"reader":"procstat softirqs"' in line for line in sampler.tick())


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from([(irq, cpu) for irq in ("24", "25", "LOC") for cpu in range(4)]),
            st.integers(0, 2**27),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_counts_is_counted_once(
    tmp_path_factory: pytest.TempPathFactory, seconds: list[dict[tuple[str, int], int]]
) -> None:
    tree = HostTree(tmp_path_factory.mktemp("tree"), cpus=4, interrupts=2, devices=0)
    readings = Readings("procstat interrupts", MetricLog("trial-0001", 0))
    interrupts = Interrupts(ObservedHost(tree.files), readings)
    interrupts.read(readings)
    lines = readings.lines()
    expected: Counter[tuple[str, str]] = Counter()
    for second, counts in enumerate(seconds, start=1):
        for (irq, cpu), count in counts.items():
            tree.tables.interrupts[irq].counts[cpu] += count
            expected[irq, str(cpu)] += count
        tree.write()
        readings.begin(second * 10**9)
        interrupts.read(readings)
        lines += readings.lines()
    assert +counted_in_lines(lines) == +expected


def counted_in_lines(lines: list[str]) -> Counter[tuple[str, str]]:
    """From the lines themselves, without the SQL that makes rows of them."""
    found: Counter[tuple[str, str]] = Counter()
    pairs: dict[int, tuple[str, str]] = {}
    for line in map(json.loads, lines):
        for series in line.get("series", ()):
            pairs[series["number"]] = (series["names"]["irq"], series["names"].get("cpu", ""))
        for number, value in zip(line.get("numbers", ()), line.get("values", ()), strict=True):
            found[pairs[number]] += value
    return found


@given(st.binary())
def test_any_text_has_names_that_can_be_printed(text: bytes) -> None:
    for label in (b"24", b"LOC"):
        assert all(value.isprintable() for value in _names(label, text).values())


@pytest.mark.skipif(sys.platform != "linux", reason="it has no /proc/interrupts")
def test_counts_of_this_host_lie_between_readings_of_its_own() -> None:
    def now() -> Counter[tuple[str, str]]:
        return naive(Path("/proc/interrupts").read_text())

    outer_before = now()
    live = Watched(Interrupts, ObservedHost())
    inner_before = now()
    for _ in some_work():
        pass
    inner_after = now()
    rows = live.read()
    outer_after = now()
    found = counted(rows)
    assert +found
    for pair in outer_after:
        # Every interrupt between the inner readings is counted, and none outside the outer.
        least = inner_after[pair] - inner_before[pair]
        most = outer_after[pair] - outer_before[pair]
        assert least <= found[pair] <= most, pair


def some_work() -> Iterator[int]:
    """Long enough for timers to tick."""
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        time.sleep(0.01)
        yield sum(range(10_000))
