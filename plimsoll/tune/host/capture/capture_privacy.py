"""What a capture takes of the files that are read: as much as the audit needs, and no more.

People attach captures to issues and mails, so no secret may be in one. Of files that others
than the kernel write only that is taken of which a rule here says what it can hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

from plimsoll.host.ports.netdevs import is_pci_address
from plimsoll.tune.host.boot import kernel_command_line
from plimsoll.tune.host.boot.kernel_command_line import HIDDEN, without_unknown_values
from plimsoll.tune.host.boot.kubelet import (
    CPU_MANAGER_STATE,
    KUBELET_FILES,
    read_fields,
    sets_by_pod,
)
from plimsoll.tune.host.boot.operating_system import OS_RELEASE, identifying_lines
from plimsoll.tune.host.boot.tuned_profile_files import (
    PARTITIONING_VARIABLES,
    PROFILE_FILES,
    include_lines,
    isolated_lines,
)
from plimsoll.tune.host.cpus.irqbalance_configuration import (
    IRQBALANCE_DROP_INS,
    IRQBALANCE_FILES,
    drop_in_ban_lines,
    file_ban_lines,
)
from plimsoll.tune.host.cpus.noise_measurements import (
    CALIBRATIONS,
    OUTPUTS,
    calibration_fields,
    measured_lines,
)
from plimsoll.tune.host.ports.uplinks import ROUTES, ROUTES_6, default_routes
from plimsoll.tune.kubernetes.pods import MANIFESTS, without_secrets


def matches(pattern: str, path: str) -> bool:
    """Whether `path` has the form of `pattern`.

    In a name `*` is any text without "/" and `[0-9]` one of a set; `**` as a whole name is
    any number of names, none too.
    """
    return _compiled(pattern).fullmatch(path) is not None


def parents(pattern: str) -> tuple[str, ...]:
    """The patterns of the directories that must be listed to find what `pattern` names."""
    names = pattern.split("/")
    wild = (place for place, name in enumerate(names) if is_wild(name))
    return tuple("/".join(names[:place]) or "/" for place in wild)


def is_wild(name: str) -> bool:
    """Whether a name stands for more than itself."""
    return "*" in name or "[" in name


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = (_expression(name) for name in pattern.split("/")[1:])
    return re.compile("".join(parts), re.DOTALL)


def _expression(name: str) -> str:
    if name == "**":
        return "(?:/[^/]+)*"
    pieces = re.split(r"(\*|\[[^\]/]+\])", name)
    return "/" + "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if piece == "*":
        return "[^/]*"
    return piece if piece.startswith("[") else re.escape(piece)


# Processes' environments, arguments and memory; keys; memory itself.
_NEVER = (
    "/proc/*/environ",
    "/proc/*/cmdline",
    "/proc/*/auxv",
    "/proc/*/maps",
    "/proc/*/smaps",
    "/proc/*/mem",
    "/proc/*/fd/**",
    "/proc/*/root/**",
    "/proc/*/cwd/**",
    "/proc/*/task/*/environ",
    "/proc/*/task/*/cmdline",
    "/proc/*/task/*/mem",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/kallsyms",
)
# What the kernel itself says; all else is written by people and programs.
_KERNELS = ("/proc/", "/sys/")
_WORDS = re.compile(r"[\w.-]{1,64}(?: [\w.-]{1,64}){0,7}", re.ASCII)


def _nothing(_: str) -> str:
    """Of a file of which only matters whether it is there."""
    return ""


def _names(text: str) -> str:
    """Names of profiles, as tuned-adm writes them."""
    return text if _WORDS.fullmatch(text) else HIDDEN


def _address(text: str) -> str:
    """What the rendered plimsoll-ports keeps of a port."""
    return text if is_pci_address(text) else ""


# By pattern what is kept; a file of others than the kernel that none names is not taken.
_RULES: tuple[tuple[str, Callable[[str], str]], ...] = (
    (kernel_command_line.PATH, without_unknown_values),
    *((path, partial(default_routes, path)) for path in (ROUTES, ROUTES_6)),
    *((path, read_fields) for path in KUBELET_FILES),
    (CPU_MANAGER_STATE, sets_by_pod),
    (f"{MANIFESTS}/*", without_secrets),
    *((path, partial(file_ban_lines, hidden=HIDDEN)) for path in IRQBALANCE_FILES),
    (f"{IRQBALANCE_DROP_INS}/*.conf", partial(drop_in_ban_lines, hidden=HIDDEN)),
    *((path, calibration_fields) for path in CALIBRATIONS),
    (f"{OUTPUTS}/*", measured_lines),
    *((path, identifying_lines) for path in OS_RELEASE),
    ("/etc/tuned/active_profile", _names),
    *((path, include_lines) for path in PROFILE_FILES),
    (PARTITIONING_VARIABLES, isolated_lines),
    ("/run/plimsoll-ports/*", _address),
    ("/usr/lib/systemd/system/*", _nothing),
    ("/etc/systemd/system/*", _nothing),
)


def is_private(path: str) -> bool:
    """Whether a capture must not take the file, whatever pattern asks for it."""
    if path.startswith(_KERNELS):
        return any(matches(pattern, path) for pattern in _NEVER)
    return _rule(path) is None


def kept_text(path: str, text: str) -> str:
    """What a capture takes of a file's text, which may be nothing of it.

    It is judged as the whole text is. Raises ValueError, saying why, where the file is of no
    form of which the secrets are known.
    """
    rule = _rule(path)
    return text if rule is None else rule(text)


def _rule(path: str) -> Callable[[str], str] | None:
    return next((rule for pattern, rule in _RULES if matches(pattern, path)), None)
