"""A resctrl file system made of files, which does what the kernel's documentation says.

Constructed after Documentation/filesystems/resctrl.rst of Linux 6.18: three machines, and what
making groups and writing to files comes to. No hardware with RDT was at hand.
"""

import errno
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.host.resctrl.filesystem import Resctrl, parse_schemata


@dataclass
class Machine:
    """`info` by file, and the default group's schemata as they are after mounting."""

    info: dict[str, str]
    schemata: str
    options: frozenset[str] = frozenset()
    vendor: str = "GenuineIntel"
    cpus: str = "0-7"
    most_groups: int = 15
    # What the hardware makes of a number written to MB.
    bandwidth_step: int = 10
    files: dict[str, str] = field(default_factory=dict)


def xeon() -> Machine:
    """Two sockets of 11 ways each, of which devices share the two highest; shares in percent."""
    return Machine(
        info={
            "L3/num_closids": "15",
            "L3/cbm_mask": "7ff",
            "L3/min_cbm_bits": "1",
            "L3/shareable_bits": "600",
            "L3/bit_usage": "0=XXSSSSSSSSS;1=XXSSSSSSSSS",
            "L3/sparse_masks": "0",
            "MB/num_closids": "8",
            "MB/min_bandwidth": "10",
            "MB/bandwidth_gran": "10",
            "MB/delay_linear": "1",
            "MB/thread_throttle_mode": "per-thread",
            "L3_MON/num_rmids": "224",
            "L3_MON/event_configs/mbm_total_bytes/event_filter": "local_reads,remote_reads",
            "L3_MON/mon_features": "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes",
            "last_cmd_status": "ok",
        },
        schemata="    MB:0=100;1=100\n    L3:0=7ff;1=7ff",
        most_groups=8,
    )


def xeon_with_cdp() -> Machine:
    """The same, mounted with -o cdp,mba_MBps: code and data apart, bandwidth in MB/s."""
    machine = xeon()
    of_l3 = {name: text for name, text in machine.info.items() if name.startswith("L3/")}
    for name, text in of_l3.items():
        del machine.info[name]
        for part in ("L3CODE", "L3DATA"):
            machine.info[name.replace("L3/", f"{part}/")] = text
    for part in ("L3CODE", "L3DATA"):
        machine.info[f"{part}/num_closids"] = "7"
    machine.schemata = "    MB:0=4294967295;1=4294967295\nL3DATA:0=7ff;1=7ff\nL3CODE:0=7ff;1=7ff"
    machine.options = frozenset({"rw", "relatime", "cdp", "mba_MBps"})
    machine.most_groups, machine.bandwidth_step = 7, 1
    return machine


def epyc() -> Machine:
    """One socket, two complexes of 16 ways; masks with gaps, bandwidth in eighths of GB/s."""
    return Machine(
        info={
            "L3/num_closids": "16",
            "L3/cbm_mask": "ffff",
            "L3/min_cbm_bits": "0",
            "L3/shareable_bits": "0",
            "L3/bit_usage": f"0={'S' * 16};8={'S' * 16}",
            "MB/num_closids": "16",
            "MB/min_bandwidth": "1",
            "MB/bandwidth_gran": "1",
            "last_cmd_status": "ok",
        },
        schemata="    MB:0=2048;8=2048\n    L3:0=ffff;8=ffff",
        vendor="AuthenticAMD",
        most_groups=16,
        bandwidth_step=1,
    )


class DocumentedResctrl(Resctrl):
    """The kernel's part is in `make`, `write` and `remove`; all else is read from files."""

    def __init__(self, root: Path, machine: Machine) -> None:
        super().__init__(root, machine.options, machine.vendor)
        self.machine = machine
        # Each command in order, for tests of what comes before what.
        self.commands: list[str] = []
        for name, text in machine.info.items():
            self.place(f"info/{name}", text)
        self._fill("", machine.cpus)

    def place(self, name: str, text: str) -> None:
        """A file as the kernel shows it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def make(self, group: str) -> None:
        self.commands.append(f"mkdir {group}")
        if len(self.groups_that_count) + 1 >= self.machine.most_groups:
            self._refuse(errno.ENOSPC, "out of CLOSIDs")
        super().make(group)
        self._fill(f"{group}/", "")

    def remove(self, group: str) -> bool:
        self.commands.append(f"rmdir {group}")
        folder = self.root / group
        if not folder.exists():
            return super().remove(group)
        own = self.cpus_of(group)
        for file in folder.iterdir():
            file.unlink()
        super().remove(group)
        self._own("cpus_list", own | parse_cpu_list_or_none(self.read("cpus_list")))
        return True

    def write(self, name: str, text: str) -> None:
        self.commands.append(f"{name}: {text}")
        self.place("info/last_cmd_status", "ok")
        folder, _, file = name.rpartition("/")
        if file == "schemata":
            self._allocate(name, text)
        elif file == "cpus_list" and folder:
            cpus = frozenset(parse_cpu_list(text))
            self._own("cpus_list", parse_cpu_list_or_none(self.read("cpus_list")) - cpus)
            self._own(name, cpus)
        else:
            raise PermissionError(errno.EACCES, "Permission denied")

    def _allocate(self, name: str, text: str) -> None:
        present = parse_schemata(self.read(name))
        for resource, values in parse_schemata(text).items():
            if resource not in present:
                self._refuse(errno.EINVAL, f"Unknown or unsupported resource name '{resource}'")
            for cache, value in values.items():
                if resource == "MB":
                    step = self.machine.bandwidth_step
                    present[resource][cache] = str(-(-int(value) // step) * step)
                else:
                    self._check_mask(int(value, 16))
                    present[resource][cache] = f"{int(value, 16):x}"
        lines = (
            f"{resource:>6}:" + ";".join(f"{cache}={value}" for cache, value in values.items())
            for resource, values in present.items()
        )
        self.place(name, "\n".join(lines))

    def _check_mask(self, mask: int) -> None:
        resource = "L3" if "L3/cbm_mask" in self.machine.info else "L3CODE"
        if mask > int(self.machine.info[f"{resource}/cbm_mask"], 16):
            self._refuse(errno.EINVAL, "Mask out of range")
        if "0" in f"{mask:b}".strip("0") and self.vendor == "GenuineIntel":
            self._refuse(errno.EINVAL, f"The mask {mask:x} has non-consecutive 1-bits")

    def _refuse(self, number: int, said: str) -> None:
        self.place("info/last_cmd_status", said)
        raise OSError(number, "refused")

    def _fill(self, folder: str, cpus: str) -> None:
        self.place(f"{folder}schemata", self.machine.schemata)
        self.place(f"{folder}cpus_list", cpus)
        self.place(f"{folder}tasks", "")
        self.place(f"{folder}mode", "shareable")

    def _own(self, name: str, cpus: frozenset[int]) -> None:
        self.place(name, format_cpu_list(cpus))


def parse_cpu_list_or_none(text: str) -> frozenset[int]:
    return frozenset(parse_cpu_list(text)) if text else frozenset()
