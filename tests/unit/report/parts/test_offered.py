"""The offered load next to the intended one, in sentences."""

import pytest

from plimsoll.report.parts.headline import compared_loads, offered_said
from plimsoll.search.evidence.trial_evidence import OfferedInterval
from tests.unit.record.results.test_result import carrying, result
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("offered_pps", "said"),
    [
        (1_520_000.0, "offered load 1.52 Mpps, 1.17 % lower"),
        (1_538_000.01, "offered load 1.538 Mpps, the same"),
        (1_553_380.0, "offered load 1.553 Mpps, 1 % higher"),
    ],
)
def test_two_loads_are_compared(offered_pps: float, said: str) -> None:
    text = compared_loads(1_538_000.0, offered_pps)
    assert text == f"Intended load 1.538 Mpps per direction; {said}"


@pytest.mark.parametrize(
    ("begin_s", "end_s", "said"),
    [
        (34.0, 35.0, "over 1 s from second 34 on"),
        (45.9998, 46.9997, "over 1 s from second 46 on"),
        (0.0001, 1.0002, "over 1 s from second 0 on"),
        (2.5, 2.75, "over 0.25 s from second 2.5 on"),
        (7200.0, 7260.0, "over 60 s from second 7200 on"),
    ],
)
def test_the_worst_interval_is_named(begin_s: float, end_s: float, said: str) -> None:
    least = OfferedInterval(begin_s=begin_s, end_s=end_s, pps=1_400_000.0)
    text = compared_loads(1_538_000.0, 1_520_000.0, least)
    assert text.endswith(f"1.17 % lower, at worst 1.4 Mpps {said}")


def test_a_result_says_what_its_proof_offered(says: Says) -> None:
    proof = carrying(((0, 1), "load", 64, 1000.0))
    (stream,) = proof.streams
    absent = {
        "rule": "absent-frames",
        "subject": "load/0-1",
        "value": 40.0,
        "limit": None,
        "unit": "frames",
        "outcome": "ok",
        "text": "load/0-1: 40 frames came due while the tester's polling loop was away",
    }
    validated = type(proof).model_validate(
        {
            **proof.model_dump(mode="json"),
            "streams": [stream.model_copy(update={"received": 1960}).model_dump(mode="json")],
            "findings": [absent],
        }
    )
    assert offered_said(result((validated,), 1000.0), validated) == (
        says("load", "1", "980", "2"),
        says("load/0-1", "40", "frames"),
    )
    assert offered_said(None, None) == ()
