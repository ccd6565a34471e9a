"""From an experiment to a server: its lab and generator up, and the API over them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.live_bed import live_traffic
from plimsoll.benchmark.live_traffic.live_settings import LiveSettings
from plimsoll.benchmark.testbed.testbed import BedPlan
from plimsoll.errors import InputError
from plimsoll.host.processes.priority import quick_to_answer
from plimsoll.remote.otg.flows.port import Tester
from plimsoll.remote.otg.model.published import messages
from plimsoll.remote.otg.server.grpc_service import make_server
from plimsoll.remote.otg.server.rest import make_application
from plimsoll.remote.otg.server.settings import OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, MIN_FRAME_SIZE
from plimsoll.web.quiet_server import QuietServer, listening, quiet_config

# A request for metrics waits for the end of the interval that is under way.
_LIVE = LiveSettings(interval_s=0.2, shares_cpus=True)


def serve_otg(
    experiment: Experiment,
    settings: OtgSettings,
    *,
    locations: Mapping[str, int],
    largest_frame_size: int,
    tell: Callable[[str], None],
    ready: Callable[[], None],
) -> None:
    """Serve the API over the experiment's lab until a signal.

    Its profile and search play no part. `locations` are names of ports in configurations,
    `largest_frame_size` is what flows may send (bytes with FCS). `ready` is called when clients
    may come.
    """
    if not MIN_FRAME_SIZE <= largest_frame_size <= MAX_FRAME_SIZE:
        raise InputError(
            f"{largest_frame_size} bytes is no frame size",
            where="--largest-frame",
            remedy=f"give {MIN_FRAME_SIZE} to {MAX_FRAME_SIZE} bytes with FCS",
        )
    plan = replace(BedPlan.of(experiment), largest_frame_size=largest_frame_size)
    with (
        listening(settings.rest) as listener,
        live_traffic(plan, command="otg", settings=_LIVE, tell=tell) as traffic,
        quick_to_answer(),
    ):
        tester = Tester(
            port_count=len(traffic.ports),
            paths=tuple(traffic.paths),
            line_rate_bps=traffic.line_rate_bps,
            locations=_checked(locations, len(traffic.ports)),
            largest_frame_size=largest_frame_size,
        )
        serve_until_signal(OtgSession(traffic, tester), settings, listener, ready)


def _checked(locations: Mapping[str, int], port_count: int) -> Mapping[str, int]:
    for name, port in locations.items():
        if not 0 <= port < port_count:
            raise InputError(
                f"{name}={port}: there is no port {port}",
                where="--location",
                remedy=f"give a port from 0 to {port_count - 1}",
            )
    return locations


# Both servers over one session: until SIGINT or SIGTERM, and leaving nothing.
def serve_until_signal(
    session: OtgSession,
    settings: OtgSettings,
    listener: socket.socket,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer until SIGINT or SIGTERM, which is then raised anew for the handler before it.

    `ready` is called when both are there.
    """
    # Seconds of generated code, before the first client waits for it.
    messages()
    server = make_server(session, settings) if settings.grpc_port is not None else None
    config = quiet_config(
        make_application(session, settings), certificate=settings.certificate, key=settings.key
    )
    try:
        if server is not None:
            server.start()
        ready()
        QuietServer(config).run(sockets=[listener])
    finally:
        if server is not None:
            server.stop(grace=None).wait()
        session.close()
