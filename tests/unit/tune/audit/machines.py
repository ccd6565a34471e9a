"""Files of whole machines, as kernels print them, for tests of checks."""

from collections.abc import Iterable

CMDLINE = "/proc/cmdline"
CPUINFO = "/proc/cpuinfo"
ONLINE = "/sys/devices/system/cpu/online"

INTEL = "vendor_id\t: GenuineIntel\nflags\t\t: fpu tsc msr\nmicrocode\t: 0x2b000571\n"
AMD = "vendor_id\t: AuthenticAMD\nflags\t\t: fpu tsc msr\nmicrocode\t: 0xa0011d1\n"
GUEST = "vendor_id\t: GenuineIntel\nflags\t\t: fpu tsc msr hypervisor\n"


def booted(arguments: str, cpuinfo: str = INTEL, online: str = "0-7") -> dict[str, str]:
    """A host of that command line, by default of eight Intel CPUs."""
    return {
        CMDLINE: f"BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro {arguments}\n",
        CPUINFO: cpuinfo,
        ONLINE: f"{online}\n",
    }


def cores(*groups: Iterable[int], nodes: dict[int, str], gib: int = 32) -> dict[str, str]:
    """Topology files: the threads of each core, each node's list of CPUs, memory per node."""
    groups = tuple(tuple(group) for group in groups)
    every = sorted(cpu for group in groups for cpu in group)
    files = {
        ONLINE: ",".join(map(str, every)),
        "/sys/devices/system/node/online": ",".join(map(str, nodes)),
    }
    for group in groups:
        for cpu in group:
            folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
            files[f"{folder}/core_cpus_list"] = ",".join(map(str, group))
    for node, listed in nodes.items():
        folder = f"/sys/devices/system/node/node{node}"
        files[f"{folder}/cpulist"] = listed
        files[f"{folder}/meminfo"] = f"Node {node} MemTotal:       {gib << 20} kB\n"
    return files
