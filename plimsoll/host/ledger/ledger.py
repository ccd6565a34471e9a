"""The list of everything a run changes on the machine, so that all of it can be undone.

A ledger is a private directory: ledger.json in it says what to undo, and next to it
lie the sockets, logs and runtime files of the run's processes. Whatever is noted is
on disk before it happens or at once after, so a run may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.ledger.hugepage_claims import give_back
from plimsoll.host.ledger.record import (
    LedgerRecord,
    NotedProcess,
    PolledCpu,
    boot_id,
    from_json,
    to_json,
)
from plimsoll.host.ledger.scratch import sweep_scratch
from plimsoll.host.ledger.shared_directory import LedgerUse, ledger_uses, post_use, withdraw_use
from plimsoll.host.ledger.trace_instance import remove_trace_instance
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.ports.lent_interface import LentInterface
from plimsoll.host.processes.child import WORKING_DIRECTORY, module_argv, module_environment
from plimsoll.host.processes.identity import (
    ProcessIdentity,
    end_process,
    identify,
    processes_with_environment,
)
from plimsoll.host.state_root import STATE_VARIABLE, state_root

# DPDK keeps its runtime files, telemetry socket included, in the directory this names
# (and systemd sets it with that meaning too). It also marks our processes.
LEDGER_MARK = "RUNTIME_DIRECTORY"
_FILE = "ledger.json"
_UNFINISHED = ".new-"
_MAX_SAID = 400
_UNFINISHED_NAME = re.compile(r"\.new-(\d{1,10})-(\d{1,20})-.+")
# The path of a Unix socket has 107 bytes; leave room for those that lie in a ledger.
_LONGEST_DIRECTORY_BYTES = 72
# What ends a word or a value in DPDK's devargs, in QEMU's options, in OVSDB and on VPP's console.
_SYNTAX = frozenset(",:;=[]{}()<>\"'\\ ")


class Ledger:
    """One ledger on disk. One process writes it, its owner; who undoes it takes a lock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def create(cls, kind: str) -> Ledger:
        """Make a ledger owned by this process. `kind` is a word for lists and file names.

        Raises MachineError when the state directory cannot be written.
        """
        root = state_root()
        owner = identify(os.getpid())
        token = secrets.token_hex(3)
        directory = root / f"{kind}-{token}"
        _check_path(directory)
        unfinished = root / f"{_UNFINISHED}{owner.pid}-{owner.start_ticks}-{token}"
        record = LedgerRecord(kind, boot_id(), time.time(), owner)
        try:
            unfinished.mkdir(mode=0o700)
            _write(unfinished, record)
            # A ledger appears whole or not at all.
            ledger = cls(unfinished.rename(directory))
        except OSError as error:
            raise _cannot_write(root, error) from error
        try:
            post_use(directory, record)
        except PlimsollError:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        return ledger

    @property
    def id(self) -> str:
        """The name it is listed under."""
        return self.directory.name

    @property
    def namespace(self) -> NetworkNamespace:
        """The network namespace that is this ledger's to make, and goes with it."""
        return NetworkNamespace.of(self.id)

    @property
    def record(self) -> LedgerRecord:
        """What is noted now. Raises MachineError when it is gone or damaged."""
        file = self.directory / _FILE
        try:
            return from_json(file.read_text())
        except (OSError, ValueError) as error:
            raise MachineError(
                f"cannot read the ledger: {error}",
                where=str(file),
                remedy="end its processes by hand and remove its directory",
            ) from error

    @property
    def environment(self) -> dict[str, str]:
        """The environment for this run's processes.

        It leads DPDK's runtime files here, and tells the processes as ours when their
        starter was killed before it could note them.
        """
        return {**os.environ, LEDGER_MARK: str(self.directory)}

    def processes(self, record: LedgerRecord) -> dict[ProcessIdentity, str]:
        """Its processes with their names: those that `record` notes, and any other of its own."""
        names = {noted.identity: noted.name for noted in record.processes}
        for identity in processes_with_environment(f"{LEDGER_MARK}={self.directory}"):
            names.setdefault(identity, "a process of its own")
        return names

    def note_process(self, name: str, identity: ProcessIdentity) -> None:
        """Remember a process to be ended, and forget those that have ended by themselves."""
        record = self.record
        alive = (each for each in record.processes if each.identity.alive)
        self._write(replace(record, processes=(*alive, NotedProcess(name, identity))))

    def note_polled_cpus(self, polled: tuple[PolledCpu, ...]) -> None:
        """Replace the CPUs that its processes keep busy, or are about to."""
        self._write(replace(self.record, polled_cpus=polled))

    def note_path(self, path: Path) -> None:
        """Remember a file or folder outside the ledger's directory to be removed."""
        record = self.record
        if str(path.absolute()) not in record.paths:
            self._write(replace(record, paths=(*record.paths, str(path.absolute()))))

    def forget_path(self, path: Path) -> None:
        """Leave a file or folder that was noted where it is: it is gone, or another's."""
        record = self.record
        left = tuple(each for each in record.paths if each != str(path.absolute()))
        self._write(replace(record, paths=left))

    def note_trace_instance(self, name: str) -> None:
        """Remember a directory in tracefs's instances/, by its name, to be removed."""
        record = self.record
        self._write(replace(record, trace_instances=(*record.trace_instances, name)))

    def note_undoing_module(self, module: str, *arguments: str) -> None:
        """Remember a module of ours that removes what lies elsewhere, to be run with arguments.

        It may find that there is nothing to remove, and ends with 0 where nothing is left.
        """
        record = self.record
        noted = (*record.undoing_modules, (module, *arguments))
        self._write(replace(record, undoing_modules=noted))

    def move_to_namespace(self, name: str, lent_as: str, mtu: int, cpu: int) -> None:
        """Move an interface of the machine's into the namespace, and remember how it was.

        It gets that MTU there, and one queue that interrupts `cpu`. Raises MachineError.
        """
        record = self.record
        lent = LentInterface.of(name, lent_as)
        self._write(replace(record, lent_interfaces=(*record.lent_interfaces, lent)))
        lent.move_to_namespace(self.namespace, mtu, cpu)

    def restore(self) -> list[str]:
        """Bring the interfaces back that were lent; which, in words. Raises MachineError."""
        lent = self.record.lent_interfaces
        done = [
            f"took back the interface {each.name}" for each in lent if each.restore(self.namespace)
        ]
        if lent:
            self._write(replace(self.record, lent_interfaces=()))
        return done

    def note_facts(self, facts: Mapping[str, object]) -> None:
        """Add facts for those who list the ledger; they must be JSON."""
        record = self.record
        self._write(replace(record, facts={**record.facts, **facts}))

    def hand_over(self) -> None:
        """Let it stand without an owner: from now on only an explicit undo ends it."""
        self._write(replace(self.record, owner=None))

    def undo(self) -> list[str]:
        """End its processes, give back its hugepages and interfaces, remove what it made.

        Returns what was done, in words.

        May be repeated, and by several processes at once: the first does it all, the others
        wait for it and return an empty list. What cannot be undone now is said, and the
        ledger stays.
        """
        with _locked(self.directory) as present:
            if not present:
                return self._undo_lost()
            record = self.record
            if record.boot_id != boot_id():
                shutil.rmtree(self.directory)
                withdraw_use(self.id)
                return [f"removed {self.id}, left over from before the last boot"]
            return self._undo(record)

    def _undo_lost(self) -> list[str]:
        """Nothing where it was undone already; all that others know of it where it was deleted."""
        done = _give_back(self.id) + _remove_namespace(self.id)
        withdraw_use(self.id)
        return done

    def _undo(self, record: LedgerRecord) -> list[str]:
        done, survivors = self._end_processes(record)
        if survivors:
            return [*done, *survivors]
        try:
            done += _run_undoing_modules(record)
            done += _give_back(self.id)
            done += self.restore()
            done += _remove_namespace(self.id)
            done += _remove_trace_instances(record)
            for path in map(Path, record.paths):
                _remove_path(path)
            shutil.rmtree(self.directory)
        except (OSError, PlimsollError) as error:
            return [*done, f"could not undo the rest of {self.id}: {error}"]
        withdraw_use(self.id)
        return [*done, f"removed {self.directory}"]

    def _end_processes(self, record: LedgerRecord) -> tuple[list[str], list[str]]:
        """The processes ended, and those that could not be, in words."""
        done: list[str] = []
        survivors: list[str] = []
        # Those that are ended may have started others by then.
        while not survivors and (alive := self._alive_processes(record)):
            for identity, name in alive.items():
                if end_process(identity, patience_s=0):
                    done.append(f"killed {name} (pid {identity.pid})")
                else:
                    survivors.append(f"could not kill {name} (pid {identity.pid})")
        return done, survivors

    def _alive_processes(self, record: LedgerRecord) -> dict[ProcessIdentity, str]:
        """Those of its processes that have not ended, without this one."""
        found = self.processes(record).items()
        return {each: name for each, name in found if each.pid != os.getpid() and each.alive}

    def _write(self, record: LedgerRecord) -> None:
        try:
            _write(self.directory, record)
        except OSError as error:
            raise _cannot_write(self.directory, error) from error
        post_use(self.directory, record)


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _give_back(ledger_id: str) -> list[str]:
    return [f"gave back {pages} pages to {pool}" for pool, pages in give_back(ledger_id).items()]


