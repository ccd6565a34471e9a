"""Check 20. Words: Linux, sysfs-devices-system-cpu, vulnerabilities."""

from plimsoll.tune.audit.checks.mitigations import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.machines import CMDLINE, CPUINFO, INTEL

FOLDER = "/sys/devices/system/cpu/vulnerabilities"
FILES = {
    CMDLINE: "ro mitigations=auto",
    CPUINFO: INTEL,
    f"{FOLDER}/meltdown": "Mitigation: PTI",
    f"{FOLDER}/mds": "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable",
    f"{FOLDER}/srbds": "Not affected",
}


def test_they_are_recorded() -> None:
    finding = CHECK.judge(host(CHECK, FILES), None)
    assert finding.verdict == "ok"
    assert finding.text == (
        "1 mitigations are on, and the CPUs stay vulnerable to mds; microcode 0x2b000571"
    )
    assert finding.read[0].what == "mitigations=auto"
    assert finding.read[1].where == f"{FOLDER}/mds"


def test_different_microcode_fails() -> None:
    files = FILES | {CPUINFO: INTEL + INTEL.replace("0x2b000571", "0x2b0004b1")}
    finding = CHECK.judge(host(CHECK, files), None)
    assert finding.verdict == "fail"
    assert "different microcode: 0x2b0004b1, 0x2b000571" in finding.text


def test_a_kernel_that_tells_of_neither_does_not_apply() -> None:
    files = {CMDLINE: "", CPUINFO: "processor : 0\n"}
    assert CHECK.judge(host(CHECK, files), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {}, forbidden=[FOLDER, CPUINFO])
    assert CHECK.judge(view, None).verdict == "unknown"
