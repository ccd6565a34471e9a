"""Bursts: so many frames from each load stream's port, back to back, and then nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.traffic.plan import Pacing, StreamPlan


def burst_streams(streams: Sequence[StreamPlan], frames: int) -> tuple[StreamPlan, ...]:
    """The load streams alone, sending `frames` in each direction as fast as the port takes them.

    The streams of one direction share its frames evenly, each sending at least one.
    Raises ValueError when `frames` is not positive.
    """
    if frames < 1:
        raise ValueError("a burst has at least one frame")
    load = [stream for stream in streams if stream.role == "load"]
    sharing = Counter((stream.tx_port, stream.rx_port) for stream in load)
    begun: Counter[tuple[int, int]] = Counter()
    bursts: list[StreamPlan] = []
    for stream in load:
        path = (stream.tx_port, stream.rx_port)
        share, rest = divmod(frames, sharing[path])
        count = share + (begun[path] < rest)
        begun[path] += 1
        bursts.append(
            replace(
                stream,
                rate_pps=None,
                pacing=Pacing("back-to-back"),
                frame_count=max(1, count),
            )
        )
    return tuple(bursts)
