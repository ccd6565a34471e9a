"""The experiment's `trial` section: how every trial is run and watched."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.errors import InputError
from plimsoll.generator.interface import FrameCheck, TrialPlan
from plimsoll.search.strategy.settings import LONGEST_TRIAL_S, SHORTEST_TRIAL_S
from plimsoll.text.mistakes import brief, mistake
from plimsoll.text.named_program import RunCommand
from plimsoll.text.units import DurationField
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.teaching.teaching import TeachingSettings

_REMEDY = "write its words as a list, such as [ssh, dut, ovs-appctl, fdb/flush]; no shell reads it"


# What happens before a trial, as written in an experiment under `trial`.
def _words(given: object) -> object:
    """What pydantic would report once for each word, reported once."""
    words = given if isinstance(given, list | tuple) else ()
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise mistake(f"found {brief(given)}", _REMEDY)
    if not words[0]:
        raise mistake("the first word is empty and names no program", _REMEDY)
    return given


class BeforeTrial(BaseModel):
    """A command run before every trial, and how long it may take.

    In an experiment the command may stand alone: `before: [./flush-tables, eth1]`. It is an
    argument vector, and no shell reads it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Annotated[tuple[str, ...], BeforeValidator(_words), RunCommand()]
    timeout: Annotated[DurationField, Field(le=86400)] = 60.0


def _alone(given: Any) -> Any:
    return given if isinstance(given, dict | BeforeTrial) or given is None else {"command": given}


BeforeTrialField = Annotated[BeforeTrial | None, BeforeValidator(_alone)]
# A short trial is watched at least this often, so that a stall spoils only a part of it
# and a hopeless one ends early.
_INTERVALS_AT_LEAST = 10
_SHORTEST_INTERVAL_S = 0.1
# Ten intervals of a second: the quantiles of fewer say little.
SHORTEST_WINDOW_S = 10.0
# The engine's own limit: about the longest turn of a busy polling loop.
_MIN_CATCH_UP_S = 10e-6


def check_trial_duration(duration_s: float, where: str) -> float:
    """The duration, if one trial may last so long; else raises InputError at `where`."""
    if not SHORTEST_TRIAL_S <= duration_s <= LONGEST_TRIAL_S:
        raise InputError(
            f"a trial cannot last {duration_s:.10g} s",
            where=where,
            remedy="give a time from 1ms to 7d",
        )
    return duration_s


class TrialSettings(BaseModel):
    """Defaults are RFC 2544's (drain) and the seed methodology's (one sample a second).

    A frame that the tester is later with than `catch_up` is skipped, not sent in a
    burst. A gap in a polling loop longer than `stall` is recorded as a stall. `frame_check`
    says by what a received frame counts as whole. The
    warm-up trial, at the least load, is discarded; null leaves it out. `gap` is a pause
    after each trial, and `before` a command run before each. Validations of two windows or
    more, and soaks, are judged by each `window` as well.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    drain: Annotated[DurationField, Field(le=60)] = 2.0
    interval: Annotated[DurationField, Field(ge=0.1, le=60)] = 1.0
    catch_up: Annotated[DurationField, Field(ge=1e-5, le=1)] = 0.001
    stall: Annotated[DurationField, Field(ge=1e-6, le=1)] = 20e-6
    frame_check: FrameCheck = "checksums"
    warmup: Annotated[DurationField, Field(le=3600)] | None = 1.0
    teaching: TeachingSettings = TeachingSettings()
    gap: Annotated[DurationField, Field(le=86400)] | None = None
    before: BeforeTrialField = None
    # Of the trial at the least load that some criteria are multiples of: 1000 probes a second
    # give p99.99 the 10,000 samples that it needs.
    baseline: Annotated[DurationField, Field(ge=SHORTEST_TRIAL_S, le=3600)] = 10.0
    window: Annotated[DurationField, Field(ge=SHORTEST_WINDOW_S)] = 300.0
    # Intervals as they end, also where that takes its time from polling loops.
    live: bool = False

    def plan(
        self,
        streams: tuple[StreamPlan, ...],
        duration_s: float,
        *,
        load_pps: float,
        mark: int,
        queue_frames: int,
    ) -> TrialPlan:
        """A trial of these streams, made of `load_pps`; the ports' queues hold `queue_frames`.

        The burst with which the tester catches up after a stall is kept to a quarter of
        the queue that it goes into, so that it cannot be what makes the DUT lose frames.
        """
        rates_pps = (stream.rate_pps for stream in streams if stream.rate_pps is not None)
        fastest_pps = max(rates_pps, default=1.0)
        catch_up_s = max(_MIN_CATCH_UP_S, min(self.catch_up, queue_frames / 4 / fastest_pps))
        closely = max(_SHORTEST_INTERVAL_S, duration_s / _INTERVALS_AT_LEAST)
        return TrialPlan(
            mark=mark,
            streams=streams,
            duration_s=duration_s,
            drain_s=self.drain,
            interval_s=min(self.interval, closely),
            catch_up_us=catch_up_s * 1e6,
            stall_us=self.stall * 1e6,
            check=self.frame_check,
            load_pps=load_pps,
        )
