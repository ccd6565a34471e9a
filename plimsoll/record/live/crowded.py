"""Whether looking at a run would take time from its polling loops."""

from __future__ import annotations

import os

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.host.processes.affinity import leaves_no_cpu
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory


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
