"""The page's tables of all trials and of the environment."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.run.environment import Environment
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import slowest_cell
from plimsoll.text.counted import counted
from plimsoll.text.units import format_duration, format_pps, format_ratio

_KIB_PER_GIB = 2**20


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One trial in the table of all trials; an unfinished one has dashes for what is unknown."""

    number: int
    phase: str
    load: str
    offered: str
    length: str
    verdict: str
    loss: str
    p99: str
    reason: str


def trial_lines(data: RunData) -> tuple[TrialLine, ...]:
    """All trials by number, finished and cut short."""
    return lines_of(data.journal)


def lines_of(journal: JournalContents) -> tuple[TrialLine, ...]:
    """The same, of a journal."""
    lines = [trial_line(trial) for trial in journal.trials()]
    for event in journal.unfinished_trials():
        number, load = event.fields.get("number"), event.fields.get("load_pps")
        if isinstance(number, int) and isinstance(load, int | float):
            phase = str(event.fields.get("phase", ""))
            text = "started, and not ended"
            lines.append(
                TrialLine(number, phase, format_pps(load), "-", "-", "unfinished", "-", "-", text)
            )
    return tuple(sorted(lines, key=lambda line: line.number))


def environment_lines(environment: Environment | None) -> tuple[tuple[str, str], ...]:
    """Name and value of each fact; unknown ones say so."""
    if environment is None:
        return ()
    e = environment
    facts: list[tuple[str, str | None]] = [
        ("Host", e.host),
        ("Kernel", e.kernel),
        ("Kernel version", e.kernel_version),
        ("Kernel command line", e.cmdline),
        ("CPU", e.cpu_model),
        ("CPUs online", e.cpus_online),
        ("CPUs isolated", _list(e.cpus_isolated)),
        ("CPUs nohz_full", _list(e.cpus_nohz_full)),
        ("CPUs allowed", e.cpus_allowed),
        ("SMT", None if e.smt_active is None else ("on" if e.smt_active else "off")),
        ("NUMA nodes", e.numa_nodes),
        ("Frequency governor", _governors(e)),
        ("Memory", None if e.memory_kib is None else f"{e.memory_kib / _KIB_PER_GIB:.1f} GiB"),
        ("Hugepages", _hugepages(e)),
        ("Clock source", e.clocksource),
        *((f"Version of {name}", version) for name, version in e.versions.items()),
    ]
    return tuple((name, value if value else "unknown") for name, value in facts)


def trial_line(trial: TrialRecord) -> TrialLine:
    """The line of one that has ended."""
    probes = [stream for stream in trial.streams if stream.role == "latency"] or trial.streams
    lost = sum(stream.lost for stream in trial.streams)
    offered = sum(stream.lost + stream.received - stream.duplicate for stream in trial.streams)
    return TrialLine(
        number=trial.number,
        phase=trial.phase,
        load=format_pps(trial.load_pps),
        offered="-" if trial.offered_pps is None else format_pps(trial.offered_pps),
        length=format_duration(trial.sending_s),
        verdict=trial.verdict,
        loss=_ratio(lost / offered if offered > 0 else None),
        p99=slowest_cell(probes, "p99_ns"),
        reason=_reason(trial),
    )


def _reason(trial: TrialRecord) -> str:
    """The first; all of them are in what the trial unfolds to."""
    reasons = trial.reasons
    if len(reasons) < 2:
        return "".join(finding.text for finding in reasons)
    return f"{reasons[0].text} (and {len(reasons) - 1} more)"


def _ratio(value: float | None) -> str:
    return "-" if value is None else format_ratio(value)


def _list(text: str | None) -> str | None:
    return "none" if text == "" else text


def _governors(environment: Environment) -> str | None:
    counts = (environment.governors or {}).items()
    return ", ".join(f"{name} on {counted(cpus, 'CPU')}" for name, cpus in counts) or None


def _hugepages(environment: Environment) -> str | None:
    text = (
        f"{pages.total} of {pages.size_kib} KiB, {pages.free} free"
        for pages in environment.hugepages
    )
    return "; ".join(text) or None
