"""What a page tells of those who read the hosts."""

import pytest

from plimsoll.record.trials.trial_parts import HostReadings, ObserverEnd
from plimsoll.report.hosts.section import observer_words, unread
from tests.unit.record.trial_parts import record
from tests.unit.trial.host_record import observed_host
from tests.worded.says import Says

HOST = observed_host("dut-7", sources=("mpstat", "smi"), missing={"thermal": "no sensor"})
READ = "dut-7 was read every 1 s by a process on CPU 2-3: mpstat, smi."


def sentences(*readings: HostReadings) -> str:
    return observer_words(HOST, record(5).model_copy(update={"hosts": readings}))


@pytest.mark.parametrize(
    ("readings", "facts"),
    [
        (
            HostReadings(hostname="dut-7", readings=61, skipped=0, cpu_s=0.1375),
            ("61", "0.138"),
        ),
        (
            HostReadings(hostname="dut-7", readings=1, skipped=1200, cpu_s=0.0),
            ("0", "1,200"),
        ),
        (
            HostReadings(
                hostname="dut-7",
                readings=None,
                skipped=None,
                cpu_s=None,
                ended=ObserverEnd(period="trial-0004", why="the observer has ended: out of memory"),
            ),
            ("trial-0004", "observer", "ended", "memory"),
        ),
    ],
)
def test_how_often_at_what_cost_and_until_when(
    readings: HostReadings, facts: tuple[str, ...], says: Says
) -> None:
    other = HostReadings(hostname="dut-8", readings=7, skipped=0, cpu_s=1.0)
    assert sentences(other, readings) == says(str(READ), *facts)


def test_of_records_without_it_nothing_is_said() -> None:
    assert sentences() == READ


def test_what_was_lost_in_the_trial_was_not_read_either() -> None:
    lost = HostReadings(hostname="dut-7", readings=9, skipped=0, cpu_s=0.1, lost={"smi": "it went"})
    trial = record(5).model_copy(update={"hosts": (lost,)})
    assert unread(HOST, trial) == {"thermal": "no sensor", "smi": "it went"}
    assert unread(HOST, record(5)) == {"thermal": "no sensor"}
