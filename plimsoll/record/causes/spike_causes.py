"""Carries the causes of a trial into its rows of spikes.parquet, where SQL finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from plimsoll.record.causes.causes_record import Cause, ExplainedIncident, TrialCauses
from plimsoll.record.causes.spikes import SPIKES, Spike, read_spikes
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.run.run_directory import RunDirectory

# The interval's worst latency and the engine's list of the worst are of one frame; only their
# roundings from ticks to ns differ.
_ROUNDING_NS = 2
_NS_PER_MS = 1e6


def attribute_spikes(run: RunDirectory, causes: TrialCauses) -> int:
    """Write the causes into the trial's spikes and return how many have one now.

    To be called by the run's writer after the trial has ended. Raises RecordError.
    """
    if not run.spikes.exists():
        return 0
    spikes = [_with_cause(spike, causes) for spike in read_spikes(run)]
    explained = sum(spike.trial == causes.trial and spike.cause is not None for spike in spikes)
    if explained:
        _replace(run, spikes)
    return explained


def _with_cause(spike: Spike, causes: TrialCauses) -> Spike:
    if spike.trial != causes.trial:
        return spike
    found = next((each for each in causes.incidents if _is_it(each, spike)), None)
    root = None if found is None else _root(found.causes)
    if root is None:
        return spike
    return replace(spike, cause=root.name, confidence=root.confidence, woken_by=root.woken_by)


def _is_it(incident: ExplainedIncident, spike: Spike) -> bool:
    if incident.kind != spike.kind:
        return False
    if incident.kind == "stall":
        return incident.end_tsc == spike.tsc and incident.subject == f"CPU {spike.cpu}"
    at_ms = None if incident.begin_unix_ns is None else incident.begin_unix_ns / _NS_PER_MS
    length_ms = incident.length_ns / _NS_PER_MS
    in_time = at_ms is not None and spike.begin_ms - length_ms - 1 <= at_ms <= spike.end_ms + 1
    near = abs(incident.length_ns - spike.length_ns) <= _ROUNDING_NS
    return incident.subject == spike.stream and near and in_time


def _root(causes: Sequence[Cause]) -> Cause | None:
    """The first cause that is not merely a link of the chain."""
    roots = (cause for cause in causes if cause.kind != "tester-stall")
    return next(roots, causes[0] if causes else None)


def _replace(run: RunDirectory, spikes: Iterable[Spike]) -> None:
    """Through files of other names: at every moment spikes.parquet is whole."""
    lines = run.spikes.with_name(".spikes.attributed.jsonl")
    made = run.spikes.with_name(".spikes.attributed.parquet")
    try:
        with lines.open("wb") as file:
            file.writelines(msgspec.json.encode(spike) + b"\n" for spike in spikes)
        made.unlink(missing_ok=True)
        SPIKES.convert(lines, made)
        made.replace(run.spikes)
    except OSError as error:
        raise write_failed(run.spikes, error) from error
