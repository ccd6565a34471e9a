"""`plimsoll calibrate`: measure the tester alone, and keep what was found for later runs."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.text import Text

from plimsoll.benchmark.calibration.tester_calibration import (
    calibrate_tester,
    calibration_profile,
    check_calibration_profile,
)
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.dut.lab import LabModel
from plimsoll.dut.labs.external import ExternalSettings
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.errors import InputError, Interrupted, PlimsollError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.generator.interface import GeneratorRefused
from plimsoll.host.cpus import check_cpus, parse_cpu_list
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import sweep
from plimsoll.record.calibrations.stored_calibration import StoredCalibration, keep_calibration
from plimsoll.terminal.output import labelled, stderr, stdout
from plimsoll.terminal.tables.noise_summary import print_calibration
from plimsoll.traffic.imported.trafficgen import load_profile
from plimsoll.traffic.streams.profile import Profile

_NETDEV = "netdev:"
# In the place of an error, the port that it is about.
_PORT = re.compile(r"\bports\[(\d+)\]")
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

    Over rings inside the tester, and over the cable between `--ports` if there are any: that
    first, so that a wrong port is reported at once. What is found is kept, and shown in every
    report of this tester.
    """
    traffic = calibration_profile() if profile is None else load_profile(profile)
    check_calibration_profile(traffic, str(profile or "profile"))
    generator = _tester(cpus)
    with _interruption_said():
        found = _measure_all(ports or [], generator, traffic)
    if json:
        plain = [calibration.model_dump(mode="json") for calibration in found]
        typer.echo(json_text.dumps(plain, indent=2))
        return
    for calibration in found:
        print_calibration(calibration, stdout)


@contextmanager
def _interruption_said() -> Iterator[None]:
    """Say what an interruption leaves: a calibration is kept when all its points are measured."""
    try:
        yield
    except Interrupted:
        stderr.print(
            "the calibration that was under way is not kept, finished ones are; "
            "give the same command again to measure anew"
        )
        raise


def _tester(cpus: str) -> GeneratorPlan:
    loop_cpus = parse_cpu_list(cpus, where="--cpus")
    check_cpus([("--cpus", cpu) for cpu in loop_cpus])
    return EngineSettings(cpus=loop_cpus)


def _measure_all(
    ports: Sequence[str], generator: GeneratorPlan, traffic: Profile
) -> list[StoredCalibration]:
    """Over rings, and over the cable if there is one."""
    with _placed_at_ports(ports):
        labs = _cable(ports)
        for lab in labs:
            lab.check_machine()
            generator.check_ports(lab.port_count)
        sweep()
        cable = [_measure(lab, generator, traffic) for lab in labs]
    return [_measure(LoopbackSettings(), generator, traffic), *cable]


@contextmanager
def _placed_at_ports(ports: Sequence[str]) -> Iterator[None]:
    """Give an error about one of the lab's ports the place that the user knows it by."""
    try:
        yield
    except PlimsollError as error:
        if found := _PORT.search(error.where):
            error.where = f"--ports {ports[int(found[1])]}"
            if isinstance(error, GeneratorRefused):
                error.remedy = "give a port that DPDK can open; plimsoll ports lists them"
        raise


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
    try:
        return [ExternalSettings(ports=tuple(_port(port) for port in ports))]
    except ValidationError as error:
        mistake = error.errors()[0]
        raise InputError(
            mistake["msg"],
            where="--ports",
            remedy=mistake.get("ctx", {}).get("remedy", "give at most 16 ports"),
        ) from None


def _port(given: str) -> TesterPortSettings:
    try:
        if given.startswith(_NETDEV):
            return TesterPortSettings(netdev=given.removeprefix(_NETDEV))
        return TesterPortSettings(devargs=given)
    except ValidationError:
        raise InputError(
            f"{given!r} is not a port",
            where="--ports",
            remedy="give a PCI address, a vdev with its arguments, or netdev:NAME",
        ) from None


def _measure(lab: LabModel, generator: GeneratorPlan, traffic: Profile) -> StoredCalibration:
    plan = TestbedConfig(lab, generator, traffic.largest_frame_size)
    with swept_ledger("calibrate") as ledger, stderr.status("") as status:
        found = calibrate_tester(
            plan, traffic, ledger, lambda step: status.update(Text(step, "dim"))
        )
    path = keep_calibration(found)
    stderr.print(labelled("kept in", path), soft_wrap=True)
    return found
