"""What neighbours say of themselves when they end."""

from pathlib import Path

import pytest

from plimsoll.neighbours.memory import read_last_words
from plimsoll.neighbours.stress_ng import read_report
from tests.worded.says import Says

CAPTURED = Path(__file__).parent / "captured"


def captured(stressor: str) -> str:
    """What stress-ng 0.15.06 wrote when it was signalled to end, its host's name replaced."""
    return (CAPTURED / f"stress-ng-{stressor}.yaml").read_text()


def test_bogo_operations_a_second_are_those_of_real_time() -> None:
    achieved = read_report(captured("timer"), "timer")
    assert achieved.unit == "bogo-ops/s"
    assert achieved.intensity == 6094.162438
    assert achieved.cpu_s == pytest.approx(0.248741)
    assert achieved.figures == {}
    assert achieved.program == "stress-ng 0.15.06"
    assert achieved.unknown is None


def test_a_stressors_own_figures_are_kept() -> None:
    assert read_report(captured("hdd"), "hdd").figures == {
        "mbsec-read-rate": 4293.089785,
        "mbsec-write-rate": 3017.736483,
        "mbsec-readwrite-combined-rate": 3544.172216,
    }
    achieved = read_report(captured("memrate"), "memrate")
    # It counts an operation when it has been through all its ways to read and write.
    assert achieved.intensity == 0
    assert achieved.figures["write64stoq-mb-per-sec"] == 199.928988


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ()),
        ("[]", ()),
        ("metrics: 3", ()),
        ("metrics: [3, {stressor: hdd}]", ()),
        ("metrics: [{stressor: timer}]", ()),
        ("metrics: [{stressor: timer, bogo-ops-per-second-real-time: .nan}]", ()),
        ("metrics: [", ("2",)),
    ],
)
def test_what_it_did_not_say_is_not_known(text: str, facts: tuple[str, ...], says: Says) -> None:
    achieved = read_report(text, "timer")
    assert achieved.intensity is None
    assert achieved.cpu_s is None
    assert (achieved.unknown or "") == says(*facts)


def test_the_antagonist_says_bytes_and_time() -> None:
    said = '{"bytes": 398000128, "wall_ns": 2000000000, "cpu_ns": 233732103}'
    achieved = read_last_words((said,))
    assert achieved.unit == "B/s"
    assert achieved.intensity == 199000064
    assert achieved.cpu_s == 0.233732103


@pytest.mark.parametrize(
    "said",
    [(), ("ready",), ("[]",), ('{"bytes": 5}',), ('{"bytes": 5, "wall_ns": 0, "cpu_ns": 0}',)],
)
def test_an_antagonist_that_was_killed_says_nothing(said: tuple[str, ...], says: Says) -> None:
    achieved = read_last_words(said)
    assert achieved.intensity is None
    assert achieved.unknown == says()
