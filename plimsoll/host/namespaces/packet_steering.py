"""Receive packet steering: on which CPU the kernel handles what arrives on an interface."""

from __future__ import annotations

from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.host.namespaces.network_namespace import NetworkNamespace


def steer(namespace: NetworkNamespace, interface: str, cpu: int) -> None:
    """Have the frames that arrive on an interface handled on `cpu`.

    Without it the kernel forwards a veth's frames on the CPU that sent them: the tester's.
    """
    queues = f"/sys/class/net/{interface}/queues"
    listed = run_program(namespace.enter("ls", queues)).split()
    namespace.write(
        cpu_mask(cpu), *(f"{queues}/{each}/rps_cpus" for each in listed if each.startswith("rx-"))
    )


def cpu_mask(cpu: int) -> str:
    """The kernel's mask of one CPU: hexadecimal, in comma-separated words of 32 bits."""
    words, bit = divmod(cpu, 32)
    return ",".join([f"{1 << bit:x}", *["00000000"] * words])
