"""Labs that outlive the command that started them: `plimsoll lab up`, `list` and `down`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import TypeAdapter

from plimsoll.dut.lab import Lab, LabModel, LabPorts, coming_up
from plimsoll.dut.registry.labs import make_lab
from plimsoll.errors import InputError
from plimsoll.host.ledger.cpu_claims import CpuClaim, claim_cpus
from plimsoll.host.ledger.hugepages import hugepages_explained, plan_memory
from plimsoll.host.ledger.janitor import start_janitor, swept_ledger
from plimsoll.host.ledger.ledger import Ledger, ledgers, sweep
from plimsoll.host.ledger.record import LedgerRecord
from plimsoll.host.processes.child import Lifetime
from plimsoll.host.processes.schedule_stats import look_at_cpus

# "up": stands and runs; "died": stands, but a process has ended; "run": belongs to a command.
LabState = Literal["up", "died", "run"]

_LAB_PORTS = TypeAdapter(LabPorts)


@dataclass(frozen=True, slots=True)
class LabDescription:
    """One lab on this machine. `ports` is None for a lab of a run, which are its own."""

    id: str
    kind: str
    state: LabState
    created_unix_s: float
    owner_pid: int | None
    processes: tuple[str, ...]
    ports: LabPorts | None
    note: str | None


def lab_up(settings: LabModel) -> LabDescription:
    """Bring up a lab that stays until `lab_down`. Whatever fails leaves nothing behind."""
    _check_can_stand(settings)
    sweep()
    ledger = Ledger.create("lab")
    try:
        # Watched until it stands: the janitor leaves a ledger without owner alone.
        janitor = start_janitor(ledger)
        _bring_up(settings, ledger, (janitor.pid,), "standing")
        ledger.hand_over()
    except BaseException:
        ledger.undo()
        raise
    return _describe(ledger.id, ledger.record)


@contextmanager
def lab_while(settings: LabModel) -> Iterator[tuple[LabDescription, LabPorts]]:
    """A lab that is up for as long as the block lasts, or this process lives."""
    _check_can_stand(settings)
    sweep()
    with swept_ledger("lab") as ledger:
        ours = tuple(noted.identity.pid for noted in ledger.record.processes)
        lab, ports = _bring_up(settings, ledger, ours, "ours")
        try:
            yield _describe(ledger.id, ledger.record), ports
        finally:
            lab.down()


def _check_can_stand(settings: LabModel) -> None:
    if not settings.can_stand:
        raise InputError(
            "this kind of lab has nothing to bring up: it exists within a run only",
            where="lab.kind",
            remedy="choose testpmd-memif or linux-bridge, or name this kind in an experiment",
        )


def _bring_up(
    settings: LabModel, ledger: Ledger, ours: tuple[int, ...], lifetime: Lifetime
) -> tuple[Lab, LabPorts]:
    """With what `lab list` shows of it in the ledger; `ours` are pids to be left out."""
    cpus = settings.polled_cpus
    claim_cpus(ledger, [CpuClaim(place, cpu, settings.polling_program) for place, cpu in cpus])
    busy = [str(each) for each in look_at_cpus([cpu for _, cpu in cpus], ours)]
    memory = plan_memory(settings.megabytes, ledger)
    lab = make_lab(settings, ledger, memory, lifetime=lifetime)
    with hugepages_explained(memory, ledger), coming_up():
        ports = lab.up()
    note = "; ".join([*busy, *([memory.note] if memory.note else [])]) or None
    ledger.note_facts({"lab": lab.kind, "ports": asdict(ports), "note": note, **lab.facts()})
    return lab, ports


def lab_list() -> tuple[LabDescription, ...]:
    """Every lab of this user, those of runs under way included."""
    return tuple(_describe(ledger.id, ledger.record) for ledger in ledgers())


def lab_down(lab_id: str) -> list[str]:
    """Take down a standing lab: what was done, in words. Raises InputError for any other."""
    known = {ledger.id: ledger for ledger in ledgers()}
    if lab_id not in known:
        names = ", ".join(sorted(known)) or "none is up"
        raise InputError(f"no lab {lab_id!r}", where="lab down", remedy=f"choose from: {names}")
    ledger = known[lab_id]
    owner = ledger.record.owner
    if owner is not None and owner.alive:
        raise InputError(
            f"lab {lab_id!r} belongs to a run, process {owner.pid}",
            where="lab down",
            remedy="end that run; it takes its lab down itself",
        )
    return ledger.undo()


def _describe(lab_id: str, record: LedgerRecord) -> LabDescription:
    programs = [noted for noted in record.processes if noted.name != "janitor"]
    alive = all(noted.identity.alive for noted in programs)
    state: LabState = "run" if record.owner else ("up" if alive else "died")
    ports = record.facts.get("ports")
    return LabDescription(
        id=lab_id,
        kind=str(record.facts.get("lab", record.kind)),
        state=state,
        created_unix_s=record.created_unix_s,
        owner_pid=record.owner.pid if record.owner else None,
        processes=tuple(f"{noted.name} (pid {noted.identity.pid})" for noted in programs),
        ports=_LAB_PORTS.validate_python(ports) if isinstance(ports, Mapping) else None,
        note=str(record.facts["note"]) if record.facts.get("note") else None,
    )
