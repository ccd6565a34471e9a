"""RFC 9004's figures, computed by hand from its section 6.4, and what makes them invalid."""

from typing import Any

import pytest

from plimsoll.methods.rfc2544.result import (
    BackToBackRow,
    RepeatedSpread,
    Subject,
    ThroughputRow,
)
from plimsoll.methods.rfc9004.run import buffer_row, why_not
from tests.worded.says import Says

# 10 Gbit/s over (64 + 20) * 8 bits.
MAXIMUM_PPS = 14_880_952.0
SUBJECT = Subject(
    frames="64",
    sizes=(64,),
    mean_frame_size=64,
    maximum_pps=MAXIMUM_PPS,
    maximum_basis="line-rate",
)


def throughput(pps: float | None) -> ThroughputRow:
    return ThroughputRow(
        subject=SUBJECT,
        pps=pps,
        percent_of_maximum=None,
        l1_bps=None,
        limited_by=None,
        final_trial=None,
        final_s=None,
        trials=1,
        reason=None if pps else "even at the minimum, no trial passed",
    )


def bursts(mean: float, maximum: float, **changes: Any) -> BackToBackRow:
    row = BackToBackRow(
        subject=SUBJECT,
        values=(),
        frames=RepeatedSpread(count=2, mean=mean, minimum=25_500, maximum=maximum, deviation=20),
        limit_frames=29_761_904,
        limit_s=2.0,
        step_frames=64,
        verifications=1,
        at_limit=0,
        reason=None,
    )
    return row.model_copy(update=changes)


def test_buffer_times_are_those_of_the_formulas() -> None:
    row = buffer_row(throughput(12_000_000.0), bursts(26_000, 27_000), None)
    # 26000 / 14880952 = 1.747200e-3; 12 / 14.880952 = 0.80640; 1 - 0.80640 = 0.19360.
    assert row.implied_s == pytest.approx(1.7472e-3, rel=1e-4)
    assert row.corrected_s == pytest.approx(1.7472e-3 * 0.1936, rel=1e-4)
    assert (row.valid, row.reason) == (True, None)


@pytest.mark.parametrize(
    "found",
    [bursts(29_000_000, 29_500_000), bursts(26_000, 27_000, at_limit=1)],
    ids=["near the limit", "no loss at the limit"],
)
def test_bursts_near_the_limit_make_no_valid_result(found: BackToBackRow) -> None:
    row = buffer_row(throughput(12_000_000.0), found, None)
    assert not row.valid
    assert row.reason is not None
    assert "--burst-limit" in row.reason


def test_sizes_that_the_dut_carries_at_the_maximum_are_not_tested(says: Says) -> None:
    assert why_not(throughput(MAXIMUM_PPS)) == says()
    assert why_not(throughput(12e6)) is None
    problem = why_not(throughput(None))
    assert problem is not None
    assert problem == says()
    row = buffer_row(throughput(MAXIMUM_PPS), None, "why")
    assert (row.bursts, row.valid, row.reason) == (None, False, "why")
