"""What falls short of RFC 2544's durations and counts, with the section that asks for them."""

from plimsoll.methods.rfc2544.settings import BurstSettings, LatencySettings, Rfc2544Settings
from plimsoll.methods.rfc2544.shortfalls import shortfalls
from plimsoll.methods.rfc9004.run import shortfalls as shortfalls_of_9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.results.method_result import shortfall_sentence


def test_the_defaults_are_the_standard_s_own() -> None:
    assert shortfalls(Rfc2544Settings(), drain_s=2.0) == ()
    assert shortfalls_of_9004(Rfc9004Settings(), drain_s=2.0) == ()
    assert shortfall_sentence((), "RFC 2544") is None


def test_the_quick_preset_falls_short_in_every_test_but_reset() -> None:
    sections = {each.what: each.section for each in shortfalls(Rfc2544Settings.quickly(), 0.3)}
    assert sections == {
        "wait for residual frames:": "23",
        "rest between trials:": "23",
        "final throughput trials of": "24",
        "latency streams of": "26.2",
        "tagged frames sent after": "26.2",
        "repetitions of each latency stream": "26.2",
        "frame loss trials of": "24",
        "longest bursts of": "26.4",
        "repetitions of each burst search": "26.4",
        "overloads of": "26.5",
    }


def test_only_the_tests_requested_count() -> None:
    settings = Rfc2544Settings(
        tests=("latency",),
        latency=LatencySettings(repeats=19),
        back_to_back=BurstSettings(repeats=1),
    )
    (only,) = shortfalls(settings, drain_s=2.0)
    assert (only.what, only.used, only.standard) == (
        "repetitions of each latency stream",
        "19",
        "20",
    )
    sentence = shortfall_sentence((only,), "RFC 2544")
    assert sentence == (
        "Shorter than RFC 2544 asks for: repetitions of each latency stream 19 instead of 20."
    )
