"""`plimsoll tune capture`: what an audit reads of this host, in a file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.terminal.output import stderr, stdout
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.audit.audit import all_checks
from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.finding import REMEDY_READS
from plimsoll.tune.host.boot.kernel_command_line import PATH
from plimsoll.tune.host.capture.capture import SUFFIXES, Capture, write_archive, write_capture
from plimsoll.tune.host.capture.collect import NeededFiles, collect
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.proposal.survey import SURVEY_LINKS, SURVEY_READS

_MAX_NAMED = 10
_STANDARD_OUTPUT = Path("-")
# What the assumed intent, the proposal of one, and the remedies read as well.
_ALWAYS_READ = (PATH, *TOPOLOGY, *SURVEY_READS, *REMEDY_READS)


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
    for each in unread[:_MAX_NAMED]:
        line = plain_text(f"{each.where}: {each.cause} {each.reason}".rstrip())
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    if len(unread) > _MAX_NAMED:
        console.print(f"  and {len(unread) - _MAX_NAMED} more, in its manifest", highlight=False)


# What all checks together read: what a capture collects.
def needed_files(checks: Sequence[Check] | None = None) -> NeededFiles:
    """The union of what `checks`, by default all there are, say that they read."""
    selected = all_checks() if checks is None else checks
    return NeededFiles(
        files=_once((_ALWAYS_READ, *(check.reads for check in selected))),
        links=_once((SURVEY_LINKS, *(check.links for check in selected))),
        lists=_once(check.lists for check in selected),
        commands=_once(check.commands for check in selected),
    )


def _once(patterns: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(patterns)))
