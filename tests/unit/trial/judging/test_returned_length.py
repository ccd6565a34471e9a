"""Frames that came back longer or shorter than they were sent are told, and judge nothing."""

from dataclasses import replace

import pytest

from plimsoll.trial.judging.dut_agreement import returned_lengths
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import LOAD_OUT, outcome
from tests.worded.says import Says

SMALL, LARGE = bytes(60), bytes(1514)


def returned(
    received_bytes: int, frames: tuple[bytes, ...] = (SMALL,), lost: int = 0, **changes: int
) -> Outcome:
    """A trial whose load on its way out was 1000 frames."""
    clean = outcome()
    plans = [
        replace(each, frames=frames) if each.stream == LOAD_OUT else each
        for each in clean.plan.streams
    ]
    counts = [
        replace(each, sent=1000, received=1000 - lost, received_bytes=received_bytes, **changes)
        if each.stream == LOAD_OUT
        else each
        for each in clean.report.streams
    ]
    return replace(
        clean,
        plan=replace(clean.plan, streams=tuple(plans)),
        report=replace(clean.report, streams=tuple(counts)),
    )


@pytest.mark.parametrize(
    ("received_bytes", "lost", "value", "limit", "facts"),
    [
        (68_000, 0, 68, 64, ("4", "68", "64")),
        # It does not matter how many were lost.
        (990 * 68, 10, 68, 64, ("4",)),
        (60_000, 0, 60, 64, ("4", "60", "64")),
        # A tag on every tenth frame.
        (64_400, 0, 64.4, 64, ("0.4", "64.4")),
    ],
)
def test_frames_of_another_length_are_told(
    received_bytes: int,
    lost: int,
    value: float,
    limit: float,
    facts: tuple[str, ...],
    *,
    says: Says,
) -> None:
    (found,) = returned_lengths(returned(received_bytes, lost=lost))
    assert (found.rule, found.subject, found.outcome) == ("returned-length", "load/0-1", "ok")
    assert (found.value, found.limit) == (pytest.approx(value), pytest.approx(limit))
    assert found.text == says(*facts)


@pytest.mark.parametrize(
    "same",
    [
        returned(64_000),
        # A generator that does not count them.
        returned(0),
        returned(0, lost=1000),
        # 64 and 1518 bytes in turn, of which the large ones were lost.
        returned(500 * 64, (SMALL, LARGE), lost=500),
        returned(500 * 64 + 500 * 1518, (SMALL, LARGE)),
        # Shorter than any frame: its port lengthens it.
        returned(64_000, (bytes(40),)),
    ],
)
def test_nothing_is_told_of_frames_that_are_as_long_or_whose_length_is_not_known(
    same: Outcome,
) -> None:
    assert list(returned_lengths(same)) == []


def test_a_tag_on_each_frame_of_a_mix_is_told() -> None:
    (found,) = returned_lengths(returned(500 * 68 + 500 * 1522, (SMALL, LARGE)))
    assert "4 bytes longer" in found.text
