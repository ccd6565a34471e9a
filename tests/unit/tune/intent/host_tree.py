"""A made-up host's /sys and /proc: CPUs, cores, NUMA nodes, memory, pages and cards."""

from pathlib import Path

from tests.unit.host.machine_tree import MachineTree


class HostTree(MachineTree):
    """`root` is what is surveyed: the folder that holds both trees."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root = folder
        self.proc_net = folder / "proc/net"
        self.route()

    def cpus(self, online: str, cores: list[str]) -> None:
        """`cores` are lists of the CPUs that share one."""
        self.write(self.sys / "devices/system/cpu/online", online)
        for core in cores:
            for part in core.split(","):
                path = self.sys / f"devices/system/cpu/cpu{part}/topology"
                self.write(path / "core_cpus_list", core)

    def node(self, number: int, cpus: str, memory_gib: float) -> None:
        """One NUMA node; call it in their order."""
        folder = self.sys / "devices/system/node"
        self.write(folder / "online", "0" if number == 0 else f"0-{number}")
        self.write(folder / f"node{number}/cpulist", cpus)
        memory = f"Node {number} MemTotal:  {round(memory_gib * 2**20)} kB"
        self.write(folder / f"node{number}/meminfo", memory)

    def page_sizes(self, *sizes_kb: int) -> None:
        """The sizes of hugepages that the kernel has."""
        for size in sizes_kb:
            path = self.sys / f"kernel/mm/hugepages/hugepages-{size}kB"
            self.write(path / "nr_hugepages", "0")

    def set_aside(self, node: int, size_kb: int, count: int) -> None:
        """Pages of a node, all of them free."""
        pool = self.sys / f"devices/system/node/node{node}/hugepages/hugepages-{size_kb}kB"
        for name in ("nr_hugepages", "free_hugepages"):
            self.write(pool / name, str(count))

    def guest(self) -> None:
        """It has the flag of CPUID that every hypervisor sets."""
        self.write(self.root / "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm")


def tree_of_2(folder: Path) -> HostTree:
    """A guest of two CPUs without SMT and 4 GiB."""
    tree = HostTree(folder)
    tree.cpus("0-1", ["0", "1"])
    tree.node(0, "0-1", 4)
    tree.page_sizes(2048, 1048576)
    tree.guest()
    return tree


def tree_of_40(folder: Path, smt: bool) -> HostTree:
    """Two nodes, even CPUs on 0 and odd ones on 1, as Dell's servers number them, 96 GiB each.

    With SMT there are 20 cores, n and n + 20 being one; without, 40.
    """
    tree = HostTree(folder)
    cores = [f"{cpu},{cpu + 20}" for cpu in range(20)] if smt else [str(cpu) for cpu in range(40)]
    tree.cpus("0-39", cores)
    for node in (0, 1):
        tree.node(node, ",".join(str(cpu) for cpu in range(node, 40, 2)), 96)
    tree.page_sizes(2048, 1048576)
    return tree


def tree_of_64(folder: Path) -> HostTree:
    """Two nodes of 16 cores with two threads each, in blocks: node 0 has 0-15 and 32-47."""
    tree = HostTree(folder)
    tree.cpus("0-63", [f"{cpu},{cpu + 32}" for cpu in range(32)])
    tree.node(0, "0-15,32-47", 192)
    tree.node(1, "16-31,48-63", 192)
    tree.page_sizes(2048, 1048576)
    return tree
