"""What a ledger says: who made it, and what must be undone when its maker is gone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from plimsoll.host.ports.ethtool import Channels
from plimsoll.host.ports.lent_interface import LentInterface
from plimsoll.host.processes.identity import ProcessIdentity

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class NotedProcess:
    """A process to end, and what it is called in messages."""

    name: str
    identity: ProcessIdentity


@dataclass(frozen=True, slots=True)
class PolledCpu:
    """A CPU that a loop keeps busy, and the name of the process whose loop it is."""

    cpu: int
    process: str


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """The content of ledger.json.

    `owner` is None once the ledger stands on its own. `paths` are files and folders outside
    the ledger's directory to remove. `trace_instances` are the names of directories in
    tracefs's instances/ to remove, `polled_cpus` those that its processes keep busy; ledgers
    written before these were noted have none. `undoing_modules` are modules of ours, each with its
    arguments, that remove what lies on other machines. `lent_interfaces` are the machine's own, to
    be taken back from the ledger's namespace. `facts` is whatever the maker wants remembered, as
    JSON.
    """

    kind: str
    boot_id: str
    created_unix_s: float
    owner: ProcessIdentity | None
    processes: tuple[NotedProcess, ...] = ()
    paths: tuple[str, ...] = ()
    trace_instances: tuple[str, ...] = ()
    polled_cpus: tuple[PolledCpu, ...] = ()
    undoing_modules: tuple[tuple[str, ...], ...] = ()
    lent_interfaces: tuple[LentInterface, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def abandoned(self) -> bool:
        """Whether its owner has ended, so that anybody should undo it."""
        if self.boot_id != boot_id():
            return True
        return self.owner is not None and not self.owner.alive


def boot_id() -> str:
    """This boot's id: pids, start times and hugepages mean nothing in another."""
    return _BOOT_ID.read_text().strip()


def to_json(record: LedgerRecord) -> str:
    """The record as one JSON object."""
    return json.dumps(asdict(record), indent=1)


def from_json(text: str) -> LedgerRecord:
    """The record written by to_json. Raises ValueError on anything else."""
    try:
        document = json.loads(text)
        owner = document["owner"]
        return LedgerRecord(
            kind=document["kind"],
            boot_id=document["boot_id"],
            created_unix_s=document["created_unix_s"],
            owner=ProcessIdentity(**owner) if owner else None,
            processes=tuple(
                NotedProcess(noted["name"], ProcessIdentity(**noted["identity"]))
                for noted in document["processes"]
            ),
            paths=tuple(document["paths"]),
            trace_instances=tuple(document.get("trace_instances", ())),
            polled_cpus=tuple(PolledCpu(**each) for each in document.get("polled_cpus", ())),
            undoing_modules=tuple(map(tuple, document.get("undoing_modules", ()))),
            lent_interfaces=tuple(
                LentInterface(
                    **{
                        **each,
                        "settings": tuple(map(tuple, each["settings"])),
                        "channels": Channels(**each["channels"]) if each["channels"] else None,
                    }
                )
                for each in document.get("lent_interfaces", ())
            ),
            facts=document["facts"],
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a ledger: {error}") from error
