"""`plimsoll tune audit --fix`: what it would have an administrator do, by who keeps the host."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from tests.unit.tune.audit.processes import KTHREADD, running
from tests.worded.says import Says, passage

runner = CliRunner()
CPU = "/sys/devices/system/cpu"
PORT = "/sys/devices/pci0000:80/0000:80:02.0/0000:87:00.0"
RHEL = 'ID="rhel"\nVERSION_ID="9.4"\n'
# RHEL CoreOS since OpenShift 4.19.
RHCOS = 'ID="rhel"\nVARIANT_ID=coreos\nOPENSHIFT_VERSION="4.19"\n'
DEBIAN = "PRETTY_NAME=Debian\nID=debian\n"
# A host where little is as any of the intents below has it.
WRONG = (
    KTHREADD
    | running(600, "chronyd")
    | running(601, "irqbalance")
    | {
        "/proc/cmdline": "ro quiet",
        "/proc/cpuinfo": "vendor_id\t: GenuineIntel\nflags\t\t: fpu constant_tsc nonstop_tsc\n",
        "/proc/meminfo": "MemAvailable:    65536 kB\nHugepagesize:       2048 kB\n",
        "/proc/swaps": "Filename Type Size Used Priority\n/dev/sda2 partition 4096 1024 -2\n",
        "/proc/irq/default_smp_affinity": "f",
        "/proc/sys/kernel/timer_migration": "0",
        "/proc/sys/vm/stat_interval": "1",
        "/proc/sys/kernel/nmi_watchdog": "1",
        "/proc/sys/kernel/soft_watchdog": "1",
        "/proc/sys/kernel/watchdog_cpumask": "0-3",
        "/etc/tuned/active_profile": "balanced",
        f"{CPU}/online": "0-3",
        f"{CPU}/nohz_full": "",
        "/sys/devices/virtual/workqueue/cpumask": "f",
        "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        "/sys/kernel/mm/ksm/run": "1",
        "/sys/bus/pci/devices/0000:87:00.0/sriov_numvfs": "2",
        "/sys/bus/pci/devices/0000:87:00.0/vendor": "0x8086",
        "/sys/class/net/ens7f0/mtu": "1500",
        **{f"{CPU}/cpu{n}/cpufreq/scaling_governor": "powersave" for n in range(4)},
        **{
            f"{CPU}/cpu{n}/cpuidle/state0/{name}": text
            for n in range(4)
            for name, text in (("name", "C1E"), ("latency", "2"), ("disable", "0"))
        },
    }
)
INTENT = """\
name: declared
platform: PLATFORM
POOL
cpus: {reserved: "0", isolated: 1-3, balance_isolated: off}
hugepages: {default_size: 1G, pages: [{size: 1G, count: 5}]}
kernel: {realtime: false}
hints: {high_power: on, realtime: on}
nics: [{name: east, pf_names: [ens7f0], num_vfs: 4, driver: vfio-pci, mtu: 9000,
  resource_name: east}]
services: {chronyd: off, ksm: off, thp: off, swap: off, irqbalance: on, TUNED}
scheduling: {timer_migration: 1, stat_interval_s: 10}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for path, text in WRONG.items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for path, to in (
        ("/sys/class/net/ens7f0", f"../../..{PORT}/net/ens7f0"),
        ("/sys/bus/pci/devices/0000:87:00.0", f"../../../..{PORT}"),
    ):
        real = folder / (PORT + ("/net/ens7f0" if "net" in path else "")).lstrip("/")
        place = folder / path.lstrip("/")
        real.parent.mkdir(parents=True, exist_ok=True)
        place.rename(real) if not real.exists() else merge(place, real)
        place.symlink_to(to)
    return folder


def merge(place: Path, real: Path) -> None:
    for each in place.iterdir():
        each.rename(real / each.name)
    place.rmdir()


def fixes(root: Path, platform: str, release: str) -> list[str]:
    (root / "etc/os-release").write_text(release)
    text = INTENT.replace("PLATFORM", platform)
    text = text.replace("POOL", "pool: {role: worker}" if platform == "openshift" else "")
    text = text.replace("TUNED", "fwupd: off" if platform == "openshift" else "tuned: on")
    intent = root.parent / "intent.yaml"
    intent.write_text(text)
    options = ["--root", str(root), "--intent", str(intent), "--fix"]
    result = runner.invoke(app, ["tune", "audit", *options])
    assert result.exit_code == 1, result.output
    return result.output.splitlines()


