"""The load on the DUT's queues in a trial, by what was offered."""

from __future__ import annotations

from plimsoll.attribution.explanation.observations import PathLoad, StreamLoad
from plimsoll.trial.outcome.outcome import Outcome


def path_load(outcome: Outcome) -> PathLoad:
    """Mean rates while frames were sent; what a port sends arrives at one queue of the DUT."""
    sending_s = outcome.report.sending_s
    if not sending_s:
        return PathLoad(queue_frames=outcome.queue_frames)
    pps = {plan.stream: outcome.offered(plan.stream) / sending_s for plan in outcome.plan.streams}
    of_port: dict[int, float] = {}
    for plan in outcome.plan.streams:
        of_port[plan.tx_port] = of_port.get(plan.tx_port, 0.0) + pps[plan.stream]
    return PathLoad(
        queue_frames=outcome.queue_frames,
        streams={
            plan.name: StreamLoad(pps[plan.stream], of_port[plan.tx_port])
            for plan in outcome.plan.streams
        },
    )
