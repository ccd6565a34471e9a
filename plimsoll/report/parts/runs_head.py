"""What a page about many runs begins and ends with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.analysis.comparison.side import Side
from plimsoll.record.index.run_entry import RunEntry

_NS_PER_S = 1e9
_SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the table of all runs, with the side or release it belongs to."""

    group: str
    run_id: str
    began: str
    dut: str
    answer: str


@dataclass(frozen=True, slots=True)
class RunsHead:
    """`run_id` and `began_text` stand in the corner: how many runs, and from when until when.

    `group` heads the column of what runs are grouped by; `command` makes the page again;
    `method_notes` say how its figures were worked out. `simulated` names the models of DUTs
    where no frame was sent.
    """

    name: str
    run_id: str
    began_text: str
    group: str
    runs: tuple[RunLine, ...]
    command: str
    method_notes: tuple[str, ...]
    simulated: str | None = None
    damage: tuple[str, ...] = ()


def runs_head(
    sides: Sequence[Side], *, group: str, command: str, method_notes: Sequence[str]
) -> RunsHead:
    """Of runs that have come to their end; each is in one side."""
    entries = [run for side in sides for run in side.runs]
    return RunsHead(
        name=", ".join(_once(run.summary.name for run in entries if run.summary)),
        run_id=f"{len(entries)} runs",
        began_text=_times(entries),
        group=group,
        runs=tuple(_line(side, run) for side in sides for run in side.runs),
        command=command,
        method_notes=tuple(method_notes),
        simulated=_models(entries),
    )


def _line(side: Side, run: RunEntry) -> RunLine:
    summary = run.summary
    dut = [part for part in (summary.dut, summary.model) if part] if summary else []
    return RunLine(
        group=side.label,
        run_id=run.run_id,
        began=_moment(run.began_unix_ns),
        dut="/".join(dut) or "-",
        answer=summary.answer.text if summary and summary.answer else "-",
    )


def _models(runs: Iterable[RunEntry]) -> str | None:
    known = (run.summary for run in runs if run.summary)
    models = _once(each.model or "unknown" for each in known if each.dut == _SIMULATED)
    return ", ".join(models) or None


def _times(runs: Iterable[RunEntry]) -> str:
    began = sorted(run.began_unix_ns for run in runs if run.began_unix_ns is not None)
    if not began:
        return ""
    first, last = _moment(began[0]), _moment(began[-1])
    return first if first == last else f"{first} to {last}"


def _moment(unix_ns: int | None) -> str:
    if unix_ns is None:
        return "-"
    return f"{datetime.fromtimestamp(unix_ns / _NS_PER_S, UTC):%Y-%m-%d %H:%M} UTC"


def _once(names: Iterable[str]) -> list[str]:
    return sorted(set(names))
