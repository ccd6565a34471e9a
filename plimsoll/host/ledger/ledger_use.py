"""What every user's Plimsoll may know of a ledger: whose it is, its processes, its CPUs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from plimsoll.host.ledger.record import LedgerRecord, NotedProcess, PolledCpu, boot_id
from plimsoll.host.ledger.shared_directory import SharedFile, post, posted, withdraw
from plimsoll.host.processes.identity import ProcessIdentity

_KIND = "use"


@dataclass(frozen=True, slots=True)
class LedgerUse:
    """A ledger of the user `uid`, as its maker posted it; `owner` is None once it stands."""

    uid: int
    ledger_id: str
    directory: Path
    created_unix_s: float
    owner: ProcessIdentity | None
    processes: tuple[NotedProcess, ...]
    polled_cpus: tuple[PolledCpu, ...]

    @property
    def alive(self) -> bool:
        """Whether its owner or one of its processes still runs."""
        if self.owner is not None and self.owner.alive:
            return True
        return any(noted.identity.alive for noted in self.processes)

    def process_named(self, name: str) -> ProcessIdentity | None:
        """Its first living process of that name."""
        named = (each.identity for each in self.processes if each.name == name)
        return next((identity for identity in named if identity.alive), None)


def post_use(directory: Path, record: LedgerRecord) -> None:
    """Tell every user of the ledger in `directory`. Raises MachineError."""
    fields = {
        "boot_id": record.boot_id,
        "directory": str(directory),
        "created_unix_s": record.created_unix_s,
        "owner": asdict(record.owner) if record.owner else None,
        "processes": [asdict(each) for each in record.processes],
        "polled_cpus": [asdict(each) for each in record.polled_cpus],
    }
    post(directory.name, _KIND, json.dumps(fields))


def withdraw_use(ledger_id: str) -> None:
    """Take it back, when the ledger is gone."""
    withdraw(ledger_id, _KIND)


def ledger_uses() -> tuple[LedgerUse, ...]:
    """Those of all users and of this boot, by name; other files are left out."""
    here = boot_id()
    found = (_parse(file, here) for file in posted(_KIND))
    return tuple(use for use in found if use is not None)


def _parse(file: SharedFile, here: str) -> LedgerUse | None:
    try:
        fields = json.loads(file.text)
        if fields["boot_id"] != here:
            return None
        owner = fields["owner"]
        return LedgerUse(
            uid=file.uid,
            ledger_id=file.ledger_id,
            directory=Path(fields["directory"]),
            created_unix_s=float(fields["created_unix_s"]),
            owner=_identity(owner) if owner else None,
            processes=tuple(
                NotedProcess(_name(each["name"]), _identity(each["identity"]))
                for each in fields["processes"]
            ),
            polled_cpus=tuple(
                PolledCpu(int(each["cpu"]), _name(each["process"]))
                for each in fields["polled_cpus"]
            ),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _identity(fields: dict[str, int]) -> ProcessIdentity:
    """Raises ValueError for numbers that no process has."""
    pid, start_ticks = int(fields["pid"]), int(fields["start_ticks"])
    # PID_MAX_LIMIT of a 64-bit kernel.
    if not 0 < pid <= 1 << 22:
        raise ValueError("not a process id")
    return ProcessIdentity(pid, start_ticks)


def _name(given: object) -> str:
    """Of a process, fit for messages: another user's text reaches our terminal."""
    name = str(given)[:64]
    return "".join(each if each.isprintable() else "?" for each in name)
