"""How a host's kernel keeps time, by files written by hand and by this machine's own."""

import gzip
from pathlib import Path

import pytest

from plimsoll.host.processes import ticks
from plimsoll.host.processes.ticks import HostTicks


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ticks, "_NOHZ_FULL", tmp_path / "nohz_full")
    monkeypatch.setattr(ticks, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(ticks, "_CONFIGS", (tmp_path / "config.gz", tmp_path / "config"))
    return tmp_path


def found() -> HostTicks:
    return HostTicks.of_this_host.__wrapped__(HostTicks)  # type: ignore[attr-defined,no-any-return]


def test_a_virtual_machine_with_tickless_cpus(host: Path) -> None:
    (host / "nohz_full").write_text("2-3\n")
    (host / "cpuinfo").write_text("flags\t\t: fpu vme hypervisor lahf_lm\n")
    (host / "config.gz").write_bytes(gzip.compress(b"CONFIG_PARAVIRT_TIME_ACCOUNTING=y\n"))
    host_ticks = found()
    assert (set(host_ticks.tickless), host_ticks.virtual) == ({2, 3}, True)
    assert (host_ticks.steal_apart, host_ticks.irq_time) == (True, False)


def test_hardware_that_counts_interrupts_apart(host: Path) -> None:
    (host / "nohz_full").write_text("(null)\n")
    (host / "cpuinfo").write_text("flags\t\t: fpu vme\n")
    (host / "config").write_text("CONFIG_IRQ_TIME_ACCOUNTING=y\n")
    host_ticks = found()
    assert (set(host_ticks.tickless), host_ticks.virtual) == (set(), False)
    assert (host_ticks.steal_apart, host_ticks.irq_time) == (False, True)


def test_where_nothing_can_be_read_interrupts_may_be_apart(host: Path) -> None:
    host_ticks = found()
    assert (host_ticks.irq_time, host_ticks.steal_apart, host_ticks.virtual) == (True, False, False)


def test_the_tick_is_between_a_hundred_and_a_thousand_a_second() -> None:
    assert 0.001 <= HostTicks.of_this_host().period_s <= 0.010
