"""`plimsoll serve`: runs in a browser."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.run_choice import RunsFolderOption
from plimsoll.cli.terminal.output import stderr
from plimsoll.errors import Interrupted, MachineError
from plimsoll.web.endpoint import ListenEndpoint, parse_endpoint
from plimsoll.web.serve_settings import ServeSettings, is_loopback, new_token

_OPTION = "--listen"
_EPILOG = (
    "Examples: **plimsoll serve** · **plimsoll serve --runs /data/runs --listen 9000** · "
    "**plimsoll serve --listen 0.0.0.0:8380 --host lab-7.example.com**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(serve)


def serve(
    runs: RunsFolderOption = Path("runs"),
    *,
    experiments: Annotated[
        Path, typer.Option(help="The folder of the experiments, and of what they name.")
    ] = Path(),
    listen: Annotated[
        ListenEndpoint,
        typer.Option(
            _OPTION,
            parser=partial(parse_endpoint, option=_OPTION),
            metavar="[ADDRESS:]PORT",
            help="Where to listen, by default on the loopback alone.",
        ),
    ] = "8380",  # type: ignore[assignment]
    host: Annotated[
        list[str] | None,
        typer.Option(help="A name by which browsers may call this server; may be repeated."),
    ] = None,
    token: Annotated[
        bool, typer.Option("--token", help="Ask for a token on the loopback, too.")
    ] = False,
) -> None:
    """Show runs in a browser: list, reports, live views, comparisons, metrics; start and stop them.

    Listens on the loopback alone unless another address is given; then browsers need the token
    that is printed. Who may use the page may run experiments as you. Ends with Ctrl-C or
    SIGTERM; runs that were started from the page go on.
    """
    settings = ServeSettings(
        runs_root=runs,
        experiments_root=experiments,
        endpoint=listen,
        host_names=frozenset(name.lower() for name in host or ()),
        token=new_token() if token or not is_loopback(listen) else None,
    )
    try:
        from plimsoll.web.app.server import serve_until_signal  # noqa: PLC0415
        from plimsoll.web.quiet_server import listening  # noqa: PLC0415
        from plimsoll.web.security.access import entry_address  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MachineError(
            f"{error.name} is not installed",
            where="plimsoll serve",
            remedy="pip install 'plimsoll[serve]'",
        ) from error
    with listening(settings.endpoint) as listener:
        stderr.print(
            f"open {entry_address(settings)}", soft_wrap=True, highlight=False, markup=False
        )
        with suppress(Interrupted):
            serve_until_signal(settings, listener)
