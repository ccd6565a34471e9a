"""A time that is never set, next to the wall clock's: how long after the boot an event was.

By it the time between two trials is right also where the wall clock was set between them.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from plimsoll.host.ledger.record import boot_id
from plimsoll.record.run.journal import JournalEvent
from plimsoll.tune.host.boot.kernel_command_line import without_unknown_values

_BOOT, _SINCE = "boot", "since_boot_ns"
BootLine: TypeAlias = Annotated[str, AfterValidator(without_unknown_values)]


def time_since_boot() -> dict[str, object]:
    """Fields for an event that happens now: which boot this is, and the ns since it.

    The boot's id is random and new each time; of it only so much is kept as tells two apart.
    """
    try:
        boot = hashlib.sha256(boot_id().encode()).hexdigest()[:16]
    except OSError:
        return {}
    return {_BOOT: boot, _SINCE: time.clock_gettime_ns(time.CLOCK_BOOTTIME)}


def clock_set_between(earlier: JournalEvent, later: JournalEvent) -> int | None:
    """By how many ns the wall clock was set between two events of one boot: less than 0 if back.

    None where they are of two boots, or do not tell.
    """
    begin, end = earlier.fields.get(_SINCE), later.fields.get(_SINCE)
    if not isinstance(begin, int) or not isinstance(end, int):
        return None
    if earlier.fields.get(_BOOT) != later.fields.get(_BOOT):
        return None
    return later.at_unix_ns - earlier.at_unix_ns - (end - begin)


@dataclass(frozen=True, slots=True)
class SentTime:
    """A trial by its event `trial-started`, and from when (wall clock) and how long it sent."""

    started: JournalEvent
    begin_unix_ns: int
    sending_s: float


def pause_s(earlier: SentTime | None, later: SentTime) -> float:
    """For how many s nothing was sent between two trials; 0 without an earlier one.

    It is 0, too, where nothing tells: the clock was set back, and the machine booted anew.
    """
    if earlier is None:
        return 0.0
    set_ns = clock_set_between(earlier.started, later.started) or 0
    apart_ns = later.begin_unix_ns - earlier.begin_unix_ns - set_ns
    return max(0.0, apart_ns / 1e9 - earlier.sending_s)
