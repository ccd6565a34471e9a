"""What falls short of RFC 2544's durations and counts, with the section that asks for them."""

from plimsoll.methods.rfc2544.settings import BurstSettings, LatencySettings, Rfc2544Settings
from plimsoll.methods.rfc2544.shortfalls import shortfalls
from plimsoll.methods.rfc9004.run import shortfalls as shortfalls_of_9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.results.method_result import shortfall_sentence
from tests.worded.says import Says


def test_the_defaults_are_the_standard_s_own() -> None:
    assert shortfalls(Rfc2544Settings(), drain_s=2.0) == ()
    assert shortfalls_of_9004(Rfc9004Settings(), drain_s=2.0) == ()
    assert shortfall_sentence((), "RFC 2544") is None


def test_the_quick_preset_falls_short_in_every_test_but_reset(says: Says) -> None:
    found = shortfalls(Rfc2544Settings.quickly(), 0.3)
    assert [each.section for each in found] == [
        *("23", "23", "24", "26.2", "26.2", "26.2", "24", "26.4", "26.4", "26.5")
    ]
    assert [each.what for each in found] == says()


def test_only_the_tests_requested_count(says: Says) -> None:
    settings = Rfc2544Settings(
        tests=("latency",),
        latency=LatencySettings(repeats=19),
        back_to_back=BurstSettings(repeats=1),
    )
    (only,) = shortfalls(settings, drain_s=2.0)
    assert (only.used, only.standard) == ("19", "20")
    assert only.what == says("latency")
    sentence = shortfall_sentence((only,), "RFC 2544")
    assert sentence == says("RFC", "2544", "latency", "19", "20")
