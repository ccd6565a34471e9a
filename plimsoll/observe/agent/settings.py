"""The experiment's `observe` section: what is recorded of the hosts during trials."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from plimsoll.host.processes.over_ssh import is_destination
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import DurationField
from plimsoll.tune.intent.intent import Intent

_INTERVAL_S = 1.0
_CROWDED_INTERVAL_S = 10.0


class RemoteHost(BaseModel):
    """Another host that is watched, over ssh: its `plimsoll-observe` must be on PATH there.

    `polled_cpus` are those under test, `telemetry` the sockets of its DPDK processes by a
    name for each, `openvswitch` the control sockets of its switches (`ovs-vswitchd.PID.ctl`)
    likewise, `pids` processes whose cgroups are watched. `tuning` is what the host is
    meant to be, given as the experiment's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ssh: str
    polled_cpus: tuple[Annotated[int, Field(ge=0, le=8191)], ...] = ()
    telemetry: dict[str, str] = Field(default_factory=dict)
    openvswitch: dict[str, str] = Field(default_factory=dict)
    pids: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    tuning: Intent | None = None

    @field_validator("ssh")
    @classmethod
    def _is_a_host(cls, ssh: str) -> str:
        if not is_destination(ssh):
            remedy = "write it as ssh takes it, such as root@dut.lab, options in ~/.ssh/config"
            raise mistake(f"{ssh!r} is not a valid host", remedy)
        return ssh


class ObserveSettings(BaseModel):
    """What is read, how often, and on which other hosts. With `enabled: false` nothing is.

    `sources` names some of the observers; all by default. Without an `interval`
    hosts are read every second; a host whose every CPU is polled, where each reading stops a
    polling loop, every 10 s.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    # Of the CPUs under test on this host: what explains stalls, spikes and losses.
    kernel_events: bool = True
    interval: Annotated[DurationField, Field(ge=0.1, le=3600)] | None = None
    sources: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    hosts: tuple[RemoteHost, ...] = ()

    def interval_s(self, *, crowded: bool = False) -> float:
        """The time between two readings; of a `crowded` host no CPU is free of polling loops."""
        if self.interval is not None:
            return self.interval
        return _CROWDED_INTERVAL_S if crowded else _INTERVAL_S

    @field_validator("sources")
    @classmethod
    def _are_known(cls, sources: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = [each.source for each in OBSERVERS]
        for index, source in enumerate(sources or ()):
            if source not in known:
                raise mistake(f"no source {source!r}", did_you_mean(source, known), index)
        return sources


UNOBSERVED = ObserveSettings(enabled=False)
