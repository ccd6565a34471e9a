"""A host made of files: /proc and /sys of 40 CPUs and 200 interrupts, whose counters go on.

`HostTree(root)` writes it, `advance()` lets a second pass on it as on a host that forwards
packets: two CPUs poll, a few keep house, timers tick on all. Everything may be changed by
hand before the next `write()`. Files keep their inodes, as those of procfs do.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.observe.reading.host_files import HostFiles

KERNEL_KINDS = {
    "NMI": "Non-maskable interrupts",
    "LOC": "Local timer interrupts",
    "SPU": "Spurious interrupts",
    "PMI": "Performance monitoring interrupts",
    "IWI": "IRQ work interrupts",
    "RTR": "APIC ICR read retries",
    "RES": "Rescheduling interrupts",
    "CAL": "Function call interrupts",
    "TLB": "TLB shootdowns",
    "TRM": "Thermal event interrupts",
    "THR": "Threshold APIC interrupts",
    "DFR": "Deferred Error APIC interrupts",
    "MCE": "Machine check exceptions",
    "MCP": "Machine check polls",
    "PIN": "Posted-interrupt notification event",
    "NPI": "Nested posted-interrupt event",
    "PIW": "Posted-interrupt wakeup event",
}
# Those that a host without trouble has all the time; the others stand at zero.
_LIVELY_KINDS = ("NMI", "LOC", "PMI", "IWI", "RES", "CAL", "TLB", "MCP")
WHOLE_HOST_KINDS = ("ERR", "MIS")
SOFTIRQS = (
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
)  # fmt: skip
_POLLING = (5, 9)
_STAT_FIELDS = 10


@dataclass
class Line:
    """One line of a table with a column for each CPU: counts by CPU, and the text behind."""

    counts: dict[int, int]
    text: str = ""


@dataclass
class Tables:
    """The figures; whatever a test wants to see in a file it changes here."""

    cpus: list[int]
    interrupts: dict[str, Line] = field(default_factory=dict)
    whole_host: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHOLE_HOST_KINDS, 0))
    softirqs: dict[str, Line] = field(default_factory=dict)
    # The columns of softnet_stat by CPU, without the last that names it.
    softnet: dict[int, list[int]] = field(default_factory=dict)
    # user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms.
    times: dict[int, list[int]] = field(default_factory=dict)
    stat: dict[str, int] = field(default_factory=dict)
    load: str = "0.50 0.40 0.30 3/900 12345"
    vmstat: dict[str, int] = field(default_factory=dict)
    meminfo_kb: dict[str, int] = field(default_factory=dict)
    # Eight counters received, eight sent, in the order of /proc/net/dev.
    devices: dict[str, list[int]] = field(default_factory=dict)


class HostTree:
    """Writes `root`/proc and `root`/sys."""

    def __init__(
        self, root: Path, *, cpus: int = 40, interrupts: int = 200, devices: int = 10, seed: int = 1
    ) -> None:
        self.root = root
        self.files = HostFiles(root / "proc", root / "sys", root / "dev")
        self._random = random.Random(seed)  # noqa: S311 - a made-up host
        self.tables = self._tables(cpus, interrupts, devices)
        self._write_sys(cpus)
        self.write()

    def write(self) -> None:
        """Bring the files up to date with the tables."""
        tables = self.tables
        for name, text in (
            ("interrupts", interrupts_text(tables)),
            ("softirqs", softirqs_text(tables)),
            ("stat", stat_text(tables)),
            ("loadavg", tables.load + "\n"),
            ("vmstat", "".join(f"{word} {n}\n" for word, n in tables.vmstat.items())),
            ("meminfo", "".join(f"{w + ':':<16}{n:>8} kB\n" for w, n in tables.meminfo_kb.items())),
            ("net/dev", devices_text(tables)),
            ("net/softnet_stat", softnet_text(tables)),
        ):
            path = self.files.proc / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))

    def set_sys(self, name: str, value: object) -> None:
        """Write one file below /sys."""
        path = self.files.sys / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")

    def offline(self, cpu: int) -> None:
        """Take a CPU away: its columns and lines vanish, its counters stay in the kernel."""
        self.tables.cpus.remove(cpu)

    def online(self, cpu: int) -> None:
        """Bring it back."""
        self.tables.cpus = sorted([*self.tables.cpus, cpu])

    def advance(self) -> None:
        """A second passes; `write` shows it."""
        for cpu in self.tables.cpus:
            self._advance_cpu(cpu)
        self._advance_devices()
        tables, draw = self.tables, self._random.randrange
        tables.stat["ctxt"] += draw(2_000, 40_000)
        tables.stat["processes"] += draw(20)
        tables.stat["procs_running"] = draw(1, 8)
        tables.load = f"{draw(600) / 100:.2f} 4.40 4.07 {draw(1, 8)}/{draw(890, 910)} {draw(99999)}"
        for word in ("pgpgout", "pgfault", "pgfree"):
            tables.vmstat[word] += draw(9_000)
        tables.meminfo_kb["MemFree"] += draw(-4_000, 4_000)

    def _advance_cpu(self, cpu: int) -> None:
        draw = self._random.randrange
        lines, softirqs = self.tables.interrupts, self.tables.softirqs
        polling = cpu in _POLLING
        lines["LOC"].counts[cpu] += 1 if polling else draw(5, 250)
        for kind, chance in (("RES", 0.5), ("CAL", 0.3), ("IWI", 0.2), ("TLB", 0.1)):
            if not polling and self._random.random() < chance:
                lines[kind].counts[cpu] += draw(1, 60)
        for kind, chance in (("TIMER", 0.8), ("SCHED", 0.8), ("RCU", 0.9), ("NET_RX", 0.25)):
            if not polling and self._random.random() < chance:
                softirqs[kind].counts[cpu] += draw(1, 200)
                if kind == "NET_RX":
                    self.tables.softnet[cpu][0] += draw(1, 500)
        busy = 100 if polling else min(100, draw(60) if cpu < 4 else draw(4))
        system, soft = (0, 0) if polling else (busy // 3, busy // 10)
        for state, ticks in ((0, busy - system - soft), (2, system), (3, 100 - busy), (6, soft)):
            self.tables.times[cpu][state] += ticks

    def _advance_devices(self) -> None:
        draw = self._random.randrange
        numbered = [line for irq, line in self.tables.interrupts.items() if irq.isdigit()]
        # A quarter of the devices' interrupts fires, each where it is bound to.
        for line in numbered[::4]:
            home = max(self.tables.cpus, key=lambda cpu: line.counts[cpu])
            line.counts[home] += draw(1, 50)
        for counters in list(self.tables.devices.values())[:4]:
            packets = draw(10, 3_000)
            for column, amount in (
                (0, 200 * packets),
                (1, packets),
                (8, 90 * packets),
                (9, packets),
            ):
                counters[column] += amount

    def _tables(self, cpus: int, interrupts: int, devices: int) -> Tables:
        everywhere, draw = range(cpus), self._random.randrange
        tables = Tables(list(everywhere))
        for number in range(interrupts):
            line = Line(dict.fromkeys(everywhere, 0), device_text(number))
            # Nine in ten have fired: on one CPU, or on a second since somebody moved them.
            if number % 10:
                line.counts[number % cpus] = draw(1_000, 10**6)
            if number % 10 == 3:
                line.counts[(number * 7 + 1) % cpus] = draw(1, 1_000)
            tables.interrupts[str(number + 24)] = line
        for kind, text in KERNEL_KINDS.items():
            lively = kind in _LIVELY_KINDS
            counts = {cpu: draw(10**4, 10**8) if lively else 0 for cpu in everywhere}
            tables.interrupts[kind] = Line(counts, text)
        for kind in SOFTIRQS:
            lively = kind not in ("HI", "IRQ_POLL")
            tables.softirqs[kind] = Line(
                {cpu: draw(10**4, 10**8) if lively else 0 for cpu in everywhere}
            )
        for cpu in everywhere:
            tables.softnet[cpu] = [draw(10**6), *[0] * 11]
            tables.times[cpu] = [draw(10**6) for _ in range(7)] + [0, 0, 0]
        tables.stat = {
            "ctxt": 10**9, "btime": 1_780_000_000, "processes": 10**6,
            "procs_running": 3, "procs_blocked": 0,
        }  # fmt: skip
        # 180 words stand around those that anybody reads.
        tables.vmstat = {"nr_free_pages": 10**7, **{f"before_{n}": n for n in range(90)}}
        tables.vmstat |= dict.fromkeys(("pgpgin", "pgpgout", "pgfree", "pgfault", "pgmajfault"), 77)
        tables.vmstat |= {f"after_{n}": n for n in range(90)}
        tables.meminfo_kb = {
            "MemTotal": 10**8, "MemFree": 6 * 10**7, "MemAvailable": 8 * 10**7, "Buffers": 10**5,
            "Cached": 10**7, "SwapCached": 0, "Slab": 10**6, "SReclaimable": 5 * 10**5,
        }  # fmt: skip
        tables.devices = {name: [0] * 16 for name in ["lo", *(f"eth{n}" for n in range(devices))]}
        return tables

    def _write_sys(self, cpus: int) -> None:
        self.set_sys("devices/system/cpu/online", f"0-{cpus - 1}")
        for cpu in range(cpus):
            topology = f"devices/system/cpu/cpu{cpu}/topology"
            half = cpus // 2
            self.set_sys(f"{topology}/physical_package_id", cpu % 2)
            self.set_sys(f"{topology}/die_id", 0)
            self.set_sys(f"{topology}/core_id", cpu % half // 2)
            self.set_sys(f"{topology}/thread_siblings_list", f"{cpu % half},{cpu % half + half}")
        for node in (0, 1):
            for size, pages in (("2048kB", 0), ("1048576kB", 16)):
                pool = f"devices/system/node/node{node}/hugepages/hugepages-{size}"
                self.set_sys(f"{pool}/nr_hugepages", pages)
                self.set_sys(f"{pool}/free_hugepages", pages)
        for device in self.tables.devices:
            self.set_sys(f"class/net/{device}/ifindex", 1)
            if device != "lo":
                self.set_sys(f"class/net/{device}/device/vendor", "0x8086")


def device_text(number: int) -> str:
    """What stands behind the counts of a device's interrupt."""
    port, queue = number % 2, number // 2
    return f"IR-PCI-MSI {524288 + number}-edge      i40e-ens7f{port}-TxRx-{queue}"


