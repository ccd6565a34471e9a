"""The load at which the DUT's buffer holds what comes during its longest stall."""

from __future__ import annotations

import math

from ...text.units import format_duration, format_ns, format_pps, format_ratio
from ..knowledge import Knowledge
from ..limit import Limit
from .stall_forecast import CauseSeen, GroupForecast, StallForecast

# By the queue's length in overload, the buffer is known roughly; a burst asks exactly when
# the longest stall would fill so much of it.
_WORTH_A_BURST = 0.5
# Of what the longest stall lets come, so many times are sent: while a burst comes in,
# the DUT forwards.
_BURST_FACTOR = 4
_MAX_BURSTS = 3
_LARGEST_BURST = 1 << 22
# Of the causes of a group of stalls, so many are named, from this share of their time on.
_MAX_NAMED = 3
_MIN_SHARE = 0.05


def stall_limit(knowledge: Knowledge) -> Limit | None:
    """Buffer ÷ the longest stall of a validation; None where no stall filled the buffer."""
    plan, forecast, buffer = knowledge.plan, knowledge.stall_forecast(), known_buffer(knowledge)
    if forecast is None or buffer is None:
        return None
    share = knowledge.share_of_buffer()
    longest_s = forecast.length_s(share * plan.validation_s, plan.confidence)
    growth = forecast.growth
    # As below the capacity, half a width is left for what neither buffer nor length is known to.
    load_pps = growth.filling_pps(buffer, longest_s) * (1.0 - plan.width / 2)
    lasting, chance = format_duration(plan.validation_s), format_ratio(plan.confidence)
    text = (
        f"stalls of the DUT: its buffer holds {buffer:,.0f} frames. With {chance} probability "
        f"its longest stall in {lasting} is no longer than {_in_ns(forecast, longest_s, load_pps)} "
        f"(the longest seen: {_in_ns(forecast, forecast.longest_s, load_pps)}, a fit to the "
        f"{forecast.seen} longest), so it loses nothing up to {format_pps(load_pps)}"
    )
    if share < 1.0:
        text += f", if the buffer holds so few for {format_ratio(share)} of the time as seen"
    if growth.power:
        text += f", if stalls grow with the load to the power of {growth.power:.1f} as seen"
    if growth.left_pps:
        text += f", if the DUT forwards {format_pps(growth.left_pps)} meanwhile as seen"
    leading = forecast.leading(plan.validation_s, plan.confidence)
    return Limit(load_pps, "stalls", text, _cause_sentence(leading, forecast))


def known_buffer(knowledge: Knowledge) -> float | None:
    """Roughly what waits in overload, where hours of stalls have not filled it."""
    buffer = knowledge.buffer()
    if buffer is not None or not knowledge.has_stalled_in_vain():
        return buffer
    known = max(knowledge.full_queue(), knowledge.held())
    return known if knowledge.full_queue() else None


def _in_ns(forecast: StallForecast, length_s: float, load_pps: float) -> str:
    return format_ns(round(forecast.growth.at_load_s(length_s, load_pps) * 1e9))


def _cause_sentence(leading: GroupForecast, forecast: StallForecast) -> str | None:
    """What sets the line, and how often it comes; None where no stall has a known cause."""
    if not forecast.knows_causes:
        return None
    named = [each for each in leading.causes if each.share >= _MIN_SHARE][:_MAX_NAMED]
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


def burst_wanted(knowledge: Knowledge, load_pps: float) -> int | None:
    """How many frames to send back to back to learn what the buffer holds; None for no burst."""
    plan, forecast = knowledge.plan, knowledge.stall_forecast()
    if not plan.bursts or forecast is None or knowledge.buffer() is not None:
        return None
    longest_s = forecast.length_s(plan.validation_s, plan.confidence)
    needed = load_pps * forecast.growth.at_load_s(longest_s, load_pps)
    known = max(knowledge.held(), _WORTH_A_BURST * knowledge.full_queue())
    if needed <= known or len(knowledge.bursts) >= _MAX_BURSTS:
        return None
    frames = needed * math.pow(_BURST_FACTOR, 1 + len(knowledge.bursts))
    return min(math.ceil(frames), _LARGEST_BURST)
