"""`plimsoll tune capture`: what an audit reads of this host, in a file."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.terminal.output import stderr, stdout
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.audit.needed_files import needed_files
from plimsoll.tune.host.capture.capture import Capture
from plimsoll.tune.host.capture.capture_file import SUFFIXES, write_archive, write_capture
from plimsoll.tune.host.capture.collect import collect
from plimsoll.tune.host.view.live_host import LiveHost

_MOST_NAMED = 10
_STANDARD_OUTPUT = Path("-")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Examples: **plimsoll tune capture** · **plimsoll tune audit --root host.tar.gz**"
    )(capture)


def capture(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write here, - for standard output; by default the host's name and time.",
        ),
    ] = None,
) -> None:
    """Collect what the audit reads of this host into one file, to be audited elsewhere.

    Reads only. It takes a fixed list of files under /proc, /sys and /etc and the output of
    a few commands, no process's arguments or environment, and of what people write only what
    the audit reads. As root it can read more; without, it says what it could not.
    """
    now = datetime.now(UTC)
    collected = collect(LiveHost(), needed_files(), now)
    if output == _STANDARD_OUTPUT:
        write_archive(collected, sys.stdout.buffer)
        _print_summary(collected, "standard output", stderr)
        return
    path = output or _default_path(collected, now)
    write_capture(collected, path)
    _print_summary(collected, str(path), stdout)


def _default_path(collected: Capture, now: datetime) -> Path:
    host = "".join(c for c in collected.manifest.host if c.isalnum() or c in "._-") or "host"
    return Path(f"{host}-{now:%Y%m%dT%H%M%SZ}{SUFFIXES[0]}")


def _print_summary(collected: Capture, path: str, console: Console) -> None:
    manifest = collected.manifest
    console.print(
        f"{plain_text(path)}: {len(collected.files)} files, {len(manifest.outputs)} commands",
        highlight=False,
        soft_wrap=True,
    )
    # A tool that is not installed is an answer, not something that could not be read.
    unread = [each for each in manifest.unread if each.cause != "absent"]
    if not unread:
        return
    causes = Counter(each.cause for each in unread)
    listed = ", ".join(f"{count} {cause}" for cause, count in causes.items())
    console.print(f"could not be read: {listed}", highlight=False)
    for each in unread[:_MOST_NAMED]:
        line = plain_text(f"{each.where}: {each.cause} {each.reason}".rstrip())
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    if len(unread) > _MOST_NAMED:
        console.print(f"  and {len(unread) - _MOST_NAMED} more, in its manifest", highlight=False)
