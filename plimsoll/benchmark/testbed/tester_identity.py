"""Which tester this is, and what an earlier calibration found of it."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.generator.interface import GeneratorFacts, PortInfo
from plimsoll.record.calibrations.stored_calibration import (
    StoredCalibration,
    TesterIdentity,
    kept_calibration,
)
from plimsoll.record.run.environment import Environment

# The ports of the lab `loopback`, over which every calibration is taken.
_RING = ("net_ring", "tsc")


def tester_identity(
    environment: Environment, plan: GeneratorPlan, generator: GeneratorFacts, port: PortInfo
) -> TesterIdentity:
    """The tester on this host, with its polling loops and ports like `port`."""
    return _identity(environment, plan, generator, port.driver, port.latency_clock)


def known_calibrations(
    environment: Environment,
    plan: GeneratorPlan,
    generator: GeneratorFacts,
    ports: Sequence[PortInfo],
) -> tuple[StoredCalibration, ...]:
    """Earlier calibrations of this very tester: over its own kinds of port, and over rings.

    Raises RecordError for one that is damaged.
    """
    kinds = dict.fromkeys([*((port.driver, port.latency_clock) for port in ports), _RING])
    kept = (
        kept_calibration(_identity(environment, plan, generator, driver, clock))
        for driver, clock in kinds
    )
    return tuple(calibration for calibration in kept if calibration is not None)


def _identity(
    environment: Environment,
    plan: GeneratorPlan,
    generator: GeneratorFacts,
    driver: str,
    clock: str,
) -> TesterIdentity:
    return TesterIdentity(
        host=environment.host,
        cpu_model=environment.cpu_model,
        cpus=tuple(cpu for _, cpu in plan.polled_cpus),
        port_kind=driver,
        latency_clock=clock,
        generator=generator.name,
        engine=generator.version,
        dpdk=generator.dpdk or "",
    )
