"""What the hosts' CPUs did in the trials on which the answers of a side's runs rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from plimsoll.analysis.comparison.run_figures import answering_trial
from plimsoll.analysis.comparison.side import Side
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.run.environment import load_environment
from plimsoll.report.data.cpu_lines import cpu_shares
from plimsoll.report.data.host_figures import observed_host_figures
from plimsoll.report.data.one_host import OneHost
from plimsoll.report.data.role import owner_of


@dataclass(frozen=True, slots=True)
class OwnedCpus:
    """Of one run the CPUs polled by `owner`: "DUT", "tester", or "tester and DUT".

    `shares` are of their time, by state, in the mean of the CPUs; `interrupts_per_s` are those of
    all of them, None where they were not observed.
    """

    run_id: str
    owner: str
    shares: dict[str, float]
    interrupts_per_s: float | None


def owned_cpus(side: Side) -> tuple[OwnedCpus, ...]:
    """Of every run of the side that observed its CPUs under test. Raises RecordError."""
    return tuple(owned for entry in side.runs for owned in _of_run(entry))


def _of_run(entry: RunEntry) -> Iterator[OwnedCpus]:
    trial = answering_trial(entry)
    if trial is None:
        return
    metrics = observed_host_figures(entry.run, load_environment(entry.run.environment), trial)
    shares: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    interrupts: defaultdict[str, list[float]] = defaultdict(list)
    for one in (OneHost(metrics, host) for host in metrics.hosts):
        for cpu, states in cpu_shares(one).items():
            shares[owner_of(one.host, cpu)].append(states)
        for figure in one.figures("procstat", "interrupts-sec", cpus="under-test"):
            interrupts[owner_of(one.host, int(figure.names["cpu"]))].append(figure.mean)
    for owner, cpus in shares.items():
        means = {state: fmean(cpu[state] for cpu in cpus) for state in cpus[0]}
        counted = sum(interrupts[owner]) if interrupts[owner] else None
        yield OwnedCpus(entry.run_id, owner, means, counted)
