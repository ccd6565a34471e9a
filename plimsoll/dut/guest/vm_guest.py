"""A guest in a virtual machine: QEMU with virtio-net, whose Linux or testpmd joins its two ports.

What its cards hang on is vhost-user's sockets or taps (guest_ports.py). Without KVM QEMU emulates
the processor (TCG): frames pass then, and no rate means anything.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from plimsoll.dut.guest.guest import GuestCounts, GuestForwarding, GuestHangs, GuestPlace
from plimsoll.dut.guest.guest_ports import PORTS, GuestPorts
from plimsoll.dut.guest.vm_image import VmImage
from plimsoll.dut.lab import DutProcess, LabDied
from plimsoll.dut.needs import NeededProgram
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime, wait_until

QEMU = NeededProgram("qemu-system-x86_64", "qemu-system-x86 (Debian, Ubuntu)")
TASKSET = NeededProgram("taskset", "util-linux")
_MEGABYTES = 256
# With testpmd also its files, twice while they are unpacked, and its packet memory.
_TESTPMD_MEGABYTES, _TESTPMD_HUGEPAGES = 768, 128
_RX_RING_SIZE = 1024
# A boot under emulation takes some 10 s of a CPU, and that CPU may be shared with polling loops.
_BOOT_TIMEOUT_S = 300.0
_ANSWER_TIMEOUT_S = 30.0
# A request may be lost before the guest listens; an answer of testpmd takes its shell a second
# under emulation, and what is requested sooner again would never be answered in time.
_FIRST_ANSWER_TIMEOUT_S = 5.0
_END_PATIENCE_S = 5.0
_POLL_S = 0.2
_COUNTS = 4


class VmGuest:
    """One QEMU, on one CPU."""

    def __init__(
        self,
        place: GuestPlace,
        ports: GuestPorts,
        image: VmImage,
        ledger: Ledger,
        lifetime: Lifetime,
        *,
        forwarding: GuestForwarding,
    ) -> None:
        self.name: str = place.name
        self._place = place
        self._ports = ports
        self._image = image
        self._forwarding: GuestForwarding = forwarding
        self._ledger = ledger
        self._lifetime: Lifetime = lifetime
        self._accelerator = "kvm" if _has_kvm() else "tcg"
        self._child: Child | None = None
        self._facts: dict[str, object] = {}
        self._requests = 0

    @property
    def note(self) -> str | None:
        """What its frames do not tell; None with KVM."""
        if self._accelerator == "kvm":
            return None
        return (
            f"{self.name} is emulated, as this machine has no KVM: that frames pass it is shown, "
            "and no rate or latency of it means anything"
        )

    def start(self) -> None:
        """Start it; with vhost-user it boots once the switch has connected to both ports."""
        initramfs = self._ledger.directory / f"{self.name}.initramfs"
        initramfs.write_bytes(self._image.initramfs())
        argv = (TASKSET.find(), "-c", str(self._place.cpu), *self._qemu(initramfs))
        child = self._child = Child.start(
            argv,
            log=self._ledger.directory / f"{self.name}.log",
            environment=self._ledger.environment,
            lifetime=self._lifetime,
            # A tap that is there already takes no more than a socket does.
            needed=frozenset(),
            namespace=self._ports.namespace,
        )
        child.name = f"{self.name} (qemu)"
        self._ledger.note_process(self.name, child.identity)
        joins = f"dpdk-testpmd ({self._forwarding})" if self._with_testpmd else "Linux's bridge"
        by = f"{joins} in QEMU ({self._accelerator}), on virtio-net by {self._ports.backend}"
        self._facts = {
            "by": by,
            "argv": list(argv),
            "pid": child.pid,
        }

    def wait_ready(self) -> None:
        """Return once it forwards, which is when it answers for the first time."""

        def answers() -> bool:
            return self._ask(_FIRST_ANSWER_TIMEOUT_S) is not None

        if not wait_until(answers, _BOOT_TIMEOUT_S, every_s=_POLL_S, check=self.check):
            raise MachineError(
                f"{self.name} did not boot within {_BOOT_TIMEOUT_S:g} s",
                where="lab.guest",
                remedy=f"see {self.name}.console in the lab's directory",
            )

    def check(self) -> None:
        """Raise LabDied if it has ended."""
        if self._child is not None and (status := self._child.exit_status()) is not None:
            raise LabDied(self._child, status)

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        """Of both ports since it booted, as its Linux or its testpmd counts them."""
        counted = self._ask(_ANSWER_TIMEOUT_S)
        if counted is None:
            self.check()
            raise GuestHangs(self.name, f"nothing came for {_ANSWER_TIMEOUT_S:g} s")
        return counted

    def processes(self) -> tuple[DutProcess, ...]:
        """The one QEMU."""
        return (DutProcess(self.name, self._child.pid),) if self._child else ()

    def facts(self) -> dict[str, object]:
        """How it was started."""
        return {**self._facts, "cpu": self._place.cpu}

    def stop(self) -> None:
        """End it, and remove what it leaves of its ports."""
        if self._child is None:
            return
        self._child.end(_END_PATIENCE_S)
        self._child = None
        self._ports.remove()
        self._serial.unlink(missing_ok=True)

    @property
    def _with_testpmd(self) -> bool:
        return self._forwarding != "bridge"

    @property
    def _kernel_command(self) -> str:
        """What the kernel does not know of it is in the environment of its first program."""
        settings = f"MTU={self._ports.mtu} FORWARDING={self._forwarding}"
        pages = f"hugepages={_TESTPMD_HUGEPAGES} " if self._with_testpmd else ""
        return f"console=ttyS0 quiet loglevel=3 panic=-1 ipv6.disable=1 {pages}{settings}"

    @property
    def _serial(self) -> Path:
        return self._ledger.directory / f"{self.name}.serial"

    def _qemu(self, initramfs: Path) -> tuple[str, ...]:
        console = self._ledger.directory / f"{self.name}.console"
        cpu = "host" if self._accelerator == "kvm" else "max"
        megabytes = _TESTPMD_MEGABYTES if self._with_testpmd else _MEGABYTES
        return (
            *(QEMU.find(), "-accel", self._accelerator, "-machine", "q35,memory-backend=memory"),
            *("-cpu", cpu, "-smp", "1", "-m", str(megabytes)),
            *("-object", f"memory-backend-memfd,id=memory,size={megabytes}M,share=on"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-serial", f"file:{console}"),
            *("-serial", f"unix:{self._serial},server=on,wait=off"),
            *(word for port in PORTS for word in self._port(port)),
            *("-kernel", str(self._image.kernel), "-initrd", str(initramfs)),
            *("-append", self._kernel_command),
        )

    def _port(self, port: int) -> tuple[str, ...]:
        accelerated = self._accelerator == "kvm"
        # No offloads: what arrives is a frame as it was sent.
        offloads = ("csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn")
        plain = ",".join(f"{each}=off" for each in offloads)
        # Without KVM QEMU 7.2 dies (SIGSEGV) of vhost-user's queues with vectors of their own.
        vectors = "" if accelerated else ",vectors=0"
        # QEMU's own prefix: a bridge keeps what goes to its own address.
        mac = f"52:54:00:00:{self._place.number:02x}:{port:02x}"
        return (
            *self._ports.qemu_netdev(port, accelerated=accelerated),
            "-device",
            f"virtio-net-pci,netdev=net{port},mac={mac},rx_queue_size={_RX_RING_SIZE},"
            f"tx_queue_size={self._ports.qemu_ring},{plain},romfile={vectors}",
        )

    def _ask(self, timeout_s: float) -> tuple[GuestCounts, GuestCounts] | None:
        """Its counts; None where no answer to this very request comes in time."""
        self._requests += 1
        request = f"r{self._requests}"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as serial:
                serial.settimeout(timeout_s)
                serial.connect(str(self._serial))
                serial.sendall(f"{request}\n".encode())
                return _answer(serial, request, time.monotonic() + timeout_s)
        except OSError:
            # Neither the socket nor its other end may be there yet.
            return None


def _answer(
    serial: socket.socket, request: str, deadline: float
) -> tuple[GuestCounts, GuestCounts] | None:
    said = b""
    while time.monotonic() < deadline:
        if not (more := serial.recv(4096)):
            return None
        said += more
        for line in said.decode(errors="replace").splitlines(keepends=True):
            words = line.split()
            whole = line.endswith("\n") and len(words) == 1 + _COUNTS
            if whole and words[0] == request and all(word.isdecimal() for word in words[1:]):
                first_in, first_out, second_in, second_out = map(int, words[1:])
                return GuestCounts(first_in, first_out), GuestCounts(second_in, second_out)
    return None


def _has_kvm() -> bool:
    """Whether this CPU runs guests. A /dev/kvm that opens does not say so (seen: it did not)."""
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return bool({"vmx", "svm"} & set(flags)) and os.access("/dev/kvm", os.R_OK | os.W_OK)
