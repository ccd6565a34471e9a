"""Back-to-back frames, section 26.4: the longest burst of which the DUT loses nothing."""

from __future__ import annotations

from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.methods.rfc2544.bursts import LongestBurst, longest_burst, search_plan
from plimsoll.methods.rfc2544.result import BackToBackRow
from plimsoll.methods.rfc2544.settings import BurstSettings
from plimsoll.methods.rfc2544.spread import spread_of
from plimsoll.methods.rfc2544.subject import TestSubject


def measure_back_to_back(
    steps: Steps, subject: TestSubject, settings: BurstSettings, test: str = "back-to-back"
) -> BackToBackRow:
    """Repeat the search; its average is the benchmark. `test` begins the names of its steps."""
    searches: list[LongestBurst] = []
    for number in range(1, settings.repeats + 1):
        searches.append(longest_burst(steps, subject, settings, test, number))
        if searches[-1].problem is not None:
            break
    found = [burst for burst in searches if burst.problem is None]
    values = tuple(burst.frames for burst in found)
    known_steps = [burst.step_frames for burst in found if burst.step_frames is not None]
    return BackToBackRow(
        subject=subject.record,
        values=values,
        frames=spread_of(values),
        limit_frames=search_plan(settings, subject.maximum_pps).limit_frames,
        limit_s=settings.limit_s,
        step_frames=max(known_steps, default=None),
        verifications=settings.verifications,
        at_limit=sum(burst.at_limit for burst in found),
        reason=_problem(searches[-1], len(found), settings.repeats),
        verdict="none" if values else "invalid",
    )


def _problem(last: LongestBurst, found: int, requested: int) -> str | None:
    if last.problem is None:
        return None
    return (
        f"{found} of {requested} searches came to their end, then bursts were spoiled: "
        f"{last.problem}"
    )
