"""`plimsoll tune render`: an intent as manifests, or as a host's configuration."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.record.index.run_paths import RUN_ID
from plimsoll.terminal.output import stderr, stdout
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.expected.kernel_argument import Vendor
from plimsoll.tune.fit.topology import ports_of, read_topology
from plimsoll.tune.fit.topology_rules import check_topology
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_intent, load_preset, preset_names
from plimsoll.tune.proposal.survey import ports_in_use
from plimsoll.tune.render.files.output_folder import write_files
from plimsoll.tune.render.files.refusal import Mistake, refuse
from plimsoll.tune.render.render import render
from plimsoll.tune.render.render_warning import warnings_of

_EPILOG = (
    "Examples: **plimsoll tune render intent.yaml -o manifests/** · "
    "**plimsoll tune render --preset openshift-deterministic -o manifests/** · "
    "**plimsoll tune render intent.yaml -o host/ --topology live**"
)
_LIVE = "live"

_OutputOption = Annotated[
    str, typer.Option("-o", "--output", metavar="PATH", help="The folder to write into.")
]
_IntentArgument = Annotated[
    Path | None, typer.Argument(help="The intent's file, or a preset.", show_default=False)
]
_PresetOption = Annotated[
    str | None,
    typer.Option(help="Render a preset, and no file.", autocompletion=lambda: list(preset_names())),
]
_TopologyOption = Annotated[
    str | None,
    typer.Option(
        metavar="live|FILE",
        help="Check the intent on a host first: this one, or one in a capture.",
    ),
]
_VendorOption = Annotated[
    Vendor, typer.Option(help="Who made the processors, for the kernel's arguments.")
]
_ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are not an earlier rendering's.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(name="render", epilog=_EPILOG)(render_intent)


def render_intent(
    *,
    output: _OutputOption,
    intent: _IntentArgument = None,
    preset: _PresetOption = None,
    topology: _TopologyOption = None,
    vendor: _VendorOption = "intel",
    force: _ForceOption = False,
) -> None:
    """Write the files that an intent asks for, and a README that says what each does.

    Nothing is applied. Files that are not an earlier rendering's are left alone.
    """
    folder = _folder(output)
    loaded, origin = _load(intent, preset)
    if topology is not None:
        view = LiveHost() if topology == _LIVE else open_root(Path(topology))
        for text in check_on_host(loaded, view):
            _warn(text)
    for warning in warnings_of(loaded):
        _warn(warning.text)
    written = write_files(folder, render(loaded, origin=origin, vendor=vendor), force=force)
    for path in written.left:
        _warn(f"{folder / path} is an earlier rendering's; remove it if nothing needs it")
    stdout.print(
        plain_text(f"{len(written.paths)} files in {folder}: read {folder / written.paths[0]}"),
        soft_wrap=True,
        highlight=False,
    )


def _folder(output: str) -> Path:
    """An unset shell variable (an empty path) does not mean the current directory."""
    if not output:
        raise InputError("is empty", where="--output", remedy="name a folder, or . for this one")
    folder = Path(output)
    if (run := run_at(folder)) is not None:
        raise InputError(
            f"is among run directories: {plain_text(str(run))} is a run",
            where=f"--output {output}",
            remedy="name a folder of its own, such as manifests/",
        )
    return folder


def _load(intent: Path | None, preset: str | None) -> tuple[Intent, str]:
    """The intent, and what it was read from."""
    if preset is None and intent is not None and str(intent) in preset_names():
        # As with plimsoll tune audit --intent.
        preset, intent = str(intent), None
    if intent is not None and preset is None:
        return load_intent(intent), intent.name
    if preset is not None and intent is None:
        return load_preset(preset), f"preset {preset}"
    raise InputError(
        "an intent comes from one file or from one preset",
        where="plimsoll tune render",
        remedy="give a file, or --preset with its name",
    )


def _warn(text: str) -> None:
    stderr.print(plain_text(f"warning: {text}"), soft_wrap=True, highlight=False)


# Whether a place belongs to run directories, where nothing else is to be written.
def run_at(folder: Path) -> Path | None:
    """The run that `folder` is, is in, holds or stands next to; None where there is none.

    Only what a run directory is called or holds counts: a folder that merely holds an
    experiment is the user's own.
    """
    try:
        here = Path(os.path.realpath(folder))
    except ValueError:
        # What cannot be a path lies nowhere; writing to it reports the error.
        return None
    for place in (here, *here.parents):
        if _is_run(place):
            return place
    return _first_run(here) or _first_run(here.parent)


def _first_run(folder: Path) -> Path | None:
    try:
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries if each.is_dir())
    except OSError:
        return None
    return next((folder / name for name in names if _is_run(folder / name)), None)


def _is_run(path: Path) -> bool:
    # os.path's says no, and raises nothing, of what may not be seen.
    parts = [os.path.isfile(path / name) for name in ("experiment.yaml", "journal.jsonl")]
    return all(parts) or (RUN_ID.fullmatch(path.name) is not None and any(parts))


# The rules that a profile's own operator cannot check, on the host it is for.
def check_on_host(intent: Intent, view: HostView) -> tuple[str, ...]:
    """The warnings, as lines.

    Raises InputError with all the rules that the intent breaks on this host, and MachineError
    where its CPUs cannot be read.
    """
    topology = read_topology(view.read, ports_of(intent), view.link)
    found = check_topology(intent, replace(topology, in_use=ports_in_use(view)))
    broken = [
        Mistake(each.field, each.text, each.remedy) for each in found if each.severity == "fail"
    ]
    refuse(broken, f"{intent.name} on {view.where}")
    return tuple(
        f"{each.field}: {each.text} ({each.remedy})" for each in found if each.severity == "warn"
    )
