"""The settings of a cross-check, apart from its experiment: who sends, what, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.trial_settings import check_trial_duration
from plimsoll.errors import InputError
from plimsoll.generator.registry.generators import GENERATORS
from plimsoll.text.mistakes import did_you_mean

_LONGEST_ROUNDS = 100


class CrossCheckSettings(BaseModel):
    """`generators` are sections as in an experiment, in the order of the first round.

    `load_pps` is per direction, for those that pace. Each sends `rounds` trials of `trial_s`
    a stage.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    generators: Annotated[tuple[dict[str, Any], ...], Field(min_length=2)]
    load_pps: float
    rounds: int = 3
    trial_s: float = 5.0

    def check(self) -> None:
        """Raise InputError, naming the option, where no run can be like this."""
        check_trial_duration(self.trial_s, "--duration")
        if not 1 <= self.rounds <= _LONGEST_ROUNDS:
            raise InputError(
                f"{self.rounds} rounds", where="--rounds", remedy=f"give 1 to {_LONGEST_ROUNDS}"
            )


def generator_sections(
    experiment: Experiment, names: str, fields: Mapping[str, Mapping[str, object]]
) -> tuple[dict[str, Any], ...]:
    """The `generator` sections of the kinds named, separated by commas.

    The experiment's own kind is as in the experiment; others take its CPUs. `fields` are set on
    top, by kind. Raises InputError for a kind that there is none of, or that is named twice.
    """
    kinds = [name.strip() for name in names.split(",")]
    for kind in [*kinds, *fields]:
        if kind not in GENERATORS:
            raise InputError(
                f"there is no generator {kind!r}",
                where="--generators" if kind in kinds else "--with",
                remedy=did_you_mean(kind, GENERATORS, f"name some of {', '.join(GENERATORS)}"),
            )
    if len(set(kinds)) < 2 or len(set(kinds)) < len(kinds):
        raise InputError(
            "a cross-check is between different generators",
            where="--generators",
            remedy="name two or more, such as engine,trex",
        )
    own = experiment.normalised()["generator"]
    return tuple(_section(kind, own, fields.get(kind, {})) for kind in kinds)


def _section(kind: str, own: Mapping[str, Any], fields: Mapping[str, object]) -> dict[str, Any]:
    if own["kind"] == kind:
        return {**own, **fields}
    cpus = (
        {"cpus": own["cpus"]} if "cpus" in own and "cpus" in GENERATORS[kind].model_fields else {}
    )
    return {"kind": kind, **cpus, **fields}
