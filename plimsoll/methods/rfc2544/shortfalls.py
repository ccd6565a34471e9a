"""Where a run asks for less than RFC 2544 does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.methods.rfc2544.settings import (
    BurstSettings,
    FrameTestSettings,
    Rfc2544Settings,
    Test,
)
from plimsoll.record.results.method_result import Shortfall
from plimsoll.text.units import format_duration

# RFC 2544; the sections are named at each use.
_FINAL_S = 60.0
_STREAM_S, _TAG_S, _LATENCIES = 120.0, 60.0, 20
_BURST_S, _BURSTS = 2.0, 50
_OVERLOAD_S = 60.0
_RESIDUAL_S, _SETTLE_S = 2.0, 5.0


def shortfalls(settings: Rfc2544Settings, drain_s: float) -> tuple[Shortfall, ...]:
    """What of the requested tests falls short, with its section; `drain_s` is as trials have it."""
    found = [*shortfalls_of_trials(settings, drain_s)]
    for test in settings.tests:
        found += _BY_TEST[test](settings)
    return tuple(found)


def shortfalls_of_trials(settings: FrameTestSettings, drain_s: float) -> Iterator[Shortfall]:
    """Of any trial, section 23."""
    yield from _times("wait for residual frames:", drain_s, _RESIDUAL_S, "23")
    yield from _times("rest between trials:", settings.settle_s, _SETTLE_S, "23")


def shortfalls_of_throughput(settings: FrameTestSettings) -> Iterator[Shortfall]:
    """Of the trials that a throughput must pass, section 24."""
    yield from _times("final throughput trials of", settings.throughput.final_s, _FINAL_S, "24")


def shortfalls_of_repeats(settings: BurstSettings) -> Iterator[Shortfall]:
    """Of the searches for the longest burst, section 26.4."""
    yield from _counts("repetitions of each burst search", settings.repeats, _BURSTS, "26.4")


def _of_latency(settings: Rfc2544Settings) -> Iterator[Shortfall]:
    latency = settings.latency
    yield from _times("latency streams of", latency.stream_s, _STREAM_S, "26.2")
    yield from _times("tagged frames sent after", latency.tag_s, _TAG_S, "26.2")
    yield from _counts("repetitions of each latency stream", latency.repeats, _LATENCIES, "26.2")


def _of_frame_loss(settings: Rfc2544Settings) -> Iterator[Shortfall]:
    yield from _times("frame loss trials of", settings.frame_loss.trial_s, _FINAL_S, "24")


def _of_back_to_back(settings: Rfc2544Settings) -> Iterator[Shortfall]:
    yield from _times("longest bursts of", settings.back_to_back.limit_s, _BURST_S, "26.4")
    yield from shortfalls_of_repeats(settings.back_to_back)


def _of_recovery(settings: Rfc2544Settings) -> Iterator[Shortfall]:
    yield from _times("overloads of", settings.recovery.overload_s, _OVERLOAD_S, "26.5")


def _of_reset(settings: Rfc2544Settings) -> Iterator[Shortfall]:
    """Section 26.6 names no duration but that of a power cut, which is the command's own."""
    yield from ()


_BY_TEST: dict[Test, Callable[[Rfc2544Settings], Iterator[Shortfall]]] = {
    "throughput": shortfalls_of_throughput,
    "latency": _of_latency,
    "frame-loss": _of_frame_loss,
    "back-to-back": _of_back_to_back,
    "recovery": _of_recovery,
    "reset": _of_reset,
}


def _times(what: str, used_s: float, standard_s: float, section: str) -> Iterator[Shortfall]:
    if used_s < standard_s:
        used, standard = format_duration(used_s) if used_s else "none", format_duration(standard_s)
        yield Shortfall(what=what, used=used, standard=standard, section=section)


def _counts(what: str, used: int, standard: int, section: str) -> Iterator[Shortfall]:
    if used < standard:
        yield Shortfall(what=what, used=str(used), standard=str(standard), section=section)
