"""How long nothing was sent between two trials, whatever the wall clock says."""

import pytest

from plimsoll.record.run.environment import SentTime, clock_set_between, pause_s, time_since_boot
from plimsoll.record.run.journal import JournalEvent
from tests.unit.record.trial_parts import BEGIN_NS

S = 10**9


def started(at_s: float, since_boot_s: float | None, boot: str = "a") -> JournalEvent:
    fields = (
        {} if since_boot_s is None else {"boot": boot, "since_boot_ns": round(since_boot_s * S)}
    )
    return JournalEvent("trial-started", BEGIN_NS + round(at_s * S), fields)


def sent(event: JournalEvent, length_s: float) -> SentTime:
    """It begins a second after it was started."""
    return SentTime(event, event.at_unix_ns + S, length_s)


@pytest.mark.parametrize("set_s", [-3600, 0, 3600])
def test_a_pause_is_by_the_time_since_the_boot(set_s: int) -> None:
    first = sent(started(0, 1000), 10)
    second = sent(started(100 + set_s, 1100), 10)
    assert pause_s(None, first) == 0
    assert pause_s(first, second) == pytest.approx(90)
    assert clock_set_between(first.started, second.started) == set_s * S


@pytest.mark.parametrize("later", [started(100, None), started(100, 5, boot="b")])
def test_of_another_boot_or_an_earlier_version_it_is_by_the_wall_clock(
    later: JournalEvent,
) -> None:
    assert pause_s(sent(started(0, 1000), 10), sent(later, 10)) == pytest.approx(90)
    assert clock_set_between(started(0, 1000), later) is None


def test_a_clock_set_back_before_another_boot_leaves_no_pause() -> None:
    assert pause_s(sent(started(0, 1000), 10), sent(started(-50, 5, "b"), 10)) == 0


def test_two_events_of_this_boot_tell_of_it() -> None:
    first, second = time_since_boot(), time_since_boot()
    assert first["boot"] == second["boot"]
    assert first["since_boot_ns"] <= second["since_boot_ns"]  # type: ignore[operator]
