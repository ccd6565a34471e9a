"""What the page of any run begins and ends with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import yaml

from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.run.environment import Environment, load_environment
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.parts.reproduce import Reproduction, reproduction_of
from plimsoll.report.parts.tables import environment_lines

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run's name, when it began, and what it was measured with.

    `simulated` names the model of the DUT where no frame was sent.

    `damage` says of each file of the run that is not as it was recorded what is wrong with it.
    `method` is what was run, as its journal says; "load-line" before it says anything.
    """

    name: str
    run_id: str
    method: str
    began: datetime | None
    environment_lines: tuple[tuple[str, str], ...]
    reproduction: Reproduction
    simulated: str | None = None
    damage: tuple[str, ...] = ()

    @property
    def began_text(self) -> str:
        """For people; empty before the run's first event."""
        return f"{self.began:%Y-%m-%d %H:%M} UTC" if self.began else ""


def load_head(run: RunDirectory) -> RunHead:
    """The head of a run in any state. Raises RecordError when the record is damaged."""
    return head_of(
        run.run_id,
        run.read_experiment(),
        read_journal(run.journal),
        load_environment(run.environment),
    )


def head_of(
    run_id: str,
    experiment: Mapping[str, object],
    journal: JournalContents,
    environment: Environment | None,
) -> RunHead:
    """The same, of what was read already."""
    first = journal.events[0].at_unix_ns if journal.events else None
    started = next(iter(journal.of_kind(RUN_STARTED)), None)
    method = str(started.fields.get("method")) if started else LOAD_LINE
    text = yaml.safe_dump(dict(experiment), sort_keys=False, allow_unicode=True)
    return RunHead(
        name=str(experiment.get("name") or run_id),
        run_id=run_id,
        method=method,
        began=None if first is None else datetime.fromtimestamp(first / _NS_PER_S, UTC),
        environment_lines=(*environment_lines(environment), *_chain_lines(journal)),
        reproduction=reproduction_of(run_id, method, text, journal, environment),
        simulated=_simulated_model(experiment.get("lab")),
    )


def _chain_lines(journal: JournalContents) -> tuple[tuple[str, str], ...]:
    if not journal.unchained:
        return ()
    said = (
        "unchained, as an earlier version wrote it: lines that were taken out or moved would not "
        "be seen, and histograms are joined to their trials by time"
    )
    return (("Journal", said),)


def _simulated_model(lab: object) -> str | None:
    if not isinstance(lab, Mapping) or lab.get("kind") != "simulated":
        return None
    model = lab.get("model")
    return str(model.get("kind")) if isinstance(model, Mapping) else "unknown"
