"""Whether hosts are read often enough for what trials are judged by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.text.units import format_duration
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.judging.windows import WindowRules

# Readings come when they come, whenever frames are sent. At two in the length of a trial, one
# at least lies in it from begin to end; of a longer one only a part does, or nothing else.
_IN_A_TRIAL = 2
# As observe.interval has it.
_SHORTEST_INTERVAL_S = 0.1


def check_readings(experiment: Experiment, judged_s: Mapping[str, float]) -> None:
    """Raise InputError where the experiment's criteria on hosts would rest on one reading or none.

    `judged_s` has the lengths in s of what is judged, by the field or option that says them.
    """
    with experiment.with_source_locations():
        _check(experiment, experiment.criteria, judged_s)


def check_search_readings(experiment: Experiment) -> None:
    """The same for all goals of the search, all of its trials, and a validation's windows."""
    search, window_s = experiment.search, experiment.trial.window
    judged_s = {f"search.{field}": length_s for field, length_s in search.durations.items()}
    rules = WindowRules(window_s, (), experiment.tester)
    if search.validation is not None and rules.applies_to(search.validation.duration):
        judged_s["trial.window"] = window_s
    criteria = (each for goal in experiment.goals.values() for each in goal)
    with experiment.with_source_locations():
        _check(experiment, criteria, judged_s)


def _check(
    experiment: Experiment, criteria: Iterable[Criterion], judged_s: Mapping[str, float]
) -> None:
    rules = dict.fromkeys(c.bound.rule for c in criteria if isinstance(c, HostCriterion))
    if not rules or not judged_s:
        return
    field = min(judged_s, key=lambda each: judged_s[each])
    length_s, interval_s = judged_s[field], experiment.observe.interval_s()
    if interval_s * _IN_A_TRIAL <= length_s:
        return
    raise InputError(
        f"hosts are read every {format_duration(interval_s)} and {field} is "
        f"{format_duration(length_s)}: too few readings to judge {', '.join(rules)}",
        where="observe.interval",
        remedy=_remedy(field, length_s, interval_s),
    )


def _remedy(field: str, length_s: float, interval_s: float) -> str:
    # Down to whole tenths of a second, as a longer one would be refused again.
    most_s = math.floor(length_s / _IN_A_TRIAL / _SHORTEST_INTERVAL_S) * _SHORTEST_INTERVAL_S
    needed_s = _IN_A_TRIAL * (interval_s if most_s else _SHORTEST_INTERVAL_S)
    first = f"give {format_duration(most_s)} or less" if most_s else "give 100ms"
    joint = "or" if most_s else "and"
    longer = f"{field} of {format_duration(needed_s)} or more"
    return f"{first}, {joint} a {longer}, or leave those criteria out"
