"""Where the kernel's trace file system is: where it is mounted, or a mount of our own."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

_MOUNTS = Path("/proc/mounts")
# Where the kernel keeps an empty directory for it, and where debugfs mounts it by itself.
_USUAL = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))

# The numbers of fsopen(2), fsconfig(2) and fsmount(2), the same on every architecture but
# alpha (Linux 5.2, include/uapi/asm-generic/unistd.h); C libraries before glibc 2.36 lack them.
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_FSOPEN_CLOEXEC = _FSMOUNT_CLOEXEC = 1
_FSCONFIG_CMD_CREATE = 6


def find_tracefs(mounts: Path = _MOUNTS, usual: tuple[Path, ...] = _USUAL) -> Path:
    """The directory of tracefs: where it is mounted, else a mount that this process alone has.

    Raises OSError as the kernel does where it is not mounted and cannot be.
    """
    return next(iter(_mounted(mounts)), None) or _automounted(usual) or own_tracefs()


@cache
def own_tracefs() -> Path:
    """A mount of tracefs at no place in the file system, for as long as this process lives.

    No other process sees it or comes to rely on it, and nothing is left of it after a kill.
    Processes of the same user may use the path while this process lives. Raises OSError: EPERM
    without CAP_SYS_ADMIN, ENODEV where the kernel has no tracefs, ENOSYS before Linux 5.2.
    """
    context = _system_call(_FSOPEN, b"tracefs", _FSOPEN_CLOEXEC)
    try:
        _system_call(_FSCONFIG, context, _FSCONFIG_CMD_CREATE, None, None, 0)
        mount = _system_call(_FSMOUNT, context, _FSMOUNT_CLOEXEC, 0)
    finally:
        os.close(context)
    return Path(f"/proc/{os.getpid()}/fd/{mount}")


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "tracefs")
    return result


def _mounted(mounts: Path) -> list[Path]:
    """The directories where a tracefs is mounted, those at the usual places first."""
    try:
        lines = [line.split() for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:
        return []
    found = [Path(words[1]) for words in lines if len(words) > 2 and words[2] == "tracefs"]
    return sorted(found, key=lambda path: path not in _USUAL)


def _automounted(usual: tuple[Path, ...]) -> Path | None:
    """debugfs mounts tracefs when its directory is first looked into."""
    for place in usual:
        try:
            if (place / "instances").is_dir():
                return place
        except OSError:
            continue
    return None
