"""How the offered load compares with the intended one (RFC 2285), in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.evidence.trial_evidence import OfferedInterval
from plimsoll.text.units import format_pps, format_ratio

ABSENT_FRAMES = "absent-frames"


def offered_said(result: Result | None, proof: TrialRecord | None) -> tuple[str, ...]:
    """What the proof of a load line offered of what was intended; none in earlier records."""
    line = result.load_line if result else None
    if line is None or line.intended_pps_per_direction is None:
        return ()
    intended_pps, offered_pps = line.intended_pps_per_direction, line.pps_per_direction
    least = result.validation.least_offered if result and result.validation else None
    compared = compared_loads(intended_pps, offered_pps, least)
    said = f"The load line is the offered load. {compared}."
    return (said, *_absent(proof))


def compared_loads(
    intended_pps: float, offered_pps: float, least: OfferedInterval | None = None
) -> str:
    """ "Intended were 1.538 Mpps per direction, offered 1.52 Mpps, 1.2 % less" and so on."""
    text = (
        f"Intended were {format_pps(intended_pps)} per direction, offered "
        f"{format_pps(offered_pps)}, {_difference(intended_pps, offered_pps)}"
    )
    if least is None:
        return text
    # No interval ends to the microsecond: 999.9 ms is a second.
    length_s, begin_s = round(least.end_s - least.begin_s, 2), round(least.begin_s, 1)
    worst = f"at worst {format_pps(least.pps)}, over {length_s:g} s, from second {begin_s:g} on"
    return f"{text}; {worst}"


def _difference(intended_pps: float, offered_pps: float) -> str:
    ratio = abs(offered_pps - intended_pps) / intended_pps if intended_pps else 0.0
    # A frame more or less in a trial is none.
    if ratio < 5e-6:
        return "the same"
    return f"{format_ratio(ratio)} {'less' if offered_pps < intended_pps else 'more'}"


def _absent(proof: TrialRecord | None) -> Iterator[str]:
    findings = proof.findings if proof else ()
    yield from (f"{each.text}." for each in findings if each.rule == ABSENT_FRAMES)
