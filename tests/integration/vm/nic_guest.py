"""A guest of QEMU with four emulated network cards on two cables, and an IOMMU before them.

Its processor is emulated as well: what passes is shown, and no rate or latency means anything.
Its file system is this machine's, read-only under a layer in memory, by 9p: engine, Python and
dpdk-testpmd there are those of here, at the same paths.
"""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.dut.guest.vm_image import initramfs
from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.vm.guest import CannotBoot
from tests.tried_again import SpoiltByMachine, tried_again

ROOT = Path(__file__).parents[3]
# Where `make vm-nics` unpacks QEMU, a kernel and its modules.
UNPACKED = ROOT / "build" / "vm-nics"
HERE = Path(__file__).parent
# In the order of their need of each other; a kernel may have one built in.
_SHARING_MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci"),
    *("netfs", "fscache", "9pnet", "9pnet_virtio", "9p", "overlay", "virtio_console"),
)
_CARD_MODULES = (
    *(
        "tun",
        "macvlan",
        "failover",
        "net_failover",
        "virtio_net",
        "vmxnet3",
        "e1000e",
        "dca",
        "i2c-algo-bit",
        "igb",
    ),
    *("irqbypass", "vfio", "vfio_virqfd", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci"),
)
# Card n is at PCI address 0000:0n:00.0. Cards 1 and 3 share a cable, and so do 2 and 4.
CABLES = {1: 1, 2: 2, 3: 1, 4: 2}
CARDS = {number: f"0000:{number:02x}:00.0" for number in CABLES}
# By QEMU's name of the card: what it needs to be reached through the IOMMU.
MODELS = {
    "igb": "",
    "e1000e": "",
    "vmxnet3": "",
    "virtio-net-pci": ",disable-legacy=on,iommu_platform=on",
}
# Nobody waits for ever; a boot takes some 15 s of a 3 GHz core, and others may have it. Of some
# thirty, one stood still and one ended by an assertion of QEMU's: such a one is begun anew.
LONGEST_BOOT_S = 300.0
# Of one command: Python takes its ten seconds to start.
LONGEST_COMMAND_S = 900.0
_POLL_S = 0.1
# QEMU 10.0 loses an interrupt now and then (seen: one that stays in service for ever), so that a
# processor has no ticks any more and the guest stands still; 11.1 has not yet been seen to. One
# that is slow says that it lives.
_LONGEST_SILENCE_S = 180.0
_CPUS, _MEGABYTES, _HUGEPAGES = 3, 2048, 384


@dataclass(frozen=True)
class Ended:
    """What a command in the guest said, on both of its outputs, and its exit status."""

    said: str
    status: int


@dataclass(frozen=True)
class Machine:
    """What a guest has beyond its processors and the host's file system.

    `modules` are loaded in this order; of those that are `needed`, none may be missing.
    """

    devices: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    iommu: bool = False
    arguments: str = ""


def check_parts(machine: Machine) -> None:
    """Raise CannotBoot, with what is missing, where no such guest can be booted."""
    if not (UNPACKED / "vmlinuz").exists():
        raise CannotBoot("there are no QEMU and kernel with network cards (make vm-nics)")
    if shutil.which("busybox") is None:
        raise CannotBoot("there is no busybox (package busybox-static)")
    if missing := [name for name in machine.needed if not _module(name)]:
        raise CannotBoot(f"{', '.join(missing)} was not unpacked (make vm-nics)")


class NicGuest:
    """One that has booted. `engine_socket` is the host's end of /dev/vport*p1 in the guest."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._process = process
        self._numbers = itertools.count(1)

    def start(self, script: str) -> str:
        """Start a script of the guest's shell; its name."""
        name = f"command{next(self._numbers)}"
        begun = self.folder / "shared" / f"{name}.new"
        begun.write_text(f"{script}\n")
        begun.rename(begun.with_suffix(".sh"))
        return name

    def wait(self, name: str) -> Ended:
        """Until it has ended."""
        status = self.folder / "shared" / f"{name}.status"
        deadline = time.monotonic() + LONGEST_COMMAND_S
        while not status.exists():
            self._check(f"{name} does not end", deadline)
            time.sleep(_POLL_S)
        said = status.with_suffix(".out").read_text(errors="replace")
        return Ended(said, int(status.read_text()))

    def run(self, script: str) -> Ended:
        """Start it and wait."""
        return self.wait(self.start(script))

    def must(self, script: str) -> str:
        """What it says; its status must be 0."""
        ended = self.run(script)
        assert ended.status == 0, ended.said
        return ended.said

    def plimsoll(self, arguments: str, path: Path = Path("/usr/bin")) -> Ended:
        """Run a command of this tree's own Plimsoll, to which programs in `path` come first."""
        return self.wait(self.start_plimsoll(arguments, path))

    def start_plimsoll(self, arguments: str, path: Path = Path("/usr/bin")) -> str:
        """Start one, whose pid is then in /run/plimsoll.pid; its name."""
        command = f"{ROOT / '.venv' / 'bin' / 'python'} -m plimsoll.cli {arguments}"
        return self.start(
            f"cd /shared; export PYTHONPATH={ROOT} PATH={path}:$PATH; "
            f"echo $$ >/run/plimsoll.pid; exec {command}"
        )

    def bind_by_hand(self, *addresses: str) -> None:
        """Give cards to vfio-pci without a line of Plimsoll's."""
        for address in addresses:
            device = f"/sys/bus/pci/devices/{address}"
            self.must(
                f"echo vfio-pci >{device}/driver_override\n"
                f"[ ! -e {device}/driver ] || echo {address} >{device}/driver/unbind\n"
                f"echo {address} >/sys/bus/pci/drivers_probe\n"
                f"[ $(basename $(readlink {device}/driver)) = vfio-pci ]"
            )

    def set_link(self, number: int, *, up: bool) -> None:
        """Plug the cable of a card in, or pull it out."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as monitor:
            monitor.settimeout(60.0)
            monitor.connect(str(self.folder / "monitor"))
            lines = monitor.makefile("rw")
            arguments = {"name": f"nic{number}", "up": up}
            for request in (
                {"execute": "qmp_capabilities"},
                {"execute": "set_link", "arguments": arguments},
            ):
                lines.write(json.dumps(request) + "\n")
                lines.flush()
                while "return" not in (answer := json.loads(lines.readline())):
                    assert "error" not in answer, answer

    def end(self) -> None:
        """As if by pulling the plug."""
        self._process.kill()
        self._process.wait()

    def wait_up(self) -> None:
        """Until it has booted. Raises AssertionError where it does not."""
        deadline = time.monotonic() + LONGEST_BOOT_S
        while not (self.folder / "shared" / "up").exists():
            self._check("the guest does not boot", deadline)
            time.sleep(_POLL_S)

    def _check(self, hangs: str, deadline: float) -> None:
        ended = self._process.poll()
        if ended is None and time.monotonic() < deadline and not self._stands_still():
            return
        console = (self.folder / "console").read_text(errors="replace")[-4000:]
        qemu = (self.folder / "qemu").read_text(errors="replace")
        stands = " (the guest stands still)" if self._stands_still() else ""
        raise AssertionError(f"{hangs}{stands}; QEMU's status is {ended}: {qemu}\n{console}")

    def _stands_still(self) -> bool:
        alive = self.folder / "shared" / "alive"
        return alive.exists() and time.time() - alive.stat().st_mtime > _LONGEST_SILENCE_S


@contextmanager
def booted(model: str, folder: Path) -> Iterator[NicGuest]:
    """A guest with four cards of that model, which is gone afterwards. Files stay in `folder`.

    Raises CannotBoot where parts are missing.
    """
    machine = Machine(
        tuple(word for number, cable in CABLES.items() for word in _card(model, number, cable)),
        _CARD_MODULES,
        iommu=True,
        arguments="intel_iommu=on ipv6.disable_ipv6=1",
    )
    with booted_machine(machine, folder) as guest:
        yield guest


@contextmanager
def booted_machine(machine: Machine, folder: Path) -> Iterator[NicGuest]:
    """A guest that is gone afterwards. Files stay in `folder`.

    Raises CannotBoot where parts are missing.
    """
    check_parts(machine)
    shared = folder / "shared"
    shared.mkdir()
    shutil.copy(HERE / "nic_serve.sh", shared / "serve")
    (folder / "initramfs").write_bytes(_initramfs((*_SHARING_MODULES, *machine.modules)))
    guest = tried_again(lambda: _boot(with_parent_death_signal(_qemu(machine, folder)), folder))
    try:
        yield guest
    finally:
        guest.end()


def _boot(command: Sequence[str], folder: Path) -> NicGuest:
    """Raises SpoiltByMachine where it does not boot."""
    with (folder / "qemu").open("wb") as said:
        guest = NicGuest(folder, subprocess.Popen(command, stdout=said, stderr=said))
    try:
        guest.wait_up()
    except AssertionError as error:
        guest.end()
        raise SpoiltByMachine(str(error)) from error
    except BaseException:
        guest.end()
        raise
    return guest


def _initramfs(names: Sequence[str]) -> bytes:
    found = {name: _module(name) for name in names}
    modules = {name: content for name, content in found.items() if content}
    files = {
        "init": (HERE / "nic_init.sh").read_bytes(),
        "bin/busybox": Path(shutil.which("busybox") or "").read_bytes(),
        **{f"modules/{name}.ko": content for name, content in modules.items()},
        "modules/order": "".join(f"{name}.ko\n" for name in modules).encode(),
    }
    return gzip.compress(initramfs(files), 1)


def _module(name: str) -> bytes:
    """Empty where it was not unpacked."""
    plain = UNPACKED / "modules" / f"{name}.ko"
    packed = plain.with_suffix(".ko.xz")
    if packed.exists():
        return lzma.decompress(packed.read_bytes())
    return plain.read_bytes() if plain.exists() else b""


def _qemu(machine: Machine, folder: Path) -> list[str]:
    return [
        str(UNPACKED / "qemu-system-x86_64"),
        # Through x2APIC's registers QEMU 10.0 loses the ends of interrupts, now and then (seen: the
        # one of an IPI stayed in service, so no timer came any more): those by memory are locked.
        *("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max,-x2apic"),
        *("-smp", str(_CPUS), "-m", str(_MEGABYTES)),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-serial", f"file:{folder / 'console'}"),
        *("-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"),
        *(("-device", "intel-iommu,intremap=on,eim=off") if machine.iommu else ()),
        *_shared_folder("host", Path("/"), "readonly=on,multidevs=remap"),
        *_shared_folder("shared", folder / "shared", "readonly=off"),
        *("-chardev", f"socket,id=engine,path={folder / 'engine'},server=on,wait=off"),
        *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=engine"),
        *machine.devices,
        *("-kernel", str(UNPACKED / "vmlinuz"), "-initrd", str(folder / "initramfs")),
        "-append",
        f"console=ttyS0 quiet loglevel=4 panic=-1 tsc=reliable rcupdate.rcu_cpu_stall_suppress=1 "
        f"hugepages={_HUGEPAGES} {machine.arguments}",
    ]


def _shared_folder(tag: str, path: Path, options: str) -> tuple[str, ...]:
    return (
        *("-fsdev", f"local,id={tag},path={path},security_model=none,{options}"),
        *("-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
    )


def _card(model: str, number: int, cable: int) -> tuple[str, ...]:
    """Behind a port of its own, so that it has an IOMMU group and a bus of its own."""
    mac = f"52:54:00:00:00:{number:02x}"
    return (
        *("-device", f"pcie-root-port,id=slot{number},chassis={number},slot={number}"),
        *("-netdev", f"hubport,id=net{number},hubid={cable}"),
        "-device",
        f"{model},netdev=net{number},id=nic{number},bus=slot{number},mac={mac},romfile="
        f"{MODELS[model]}",
    )
