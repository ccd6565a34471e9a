"""Experiments on a simulated DUT, and how near what they find is to what is true of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NoReturn, Self

from pydantic import ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.set_field import OPTION, SetField, parse_set_field
from plimsoll.dut.labs.simulated import SimulatedSettings
from plimsoll.errors import InputError
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.registry import DEFAULT_STRATEGY, strategies
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.simulated.models.registry import model_kinds
from plimsoll.search.text.wire import l1_bits
from plimsoll.text.mistakes import Location, as_one, did_you_mean, tell_mistakes
from plimsoll.text.units import WRITTEN, Rate
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.trial.criteria.loss_ratio import LossRatio

# Of the model's capacity; a search that knows nothing begins at the line rate.
_MINIMUM_SHARE, _MAXIMUM_SHARE = 0.02, 1.5
_NS_PER_S = 1e9
_STRATEGIES = strategies()
_NOWHERE: Mapping[Location, str] = MappingProxyType({})
_FRAME_SIZE = 64
# In Gbps: those of Ethernet, the least one that all simulations had at first.
_LINKS_GBPS = (10, 25, 40, 50, 100, 200, 400, 800)
_PROFILE = {
    "streams": [
        {"name": "load", "role": "load", "frame_size": _FRAME_SIZE, "flows": 1024},
        {"name": "probe", "role": "latency", "rate": "1000pps", "taken_from": "load"},
    ]
}


class SimulationRequest(RecordModel):
    """What to simulate: a model with settings of its own, and how to search it.

    `settings` are by field of the model, or by dotted place in the experiment
    (`search.width`), as text. `loss` is the loss ratio allowed; None for the default.
    """

    model: str
    strategy: str | None = None
    seed: int = 0
    settings: Mapping[str, str] = {}
    validation_s: float | None = None
    loss: float | None = None

    def experiment(self, base: Experiment | None = None) -> Experiment:
        """The experiment, with the profile, criteria and search of `base` where there is one.

        Raises InputError for an unknown model, and for settings that it does not take.
        """
        settings = {name: text for name, text in self.settings.items() if "." not in name}
        lab: dict[str, Any] = {
            "kind": "simulated",
            "seed": self.seed,
            "model": {"kind": self.model, **settings},
        }
        capacity_pps = _default_capacity(self.model, settings)
        document = _plain_document(self.model) if base is None else base.normalised()
        document["lab"] = lab
        lab["line_rate"] = _line_rate(_MAXIMUM_SHARE * capacity_pps, base)
        if base is None or self.strategy is not None:
            document["search"] = {
                "strategy": self.strategy or DEFAULT_STRATEGY,
                "minimum": f"{_MINIMUM_SHARE * capacity_pps:.15g}pps",
                "maximum": f"{_MAXIMUM_SHARE * capacity_pps:.15g}pps",
            }
        if self.strategy is not None and self.strategy not in _STRATEGIES:
            raise InputError(
                f"unknown strategy {self.strategy!r}",
                where="--strategy",
                remedy=did_you_mean(self.strategy, _STRATEGIES),
            )
        if self.loss is not None:
            at_most = f"{100 * Decimal(repr(self.loss)):f}%"
            document["criteria"] = [{"kind": "loss-ratio", "at_most": at_most}]
        experiment = _validated(document, self._set_fields())
        if self.validation_s is None:
            return experiment
        return experiment.validated_for(self.validation_s)

    def _set_fields(self) -> list[SetField]:
        """Those of the experiment."""
        named = self.settings.items()
        return [parse_set_field(f"{name}={text}") for name, text in named if "." in name]


class Simulated(RecordModel):
    """What was found next to what is true, both per direction; times are simulated.

    `sustainable_pps` is the highest load that keeps to the loss ratio `limit` for
    `horizon_s` with a probability of 95 %; null where there is none, or no such criterion.
    `survival` is that probability at the load found. `overhead_s` is all time before the
    trial that proved the load line, `total_s` the time of all trials.
    """

    model: str
    seed: int
    limit: float | None
    horizon_s: float
    sustainable_pps: float | None
    found_pps: float | None
    survival: float | None
    overhead_s: float
    total_s: float

    @property
    def found_share(self) -> float | None:
        """The load found, as a share of the sustainable one."""
        if self.found_pps is None or self.sustainable_pps is None:
            return None
        return self.found_pps / self.sustainable_pps

    @classmethod
    def of(
        cls, experiment: Experiment, result: Result, trials: Sequence[TrialRecord], horizon_s: float
    ) -> Self:
        """Of a finished run of an experiment on a simulated lab."""
        lab = experiment.lab
        if not isinstance(lab, SimulatedSettings):
            raise ValueError(f"{type(lab).__name__} is not a simulated lab")
        truth = Truth(experiment, lab.model, horizon_s)
        found_pps = result.load_line.pps_per_direction if result.load_line else None
        proof = result.goals[0].proof
        began_ns = trials[0].begin_unix_ns
        last = trials[-1]
        total_s = (last.begin_unix_ns - began_ns) / _NS_PER_S + last.sending_s
        proved = next((each for each in trials if each.number == proof), None)
        return cls(
            model=lab.model.kind,
            seed=lab.seed,
            limit=truth.limit,
            horizon_s=horizon_s,
            sustainable_pps=truth.sustainable_pps(),
            found_pps=found_pps,
            survival=None if found_pps is None else truth.survival(found_pps),
            overhead_s=(proved.begin_unix_ns - began_ns) / _NS_PER_S if proved else total_s,
            total_s=total_s,
        )


class Truth:
    """What is true of a simulated DUT under the loss criterion of an experiment's first goal."""

    def __init__(self, experiment: Experiment, model: DutModel, horizon_s: float) -> None:
        self._experiment = experiment
        self._model = model
        self._horizon_s = horizon_s
        first_goal = next(iter(experiment.goals.values()))
        ratios = [each.at_most for each in first_goal if isinstance(each, LossRatio)]
        self.limit = min(ratios, default=None)
        self._offered = self._offered_lines()

    def sustainable_pps(self) -> float | None:
        """The highest load that survives; None where there is none, or nothing limits loss."""
        if self.limit is None:
            return None
        return self._model.sustainable_pps(
            self.limit,
            directions=tuple(self._offered),
            offered_pps=self._offered_pps,
            horizon_s=self._horizon_s,
        )

    def survival(self, load_pps: float) -> float | None:
        """The probability that a load survives in all directions; None where nothing limits it."""
        if self.limit is None:
            return None
        odds = 1.0
        for direction in self._offered:
            offered_pps = self._offered_pps(direction, load_pps)
            odds *= self._model.survival(direction, offered_pps, self.limit, self._horizon_s)
        return odds

    def _offered_pps(self, direction: int, load_pps: float) -> float:
        share, background_pps = self._offered[direction]
        return share * load_pps + background_pps

    def _offered_lines(self) -> dict[int, tuple[float, float]]:
        """By direction, what is offered: a share of the load, and so much whatever the load."""
        at_pps = (self._model.capacity_of(0), 2.0 * self._model.capacity_of(0))
        low, high = (self._offered_at(load_pps) for load_pps in at_pps)
        lines: dict[int, tuple[float, float]] = {}
        for direction in low:
            share = (high[direction] - low[direction]) / (at_pps[1] - at_pps[0])
            lines[direction] = (share, low[direction] - share * at_pps[0])
        return lines

    def _offered_at(self, load_pps: float) -> dict[int, float]:
        paths = self._experiment.lab.directions
        offered: dict[int, float] = {}
        for stream in compile_profile(self._experiment.profile, load_pps, paths):
            direction = paths.index((stream.tx_port, stream.rx_port))
            offered[direction] = offered.get(direction, 0.0) + (stream.rate_pps or 0.0)
        return offered


