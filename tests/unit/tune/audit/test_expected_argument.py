"""Arguments that only some of the operator's releases have, on nodes with and without them.

The lines are those of releases 4.20 and 5.1 in tests/unit/tune/expected.
"""

from plimsoll.tune.audit.checks.kernel_arguments import CHECK as KERNEL_ARGUMENTS
from plimsoll.tune.audit.checks.nohz_full import CHECK as NOHZ_FULL
from plimsoll.tune.audit.expected_argument import ONLINE, expected_on_host
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.machines import CMDLINE, CPUINFO, INTEL

CORE = load_preset("telco-core-rds")
OLD = (
    "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on rcu_nocbs=2-31,34-63 "
    "tuned.non_isolcpus=00000003,00000003 systemd.cpu_affinity=0,1,32,33 intel_iommu=on "
    "iommu=pt isolcpus=managed_irq,2-31,34-63 default_hugepagesz=1G intel_pstate=passive"
)
NEW = f"{OLD} rcutree.nohz_full_patience_delay=1000 nohz_full=2-31,34-63"
TICKLESS = "/sys/devices/system/cpu/nohz_full"


def node(line: str) -> dict[str, str]:
    return {CMDLINE: f"ro quiet {line}", CPUINFO: INTEL}


def test_they_are_expected_where_they_are() -> None:
    names = {
        line: {each.name for each in expected_on_host(host(KERNEL_ARGUMENTS, node(line)), CORE)}
        for line in (OLD, NEW)
    }
    assert names[NEW] - names[OLD] == {"nohz_full", "rcutree.nohz_full_patience_delay"}


def test_a_node_of_either_release_is_as_expected() -> None:
    for line in (OLD, NEW):
        finding = KERNEL_ARGUMENTS.judge(host(KERNEL_ARGUMENTS, node(line)), CORE)
        assert finding.verdict == "ok"


def test_with_another_value_they_fail() -> None:
    wrong = NEW.replace("delay=1000", "delay=10")
    finding = KERNEL_ARGUMENTS.judge(host(KERNEL_ARGUMENTS, node(wrong)), CORE)
    assert finding.verdict == "fail"
    assert finding.text == "rcutree.nohz_full_patience_delay is 10"


def test_cpus_are_to_be_tickless_where_the_release_makes_them_so() -> None:
    ticking = {ONLINE: "0-63", TICKLESS: ""}
    old = NOHZ_FULL.judge(host(NOHZ_FULL, node(OLD) | ticking), CORE)
    assert old.verdict == "not-applicable"
    # The argument is there, and the kernel has not taken it.
    new = NOHZ_FULL.judge(host(NOHZ_FULL, node(NEW) | ticking), CORE)
    assert new.verdict == "fail"