def interrupts_text(tables: Tables) -> str:
    """/proc/interrupts: the CPUs that are online."""
    return _table(tables.interrupts, tables.cpus, 8) + "".join(
        f"{kind}: {total:>10}\n" for kind, total in tables.whole_host.items()
    )


def softirqs_text(tables: Tables) -> str:
    """/proc/softirqs: all possible CPUs, whether or not they are online."""
    return _table(tables.softirqs, list(tables.times), 12)


def softnet_text(tables: Tables) -> str:
    """/proc/net/softnet_stat of a kernel that names the CPU."""
    return "".join(
        " ".join(f"{count % 2**32:08x}" for count in [*tables.softnet[cpu], cpu, 0, 0]) + "\n"
        for cpu in tables.cpus
    )


def stat_text(tables: Tables) -> str:
    """/proc/stat."""
    times = [tables.times[cpu] for cpu in tables.cpus]
    total = [sum(each[state] for each in times) for state in range(_STAT_FIELDS)]
    irqs = [sum(line.counts.values()) for irq, line in tables.interrupts.items() if irq.isdigit()]
    return (
        f"cpu  {_words(total)}\n"
        + "".join(f"cpu{c} {_words(tables.times[c])}\n" for c in tables.cpus)
        + f"intr {_words([sum(irqs), *irqs])}\n"
        + "".join(f"{word} {value}\n" for word, value in tables.stat.items())
        + "softirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )


def devices_text(tables: Tables) -> str:
    """/proc/net/dev."""
    headings = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast"
        "|bytes    packets errs drop fifo colls carrier compressed\n"
    )
    return headings + "".join(
        f"{name:>6}: {_words(counters)}\n" for name, counters in tables.devices.items()
    )


def _table(lines: dict[str, Line], cpus: list[int], indent: int) -> str:
    width = max(map(len, lines), default=3)
    header = " " * (width + indent) + "".join(f"CPU{cpu:<8}" for cpu in cpus)
    rows = (
        f"{name:>{width}}:"
        + "".join(f" {line.counts.get(cpu, 0) % 2**32:>10}" for cpu in cpus)
        + (f"  {line.text}" if line.text else "")
        for name, line in lines.items()
    )
    return "\n".join([header, *rows]) + "\n"


def _words(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))
