"""The `ip` of iproute2: how interfaces, namespaces, routes and neighbours are made and read."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from plimsoll.errors import MachineError

IP_PACKAGE = "iproute2 (Debian, Ubuntu) or iproute (Fedora, RHEL)"
_TIMEOUT_S = 30.0
# A hundred thousand routes take a second or two, on a busy machine many.
_BATCH_TIMEOUT_S = 180.0
# Of what was given, in an error: a table's first lines tell as much as all of them.
_MAX_SHOWN = 2000
# What iproute2, nft and the kernel say of a kind of object that the kernel does not have.
_UNKNOWN_KIND = (
    "Unknown device type",
    "Operation not supported",
    "Could not process rule: No such file or directory",
)


def run_program(
    argv: Sequence[str],
    *,
    given: str = "",
    where: str = "lab",
    timeout_s: float = _TIMEOUT_S,
    subject: str = "",
) -> str:
    """What `argv` prints, `given` on its stdin. Raises MachineError with what it complains of.

    That names the program and all that was given, or a `subject` such as "nft refuses its table".
    """
    try:
        done = subprocess.run(  # noqa: S603 - an argument vector, no shell
            argv, input=given, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(
            f"cannot run {argv[0]}: {error}", where=where, remedy="install it, or end what holds it"
        ) from error
    if done.returncode != 0:
        raise _refused(argv, given, done.stderr or done.stdout, where, subject)
    return done.stdout


def find_program(name: str, package: str, where: str = "lab") -> str:
    """The path of a program. Raises MachineError naming the package that has it."""
    path = shutil.which(name)
    if path is None:
        raise MachineError(
            f"{Path(name).name} is missing", where=where, remedy=f"install the package {package}"
        )
    return path


def ip(*words: str, namespace: str | None = None) -> str:
    """What one `ip` command prints. Raises MachineError."""
    return run_program([*_ip(namespace), *words])


def ip_batch(lines: Iterable[str], namespace: str | None = None) -> None:
    """Run `ip` commands, one a line, until the first that fails. Raises MachineError."""
    given = "".join(f"{line}\n" for line in lines)
    run_program([*_ip(namespace), "-batch", "-"], given=given, timeout_s=_BATCH_TIMEOUT_S)


def ip_objects(*words: str, namespace: str | None = None) -> list[dict[str, object]]:
    """What an `ip … show` lists, as objects. Raises MachineError."""
    text = run_program([*_ip(namespace), "-json", "-stats", "-details", *words])
    found = json.loads(text or "[]")
    # A link of which nothing is to be shown is an empty object.
    return [each for each in found if each]


def _ip(namespace: str | None) -> tuple[str, ...]:
    program = find_program("ip", IP_PACKAGE)
    return (program, "-netns", namespace) if namespace else (program,)


def _refused(argv: Sequence[str], given: str, said: str, where: str, subject: str) -> MachineError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = "; ".join(lines[:3]) or "it says nothing"
    command = given.replace("\n", "; ").rstrip("; ") or " ".join(argv[1:])
    if len(command) > _MAX_SHOWN:
        command = f"{command[:_MAX_SHOWN]}…"
    if any(each in said for each in _UNKNOWN_KIND):
        remedy = "boot a kernel that has it, or load its module (modprobe)"
    elif "not permitted" in said or "Permission denied" in said:
        remedy = "run as root, or with CAP_NET_ADMIN and CAP_SYS_ADMIN"
    else:
        remedy = "try the command by hand"
    subject = subject or f"{argv[0]} refuses `{command}`"
    return MachineError(f"{subject}: {reason}", where=where, remedy=remedy)
