"""Which CPUs the polling loops of a proposed experiment get, and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from plimsoll.benchmark.proposal.survey import HostSurvey
from plimsoll.host.cpus import format_cpu_list


def best_cpus(survey: HostSurvey, node: int | None = None) -> tuple[int, ...]:
    """Every CPU that may poll, the best first.

    Isolated ones before others, then those that need not share a core, those of NUMA `node`,
    and those that are not on the core of CPU 0, which the kernel has most work for.
    """
    topology = survey.topology
    threads: dict[int, int] = {}
    for core in topology.cores:
        by_worth = sorted(core & survey.usable, key=lambda cpu: (cpu not in survey.isolated, cpu))
        threads.update({cpu: thread for thread, cpu in enumerate(by_worth)})

    def worth(cpu: int) -> tuple[bool, int, bool, bool, int]:
        elsewhere = node is not None and topology.node_of(cpu) != node
        of_cpu_0 = 0 in topology.siblings[cpu]
        return cpu not in survey.isolated, threads[cpu], elsewhere, of_cpu_0, cpu

    return tuple(sorted(threads, key=worth))


def whole_cores(survey: HostSurvey, node: int | None) -> int:
    """For how many loops there are cores on `node`, of the isolated CPUs where there are any.

    The core of CPU 0 is left to the system where none are isolated.
    """
    isolated = survey.isolated & survey.usable
    candidates = isolated or survey.usable - survey.topology.siblings.get(0, frozenset())
    near = candidates if node is None else candidates & survey.topology.nodes.get(node, frozenset())
    return len({survey.topology.siblings[cpu] for cpu in near})


def why_these(survey: HostSurvey, cpus: Sequence[int]) -> str:
    """What is to be known of the choice, in clauses."""
    isolated = survey.isolated.issuperset(cpus)
    reasons = ["isolated from the scheduler" if isolated else "not isolated: others may disturb it"]
    if _share_a_core(survey, cpus):
        reasons.append("threads of one core, for want of others")
    nodes = {survey.topology.node_of(cpu) for cpu in cpus}
    if len(survey.topology.nodes) > 1:
        reasons.append(f"NUMA node {', '.join(str(node) for node in sorted(nodes, key=str))}")
    return "; ".join(reasons)


def cpus_in_words(survey: HostSurvey) -> str:
    """All CPUs of the host, what this process may use of them, and what would give it more."""
    text = f"CPUs {format_cpu_list(survey.topology.online)} are online"
    text += f", {_listed(survey.isolated)} isolated"
    if survey.usable != survey.topology.online:
        text += f", {_listed(survey.usable)} allowed to this process"
    if beyond := survey.isolated & survey.topology.online - survey.allowed:
        every = format_cpu_list(survey.topology.online)
        text += (
            f"; for the isolated {format_cpu_list(beyond)} run both plimsoll init and plimsoll run "
            f"under taskset -c {every}"
        )
    elif not survey.isolated:
        text += "; plimsoll tune init and tune audit tell how to isolate some"
    return f"{text}."


def _listed(cpus: Collection[int]) -> str:
    return format_cpu_list(cpus) or "none"


def _share_a_core(survey: HostSurvey, cpus: Sequence[int]) -> bool:
    return len({survey.topology.siblings[cpu] for cpu in cpus}) < len(cpus)
