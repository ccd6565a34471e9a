"""The agents of an experiment, started while its lab comes up, and what each is to watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import OBSERVER
from plimsoll.host.processes.own_module import module_argv
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.observers import Observers, selected_sources
from plimsoll.observe.agent.settings import ObserveSettings, RemoteHost
from plimsoll.observe.reading.observer import Observation
from plimsoll.text.plain_text import plain_name


@dataclass(frozen=True, slots=True)
class LocalHost:
    """What is watched on this host: by role ("tester", "dut") the CPUs that polling loops use.

    `run_on` are the CPUs left for the agent, all of them polled if `crowded`; `pids`,
    `telemetry`, `openvswitch`, `namespaces` and `resctrl` as in Observation.
    """

    polled: dict[str, tuple[int, ...]]
    run_on: tuple[int, ...]
    pids: dict[str, int] = field(default_factory=dict)
    telemetry: dict[str, str] = field(default_factory=dict)
    openvswitch: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    resctrl: dict[str, str] = field(default_factory=dict)
    crowded: bool = False


class StartingAgents:
    """The agents that the experiment asks for: they start while the lab comes up.

    None knows yet what to watch. Raises AgentFailed, MachineError.
    """

    def __init__(self, settings: ObserveSettings, ledger: Ledger) -> None:
        self.local: HostAgent | None = None
        self.remote: list[tuple[RemoteHost, HostAgent]] = []
        if not settings.enabled:
            return
        try:
            self.local = _start("this host", module_argv("plimsoll.observe"), ledger)
            for host in settings.hosts:
                argv = host.argv("plimsoll-observe")
                self.remote.append((host, _start(host.name, argv, ledger)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End them all; safe to repeat."""
        if self.local is not None:
            self.local.close()
        for _, agent in self.remote:
            agent.close()


def open_observers(
    settings: ObserveSettings,
    local: LocalHost,
    agents: StartingAgents,
    tell: Callable[[str], None],
) -> Observers:
    """The agents, which now know what to watch. Raises InputError."""
    observers = Observers(tell)
    if agents.local is None:
        return observers
    try:
        observation = Observation(
            interval_s=settings.interval_s(crowded=local.crowded),
            sources=settings.sources,
            run_on=local.run_on,
            polled_cpus=tuple(cpu for cpus in local.polled.values() for cpu in cpus),
            pids=local.pids,
            telemetry=local.telemetry,
            openvswitch=local.openvswitch,
            namespaces=local.namespaces,
            resctrl=local.resctrl,
        )
        observers.add(agents.local, observation, local.polled)
        for host, agent in agents.remote:
            observers.add(agent, _observation_of(host, settings), {"dut": host.polled_cpus})
    except BaseException:
        observers.close()
        raise
    return observers


def _start(name: str, argv: Sequence[str], ledger: Ledger) -> HostAgent:
    log = ledger.directory / f"observe-{plain_name(name)}.log"
    agent = HostAgent(name, argv, log, ledger.environment)
    ledger.note_process(OBSERVER, agent.identity)
    return agent


def _observation_of(host: RemoteHost, settings: ObserveSettings) -> Observation:
    sources = settings.sources
    if unread := host.unread_sources:
        sources = tuple(each for each in selected_sources(sources) if each not in unread)
    return Observation(
        interval_s=settings.interval_s(),
        sources=sources,
        polled_cpus=host.polled_cpus,
        pids=host.pids,
        telemetry=host.telemetry,
        openvswitch=host.openvswitch,
    )
