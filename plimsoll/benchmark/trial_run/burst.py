"""Bursts: so many frames from each load stream's port, and then nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.traffic.plan import Pacing, StreamPlan


def burst_streams(
    streams: Sequence[StreamPlan], frames: int, *, paced: bool = False
) -> tuple[StreamPlan, ...]:
    """The load streams alone, sending `frames` in each direction as fast as the port takes them.

    A port that the DUT empties, as memif, takes them only as fast as the DUT does, which
    could then lose nothing: there they are to be `paced`, at the rates that they have.
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
        count = max(1, share + (begun[path] < rest))
        begun[path] += 1
        burst = replace(stream, frame_count=count)
        at_once = replace(burst, rate_pps=None, pacing=Pacing("back-to-back"))
        bursts.append(burst if paced else at_once)
    return tuple(bursts)
