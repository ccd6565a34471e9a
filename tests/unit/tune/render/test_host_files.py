"""What is rendered for hosts; its scripts are run, on roots of their own."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.render import render
from tests.unit.tune.intent_documents import HOST, intent_with
from tests.unit.tune.render.rendering import rendered, tuned_sections
from tests.worded.says import Says, passage

HOUSEKEEPING = "host/usr/local/sbin/plimsoll-housekeeping"
HUGEPAGES = "host/usr/local/sbin/plimsoll-hugepages"
BARE_METAL, VM = rendered("bare-metal"), rendered("vm")


def of(**sections: Any) -> dict[str, RenderedFile]:
    return rendered(intent_with(HOST, **sections))


def run(file: RenderedFile, root: Path) -> subprocess.CompletedProcess[str]:
    script = root / "script"
    script.write_text(file.text)
    return subprocess.run(["sh", script, root], check=False, capture_output=True, text=True)


def tree(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def test_the_files_of_the_presets() -> None:
    assert list(BARE_METAL) == [
        "README.md",
        "kernel-command-line.txt",
        "host/etc/default/grub.d/50-plimsoll-bare-metal.cfg",
        "host/etc/tuned/plimsoll-bare-metal/tuned.conf",
        "host/etc/sysctl.d/99-plimsoll-bare-metal.conf",
        HOUSEKEEPING,
        "host/etc/systemd/system/plimsoll-housekeeping.service",
        "host/etc/systemd/system/irqbalance.service.d/50-plimsoll.conf",
        "bios-checklist.md",
    ]
    assert list(VM) == [
        "README.md",
        "kernel-command-line.txt",
        "host/etc/default/grub.d/50-plimsoll-vm.cfg",
        "host/etc/tuned/plimsoll-vm/tuned.conf",
        "host/etc/sysctl.d/99-plimsoll-vm.conf",
        HOUSEKEEPING,
        "host/etc/systemd/system/plimsoll-housekeeping.service",
    ]


def test_command_line() -> None:
    assert BARE_METAL["kernel-command-line.txt"].text == (
        "isolcpus=domain,managed_irq,1-15 irqaffinity=0 systemd.cpu_affinity=0 nohz=on "
        "nohz_full=1-15 rcu_nocbs=1-15 skew_tick=1 nosoftlockup nmi_watchdog=0 tsc=reliable "
        "processor.max_cstate=1 intel_idle.max_cstate=0 idle=poll transparent_hugepage=never "
        "numa_balancing=disable default_hugepagesz=1G hugepagesz=1G hugepages=8\n"
    )


def test_grub_adds_the_same_to_what_is_there() -> None:
    drop_in = BARE_METAL["host/etc/default/grub.d/50-plimsoll-bare-metal.cfg"].text
    script = f"GRUB_CMDLINE_LINUX=quiet\n{drop_in}\nprintf '%s\\n' \"$GRUB_CMDLINE_LINUX\""
    found = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout
    assert found == "quiet " + BARE_METAL["kernel-command-line.txt"].text


def test_tuned_profile() -> None:
    text = BARE_METAL["host/etc/tuned/plimsoll-bare-metal/tuned.conf"].text
    sections = tuned_sections(text)
    assert sections["main"]["include"] == "network-latency"
    assert sections["variables"]["isolated_cores"] == "1-15"
    # The values of TuneD's cpu-partitioning.
    assert sections["sysctl"] == {
        "kernel.hung_task_timeout_secs": "600",
        "kernel.numa_balancing": "0",
        "kernel.timer_migration": "0",
        "vm.stat_interval": "10",
    }
    assert sections["vm"] == {"transparent_hugepages": "never"}
    assert sections["irqbalance"] == {"banned_cpus": "${isolated_cores}"}
    assert sections["service"] == {
        "service.irqbalance": "start,enable",
        "service.fwupd-refresh.timer": "stop,disable",
    }
    # The command line has one owner.
    assert sections["bootloader"] == {"enabled": "false"}


def test_a_guest_leaves_frequencies_to_its_host() -> None:
    text = VM["host/etc/tuned/plimsoll-vm/tuned.conf"].text
    assert tuned_sections(text)["cpu"] == {"enabled": "false"}


def test_no_tuned_profile_where_tuned_is_off() -> None:
    assert not any("tuned" in path for path in of(services={"tuned": False, "fwupd": False}))


def test_irqbalance_spares_the_isolated_cpus() -> None:
    file = BARE_METAL["host/etc/systemd/system/irqbalance.service.d/50-plimsoll.conf"]
    assert file.text.endswith("[Service]\nEnvironment=IRQBALANCE_BANNED_CPULIST=1-15\n")


def test_housekeeping_moves_interrupts_and_workqueues(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "/proc/irq/default_smp_affinity": "f",
            "/proc/irq/1/smp_affinity_list": "0-3",
            "/proc/irq/27/smp_affinity_list": "2",
            "/sys/devices/virtual/workqueue/cpumask": "f",
            "/sys/devices/virtual/workqueue/writeback/cpumask": "f",
            "/sys/devices/system/cpu/cpu5/online": "1",
            "/sys/kernel/mm/ksm/run": "1",
        },
    )
    cpus = {"reserved": "0,33", "isolated": "1-4", "offlined": "5"}
    ended = run(of(cpus=cpus, services={"ksm": False})[HOUSEKEEPING], tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = {
        str(file.relative_to(tmp_path)): file.read_text().strip()
        for file in tmp_path.rglob("*")
        if file.is_file() and file.name != "script"
    }
    assert found == {
        "proc/irq/default_smp_affinity": "2,00000001",
        "proc/irq/1/smp_affinity_list": "0,33",
        "proc/irq/27/smp_affinity_list": "0,33",
        "sys/devices/virtual/workqueue/cpumask": "2,00000001",
        "sys/devices/virtual/workqueue/writeback/cpumask": "2,00000001",
        "sys/devices/system/cpu/cpu5/online": "0",
        "sys/kernel/mm/ksm/run": "2",
    }


def test_housekeeping_goes_on_where_the_kernel_refuses(tmp_path: Path) -> None:
    tree(tmp_path, {"/proc/irq/9/smp_affinity_list": "0-3"})
    # A folder refuses to be written, no matter who tries.
    (tmp_path / "proc/irq/1/smp_affinity_list").mkdir(parents=True)
    ended = run(of()[HOUSEKEEPING], tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "proc/irq/9/smp_affinity_list").read_text() == "0\n"


def test_housekeeping_leaves_balanced_interrupts_alone(tmp_path: Path) -> None:
    tree(tmp_path, {"/proc/irq/9/smp_affinity_list": "0-3"})
    run(of(irq={"globally_disable_balancing": False})[HOUSEKEEPING], tmp_path)
    assert (tmp_path / "proc/irq/9/smp_affinity_list").read_text() == "0-3"


NODE_PAGES = {
    "default_size": "1G",
    "pages": [{"size": "1G", "count": 2, "node": 0}, {"size": "2M", "count": 64, "node": 1}],
}
POOLS = {
    "/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages": "0",
    "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages": "0",
}


def test_pages_are_set_aside_on_their_nodes(tmp_path: Path) -> None:
    tree(tmp_path, POOLS)
    ended = run(of(hugepages=NODE_PAGES)[HUGEPAGES], tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = [(tmp_path / path.lstrip("/")).read_text().strip() for path in POOLS]
    assert found == ["2", "64"]


def test_too_few_pages_are_an_error_that_says_which(tmp_path: Path) -> None:
    tree(tmp_path, POOLS)
    script = of(hugepages=NODE_PAGES)[HUGEPAGES]
    # The kernel answers with the number that it found.
    answers = script.text.replace('got=$(cat "$root$2")', "got=1")
    (tmp_path / "script").write_text(answers)
    ended = subprocess.run(
        ["sh", tmp_path / "script", tmp_path], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    first, second = ended.stderr.splitlines()
    assert first.endswith("node0/hugepages/hugepages-1048576kB/nr_hugepages: 1 pages of 2")
    assert second.endswith("hugepages-2048kB/nr_hugepages: 1 pages of 64")


def test_pages_without_a_node_need_no_service() -> None:
    assert HUGEPAGES not in BARE_METAL


@pytest.mark.parametrize("name", ["bare-metal", "vm"])
def test_scripts_may_be_run_and_units_start_them(name: str) -> None:
    files = rendered(name)
    units = [path for path in files if path.endswith(".service")]
    assert units
    for path in units:
        (command,) = (
            line.removeprefix("ExecStart=")
            for line in files[path].text.splitlines()
            if line.startswith("ExecStart=")
        )
        script = files[f"host{command}"]
        assert script.mode == 0o755
        assert script.text.startswith("#!/bin/sh\n# From the intent")


def test_what_no_file_does_is_said(says: Says) -> None:
    realtime = of(kernel={"realtime": True}, services={"swap": False})
    assert passage(realtime["README.md"].text, "swap") == says("swap")


def test_the_processors_maker_matters_to_the_arguments() -> None:
    files = {file.path: file for file in render(load_preset("bare-metal"), vendor="amd")}
    assert "intel" not in files["kernel-command-line.txt"].text
