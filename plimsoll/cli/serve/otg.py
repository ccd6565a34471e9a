"""`plimsoll serve otg`: an Open Traffic Generator over our engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import InputError, Interrupted, MachineError
from plimsoll.extras import added_by
from plimsoll.host.ledger.ledger import sweep
from plimsoll.terminal.options.options import SetOption
from plimsoll.terminal.output import say
from plimsoll.web.endpoint import ListenEndpoint, is_loopback, new_token, parse_endpoint

if TYPE_CHECKING:
    from plimsoll.remote.otg.server.settings import OtgSettings

_LISTEN = "--listen"
_MAX_PORT = 65535
_EPILOG = (
    "Examples: **plimsoll serve otg examples/demo.yaml** · **plimsoll serve otg experiment.yaml "
    "--location localhost:5555=0 --location localhost:5556=1** · **plimsoll serve otg "
    "experiment.yaml --listen 8443 --certificate cert.pem --key key.pem**"
)

_ListenOption = Annotated[
    ListenEndpoint,
    typer.Option(
        _LISTEN,
        parser=partial(parse_endpoint, option=_LISTEN),
        metavar="[ADDRESS:]PORT",
        help="Where REST listens, by default on the loopback alone.",
    ),
]
_GrpcOption = Annotated[
    int, typer.Option(help="The port of gRPC, at the same address; 0 for none.")
]
_LocationOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=PORT",
        help="A port's name in configurations, next to its number; may be repeated.",
    ),
]
_LargestFrameOption = Annotated[
    int, typer.Option(help="The largest frame of any flow, in bytes with FCS.")
]
_HostOption = Annotated[
    list[str] | None,
    typer.Option(help="A name by which clients may call this server; may be repeated."),
]
_TokenOption = Annotated[
    bool, typer.Option("--token", help="Take a token on the loopback, too, of any user.")
]
_CertificateOption = Annotated[
    Path | None, typer.Option(help="Serve over TLS: the certificate (PEM).")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("otg", epilog=_EPILOG)(otg)


def otg(
    experiment: Annotated[Path, typer.Argument(help="The experiment (YAML) with the lab.")],
    *,
    set_fields: SetOption = None,
    listen: _ListenOption = "8443",  # type: ignore[assignment]
    grpc: _GrpcOption = 40051,
    location: _LocationOption = None,
    largest_frame: _LargestFrameOption = 1518,
    host: _HostOption = None,
    token: _TokenOption = False,
    certificate: _CertificateOption = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key of the TLS certificate (PEM).")
    ] = None,
) -> None:
    """Serve the Open Traffic Generator API, for snappi and otgen: their flows on our engine.

    The experiment gives lab and generator; its profile and search play no part. Ends with
    Ctrl-C or SIGTERM. On the loopback the user who started it is answered, others need the token
    that is printed.
    """
    planned = load_experiment(experiment, set_fields or ())
    _check_tls_and_port(certificate, key, grpc)
    locations = dict(_location(each) for each in location or ())
    make_settings, serve_otg = _server()
    settings = make_settings(
        rest=listen,
        grpc_port=grpc or None,
        token=new_token() if token or not is_loopback(listen) else None,
        host_names=frozenset(name.lower() for name in host or ()),
        certificate=certificate,
        key=key,
    )
    for line in sweep():
        say(line)
    ready = partial(_say_where, settings)
    with suppress(Interrupted):
        serve_otg(
            planned,
            settings,
            locations=locations,
            largest_frame_size=largest_frame,
            tell=say,
            ready=ready,
        )


def _check_tls_and_port(certificate: Path | None, key: Path | None, grpc: int) -> None:
    if (certificate is None) != (key is None):
        raise InputError("TLS needs both", where="--certificate", remedy="give --key as well")
    if not 0 <= grpc <= _MAX_PORT:
        raise InputError(f"{grpc} is no port", where="--grpc", remedy="give 0 to 65535")


def _server() -> tuple[type[OtgSettings], Callable[..., None]]:
    """Its settings, and what serves. Raises MachineError where that is not installed."""
    try:
        from plimsoll.remote.otg.model.published import models  # noqa: PLC0415
        from plimsoll.remote.otg.server.serve import serve_otg  # noqa: PLC0415
        from plimsoll.remote.otg.server.settings import OtgSettings  # noqa: PLC0415

        models()
    except ModuleNotFoundError as error:
        raise MachineError(
            f"{error.name} is not installed",
            where="plimsoll serve otg",
            remedy=added_by("otg"),
        ) from error
    return OtgSettings, serve_otg


def _say_where(settings: OtgSettings) -> None:
    say(f"snappi.api(location={settings.rest_location!r})")
    if settings.grpc_location:
        say(f"snappi.api(location={settings.grpc_location!r}, transport='grpc')")


def _location(text: str) -> tuple[str, int]:
    name, _, port = text.rpartition("=")
    if not name or not (port.isascii() and port.isdigit()):
        raise InputError(
            f"found {text!r}", where="--location", remedy="write NAME=PORT, as in eth1=0"
        )
    return name, int(port)
