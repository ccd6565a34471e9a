"""The kernel's capabilities, as pods add them: by name, without the CAP_ before it."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, WithJsonSchema

from plimsoll.text.mistakes import brief, did_you_mean, mistake

# In the order of their numbers, 0 to 40 (Linux 6.1, include/uapi/linux/capability.h).
CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"),
    *("SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW"),
    *("IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT"),
    *("SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD"),
    *("LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG"),
    *("WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE"),
)
_PREFIX = "CAP_"


def _check_capability(name: str) -> str:
    """One spelling alone: runtimes take several, and what is judged by name must have one."""
    if name in CAPABILITIES:
        return name
    plain = name.upper().removeprefix(_PREFIX)
    if plain in CAPABILITIES:
        raise mistake(f"found {brief(name)}", f"write {plain}")
    if plain == "ALL":
        raise mistake("ALL is root on the node", "name the ones that are needed, such as IPC_LOCK")
    raise mistake(
        f"{brief(name)} is not a capability of the kernel",
        did_you_mean(plain, CAPABILITIES, "write one of capabilities(7), such as IPC_LOCK"),
    )


Capability: TypeAlias = Annotated[
    str,
    AfterValidator(_check_capability),
    WithJsonSchema({"type": "string", "enum": list(CAPABILITIES)}),
]
