"""A validation that passed is proof, whatever else its evidence shows."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.search.load_line.settings import LoadLineSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished, Told
from tests.unit.search.load_line.trials import tried


def test_a_load_that_passed_in_plain_overload_is_not_validated_for_ever() -> None:
    """Where the criteria allow the losses, and the tester sends a third of what it should."""
    settings = LoadLineSettings.model_validate(
        {
            "strategy": "load-line",
            "minimum": "1kpps",
            "maximum": "50Mpps",
            "width": "20%",
            "duration": "500ms",
            "watch": "500ms",
            "validation": {"duration": "2s"},
        }
    )
    search = settings.begin(lambda _, rate: rate.value)
    passed = list[float]()
    for number in range(100):
        asked = search.ask()
        if isinstance(asked, Finished):
            break
        search.tell(_overloaded_and_passed(asked, lossless=number == 0))
        if asked.phase == "validation":
            passed.append(asked.load_pps)
    assert isinstance(asked, Finished)
    assert asked.first.load_line_pps in passed
    assert len(passed) == len(set(passed))


def _overloaded_and_passed(asked: Ask, *, lossless: bool) -> Told:
    """A tenth lost of the third that was sent, in every interval; the first trial lost nothing."""
    losses = (
        {} if lossless else dict.fromkeys(range(10), round(asked.load_pps * asked.duration_s / 300))
    )
    shown = tried(asked.load_pps / 3, asked.duration_s, losses=losses, intervals=10)
    return replace(shown.told, verdicts={ONLY_GOAL: "pass"}, rules={ONLY_GOAL: ()})
