"""`plimsoll calibrate`: measure the tester alone, and keep what was found for later runs."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape

from plimsoll.benchmark.testbed import BedPlan
from plimsoll.benchmark.tester_calibration import (
    calibrate_tester,
    calibration_profile,
    check_calibration_profile,
)
from plimsoll.cli.calibration_summary import print_calibration
from plimsoll.cli.output import stderr, stdout
from plimsoll.dut.external import ExternalPort, ExternalSettings
from plimsoll.dut.lab import LabModel
from plimsoll.dut.loopback import LoopbackSettings
from plimsoll.errors import InputError
from plimsoll.generator.settings import EngineSettings
from plimsoll.host.cpus import check_cpus, parse_cpu_list
from plimsoll.host.janitor import watched_ledger
from plimsoll.host.ledger import sweep
from plimsoll.record.calibration_store import keep_calibration
from plimsoll.record.stored_calibration import StoredCalibration
from plimsoll.traffic.profile import Profile
from plimsoll.traffic.profile_file import load_profile

_NETDEV = "netdev:"
_EPILOG = (
    "Examples: **plimsoll calibrate** · **plimsoll calibrate --cpus 2-3** · "
    "**plimsoll calibrate --cpus 2-5 --ports 0000:3b:00.0 --ports 0000:3b:00.1**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(calibrate)


def calibrate(
    cpus: Annotated[
        str, typer.Option(help="The CPUs of the polling loops, in the form 2-5,8.")
    ] = "0",
    profile: Annotated[
        Path | None,
        typer.Option(help="Traffic to use instead of 64 B in 1024 flows and 1000 probes a second."),
    ] = None,
    ports: Annotated[
        list[str] | None,
        typer.Option(
            help="A port: a PCI address, a vdev with its arguments, or netdev:NAME. "
            "Give it once for each; each two are the ends of a cable."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Measure what the tester itself adds and carries, without a DUT.

    First over rings inside the tester, then over the cable between `--ports` if there
    are any. What is found is kept, and shown in every report of this tester.
    """
    traffic = calibration_profile() if profile is None else load_profile(profile)
    check_calibration_profile(traffic, str(profile or "profile"))
    settings = _tester(cpus)
    labs = [LoopbackSettings(), *_cable(ports or [])]
    sweep()
    found = [_measure(lab, settings, traffic) for lab in labs]
    if json:
        plain = [calibration.model_dump(mode="json") for calibration in found]
        typer.echo(json_text.dumps(plain, indent=2))
        return
    for calibration in found:
        print_calibration(calibration, stdout)


def _tester(cpus: str) -> EngineSettings:
    wanted = parse_cpu_list(cpus, where="--cpus")
    check_cpus([("--cpus", cpu) for cpu in wanted])
    return EngineSettings(cpus=wanted)


def _cable(ports: Sequence[str]) -> list[LabModel]:
    """The ports as a lab in which each two neighbours are cabled to each other."""
    if not ports:
        return []
    if len(ports) % 2:
        raise InputError(
            f"{len(ports)} ports do not make pairs",
            where="--ports",
            remedy="give both ends of each cable, one after the other",
        )
    return [ExternalSettings(ports=tuple(_port(port) for port in ports))]


def _port(given: str) -> ExternalPort:
    try:
        if given.startswith(_NETDEV):
            return ExternalPort(netdev=given.removeprefix(_NETDEV))
        return ExternalPort(devargs=given)
    except ValidationError:
        raise InputError(
            f"{given!r} is not a port",
            where="--ports",
            remedy="give a PCI address, a vdev with its arguments, or netdev:NAME",
        ) from None


def _measure(lab: LabModel, settings: EngineSettings, traffic: Profile) -> StoredCalibration:
    plan = BedPlan(lab, settings, traffic.largest_frame_size)
    with watched_ledger("calibrate") as ledger, stderr.status("") as status:
        found = calibrate_tester(
            plan, traffic, ledger, lambda step: status.update(f"[dim]{escape(step)}[/]")
        )
    path = keep_calibration(found)
    stderr.print(f"[dim]kept in[/] {path}", soft_wrap=True, highlight=False)
    return found
