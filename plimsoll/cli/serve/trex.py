"""`plimsoll serve trex`: TRex's clients drive our engine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import InputError, Interrupted
from plimsoll.host.ledger.ledger import sweep
from plimsoll.remote.trex.server import ASYNC_PORT, SYNC_PORT, Listening, serve_trex
from plimsoll.terminal.options.options import SetOption, parse_option
from plimsoll.terminal.output import stderr
from plimsoll.text.units import parse_rate

_EPILOG = (
    "Examples: **plimsoll serve trex examples/demo.yaml** · "
    "**plimsoll serve trex experiment.yaml --port-speed 25Gbps --largest-frame 9218**"
)

_ExperimentArgument = Annotated[
    Path, typer.Argument(help="The experiment (YAML), of which lab and generator are used.")
]
_ListenOption = Annotated[
    str,
    typer.Option(
        help="Where to listen. All who can connect may send: on the loopback every user of "
        "this machine."
    ),
]
_SyncPortOption = Annotated[
    int, typer.Option(min=0, max=65535, help="The TCP port of requests; 0 takes a free one.")
]
_AsyncPortOption = Annotated[
    int, typer.Option(min=0, max=65535, help="The TCP port of events; 0 takes a free one.")
]
_PortSpeedOption = Annotated[
    str | None,
    typer.Option(help="The line rate that clients see, where the ports have none: 10Gbps."),
]
_LargestFrameOption = Annotated[
    int, typer.Option(min=64, max=9218, help="For which the ports are opened, with FCS.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("trex", epilog=_EPILOG)(trex)


def trex(
    experiment: _ExperimentArgument,
    *,
    set_fields: SetOption = None,
    listen: _ListenOption = "127.0.0.1",
    sync_port: _SyncPortOption = SYNC_PORT,
    async_port: _AsyncPortOption = ASYNC_PORT,
    port_speed: _PortSpeedOption = None,
    largest_frame: _LargestFrameOption = 1522,
) -> None:
    """Speak TRex's stateless RPC, so that its clients and scripts send with our engine.

    Brings the experiment's lab up and waits for TRex's own console and Python client, and for
    what is built on them. Ends with Ctrl-C or SIGTERM, which takes all down. TRex's protocol
    knows neither passwords nor encryption: leave it on the loopback.
    """
    planned = load_experiment(experiment, set_fields or ())
    listening = Listening(listen, sync_port, async_port)
    speed_bps = None if port_speed is None else parse_option("--port-speed", _speed, port_speed)
    sweep()
    with suppress(Interrupted):
        serve_trex(
            planned,
            listening,
            speed_bps=speed_bps,
            largest_frame_size=largest_frame,
            tell=lambda text: stderr.print(text, soft_wrap=True, highlight=False),
        )


def _speed(text: str) -> float:
    rate = parse_rate(text)
    if rate.unit != "l1_bps":
        raise InputError(f"{text[:40]!r} is no line rate", remedy="write for example 10Gbps")
    return rate.value