def _run_undoing_modules(record: LedgerRecord) -> list[str]:
    """Raises MachineError where one cannot remove what it is to: the ledger then stays."""
    for module, *arguments in record.undoing_modules:
        done = subprocess.run(  # noqa: S603 - an argument vector, no shell
            module_argv(module, *arguments),
            env=module_environment(os.environ),
            cwd=WORKING_DIRECTORY,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise MachineError(
                f"{module} could not remove everything: {_shortened(done.stderr)}",
                where=" ".join(arguments),
                remedy="make the cluster answer and run plimsoll lab down, or remove it by hand",
            )
    return [f"had {each[0]} remove what it noted" for each in record.undoing_modules]


def _shortened(said: str) -> str:
    """In one line; its beginning, which has what went wrong, where it is long."""
    line = " ".join(said.split())
    return line if len(line) <= _MAX_SAID else f"{line[:_MAX_SAID]}…"


def _remove_trace_instances(record: LedgerRecord) -> list[str]:
    removed = [name for name in record.trace_instances if remove_trace_instance(name)]
    return [f"removed the trace instance {name}" for name in removed]


def _remove_namespace(ledger_id: str) -> list[str]:
    namespace = NetworkNamespace.of(ledger_id)
    return [f"removed the network namespace {namespace.name}"] if namespace.remove() else []


def ledgers() -> tuple[Ledger, ...]:
    """This user's ledgers, by name; any may be undone by another process at any time."""
    entries = sorted(state_root().iterdir())
    return tuple(Ledger(entry) for entry in entries if not entry.name.startswith("."))


def sweep() -> list[str]:
    """Undo what dead owners left behind, by this user's ledgers on this machine.

    Returns what was done, in words. Also those are found that another state directory holds,
    or held: pages are the machine's.
    """
    done: list[str] = []
    uses = [use for use in ledger_uses() if use.uid == os.getuid()]
    elsewhere = {use.directory for use in uses} - {ledger.directory for ledger in ledgers()}
    for ledger in (*ledgers(), *map(Ledger, sorted(elsewhere))):
        try:
            if ledger.directory.exists() and ledger.record.abandoned:
                done += ledger.undo()
        except PlimsollError as error:
            # One undone by its janitor by then is none of our business.
            if ledger.directory.exists():
                done.append(str(error))
    done += [line for use in uses for line in _sweep_lost(use)]
    return done + _sweep_unfinished() + sweep_scratch()


def _sweep_lost(use: LedgerUse) -> list[str]:
    """Give back what a ledger claimed whose directory is gone, and its processes too."""
    if use.directory.exists() or use.alive:
        return []
    try:
        done = _give_back(use.ledger_id) + _remove_namespace(use.ledger_id)
    except (OSError, PlimsollError) as error:
        return [f"could not give back what {use.ledger_id} claimed: {error}"]
    withdraw_use(use.ledger_id)
    return done


def _sweep_unfinished() -> list[str]:
    """Remove the directories whose makers died before they became ledgers."""
    done: list[str] = []
    for unfinished in state_root().glob(f"{_UNFINISHED}*-*-*"):
        named = _UNFINISHED_NAME.fullmatch(unfinished.name)
        # What is called otherwise is not of our making.
        if named and not ProcessIdentity(int(named[1]), int(named[2])).alive:
            shutil.rmtree(unfinished, ignore_errors=True)
            done.append(f"removed {unfinished}, which was never finished")
    return done


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[bool]:
    """Alone with the directory; False when it is gone."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield directory.exists()
    finally:
        os.close(descriptor)


def _write(directory: Path, record: LedgerRecord) -> None:
    """Replace ledger.json, all of it or nothing, and wait until it is on disk."""
    fresh = directory / f"{_FILE}.new"
    with fresh.open("w") as file:
        file.write(to_json(record))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(directory / _FILE)
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_path(directory: Path) -> None:
    """Whether every program of a run can read a path in it. Raises MachineError."""
    if len(os.fsencode(directory)) > _LONGEST_DIRECTORY_BYTES:
        raise MachineError(
            "this path is too long for the sockets that DPDK puts into it",
            where=str(directory),
            remedy=f"set {STATE_VARIABLE} to a shorter path",
        )
    odd = next((each for each in str(directory) if each in _SYNTAX or not each.isprintable()), None)
    if odd is not None:
        raise MachineError(
            f"DPDK, QEMU, OVS or VPP would not read a path with {odd!r} as one",
            where=str(directory),
            remedy=f"set {STATE_VARIABLE} to a path of letters, digits and / . _ -",
        )


def _cannot_write(place: Path, error: OSError) -> MachineError:
    return MachineError(
        f"cannot write the ledger: {error.strerror}",
        where=str(place),
        remedy=f"free some space there, or set {STATE_VARIABLE} to another directory",
    )
