"""The experiment's `observe` section: what is recorded of the hosts during trials."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.host.kubernetes.pod_place import PodPlace
from plimsoll.host.processes.child import is_destination, over_ssh
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import DurationField
from plimsoll.tune.intent.intent import Intent

_INTERVAL_S = 1.0
_CROWDED_INTERVAL_S = 10.0
UNSEEN_TUNING = "a pod does not see how its node is tuned"
AUDIT_OF_NODES = "audit the cluster with plimsoll tune audit --kube"
# Those that read one network namespace, which in a pod is the pod's.
_OF_A_NETWORK = frozenset({"sar-net"})


class RemoteHost(BaseModel):
    """Another host that is watched: its `plimsoll-observe` must be on PATH there.

    It is reached over `ssh`, or, a node of a cluster, by exec in a `pod` that is on it. A pod
    has a network of its own, so nothing is read there of the node's.

    `polled_cpus` are those under test, `telemetry` the sockets of its DPDK processes by a
    name for each, `openvswitch` the control sockets of its switches (`ovs-vswitchd.PID.ctl`)
    likewise, `pids` processes whose cgroups are watched. `tuning` is what the host is
    meant to be, given as the experiment's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ssh: str | None = None
    pod: str | None = None
    polled_cpus: tuple[Annotated[int, Field(ge=0, le=8191)], ...] = ()
    telemetry: dict[str, str] = Field(default_factory=dict)
    openvswitch: dict[str, str] = Field(default_factory=dict)
    pids: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    tuning: Intent | None = None

    @field_validator("ssh")
    @classmethod
    def _is_a_host(cls, ssh: str | None) -> str | None:
        if ssh is not None and not is_destination(ssh):
            remedy = "write it as ssh takes it, such as root@dut.lab, options in ~/.ssh/config"
            raise mistake(f"{ssh!r} is not a valid host", remedy)
        return ssh

    @field_validator("pod")
    @classmethod
    def _is_a_pod(cls, pod: str | None) -> str | None:
        if pod is None:
            return None
        try:
            return str(PodPlace.parse(pod))
        except ValueError as error:
            remedy = "write kube://CONTEXT/NAMESPACE/POD, with /CONTAINER where it is not the first"
            raise mistake(str(error), remedy) from None

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> Self:
        if (self.ssh is None) == (self.pod is None):
            raise mistake("a host is reached by ssh or by a pod", "give one of ssh and pod")
        if self.pod is not None and self.tuning is not None:
            raise mistake(UNSEEN_TUNING, f"leave it out, and {AUDIT_OF_NODES}", "tuning")
        return self

    @property
    def name(self) -> str:
        """What it is called until it has said its own name."""
        return self.ssh or str(self.pod)

    @property
    def unread_sources(self) -> frozenset[str]:
        """Observers whose figures there would not be the host's."""
        return _OF_A_NETWORK if self.pod else frozenset()

    def argv(self, *command: str) -> tuple[str, ...]:
        """The command line of a process here that is `command` there."""
        if self.ssh is not None:
            return over_ssh(self.ssh, *command)
        return PodPlace.parse(str(self.pod)).argv(*command)


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
