"""The sentence that says by what the platform limits a load line."""

import re

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.attribution.explanation.observations import PathLoad
from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.attribution.ranking.summary import CausesSummary, summarise
from plimsoll.attribution.ranking.trial_causes import TrialFacts, causes_of_trial
from plimsoll.methods.load_line.platform_limit import (
    LongestAbsence,
    longest_absence,
    platform_sentence,
)
from plimsoll.record.causes.causes_record import Confidence, RankedCause, TraceState
from tests.unit.attribution.cause_records import a_ranked_cause
from tests.unit.attribution.traces import DUT, HZ, LOOPS, US, WHOLE, loss, visit
from tests.worded.says import Says


def row(  # noqa: PLR0917
    name: str,
    share: float,
    worst_ns: int | None,
    confidence: Confidence,
    kind: CauseKind = "task",
    owner: str = "dut",
) -> RankedCause:
    return a_ranked_cause(
        kind=kind,
        name=name,
        owner=owner,
        loss_share=share,
        total_ns=worst_ns,
        worst_ns=worst_ns,
        confidence=confidence,
    )


def sentence(
    *rows: RankedCause, line_pps: float | None = 1.5e6, longest: LongestAbsence | None = None
) -> str:
    summary = CausesSummary(rows, (), (), (), 0, 3, 1000, 0, 0)
    return platform_sentence(3e6, line_pps, summary, longest)


def test_what_the_kernel_saw_is_named_the_costliest_first(says: Says) -> None:
    found = sentence(
        row("python3", 0.3, 2_000_000, "partial"),
        row("kworker/1:2", 0.61, 4_100_000, "exact"),
        row("hypervisor", 0.05, None, "counter", "hypervisor-steal"),
        row("python3", 0.04, 9_000_000, "exact", owner="tester"),
        longest=LongestAbsence(6_100_000, 5_461_333),
    )
    assert found == says("3", "1.5", "6.1", "kworker/1:2", "61%", "python3", "30%")


def test_what_only_a_counter_tells_is_named_without_a_length_that_nobody_saw(says: Says) -> None:
    found = sentence(row("the hypervisor", 0.97, None, "counter", "hypervisor-steal"))
    assert found == says("3", "1.5", "hypervisor", "97%", "counter")


def test_a_load_that_never_passed_is_said_to_be_none(says: Says) -> None:
    longest = LongestAbsence(7_000_000, None)
    found = sentence(row("java", 1.0, 7_000_000, "exact"), line_pps=None, longest=longest)
    assert found == says("1", "7", "java", "100%")


@given(
    away_us=st.lists(st.integers(100, 30_000), min_size=1, max_size=4),
    lost_after_us=st.integers(-2_000, 40_000),
    lost_us=st.integers(1, 20_000),
    load_pps=st.sampled_from([1e5, 1.39e6, 5e6]),
    buffer_frames=st.sampled_from([None, 512, 16_384]),
)
def test_every_length_in_a_sentence_overflows_the_buffer_at_that_load(
    away_us: list[int],
    lost_after_us: int,
    lost_us: int,
    load_pps: float,
    buffer_frames: int | None,
) -> None:
    """(buffer + lost) / load, worked out here from what was put in."""
    events, at = [], 0
    for length_us in away_us:
        events += visit(at * US, (at + length_us) * US, DUT, 812, "java")
        at += length_us + 500
    frames = max(1, round(load_pps * lost_us / 1e6))
    begin = (away_us[0] + lost_after_us) * US
    given_load = PathLoad(offered_pps=load_pps, queue_frames=buffer_frames)
    lost = loss(begin, begin + lost_us * US, frames)
    record = causes_of_trial(
        TrialFacts(
            number=1,
            tsc_hz=HZ,
            incidents=(lost,),
            loops=LOOPS,
            trace=TraceState(clock="x86-tsc"),
            events=sorted(events, key=lambda each: each.tsc),
            coverage=WHOLE,
            load=given_load,
        )
    ).record
    longest = longest_absence(record)
    if longest is None or not longest.overflows:
        assert {cause.kind for cause in record.incidents[0].causes} == {"unexplained"}
        return
    said = platform_sentence(3e6, None, summarise([record], 100_000), longest)
    length = re.search(r" of up to ([\d.,]+) (µs|ms) ", said)
    assert length is not None, said
    length_s = float(length[1].replace(",", "")) * {"µs": 1e-6, "ms": 1e-3}[length[2]]
    if buffer_frames is None:
        assert "is not known" in said
        return
    unexplained = sum(cause.frames or 0.0 for cause in record.incidents[0].causes)
    # Loads are means: 10 per cent, a burst of 32; and lengths have four digits.
    needed_s = (buffer_frames + frames - unexplained - 32) / load_pps
    assert length_s * 1.1 * 1.001 >= needed_s, said
    assert length_s * 1.001 >= buffer_frames / load_pps, said
