"""What an agent is to observe on its host."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Observation(BaseModel):
    """Said once, before the first period. `interval_s` is the time between two readings.

    `sources` names the observers selected, None for all. The agent keeps to the CPUs of
    `run_on`, or, where that is empty, off the polled ones if there are others. `polled_cpus` are
    those under test: nothing may be read in a way that interrupts them. `pids` are the processes
    under test, by a name for each, whose cgroups are watched; `telemetry` the sockets of DPDK
    processes, by name. `openvswitch` are the control sockets of running ovs-vswitchd, by a name
    for each. `namespaces` are the files of network namespaces under test, by name; the host's own
    is read in any case. `resctrl` are the directories of the experiment's resctrl groups, by name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval_s: float = Field(default=1.0, ge=0.1, le=3600)
    sources: tuple[str, ...] | None = None
    run_on: tuple[int, ...] = ()
    polled_cpus: tuple[int, ...] = ()
    pids: dict[str, int] = Field(default_factory=dict)
    telemetry: dict[str, str] = Field(default_factory=dict)
    openvswitch: dict[str, str] = Field(default_factory=dict)
    namespaces: dict[str, str] = Field(default_factory=dict)
    resctrl: dict[str, str] = Field(default_factory=dict)
