"""How live traffic is watched."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.generator.interface import FrameCheck


@dataclass(frozen=True)
class LiveSettings:
    """Times in s unless they say otherwise.

    The first frame is due `begin_delay_s` (0.001 to 1) after the request: until just before it no
    CPU is polled, so that a client on the same CPU gets its answer, and may start more streams
    that begin with these. Counters are read every `interval_s` (0.01 to 60): each reading takes
    some tenths of a millisecond of the CPU that this process runs on. After the last frame, what
    is still on its way has at most `drain_s` to come back (0 to 60). A frame that the tester is
    later with than `catch_up_us` is skipped, and so is one behind more frames than the share
    `catch_up_queue` (0 to 1) of its port's queue. Where no CPU is free of polling loops, those of a
    bed that `shares_cpus` leave ordinary programs, clients among them, a tenth of each. Of each
    stream the `worst` longest latencies of an interval are kept (0 to 64). `check` says by what a
    received frame counts as whole.
    """

    begin_delay_s: float = 0.01
    interval_s: float = 0.5
    drain_s: float = 0.25
    catch_up_us: float = 1000.0
    catch_up_queue: float = 0.25
    shares_cpus: bool = False
    stall_us: float = 20.0
    worst: int = 16
    check: FrameCheck = "checksums"
