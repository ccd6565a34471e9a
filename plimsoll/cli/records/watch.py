"""`plimsoll watch`: follow a run from another terminal, by its files alone."""

from __future__ import annotations

import json as json_text
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.live import Live
from rich.text import Text

from plimsoll.errors import Interrupted
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.host.entry.entry_point import stdout_is_gone
from plimsoll.host.processes.affinity import leaves_no_cpu
from plimsoll.record.index.find import LAST, find_run
from plimsoll.record.index.run_entry import entry_of
from plimsoll.record.live.live_run import LiveRun, LiveState, LiveTrial
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.live_view import (
    LiveMoment,
    SearchView,
    TrialView,
    ended_line,
    live_text,
    trial_title,
)
from plimsoll.terminal.tables.runs_table import answer_text, shown

_EPILOG = "Examples: **plimsoll watch** · **plimsoll watch 20260101T120000-demo --json**"
_EVERY_S = 1.0
# Of a trial whose figures come in pages: as often as a page.
_PAGE_S = 30.0
_PAGED_FROM_S = 120.0
_US = 1e3
_NS_PER_S = 1e9


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(watch)


def watch(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            help="A run: its path, its id, the start of its id, or last.",
            autocompletion=complete_run,
        ),
    ] = LAST,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object a line for each finished trial.")
    ] = False,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Follow a run until it ends: the trial under way, and a line for each that has ended.

    It reads the run's files alone, and may be started and ended at any time. Where the run
    polls every CPU of this machine, it sleeps until a trial should have ended.
    """
    directory = find_run(run, runs)
    watching = _Watching(directory, LiveRun(directory), json)
    try:
        watching.follow()
    except Interrupted:
        return
    entry = entry_of(directory.run_id, directory.path)
    if not json:
        line = Text.assemble(f"{entry.state}: ", answer_text(entry))
        stdout.print(line, soft_wrap=True)
        if entry.state == "stopped":
            stderr.print(shown(f"plimsoll runs show {run} says how it goes on"), soft_wrap=True)


@dataclass
class _Watching:
    """What has been shown of the run so far."""

    run: RunDirectory
    live: LiveRun
    json: bool
    search: SearchView = field(default_factory=SearchView)
    view: TrialView | None = None
    number: int | None = None
    printed: int = 0
    crowded: bool = False

    def follow(self) -> None:
        """Until the run has ended, or no process goes on with it."""
        drawn = stdout.is_terminal and not stdout.is_dumb_terminal and not self.json
        if not drawn:
            for state in self._states():
                self._print_ended(state)
            return
        with Live("", console=stdout, auto_refresh=False, transient=True) as display:
            for state in self._states():
                self._print_ended(state)
                display.update(self._text(state), refresh=True)

    def _states(self) -> Iterator[LiveState]:
        while True:
            # The run records which CPUs it polls before its first frame.
            self.crowded = self.crowded or leaves_no_cpu_to_watch(self.run)
            # Before the look: what a process wrote until it let go of the lock is seen.
            going_on = is_held(self.run.path / "lock")
            state = self.live.look()
            yield state
            if state.finished or not going_on or stdout_is_gone():
                return
            time.sleep(_until_next_look_s(state.trial, crowded=self.crowded))

    def _print_ended(self, state: LiveState) -> None:
        for trial in state.trials[self.printed :]:
            self.search.take(trial.phase, trial.load_pps, trial.verdict)
            if self.json:
                typer.echo(json_text.dumps(_trial_json(trial)))
            else:
                title = trial_title(trial.number, trial.phase, trial.load_pps)
                stdout.print(ended_line(title, trial), soft_wrap=True)
        self.printed = len(state.trials)

    def _text(self, state: LiveState) -> Text:
        began_ns = min((trial.begin_unix_ns for trial in state.trials), default=time.time_ns())
        return live_text(
            self._trial_view(state),
            self.search,
            max(0.0, (time.time_ns() - began_ns) / _NS_PER_S),
            width=stdout.width,
            ascii_only=stdout.options.ascii_only,
        )

    def _trial_view(self, state: LiveState) -> TrialView | None:
        trial = state.trial
        if trial is None:
            self.view, self.number = None, None
            return None
        if self.view is None or trial.number != self.number:
            title = trial_title(trial.number, cast(TrialPhase, trial.phase), trial.load_pps)
            self.view, self.number = TrialView(title, trial.planned_s or 0.0), trial.number
            self.view.silent = self.crowded
        self.view.elapsed_s = _elapsed_s(trial)
        if state.values:
            self.view.whole = _moment(state)
            self.view.moments.append(self.view.whole)
        return self.view


def _until_next_look_s(trial: LiveTrial | None, *, crowded: bool) -> float:
    if not crowded or trial is None or trial.planned_s is None:
        return _EVERY_S
    left_s = trial.planned_s - _elapsed_s(trial)
    if trial.planned_s > _PAGED_FROM_S:
        left_s = min(left_s, _PAGE_S)
    return max(_EVERY_S, left_s + _EVERY_S)


def _elapsed_s(trial: LiveTrial) -> float:
    return max(0.0, (time.time_ns() - trial.begun_unix_ns) / _NS_PER_S)


def _moment(state: LiveState) -> LiveMoment:
    """Of the last interval written: all directions for loss, the worst probe for latency."""
    rates = [each.value for each in state.values if _is(each, "trafficgen", "rx-pps")]
    lost = sum(each.value for each in state.values if _is(each, "trafficgen", "lost-rx-pps"))
    sent = sum(each.value for each in state.values if _is(each, "trafficgen", "tx-pps"))
    return LiveMoment(
        rate_pps=sum(rates) / len(rates) if rates else None,
        loss_ratio=max(0.0, lost) / sent if sent else None,
        p50_ns=_worst(state, "p50-round-trip-usec"),
        p99_ns=_worst(state, "p99-round-trip-usec"),
        max_ns=_worst(state, "max-round-trip-usec"),
    )


def _worst(state: LiveState, kind: str) -> float | None:
    found = [each.value for each in state.values if _is(each, "trafficgen-engine", kind)]
    return max(found) * _US if found else None


def _is(value: Any, source: str, kind: str) -> bool:
    return bool(value.source == source and value.type == kind)


def _trial_json(trial: TrialRecord) -> Mapping[str, object]:
    reasons = [finding.text for finding in trial.reasons]
    return {
        "trial": trial.number,
        "phase": trial.phase,
        "load_pps": trial.load_pps,
        "offered_pps": trial.offered_pps,
        "sending_s": trial.sending_s,
        "verdict": trial.verdict,
        "reasons": reasons,
    }


# Whether looking at a run would take time from its polling loops.
def leaves_no_cpu_to_watch(run: RunDirectory) -> bool:
    """Whether the run polls, on this host, every CPU that this process may use.

    Before it has recorded which it polls it does not. Raises RecordError for a damaged record.
    """
    environment = load_environment(run.environment)
    if environment is None or environment.host != os.uname().nodename:
        return False
    polled = {
        cpu
        for host in environment.observed
        if host.hostname == environment.host
        for cpus in host.polled.values()
        for cpu in parse_cpu_list(cpus)
    }
    return leaves_no_cpu(polled)
