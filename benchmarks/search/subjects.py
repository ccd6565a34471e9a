"""The simulated DUTs of the benchmark, each with the loss that it is asked to keep to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.search.families import FAMILIES, Family, FamilyChoice, families
from plimsoll.search.simulated.models.capacity.steady import StallingTester
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.simulated.models.registry import model_kinds

# Models that are run with their defaults, whatever the seed: those that were there before
# the families, and on which load-line grew up.
_WITH_DEFAULTS = (
    "fixed-capacity",
    "soft-knee",
    "rare-stalls",
    "random-loss",
    "queueing",
    "overload-collapse",
    "warm-up",
    "drift",
    "asymmetric",
    "stalling-tester",
)
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


@lru_cache(maxsize=1024)
def subject_of(name: str, seed: int, limit: float | None = None) -> Subject:
    """The DUT of this model or family; a model is the same for every seed.

    `limit` is the loss that a DUT of a family may have, in place of the family's own. What a DUT
    sustains is computed once in a process: by draws it takes a second.
    """
    if name in FAMILIES:
        return _of_family(name, FAMILIES[name], seed, limit)
    return _with_defaults(name)


def subject_names(choice: FamilyChoice) -> Mapping[str, str]:
    """Every model, then every family chosen, by its own name."""
    models = () if choice in ("held-out", "lossy") else _WITH_DEFAULTS
    return {name: name for name in (*models, *families(choice))}


def _of_family(name: str, family: Family, seed: int, limit: float | None) -> Subject:
    model = family.model(seed)
    allowed = family.limit_of(seed) if limit is None else limit
    return Subject(name, model, allowed, model.sustainable_pps(allowed))


@lru_cache
def _with_defaults(name: str) -> Subject:
    model = _default_model(name)
    limit, sustainable_pps = _limit_and_load(model)
    return Subject(name, model, limit, sustainable_pps)


def _default_model(name: str) -> DutModel:
    # By default its loops are away so often and for so long that hardly a validation of hours
    # is valid, whatever the strategy. Like this it is four of five or more.
    if name == "stalling-tester":
        return StallingTester(period=60.0, length=200e-6)
    return model_kinds()[name].model_validate({"kind": name})


def _limit_and_load(model: DutModel) -> tuple[float, float | None]:
    """Zero loss where the DUT has a load that sustains that."""
    for limit in (0.0, _DEFAULT_LIMIT):
        sustainable_pps = model.sustainable_pps(limit)
        if sustainable_pps is not None and sustainable_pps > _HARDLY_ANY * model.capacity:
            return limit, sustainable_pps
    return _DEFAULT_LIMIT, None
