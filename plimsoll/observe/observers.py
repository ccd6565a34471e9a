"""The agents of all hosts that are watched beside a run's trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.ledger import Ledger
from plimsoll.host.own_module import module_argv
from plimsoll.observe.host_agent import AgentFailed, HostAgent
from plimsoll.observe.observation import Observation
from plimsoll.observe.replies import Opened
from plimsoll.observe.settings import ObserveSettings, RemoteHost
from plimsoll.record.metrics import MetricsWriter
from plimsoll.record.observed_host import ObservedHostRecord

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LocalHost:
    """What is watched on this host: by role ("tester", "dut") the CPUs that polling loops use.

    `run_on` are the CPUs left for the agent; `pids` and `telemetry` as in Observation.
    """

    polled: dict[str, tuple[int, ...]]
    run_on: tuple[int, ...]
    pids: dict[str, int] = field(default_factory=dict)
    telemetry: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Watched:
    agent: HostAgent
    opened: Opened
    polled: dict[str, tuple[int, ...]]


class Observers:
    """The agents of a test bed; one that fails is told of and left out from then on."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._watched: list[_Watched] = []

    def add(
        self, agent: HostAgent, observation: Observation, polled: dict[str, tuple[int, ...]]
    ) -> None:
        """Take in an agent. Raises InputError for a second one of the same host."""
        try:
            opened = agent.open(observation)
        except AgentFailed as error:
            agent.close()
            self._tell(str(error))
            return
        if opened.hostname in {each.opened.hostname for each in self._watched}:
            agent.close()
            raise InputError(
                f"the host {opened.hostname} is watched already",
                where=f"observe.hosts: {agent.name}",
                remedy="name each host once, and not the tester's own",
            )
        self._watched.append(_Watched(agent, opened, polled))

    @property
    def records(self) -> tuple[ObservedHostRecord, ...]:
        """What the environment record says of them."""
        return tuple(
            ObservedHostRecord(
                hostname=each.opened.hostname,
                interval_s=each.opened.interval_s,
                ran_on=each.opened.ran_on,
                polled={role: format_cpu_list(cpus) for role, cpus in each.polled.items()},
                sources=each.opened.sources,
                missing=each.opened.missing,
            )
            for each in self._watched
        )

    @contextmanager
    def watching(self, period: str, writer_for: Callable[[str], MetricsWriter]) -> Iterator[None]:
        """Watch for the length of a `with`; `writer_for` opens a host's file. Raises RecordError.

        All that was seen is with the writers when it ends.
        """
        for each in tuple(self._watched):
            writer = writer_for(each.opened.hostname)
            self._try(each, partial(each.agent.begin, period, writer))
        yield
        for each in tuple(self._watched):
            self._try(each, each.agent.end)

    def close(self) -> None:
        """End them all; safe to repeat."""
        while self._watched:
            self._watched.pop().agent.close()

    def _try(self, watched: _Watched, ask: Callable[[], object]) -> None:
        try:
            ask()
        except AgentFailed as error:
            self._watched.remove(watched)
            watched.agent.close()
            self._tell(str(error))


def start_observers(
    settings: ObserveSettings, local: LocalHost, ledger: Ledger, tell: Tell
) -> Observers:
    """The agents that the experiment asks for, ready. Raises InputError, MachineError."""
    observers = Observers(tell)
    if not settings.enabled:
        return observers
    try:
        observation = Observation(
            interval_s=settings.interval,
            sources=settings.sources,
            run_on=local.run_on,
            polled_cpus=tuple(cpu for cpus in local.polled.values() for cpu in cpus),
            pids=local.pids,
            telemetry=local.telemetry,
        )
        agent = _start("this host", module_argv("plimsoll.observe"), ledger)
        observers.add(agent, observation, local.polled)
        for host in settings.hosts:
            agent = _start(host.ssh, _over_ssh(host), ledger)
            observers.add(agent, _observation_of(host, settings), {"dut": host.polled_cpus})
    except BaseException:
        observers.close()
        raise
    return observers


def _start(name: str, argv: Sequence[str], ledger: Ledger) -> HostAgent:
    log = ledger.directory / f"observe-{_file_name(name)}.log"
    agent = HostAgent(name, argv, log, ledger.environment)
    ledger.note_process("observer", agent.identity)
    return agent


def _over_ssh(host: RemoteHost) -> tuple[str, ...]:
    # It must not ask for a password: nobody is there to answer.
    return ("ssh", "-T", "-o", "BatchMode=yes", "--", host.ssh, "plimsoll-observe")


def _observation_of(host: RemoteHost, settings: ObserveSettings) -> Observation:
    return Observation(
        interval_s=settings.interval,
        sources=settings.sources,
        polled_cpus=host.polled_cpus,
        pids=host.pids,
        telemetry=host.telemetry,
    )


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)
