"""`plimsoll serve web`: runs in a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.errors import InputError, Interrupted, MachineError
from plimsoll.extras import added_by
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.terminal.options.run_choice import RunsFolderOption
from plimsoll.terminal.output import stderr
from plimsoll.text.named_program import AllowedPrograms
from plimsoll.web.endpoint import (
    ListenEndpoint,
    ServedEndpoint,
    ServeSettings,
    UnixEndpoint,
    is_loopback,
    new_token,
    parse_any_endpoint,
)
from plimsoll.web.security.token_file import read_token, write_token

if TYPE_CHECKING:
    import socket

_LISTEN, _NO_TOKEN, _TOKEN_FILE = "--listen", "--no-token", "--token-file"
_ALLOW = "--allow-program"
_EPILOG = (
    "Examples: **plimsoll serve** · **plimsoll serve web --runs /data/runs --listen 9000** · "
    "**plimsoll serve --listen unix:/run/lab.sock** · **plimsoll serve --listen 0.0.0.0:8380 "
    "--host lab-7.example.com --allow-program /opt/pktgen/bin/pktgen**"
)

_ExperimentsOption = Annotated[
    Path, typer.Option(help="The folder of the experiments, and of what they name.")
]
_ListenOption = Annotated[
    ServedEndpoint,
    typer.Option(
        _LISTEN,
        parser=partial(parse_any_endpoint, option=_LISTEN),
        metavar="[ADDRESS:]PORT|unix:PATH",
        help="Where to listen, by default on the loopback alone; at a Unix socket only this "
        "user and root are answered, without a token.",
    ),
]
_HostOption = Annotated[
    list[str] | None,
    typer.Option(help="A name by which browsers may call this server; may be repeated."),
]
_TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        _TOKEN_FILE,
        help="Take the token from this file, which only you may read, instead of a new one.",
    ),
]
_NoTokenOption = Annotated[
    bool,
    typer.Option(
        _NO_TOKEN,
        help="Let in every user of this machine, on the loopback and not as root.",
    ),
]
_AllowProgramOption = Annotated[
    list[str] | None,
    typer.Option(
        _ALLOW,
        metavar="PATH",
        help="A program, or a generator's folder, that experiments may have run; may be "
        "repeated. Without it they run none of their own choice.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("web", epilog=_EPILOG)(serve)


def serve(
    runs: RunsFolderOption = Path("runs"),
    *,
    experiments: _ExperimentsOption = Path(),
    listen: _ListenOption = "8380",  # type: ignore[assignment]
    host: _HostOption = None,
    token_file: _TokenFileOption = None,
    no_token: _NoTokenOption = False,
    allow_program: _AllowProgramOption = None,
) -> None:
    """Show runs in a browser: list, reports, live views, comparisons, metrics; start and stop them.

    Listens on the loopback alone unless another address is given. The link that is printed opens
    once; scripts send the token that is in the file named next to it. Who may use the page may run
    experiments as you. Ends with Ctrl-C or SIGTERM; runs that were started from the page keep
    running.
    """
    settings = ServeSettings(
        runs_root=runs,
        experiments_root=experiments,
        endpoint=listen,
        host_names=frozenset(name.lower() for name in host or ()),
        token=_token(listen, token_file, without=no_token),
        programs=AllowedPrograms(tuple(_existing(allow_program or ()))),
    )
    try:
        from plimsoll.web.app.server import serve_until_signal  # noqa: PLC0415
        from plimsoll.web.security.access import Access  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MachineError(
            f"{error.name} is not installed",
            where="plimsoll serve",
            remedy=added_by("serve"),
        ) from error
    for line in sweep():
        _say(line)
    with (
        suppress(Interrupted),
        swept_ledger("serve") as ledger,
        _listening(listen, ledger) as listener,
    ):
        access = Access(settings)
        _announce(settings, access.entry_address(), token_file, ledger)
        serve_until_signal(settings, access, listener)


def _token(listen: ServedEndpoint, given: Path | None, *, without: bool) -> str | None:
    """The token, from the file that is given or a new one; None where none is used."""
    if isinstance(listen, UnixEndpoint):
        for option, is_given in ((_TOKEN_FILE, given is not None), (_NO_TOKEN, without)):
            if is_given:
                raise InputError(
                    "a Unix socket takes no token: it answers this user and root",
                    where=option,
                    remedy="leave it out",
                )
        return None
    if not without:
        return new_token() if given is None else read_token(given)
    if given is not None:
        raise InputError("with a token or without", where=_NO_TOKEN, remedy=f"drop {_TOKEN_FILE}")
    if os.geteuid() == 0:
        raise InputError(
            "every user of this machine could run experiments as root",
            where=_NO_TOKEN,
            remedy="leave it out, or run the server as another user",
        )
    if not (isinstance(listen, ListenEndpoint) and is_loopback(listen)):
        raise InputError(
            "beyond the loopback a token is always needed", where=_NO_TOKEN, remedy="leave it out"
        )
    return None


def _existing(paths: Sequence[str]) -> Iterator[str]:
    """Their absolute paths as they are written; a name alone is looked up on PATH."""
    for each in paths:
        path = os.path.abspath(shutil.which(each) or each)
        if not os.path.exists(path):
            raise InputError(
                f"there is no {each}", where=_ALLOW, remedy="give the path of a program or a folder"
            )
        yield path


def _listening(endpoint: ServedEndpoint, ledger: Ledger) -> AbstractContextManager[socket.socket]:
    from plimsoll.web.endpoint import listening_on_unix  # noqa: PLC0415
    from plimsoll.web.quiet_server import listening  # noqa: PLC0415 - of an extra

    if isinstance(endpoint, UnixEndpoint):
        return listening_on_unix(endpoint.path, ledger)
    assert isinstance(endpoint, ListenEndpoint)  # noqa: S101 - there are no others
    return listening(endpoint)


def _announce(settings: ServeSettings, address: str, given: Path | None, ledger: Ledger) -> None:
    if isinstance(settings.endpoint, UnixEndpoint):
        _say(f"listening at unix:{settings.endpoint.path}, to this user and root")
        return
    _say(f"open {address}")
    if settings.token is None:
        _say("without a token: every user of this machine may run experiments as you")
        return
    path = write_token(ledger.directory, settings.token) if given is None else given
    _say(f"the link opens once; scripts, and further browsers, take the token in {path}")


def _say(line: str) -> None:
    stderr.print(line, soft_wrap=True, highlight=False)
