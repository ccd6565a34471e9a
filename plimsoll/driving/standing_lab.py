"""`plimsoll.lab`: a DUT that is up for as long as a block lasts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.analysis.shown import html_facts
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.driving.chosen_experiment import AnyExperiment, chosen_experiment
from plimsoll.dut.lab import LabModel, LabPorts
from plimsoll.dut.registry.labs import lab_kinds, lab_of_kind
from plimsoll.dut.registry.standing import LabDescription, lab_while
from plimsoll.errors import InputError

_FILES = (".yaml", ".yml")


class StandingLab:
    """A lab that is up; `id` is what `plimsoll lab list` shows."""

    def __init__(self, description: LabDescription, ports: LabPorts) -> None:
        self._description = description
        self.ports = ports

    @property
    def id(self) -> str:
        """Its ledger's."""
        return self._description.id

    @property
    def kind(self) -> str:
        """As an experiment names it."""
        return self._description.kind

    @property
    def devargs(self) -> tuple[str, ...]:
        """What a generator, ours or another that runs on DPDK, opens to reach it."""
        return self.ports.devargs

    @property
    def processes(self) -> tuple[str, ...]:
        """The DUT's, with their pids."""
        return self._description.processes

    def as_external(self) -> dict[str, object]:
        """The `lab` section of an experiment that uses it."""
        return self.ports.as_external()

    def __repr__(self) -> str:
        return f"<lab {self.id}: {self.kind}, {', '.join(self.processes) or 'no process'}>"

    def _repr_html_(self) -> str:
        facts = [
            ("kind", self.kind),
            ("processes", ", ".join(self.processes)),
            *((f"port {number}", devargs) for number, devargs in enumerate(self.devargs)),
            ("note", self._description.note),
        ]
        return html_facts(f"Lab {self.id}", facts)


@contextmanager
def open_lab(lab: AnyExperiment, *, fields: Iterable[str]) -> Iterator[StandingLab]:
    """A kind of lab with its defaults, or the lab of an experiment, up while the block lasts."""
    with lab_while(_settings(lab, fields)) as (description, ports):
        yield StandingLab(description, ports)


def _settings(lab: AnyExperiment, fields: Iterable[str]) -> LabModel:
    if isinstance(lab, Experiment) or Path(lab).suffix in _FILES:
        return chosen_experiment(lab, fields).lab
    for field in fields:
        raise InputError(
            f"{field}: there is no experiment to set it in",
            where="fields",
            remedy=f"name an experiment instead of one of {', '.join(lab_kinds())}",
        )
    return lab_of_kind(os.fspath(lab))
