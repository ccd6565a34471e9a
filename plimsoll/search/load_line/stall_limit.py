"""The load at which the DUT's buffer holds what comes during its longest stall."""

from __future__ import annotations

import math

from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.limit import Limit
from plimsoll.search.load_line.stall_forecast import CauseSeen, GroupForecast, StallForecast
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

# By the queue's length in overload, the buffer is known roughly; a burst asks exactly when
# the longest stall would fill so much of it.
_WORTH_A_BURST = 0.5
# Of what the longest stall lets come, so many times are sent: while a burst comes in,
# the DUT forwards.
_BURST_FACTOR = 4
_MOST_BURSTS = 3
_LARGEST_BURST = 1 << 22
# Of the causes of a group of stalls, so many are named, from this share of their time on.
_MOST_NAMED = 3
_LEAST_SHARE = 0.05


def stall_limit(knowledge: Knowledge) -> Limit | None:
    """Buffer ÷ the longest stall of a validation; None where no stall filled the buffer."""
    plan, forecast, buffer = knowledge.plan, knowledge.stall_forecast(), knowledge.buffer()
    if forecast is None or buffer is None:
        return None
    longest_s = forecast.length_s(plan.validation_s, plan.confidence)
    load_pps = buffer / longest_s
    lasting, chance = format_duration(plan.validation_s), format_ratio(plan.confidence)
    text = (
        f"stalls of the DUT: its buffer holds {buffer:,.0f} frames, and with a chance of {chance} "
        f"its longest stall in {lasting} is no longer than {format_ns(round(longest_s * 1e9))} "
        f"(the longest seen: {format_ns(round(forecast.longest_s * 1e9))}, a fit to the "
        f"{forecast.seen} longest), so it loses nothing up to {format_pps(load_pps)}"
    )
    leading = forecast.leading(plan.validation_s, plan.confidence)
    return Limit(load_pps, "stalls", text, _cause_sentence(leading, forecast))


def _cause_sentence(leading: GroupForecast, forecast: StallForecast) -> str | None:
    """What sets the line, and how often it comes; None where no stall has a known cause."""
    if not forecast.knows_causes:
        return None
    named = [each for each in leading.causes if each.share >= _LEAST_SHARE][:_MOST_NAMED]
    up_to = format_ns(round(leading.tail.longest_s * 1e9))
    return f"Set by stalls of up to {up_to}: {'; '.join(_in_words(each) for each in named)}."


def _in_words(seen: CauseSeen) -> str:
    share = f"{seen.share * 100:.0f} % of their time"
    if seen.cause is None:
        return f"{share} without a known cause"
    if seen.period_s is not None:
        often = f", one every {format_duration(seen.period_s)}, regularly"
    elif seen.every_s is not None:
        often = f", one every {format_duration(seen.every_s)} on average"
    else:
        often = ""
    return f"{share} by {seen.cause.text}{often}"


def chance_to_survive(knowledge: Knowledge, load_pps: float) -> float:
    """The chance that no stall overflows the buffer during a validation at this load."""
    forecast, buffer = knowledge.stall_forecast(), knowledge.buffer()
    if forecast is None or buffer is None:
        return 1.0
    return forecast.chance(buffer / load_pps, knowledge.plan.validation_s)


def burst_wanted(knowledge: Knowledge, load_pps: float) -> int | None:
    """How many frames to send back to back to learn what the buffer holds; None for no burst."""
    plan, forecast = knowledge.plan, knowledge.stall_forecast()
    if not plan.bursts or forecast is None or knowledge.buffer() is not None:
        return None
    needed = load_pps * forecast.length_s(plan.validation_s, plan.confidence)
    known = max(knowledge.held(), _WORTH_A_BURST * knowledge.full_queue())
    if needed <= known or len(knowledge.bursts) >= _MOST_BURSTS:
        return None
    frames = needed * math.pow(_BURST_FACTOR, 1 + len(knowledge.bursts))
    return min(math.ceil(frames), _LARGEST_BURST)