def parse_settings(given: Sequence[str], where: str) -> dict[str, str]:
    """`field=value` texts by field. Raises InputError for one that is neither."""
    settings: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(
                f"{text!r} is not a setting", where=where, remedy="write it as in buffer=8192"
            )
        settings[name] = value
    return settings


def _default_capacity(kind: str, settings: Mapping[str, str]) -> float:
    """The highest of the model's capacities, in pps."""
    models = model_kinds()
    if kind not in models:
        raise InputError(
            f"there is no model {kind!r}",
            where="plimsoll simulate",
            remedy=did_you_mean(kind, models, f"choose from: {', '.join(models)}"),
        )
    try:
        model = models[kind].model_validate({"kind": kind, **settings})
    except ValidationError as error:
        _refuse(error, models[kind])
    return max(model.capacity_of(0), model.capacity_of(1))


def _line_rate(most_pps: float, base: Experiment | None) -> str:
    """What the lab of `base` states, else of the slowest link that carries the highest load."""
    frame_size: float = _FRAME_SIZE
    if base is not None:
        stated: Rate | None = getattr(base.lab, "line_rate", None)
        if stated is not None:
            return str(stated)
        frame_size = base.profile.mean_frame_size
        # A share of the line fits on any.
        with suppress(InputError):
            most_pps = max(most_pps, base.profile.pps_of(base.search.maximum, None))
    needed_bps = most_pps * l1_bits(frame_size)
    fitting = (f"{gbps}Gbps" for gbps in _LINKS_GBPS if gbps * 1e9 >= needed_bps)
    return next(fitting, f"{needed_bps:.15g}bps")


def _plain_document(model: str) -> dict[str, Any]:
    return {"name": f"simulated-{model}", "profile": copy.deepcopy(_PROFILE)}


def _validated(document: dict[str, Any], set_fields: Sequence[SetField]) -> Experiment:
    places: dict[Location, str] = {}
    for each in set_fields:
        try:
            places |= dict.fromkeys(each.path.put(document, each.value), each.place)
        except InputError as error:
            raise InputError(error.message, where=each.place, remedy=error.remedy) from None
    try:
        return Experiment.model_validate(document, context=WRITTEN)
    except ValidationError as error:
        _refuse(error, Experiment, places)


def _refuse(
    error: ValidationError, model: type[Any], places: Mapping[Location, str] = _NOWHERE
) -> NoReturn:
    """Raise what is wrong with the settings; what they are settings of has no lines."""

    def place_of(location: Location) -> str:
        known = (place for each, place in places.items() if location[: len(each)] == each)
        return next(known, OPTION)

    mistakes = tell_mistakes(error, model, lambda _: 0, place_of)
    raise as_one([mistake for _, mistake in mistakes], OPTION) from None
