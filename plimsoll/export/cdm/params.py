"""The parameters of an iteration, under the names that Crucible's trafficgen has for them.

What it has no name for is named likewise: `dut`, `search-strategy`, `test`. Values are text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import parse_duration, parse_ratio

# These prepare the trials that come after them, and are listed with those.
_PREPARING = frozenset({"calibration", "warmup", "teaching", "ceiling", "baseline"})

FrameSizes = tuple[tuple[int, int], ...]


def by_parameters(trials: Sequence[TrialRecord]) -> list[list[TrialRecord]]:
    """The trials by test and frames, in the order in which each combination first came."""
    groups: dict[object, list[TrialRecord]] = {}
    preparing: list[TrialRecord] = []
    key: object = None
    for trial in trials:
        preparing.append(trial)
        if trial.phase not in _PREPARING:
            key = (test_of(trial), frames_of(trial))
            groups.setdefault(key, []).extend(preparing)
            preparing = []
    if preparing:
        groups.setdefault(key, []).extend(preparing)
    return list(groups.values())


def primary(trials: Sequence[TrialRecord], proof: int | None = None) -> TrialRecord | None:
    """The trial that the result rests on: number `proof`, or else the last that passed.

    One that was to validate comes before all others; where none passed, it is the last.
    None where all were but preparing, or there are none.
    """
    judged = [trial for trial in trials if trial.phase not in _PREPARING]
    passed = [trial for trial in judged if trial.verdict == "pass"]
    validated = [trial for trial in passed if trial.phase == "validation"]
    proofs = [trial for trial in judged if trial.number == proof]
    return next((some[-1] for some in (proofs, validated, passed, judged) if some), None)


def measuring(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Those that did not just prepare others."""
    return [trial for trial in trials if trial.phase not in _PREPARING]


def test_of(trial: TrialRecord) -> str:
    """The part of a standard test that it belongs to, such as throughput; else empty."""
    return (trial.step or "").partition("/")[0]


def frames_of(trial: TrialRecord) -> FrameSizes:
    """The sizes that its load streams send, in bytes with FCS, each with its weight."""
    sizes = {
        (each.size, each.weight)
        for stream in trial.streams
        if stream.role == "load"
        for each in stream.frame_sizes
    }
    return tuple(sorted(sizes))


# The name of a parameter and its value.
Param = tuple[str, str]


def params_of(experiment: Mapping[str, object], trials: Sequence[TrialRecord]) -> tuple[Param, ...]:
    """The parameters of trials that differ in nothing but their load, by name."""
    found = [
        ("traffic-generator", "plimsoll"),
        *_bed(experiment),
        *_traffic(experiment),
        *_search(experiment),
        *_of_trials(measuring(trials)),
    ]
    return tuple(sorted((name, value) for name, value in found if value))


def matrix_params(
    values: Mapping[str, JsonValue], others: Sequence[Param] = ()
) -> tuple[Param, ...]:
    """Those that a matrix varies, by the paths of their fields, and the others."""
    varied = {path: _text(value) for path, value in values.items()}
    return tuple(sorted({**dict(others), **varied}.items()))


def _bed(experiment: Mapping[str, object]) -> Iterator[Param]:
    yield "dut", _text(_section(experiment, "lab").get("kind"))


def _traffic(experiment: Mapping[str, object]) -> Iterator[Param]:
    streams = _mappings(_section(experiment, "profile").get("streams"))
    loads = [stream for stream in streams if stream.get("role") == "load"]
    probes = [stream for stream in streams if stream.get("role") == "latency"]
    yield "num-flows", _each(loads, "flows")
    yield "traffic-direction", _each(loads, "direction")
    yield "protocol", _each(loads, "protocol")
    yield "latency-rate", _each(probes, "rate")


def _search(experiment: Mapping[str, object]) -> Iterator[Param]:
    search = _section(experiment, "search")
    yield "search-strategy", _text(search.get("strategy"))
    yield "search-runtime", _seconds(search.get("duration"))
    yield "validation-runtime", _seconds(_section(search, "validation").get("duration"))
    for criterion in _mappings(experiment.get("criteria")):
        ratio = criterion.get("at_most")
        if criterion.get("kind") == "loss-ratio" and ratio is not None:
            yield "max-loss-pct", f"{100 * parse_ratio(ratio):g}"


def _seconds(duration: object) -> str:
    return "" if duration is None else f"{parse_duration(duration):g}"


def _of_trials(trials: Sequence[TrialRecord]) -> Iterator[Param]:
    if not trials:
        return
    frames = frames_of(trials[0])
    mixed = [f"{size}:{weight}" for size, weight in frames]
    yield "frame-size", str(frames[0][0]) if len(frames) == 1 else ",".join(mixed)
    yield "test", test_of(trials[0])
    if len({trial.load_pps for trial in trials}) == 1:
        # Where all are at one load, that is a parameter, and no result.
        yield "rate", f"{trials[0].load_pps:.10g}"
        yield "rate-unit", "pps"


def _section(values: Mapping[str, object], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _mappings(values: object) -> list[Mapping[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _each(streams: Sequence[Mapping[str, Any]], field: str) -> str:
    """The values of a field, each once."""
    return ",".join(dict.fromkeys(filter(None, (_text(each.get(field)) for each in streams))))


def _text(value: object) -> str:
    """As in the experiment; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
