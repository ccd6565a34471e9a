"""A network of one's own: a namespace that ends with the test, even with one that is killed."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.command import until

# Its own /sys, in which DPDK and plimsoll look for the namespace's interfaces.
HOLD = "mount -t sysfs sysfs /sys && ip link set lo up && echo ready && exec sleep infinity"
TOOLS = ("ip", "unshare", "nsenter", "sysctl")


class Network:
    """A namespace; `enter` is the command that runs another one in it."""

    def __init__(self, pid: int) -> None:
        of = f"/proc/{pid}/ns"
        # Without a directory of its own, nsenter would go to the root.
        self.enter = ("nsenter", f"--net={of}/net", f"--mount={of}/mnt", f"--wd={Path.cwd()}")

    def run(self, *words: str) -> str:
        """Run a command in it; its output."""
        done = subprocess.run([*self.enter, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        return done.stdout

    def veth(self, one: str, other: str, queues: int = 1, mtu: int = 1500) -> None:
        """A cable between two new interfaces, both up and silent but for what tests send."""
        many = ("numtxqueues", str(queues), "numrxqueues", str(queues))
        ends = ("mtu", str(mtu), *many, "type", "veth", "peer", "name", other, "mtu", str(mtu))
        self.run("ip", "link", "add", one, *ends, *many)
        self.silence(one, other)
        for end in (one, other):
            self.run("ip", "link", "set", end, "up")

    def bridge(self, name: str, *ports: str) -> None:
        """A Linux bridge between interfaces: a DUT in the kernel."""
        self.run("ip", "link", "add", name, "type", "bridge")
        self.silence(name)
        for port in ports:
            self.run("ip", "link", "set", port, "master", name)
        self.run("ip", "link", "set", name, "up")
        # Ports start to forward a moment after they are up.
        until(lambda: self._forwarding() == len(ports), "the bridge to forward")

    def _forwarding(self) -> int:
        return self.run("bridge", "link").count("state forwarding")

    def silence(self, *names: str) -> None:
        """Keep the kernel from speaking IPv6 on its own."""
        for name in names:
            self.run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")


@contextmanager
def network() -> Iterator[Network]:
    """A network; the test is skipped, with the reason, where none can be had."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"missing here: {', '.join(missing)}")
    holder = subprocess.Popen(
        with_parent_death_signal(["unshare", "--net", "--mount", "sh", "-c", HOLD]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stderr is not None
    try:
        if holder.stdout.readline() != "ready\n":
            pytest.skip(f"no network namespace: {holder.stderr.read().strip()}")
        yield Network(holder.pid)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        holder.stderr.close()
