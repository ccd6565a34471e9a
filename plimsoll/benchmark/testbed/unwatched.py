"""Where absences of a DUT will not be watched, by the experiment alone."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.attribution.ranking.trace_gaps import unwatched_sentence
from plimsoll.dut.lab import LabModel
from plimsoll.observe.agent.host_trace import NO_CPU_NAMED
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.record.causes.causes_record import UnwatchedDut

NO_HOST_NAMED = UnwatchedDut(
    host=None,
    reason="the DUT runs elsewhere, and no host of it is named",
    remedy="name it under observe.hosts, with the CPUs that it polls as polled_cpus",
)


def planned_watch(lab: LabModel, observe: ObserveSettings) -> Iterator[str]:
    """What is to be said beforehand of how absences of the DUT will be watched, in sentences."""
    if not (observe.enabled and observe.kernel_events):
        return
    if lab.runs_elsewhere and not observe.hosts:
        yield unwatched_sentence(NO_HOST_NAMED)
    for host in observe.hosts:
        if not host.polled_cpus and lab.runs_elsewhere:
            why = NO_CPU_NAMED
            yield unwatched_sentence(
                UnwatchedDut(host=host.name, reason=why.reason, remedy=why.remedy)
            )
        elif host.polled_cpus and host.pod is not None:
            yield (
                f"Absences of the DUT on {host.name} are watched only if its container is "
                "privileged and its pod has hostPID: true (docs/kubernetes.md)."
            )
