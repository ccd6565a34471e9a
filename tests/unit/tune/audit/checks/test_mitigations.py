"""Check 20. Words: Linux, sysfs-devices-system-cpu, vulnerabilities."""

import pytest

from plimsoll.tune.audit.checks.mitigations import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.machines import CMDLINE, CPUINFO, INTEL
from tests.worded.says import Says

FOLDER = "/sys/devices/system/cpu/vulnerabilities"
FILES = {
    CMDLINE: "ro mitigations=auto",
    CPUINFO: INTEL,
    f"{FOLDER}/meltdown": "Mitigation: PTI",
    f"{FOLDER}/mds": "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable",
    f"{FOLDER}/srbds": "Not affected",
}


def test_they_are_recorded(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, FILES), None)
    assert finding.verdict == "ok"
    assert finding.text == says("1", "mds", "0x2b000571")
    assert finding.read[0].what == "mitigations=auto"
    assert finding.read[1].where == f"{FOLDER}/mds"


def message(**texts: str) -> str:
    """The text for vulnerabilities of these names."""
    files = {CMDLINE: "ro", CPUINFO: INTEL} | {f"{FOLDER}/{n}": f"{t}\n" for n, t in texts.items()}
    return CHECK.judge(host(CHECK, files), None).text


# The kernel's own words: arch/x86/kernel/cpu/bugs.c of 4.18 to 6.12, and 6.17's for its_.
@pytest.mark.parametrize(
    "text",
    [
        "Vulnerable",
        "Vulnerable: No microcode",
        "Vulnerable: Safe RET, no microcode",
        "Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state unknown",
        "Vulnerable: __user pointer sanitization and usercopy barriers only; no swapgs barriers",
        "Vulnerable: eIBRS with unprivileged eBPF",
        "Vulnerable: Retpoline without IBPB",
        "Vulnerable, IBPB: disabled, STIBP: disabled",
        "Vulnerable; BHI: Vulnerable",
        "KVM: Vulnerable",
        "Processor vulnerable",
    ],
)
def test_each_form_of_vulnerable_is_reported(text: str, says: Says) -> None:
    assert message(itlb_multihit=text) == says("0", "vulnerable", "itlb_multihit")


@pytest.mark.parametrize(
    "text",
    [
        "Mitigation: PTI",
        "Mitigation: Clear CPU buffers; SMT Host state unknown",
        "Mitigation: Clear CPU buffers; SMT disabled",
        "Mitigation: Enhanced IBRS, IBPB: conditional, RSB filling",
        "Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; "
        "BHI: Not affected",
        "Mitigation: CSV2, but not BHB",
        "KVM: Mitigation: Split huge pages",
        "KVM: Mitigation: VMX unsupported",
    ],
)
def test_each_form_of_mitigated_is_reported(text: str, says: Says) -> None:
    assert message(spectre_v2=text) == says("1")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Mitigation: Clear CPU buffers; SMT vulnerable", ("SMT vulnerable",)),
        (
            "Mitigation: PTE Inversion; VMX: vulnerable, SMT vulnerable",
            ("VMX: vulnerable, SMT vulnerable",),
        ),
        ("Mitigation: PTE Inversion; VMX: cache flushes, SMT vulnerable", ("SMT vulnerable",)),
        (
            "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: Vulnerable; "
            "BHI: Vulnerable, KVM: SW loop",
            ("PBRSB-eIBRS: Vulnerable, BHI: Vulnerable",),
        ),
        (
            "Mitigation: Retpolines; RSB filling - vulnerable module loaded",
            ("vulnerable module loaded",),
        ),
        ("Mitigation: untrained return thunk; SMT vulnerable", ("SMT vulnerable",)),
        ("Mitigation: Vulnerable, KVM: Not affected", ("Vulnerable",)),
    ],
)
def test_what_a_mitigation_leaves_open_is_reported(
    text: str, facts: tuple[str, ...], says: Says
) -> None:
    assert message(l1tf=text) == says("1", "l1tf", "vulnerable", *facts)


@pytest.mark.parametrize(
    "text",
    [
        "Unknown: Dependent on hypervisor status",
        "Unknown: No mitigations",
        "Unknown: running under hypervisor",
        "Unknown (XEN PV detected, hypervisor mitigation required)",
    ],
)
def test_what_the_kernel_does_not_know_is_reported(text: str, says: Says) -> None:
    assert message(srbds=text, meltdown="Mitigation: PTI") == says("1", "0x2b000571")


def test_not_affected_is_not_mentioned(says: Says) -> None:
    assert message(tsa="Not affected", mds="Mitigation: Clear CPU buffers; SMT disabled") == says(
        "1", "0x2b000571"
    )


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
