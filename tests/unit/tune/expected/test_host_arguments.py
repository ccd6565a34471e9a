import pytest

from plimsoll.tune.expected.host_arguments import host_arguments
from plimsoll.tune.expected.kernel_argument import Vendor, command_line
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.intent_documents import HOST, intent_with

VFIO = [{"name": "east", "pf_names": ["ens1"], "driver": "vfio-pci"}]


def line(intent: Intent, vendor: Vendor = "intel") -> str:
    return command_line(host_arguments(intent, vendor))


def test_the_least() -> None:
    expected = "isolcpus=managed_irq,1-3 irqaffinity=0 systemd.cpu_affinity=0"
    assert line(intent_with(HOST)) == expected


def test_realtime_makes_the_isolated_cpus_tickless() -> None:
    found = line(intent_with(HOST, hints={"realtime": True}))
    assert "nohz=on nohz_full=1-3 rcu_nocbs=1-3" in found
    assert "tsc=reliable" in found


def test_a_guests_clock_keeps_its_watchdog() -> None:
    guest = HOST | {"platform": "vm"}
    assert "tsc=" not in line(intent_with(guest, hints={"realtime": True}))


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [
        ("intel", "processor.max_cstate=1 intel_idle.max_cstate=0 idle=poll"),
        ("amd", "processor.max_cstate=1 idle=poll"),
    ],
)
def test_hints_mean_what_they_mean_in_a_profile(vendor: Vendor, expected: str) -> None:
    hints = {"high_power": True, "realtime": True}
    assert expected in line(intent_with(HOST, hints=hints), vendor)


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [("intel", "intel_iommu=on iommu=pt"), ("amd", "iommu=pt"), ("arm", "")],
)
def test_vfio_needs_an_iommu(vendor: Vendor, expected: str) -> None:
    without, found = line(intent_with(HOST), vendor), line(intent_with(HOST, nics=VFIO), vendor)
    assert found == f"{without} {expected}".strip()


def test_memory() -> None:
    found = line(
        intent_with(
            HOST,
            services={"thp": False, "numa_balancing": False},
            hugepages={
                "default_size": "1G",
                "pages": [{"size": "1G", "count": 2, "node": 0}, {"size": "2M", "count": 3}],
            },
        )
    )
    assert found.endswith(
        "transparent_hugepage=never numa_balancing=disable "
        "default_hugepagesz=1G hugepagesz=2M hugepages=3"
    )


def test_no_isolation_from_interrupts_where_the_intent_wants_them_balanced() -> None:
    irq = {"globally_disable_balancing": False}
    assert "irqaffinity" not in line(intent_with(HOST, irq=irq))


def test_smt_is_turned_off_where_there_is_any() -> None:
    cpus = {"reserved": "0", "isolated": "1-3", "smt": "disabled"}
    assert "nosmt" in line(intent_with(HOST, cpus=cpus))
    assert "nosmt" not in line(intent_with(HOST | {"platform": "vm"}, cpus=cpus))


def test_the_intents_own_come_last() -> None:
    assert line(intent_with(HOST, kernel={"arguments": ["audit=0"]})).endswith(" audit=0")
