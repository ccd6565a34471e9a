"""The simulated DUTs of the benchmark, each with the loss that it is asked to keep to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plimsoll.generator.simulated.models.dut_model import DutModel
from plimsoll.generator.simulated.models.registry import model_kinds
from plimsoll.generator.simulated.models.stalling_tester import StallingTester

_REMEMBERING = ("drift", "overload-collapse", "warm-up")
# What no load of a DUT with a floor of random loss is free of; the seed methodology's limit.
_DEFAULT_LIMIT = 2e-5
# A load so low, as a share of the capacity, is of no use to anybody.
_HARDLY_ANY = 0.02


@dataclass(frozen=True)
class Subject:
    """A DUT, the share of its frames that it may lose, and the load that it sustains."""

    name: str
    model: DutModel
    limit: float
    sustainable_pps: float | None

    @property
    def remembers(self) -> bool:
        """Whether a trial finds the DUT as the one before has left it."""
        return self.name in _REMEMBERING


def _limit_and_load(model: DutModel) -> tuple[float, float | None]:
    """Zero loss where the DUT has a load that sustains that."""
    for limit in (0.0, _DEFAULT_LIMIT):
        sustainable_pps = model.sustainable_pps(limit)
        if sustainable_pps is not None and sustainable_pps > _HARDLY_ANY * model.capacity:
            return limit, sustainable_pps
    return _DEFAULT_LIMIT, None


def _models() -> Mapping[str, DutModel]:
    models: dict[str, DutModel] = {
        kind: model.model_validate({"kind": kind}) for kind, model in model_kinds().items()
    }
    # By default its loops are away so often and for so long that hardly a validation of hours
    # is valid, whatever the strategy. Like this it is four of five or more.
    models["stalling-tester"] = StallingTester(period=60.0, length=200e-6)
    return models


def subjects() -> Mapping[str, Subject]:
    """Every model with its defaults, but for a tester that can be used."""
    found = {}
    for name, model in _models().items():
        limit, sustainable_pps = _limit_and_load(model)
        found[name] = Subject(name, model, limit, sustainable_pps)
    return MappingProxyType(found)
