"""Check 9. Formats: Linux, Documentation/driver-api/vfio.rst."""

from plimsoll.tune.audit.checks.iommu import CHECK
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import AMD, CMDLINE, CPUINFO, INTEL
from tests.worded.says import Says

GROUPS = "/sys/kernel/iommu_groups"
UNSAFE = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
NIC = {"name": "east", "pf_names": ["ens7f0"], "driver": "vfio-pci"}
VFIO = intent(nics=[NIC])


def boot(arguments: str, cpuinfo: str = INTEL) -> dict[str, str]:
    return {CMDLINE: arguments, CPUINFO: cpuinfo}


def test_groups_and_pass_through_are_ok() -> None:
    files = boot("intel_iommu=on iommu=pt") | {UNSAFE: "N\n"}
    finding = CHECK.judge(host(CHECK, files, listed={GROUPS: ("0", "1", "2")}), VFIO)
    assert finding.verdict == "ok"
    assert "3 groups" in finding.text


def test_no_groups_fail_with_the_arguments_of_the_maker(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, boot("quiet"), listed={GROUPS: ()}), VFIO)
    assert finding.verdict == "fail"
    # Where nothing translates, nothing is translated too much.
    assert finding.text == says()
    assert "grubby --update-kernel=ALL '--args=intel_iommu=on iommu=pt'" in commands(finding)
    finding = CHECK.judge(host(CHECK, boot("quiet", AMD), listed={GROUPS: ()}), VFIO)
    assert "grubby --update-kernel=ALL --args=iommu=pt" in commands(finding)


def test_translation_for_all_is_warned_of(says: Says) -> None:
    view = host(CHECK, boot("intel_iommu=on"), listed={GROUPS: ("0",)})
    finding = CHECK.judge(view, VFIO)
    assert finding.verdict == "warn"
    assert finding.text == says()


def test_unsafe_mode_fails_whatever_drives_the_nics_and_is_a_guests_last_resort() -> None:
    files = boot("") | {UNSAFE: "Y"}
    finding = CHECK.judge(host(CHECK, files), intent())
    assert finding.verdict == "fail"
    assert commands(finding) == [f"echo N > {UNSAFE}"]
    assert CHECK.judge(host(CHECK, files), intent(platform="vm")).verdict == "warn"


OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def test_what_the_operator_boots_with_is_judged_without_nics(says: Says) -> None:
    """As cluster-node-tuning-operator's openshift-node-performance-intel-x86 has it."""
    groups = {GROUPS: ("0", "1")}
    both = host(CHECK, boot("intel_iommu=on iommu=pt"), listed=groups)
    assert CHECK.judge(both, OPENSHIFT).verdict == "ok"
    assert CHECK.judge(both, load_preset("openshift-sno-vdu")).verdict == "ok"
    translated = host(CHECK, boot("intel_iommu=on"), listed=groups)
    finding = CHECK.judge(translated, OPENSHIFT)
    assert finding.verdict == "warn"
    assert finding.expected == says("iommu=pt")
    neither = CHECK.judge(host(CHECK, boot("quiet")), OPENSHIFT)
    assert neither.verdict == "fail"
    assert neither.steps[1].text == says("intel_iommu=on", "iommu=pt")


def test_a_firmware_without_one_is_warned_of_where_nothing_needs_it() -> None:
    finding = CHECK.judge(host(CHECK, boot("intel_iommu=on iommu=pt")), OPENSHIFT)
    assert (finding.verdict, len(finding.steps)) == ("warn", 1)
    assert "VT-d" in finding.steps[0].text


def test_one_group_is_one(says: Says) -> None:
    view = host(CHECK, boot("intel_iommu=on iommu=pt"), listed={GROUPS: ("0",)})
    assert CHECK.judge(view, VFIO).text == says("1")


def test_without_vfio_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, boot("")), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    for path in (UNSAFE, GROUPS):
        view = host(CHECK, boot("iommu=pt"), forbidden=[path])
        assert CHECK.judge(view, VFIO).verdict == "unknown"
