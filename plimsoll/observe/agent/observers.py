"""The agents of all hosts that are observed during a run's trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import OBSERVER
from plimsoll.host.processes.child import module_argv
from plimsoll.observe.agent.host_agent import AgentFailed, HostAgent, TraceLost
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.observe.agent.remote_trace import AskAgent, RemoteTrace
from plimsoll.observe.agent.replies import Ended
from plimsoll.observe.agent.settings import ObserveSettings, RemoteHost
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.trials.trial_parts import HostReadings, ObserverEnd
from plimsoll.text.plain_text import plain_name

R = TypeVar("R")
_AGENT_REMEDY = "see that plimsoll-observe of this version runs there, as root"


@dataclass(slots=True)
class _ObservedHost:
    """A host, and what the record says of it; without its agent once that has `ended`.

    `answer` is what the agent said at the end of the last period, `missing_at_first` what it
    had said it does not read.
    """

    agent: HostAgent | None
    record: ObservedHostRecord
    missing_at_first: frozenset[str] = frozenset()
    answer: Ended | None = None
    ended: ObserverEnd | None = None

    @property
    def readings(self) -> HostReadings:
        """What the record of the last period says."""
        hostname = self.record.hostname
        if self.answer is None:
            return HostReadings(
                hostname=hostname, readings=None, skipped=None, cpu_s=None, ended=self.ended
            )
        missing = self.answer.missing.items()
        return HostReadings(
            hostname=hostname,
            readings=self.answer.ticks,
            skipped=self.answer.skipped,
            cpu_s=self.answer.cpu_s,
            lost={name: why for name, why in missing if name not in self.missing_at_first},
        )


class Observers:
    """The agents of a test bed; one that fails is reported once and not used again.

    Its host stays in the records, with nothing observed, so that the gap is visible.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._hosts: list[_ObservedHost] = []
        # None before the first.
        self._period: str | None = None

    def add(
        self, agent: HostAgent, observation: Observation, polled: dict[str, tuple[int, ...]]
    ) -> None:
        """Take in an agent. Raises InputError for a second one of the same host."""
        host = _ObservedHost(agent, _before_it_answered(agent.name, observation, polled))
        opened = self._ask(host, partial(agent.open, observation))
        if opened is not None:
            if opened.hostname in {each.record.hostname for each in self._hosts}:
                agent.close()
                raise InputError(
                    f"the host {opened.hostname} is watched already",
                    where=f"observe.hosts: {agent.name}",
                    remedy="name each host once, and not the tester's own",
                )
            host.record = host.record.model_copy(
                update={
                    "hostname": opened.hostname,
                    "ran_on": opened.ran_on,
                    "sources": opened.sources,
                    "missing": opened.missing,
                }
            )
            host.missing_at_first = frozenset(opened.missing)
        self._hosts.append(host)

    @property
    def local_hostname(self) -> str | None:
        """The name of this host; None where it is not watched."""
        return self._hosts[0].record.hostname if self._hosts else None

    def traces(self) -> tuple[RemoteTrace, ...]:
        """The kernel's traces of the other hosts, which this has made; some are unavailable."""
        return tuple(
            RemoteTrace(
                each.record.hostname,
                _cpus_of(each.record.polled.get("dut", "")),
                self._asking(each),
            )
            for each in self._hosts[1:]
        )

    @property
    def records(self) -> tuple[ObservedHostRecord, ...]:
        """What the environment record says of them, as it stands now."""
        return tuple(each.record for each in self._hosts)

    @property
    def readings(self) -> tuple[HostReadings, ...]:
        """What the record of the last period says of each host, once that has ended."""
        return tuple(each.readings for each in self._hosts)

    @contextmanager
    def watching(self, period: str, writer_for: Callable[[str], MetricsWriter]) -> Iterator[None]:
        """Watch for the length of a `with`; `writer_for` opens a host's file. Raises RecordError.

        All that was seen is with the writers when it ends.
        """
        self._period = period
        for each in self._hosts:
            each.answer = None
            if each.agent is not None:
                writer = writer_for(each.record.hostname)
                self._ask(each, partial(each.agent.begin, period, writer))
        yield
        for each in self._hosts:
            if each.agent is not None:
                each.answer = self._ask(each, each.agent.end)
                if each.answer is not None:
                    self._note(each, each.answer.missing)

    def close(self) -> None:
        """End them all; safe to repeat."""
        for each in self._hosts:
            if each.agent is not None:
                each.agent.close()
        self._hosts.clear()

    def _ask(self, host: _ObservedHost, ask: Callable[[], R]) -> R | None:
        """The agent's answer; None when it fails, which is its end."""
        try:
            return ask()
        except AgentFailed as error:
            if host.agent is not None:
                host.agent.close()
            host.agent = None
            host.ended = ObserverEnd(period=self._period, why=error.message)
            unread = dict.fromkeys(_names_of(host.record.sources), error.message)
            missing = {**unread, **host.record.missing}
            host.record = host.record.model_copy(update={"sources": (), "missing": missing})
            self._tell(str(error))
            return None

    def _asking(self, host: _ObservedHost) -> AskAgent:
        """Has this host's agent do something for its trace."""

        def ask(request: Callable[[HostAgent], R]) -> R | TraceUnavailable:
            if (agent := host.agent) is not None:
                try:
                    answer = self._ask(host, partial(request, agent))
                except TraceLost as lost:
                    self._tell(f"observe: {host.record.hostname}: {lost.why.reason}")
                    return lost.why
                if answer is not None:
                    return answer
            why = "the observer is not there" if host.ended is None else host.ended.why
            return TraceUnavailable(why, _AGENT_REMEDY)

        return ask

    def _note(self, host: _ObservedHost, missing: dict[str, str]) -> None:
        """Tell which sources were lost while a period went on."""
        for source in sorted(missing.keys() - host.record.missing.keys()):
            self._tell(f"observe: {host.record.hostname}: {source}: {missing[source]}")
        host.record = host.record.model_copy(update={"missing": missing})


def _before_it_answered(
    name: str, observation: Observation, polled: dict[str, tuple[int, ...]]
) -> ObservedHostRecord:
    """What is known of a host from the experiment alone: its name is the one it has there."""
    return ObservedHostRecord(
        hostname=name,
        interval_s=observation.interval_s,
        ran_on="",
        polled={role: format_cpu_list(cpus) for role, cpus in polled.items()},
        sources=selected_sources(observation.sources),
        missing={},
    )


def _cpus_of(text: str) -> tuple[int, ...]:
    """Of a list in the kernel's form, which may be empty."""
    return parse_cpu_list(text) if text else ()


def selected_sources(sources: tuple[str, ...] | None) -> tuple[str, ...]:
    """The sources that are selected, which are all that there are where it is None."""
    return tuple(dict.fromkeys(each.source for each in OBSERVERS)) if sources is None else sources


def _names_of(sources: Sequence[str]) -> Iterator[str]:
    return (each.name() for each in OBSERVERS if each.source in sources)


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
