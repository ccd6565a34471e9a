"""A TRex server on an experiment's lab, until a signal ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.live_bed import live_traffic
from plimsoll.benchmark.live_traffic.live_settings import LiveSettings
from plimsoll.benchmark.testbed.testbed import BedPlan
from plimsoll.host.processes.priority import quick_to_answer
from plimsoll.remote.trex.server import Listening, TrexSockets
from plimsoll.remote.trex.session.trex_session import ServerIdentity, TrexSession
from plimsoll.version import VERSION

_COMMAND = "trex-server"
# Where every CPU is polled, reading intervals must not keep this process from answering clients,
# and single latencies are not looked at here. Clients judge trials by the rate that was reached, by
# their own clocks. An ordinary program has a polled CPU for 3 to 4 ms at a time (Linux 6.18): after
# such an absence a loop catches up, with a burst that fills half of the port's queue at most. And a
# client that gets its CPU between others needs some such times to start its next port while no CPU
# is polled.
_SETTINGS = LiveSettings(
    begin_delay_s=0.03,
    interval_s=0.5,
    drain_s=0.2,
    worst=0,
    catch_up_us=5_000.0,
    catch_up_queue=0.5,
    shares_cpus=True,
)
_WARNING = (
    "warning: TRex's protocol has neither passwords nor encryption: {everyone} may send at any "
    "rate, and read what is captured"
)


def serve_trex(
    experiment: Experiment,
    listening: Listening,
    *,
    speed_bps: float | None,
    largest_frame_size: int,
    tell: Callable[[str], None],
) -> None:
    """Bring lab and generator up, and answer TRex's clients until a signal is raised here.

    `tell` has what the user should know. Raises InputError, MachineError and whatever bringing
    the lab up raises.
    """
    loopback = listening.is_loopback
    planned = BedPlan.of(experiment)
    plan = replace(planned, largest_frame_size=max(largest_frame_size, planned.largest_frame_size))
    with (
        TrexSockets(listening) as sockets,
        live_traffic(plan, command=_COMMAND, settings=_SETTINGS, tell=tell) as traffic,
        quick_to_answer(),
    ):
        session = TrexSession(
            traffic,
            ServerIdentity.here(VERSION),
            sockets.notify,
            speed_bps=speed_bps,
            tell=tell,
        )
        traffic.notify_ends(sockets.wake)
        everyone = (
            "every user of this machine" if loopback else f"all who reach {listening.address}"
        )
        tell(_WARNING.format(everyone=everyone))
        tell(
            f"TRex's clients may connect to {listening.address}: {len(session.ports)} ports, "
            f"requests on {sockets.sync_port}, events on {sockets.async_port}"
        )
        sockets.serve(session, threading.Event())
