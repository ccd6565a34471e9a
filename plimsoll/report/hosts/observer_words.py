"""Who read a host during a trial: how often, at what cost, and until when."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.record.run.observed_host import ObservedHostRecord
from plimsoll.record.trials.host_readings import HostReadings
from plimsoll.record.trials.trial_record import TrialRecord


def observer_words(host: ObservedHostRecord, trial: TrialRecord) -> str:
    """In sentences. Records from before observers were recorded have the first alone."""
    if not host.sources:
        reasons = "; ".join(dict.fromkeys(host.missing.values()))
        return f"{host.hostname} was not observed: {reasons}."
    said = (
        f"{host.hostname} was read every {host.interval_s:g} s by a process on CPU "
        f"{host.ran_on}: {', '.join(host.sources)}."
    )
    return " ".join((said, *_of_trial(_readings(host, trial))))


def unread(host: ObservedHostRecord, trial: TrialRecord) -> dict[str, str]:
    """By observer why it did not read, or not until the trial ended."""
    readings = _readings(host, trial)
    return {**host.missing, **(readings.lost if readings else {})}


def _readings(host: ObservedHostRecord, trial: TrialRecord) -> HostReadings | None:
    return next((each for each in trial.hosts if each.hostname == host.hostname), None)


def _of_trial(readings: HostReadings | None) -> Iterator[str]:
    if readings is None:
        return
    if readings.ended is not None:
        when = readings.ended.period or "before the first trial"
        yield f"Its figures end in {when}: {readings.ended.why}."
        return
    count = readings.readings
    said = "there was one reading" if count == 1 else f"there were {count or 0:,} readings"
    yield f"In this trial {said}, which took {readings.cpu_s or 0:.3g} s of CPU time."
    if readings.skipped:
        yield f"{readings.skipped:,} more were due while the process got no CPU."
