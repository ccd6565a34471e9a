"""Where the Plimsoll processes of a machine, of all users, tell each other what they use.

Hugepages and CPUs are the machine's, ledgers are a user's. What others must know of a ledger
is one small file in a directory that everybody may write to: by default /dev/shm, which is
emptied at boot as the pools are. Nothing in there is trusted further than its owner: a file
counts only where it is a regular file, named after the user who owns it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.ledger.record import LedgerRecord, NotedProcess, PolledCpu, boot_id
from plimsoll.host.processes.identity import ProcessIdentity

SHARED_VARIABLE = "PLIMSOLL_SHARED"
_USUAL = Path("/dev/shm")  # noqa: S108 - see the module's docstring
_PREFIX = "plimsoll"
_NAME = re.compile(r"plimsoll\.(\d{1,10})\.([A-Za-z0-9_-]{1,64})\.([a-z]{1,16})", re.ASCII)
# A ledger posts less than 10 kB; more is an attempt to exhaust our memory.
_MAX_BYTES = 1 << 18
_LOCK_PATIENCE_S = 60.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class SharedFile:
    """One file as read: who owns it, the ledger's id, what it tells of, and its text."""

    uid: int
    ledger_id: str
    kind: str
    text: str


def shared_directory() -> Path:
    """$PLIMSOLL_SHARED, else /dev/shm.

    Raises MachineError where it is missing, or where users could replace each other's files.
    """
    directory = Path(os.environ.get(SHARED_VARIABLE) or _USUAL)
    try:
        status = directory.stat()
    except OSError as error:
        raise _unusable(directory, error.strerror or str(error)) from error
    if not stat.S_ISDIR(status.st_mode):
        raise _unusable(directory, "it is not a directory")
    if status.st_uid not in (0, os.getuid()):
        raise _unusable(directory, "it belongs to another user")
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise _unusable(directory, "others may remove our files from it (no sticky bit)")
    return directory


def post(ledger_id: str, kind: str, text: str) -> None:
    """Write a ledger's file of that kind, or replace it, for every user to read.

    Raises MachineError.
    """
    directory = shared_directory()
    # By a fresh name and a rename: no reader sees half of it, and nothing that another user
    # put there is opened.
    fresh = directory / f".{_PREFIX}-{secrets.token_hex(8)}"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
        fresh.replace(_path(directory, ledger_id, kind))
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise _unusable(directory, error.strerror or str(error)) from error


def withdraw(ledger_id: str, kind: str) -> None:
    """Remove a file of this user's; nothing happens where there is none."""
    with contextlib.suppress(OSError):
        _path(shared_directory(), ledger_id, kind).unlink()


def posted(kind: str) -> tuple[SharedFile, ...]:
    """Every user's files of that kind, by name; what is not as `post` makes it is left out."""
    found: list[SharedFile] = []
    directory = shared_directory()
    for name in sorted(os.listdir(directory)):
        match = _NAME.fullmatch(name)
        if match is None or match[3] != kind:
            continue
        text = _read(directory / name, uid=int(match[1]))
        if text is not None:
            found.append(SharedFile(int(match[1]), match[2], kind, text))
    return tuple(found)


def posted_by_us(ledger_id: str, kind: str) -> str | None:
    """The text of one of this user's own files; None where there is none."""
    return _read(_path(shared_directory(), ledger_id, kind), uid=os.getuid())


@contextlib.contextmanager
def locked(path: Path, patience_s: float = _LOCK_PATIENCE_S) -> Iterator[None]:
    """Alone among the processes that lock `path`, a file or directory that need only be readable.

    Every user may lock what he can read, so no lock is waited for longer than `patience_s`.
    Raises MachineError naming the holder, and OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    deadline = time.monotonic() + patience_s
    try:
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise MachineError(
                    f"another process has kept it locked for {patience_s:g} s"
                    + _holder(descriptor),
                    where=str(path),
                    remedy="end that process, if it hangs, and start again",
                )
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    """Who holds the lock, as /proc/locks has it (proc(5)); nothing where it does not tell."""
    inode = os.fstat(descriptor).st_ino
    with contextlib.suppress(OSError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode):
                name = Path(f"/proc/{fields[4]}/comm").read_text().strip()
                return f": {name} (pid {fields[4]})"
    return ""


def _read(path: Path, uid: int) -> str | None:
    """The file's text where a user's own regular file it is; no link is followed, no FIFO met."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        usable = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BYTES
        if not usable or status.st_uid != uid:
            return None
        return os.read(descriptor, _MAX_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def _path(directory: Path, ledger_id: str, kind: str) -> Path:
    return directory / f"{_PREFIX}.{os.getuid()}.{ledger_id}.{kind}"


def _unusable(directory: Path, reason: str) -> MachineError:
    return MachineError(
        f"cannot let other runs here know what this one uses: {reason}",
        where=str(directory),
        remedy=f"fix that, or set {SHARED_VARIABLE}, for all runs of this machine alike, "
        "to a directory with mode 1777",
    )


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