def commands(lines: list[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("#")]


def test_an_openshift_node_is_given_objects_and_no_commands(root: Path, says: Says) -> None:
    lines = fixes(root, "openshift", RHCOS)
    assert lines[0] == says()
    assert commands(lines) == []
    text = "\n".join(lines)
    # What operators own is not even shown as a trial, nor what takes something away.
    for never in ("tuned-adm profile", "systemctl ", "grubby", "update-grub", "sriov_numvfs"):
        assert never not in text.replace("/sriov_numvfs: ", ""), never
    assert "swapoff" not in text
    for file in (
        "1-node/20-performance-profile.yaml",
        "1-node/21-tuned-patch.yaml",
        "2-network/50-sriov-policy-*.yaml",
    ):
        assert passage(text, "-f", str(file)) == says("-f", str(file))
    for facts in (
        ("Tuned", "kernel.timer_migration=1", "[sysctl]"),
        ("PerformanceProfile", "kernel.nmi_watchdog=0"),
        ("PerformanceProfile", "performance-patch"),
        ("Tuned", "service.chronyd=stop,disable", "[service]"),
        ("PerformanceProfile", "workloadHints.highPowerConsumption: true"),
        ("SriovNetworkNodePolicy", "numVfs: 4"),
        ("MachineConfig",),
    ):
        assert passage(text, *facts) == says(*facts)
    trials = [line for line in lines if "to try it: " in line]
    assert trials == says(
        "-w",
        "kernel.timer_migration=1",
        "sysctl -w",
        "echo never > /sys/kernel/mm/transparent_hugepage/enabled",
        "sysctl -w kernel.timer_migration=1",
    )
    assert any("cpuidle/state0/disable" in line for line in trials)


def test_a_node_of_openshift_is_one_whatever_the_intent_calls_it(root: Path) -> None:
    assert commands(fixes(root, "bare-metal", RHCOS)) == []


def test_a_host_is_given_commands(root: Path, says: Says) -> None:
    lines = fixes(root, "bare-metal", RHEL)
    assert lines[0] == says()
    given = commands(lines)
    assert "tuned-adm profile plimsoll-declared" in given
    assert "sysctl -w kernel.timer_migration=1" in given
    assert "systemctl disable --now chronyd" in given
    assert "echo never > /sys/kernel/mm/transparent_hugepage/enabled" in given
    hugepages = "default_hugepagesz=1G hugepagesz=1G hugepages=5"
    assert f"grubby --update-kernel=ALL '--args={hugepages}'" in given
    assert not any(line.startswith("grubby") and "default_hugepagesz=1G'" in line for line in given)
    assert "update-grub" not in "\n".join(lines)
    assert "oc apply" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        ("echo 0 > {port}/sriov_numvfs", ("ens7f0", "2")),
        ("echo 4 > {port}/sriov_numvfs", ("ens7f0",)),
        ("swapoff -a", ("1024", "KiB", "65536")),
        ("echo 2 > /sys/kernel/mm/ksm/run", ("-h",)),
    ],
)
def test_what_takes_something_away_says_so_right_before(
    root: Path, command: str, facts: tuple[str, ...], says: Says
) -> None:
    lines = fixes(root, "bare-metal", RHEL)
    place = lines.index(command.format(port="/sys/bus/pci/devices/0000:87:00.0"))
    assert lines[place - 1] == says(*facts)


@pytest.mark.parametrize("platform", ["bare-metal", "vm"])
def test_debian_gets_commands_for_its_own_boot_loader(root: Path, platform: str) -> None:
    lines = fixes(root, platform, DEBIAN)
    text = "\n".join(lines)
    assert "grubby" not in text
    assert (
        "# boot with default_hugepagesz=1G hugepagesz=1G hugepages=5: change GRUB_CMDLINE_LINUX in "
        "/etc/default/grub, run update-grub"
    ) in lines


def test_an_unknown_system_gets_both(root: Path, says: Says) -> None:
    lines = fixes(root, "bare-metal", "ID=gentoo\n")
    assert not any(line.startswith("grubby") for line in lines)
    arguments = "default_hugepagesz=1G hugepagesz=1G hugepages=5"
    (line_,) = (line for line in lines if line.startswith(f"# boot with {arguments}: "))
    assert line_ == says(
        f"--args={arguments}", "grubby", "--update-kernel=ALL", "grubby --update-kernel=ALL"
    )
    assert "run update-grub" in line_
