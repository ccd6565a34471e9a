"""Check 35: card, CPUs and hugepages on one node."""

from typing import Any

from plimsoll.tune.audit.checks.nic_numa import CHECK
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from tests.unit.tune.audit.cards import ADDRESS, FILES, LINKS, LISTED, NIC, PCI, VIRTIO_LINKS
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

NODE = "/sys/devices/system/node"
NODES = {
    "/sys/devices/system/cpu/online": "0-7\n",
    f"{NODE}/online": "0-1\n",
    f"{NODE}/node0/cpulist": "0-3\n",
    f"{NODE}/node1/cpulist": "4-7\n",
}
POOL = f"{NODE}/node1/hugepages/hugepages-1048576kB"
PAGES = {f"{POOL}/nr_hugepages": "4\n", f"{POOL}/free_hugepages": "4\n"}
FAR = {"reserved": "0,4-7", "isolated": "1-3"}
HUGEPAGES = {"default_size": "1G", "pages": [{"size": "1G", "count": 4}]}


def view(**changed: str) -> Any:
    files = FILES | NODES | PAGES | changed
    return host(CHECK, files, links=LINKS, listed=LISTED)


def test_all_on_one_node_is_ok(says: Says) -> None:
    finding = CHECK.judge(view(), intent(nics=[NIC], hugepages=HUGEPAGES))
    assert finding.verdict == "ok"
    assert finding.text == says("ens7f0", "4-7", "1")


def test_a_card_far_from_the_isolated_cpus_fails(says: Says) -> None:
    requested = intent(nics=[NIC], cpus=FAR)
    finding = CHECK.judge(view(), requested)
    assert finding.verdict == "fail"
    assert finding.text == says("ens7f0", "1")


def test_hugepages_on_the_other_node_fail(says: Says) -> None:
    changed = {f"{POOL}/nr_hugepages": "0", f"{POOL}/free_hugepages": "0"}
    finding = CHECK.judge(view(**changed), intent(nics=[NIC], hugepages=HUGEPAGES))
    assert finding.verdict == "fail"
    assert finding.text == says("ens7f0", "1")


def test_a_card_on_another_node_than_said_fails(says: Says) -> None:
    finding = CHECK.judge(view(), intent(nics=[NIC | {"numa_node": 0}]))
    assert finding.verdict == "fail"
    assert finding.text == says("1", "0")


def test_a_node_that_the_firmware_does_not_tell() -> None:
    assert CHECK.judge(view(**{f"{PCI}/numa_node": "-1"}), intent(nics=[NIC])).verdict == "warn"
    one = {f"{PCI}/numa_node": "-1", f"{NODE}/online": "0", f"{NODE}/node0/cpulist": "0-7"}
    files = {name: text for name, text in (FILES | NODES | one).items() if "node1" not in name}
    single = host(CHECK, files, links=LINKS, listed=LISTED)
    assert CHECK.judge(single, intent(nics=[NIC])).verdict == "ok"


def test_cards_by_address_and_by_kind() -> None:
    for named in ({"pci": [ADDRESS]}, {"vendor": "8086", "device_id": "158b"}):
        finding = CHECK.judge(view(), intent(nics=[{"name": "east", **named}]))
        assert finding.verdict == "ok"
        assert ADDRESS in finding.text


def test_a_card_that_is_not_there_is_another_checks() -> None:
    requested = intent(nics=[{"name": "west", "pf_names": ["ens9f9"]}])
    finding = CHECK.judge(view(), requested)
    message = "there is no port ens9f9 (check 39)"
    assert (finding.verdict, finding.text) == ("not-applicable", message)


def test_of_a_vendor_only_network_functions_count(says: Says) -> None:
    """8086 makes bridges too; the class code of network controllers begins with 02."""
    bridge = "/sys/bus/pci/devices/0000:00:01.0"
    files = {
        f"{PCI}/class": "0x020000\n",
        f"{bridge}/vendor": "0x8086\n",
        f"{bridge}/device": "0x347a\n",
        f"{bridge}/class": "0x060400\n",
        f"{bridge}/numa_node": "0\n",
    }
    requested = intent(nics=[{"name": "east", "vendor": "8086"}], cpus=FAR)
    finding = CHECK.judge(view(**files), requested)
    assert finding.text == says(str(ADDRESS), "1")
    # Captures of old have no classes: there an interface tells.
    for path in (f"{PCI}/class", f"{bridge}/class"):
        del files[path]
    assert CHECK.judge(view(**files), requested).text == finding.text


def test_where_no_isolated_cpu_is_online_only_the_pages_are_judged() -> None:
    elsewhere = {"reserved": "0-7", "isolated": "32-63"}
    requested = intent(nics=[NIC], cpus=elsewhere, hugepages=HUGEPAGES)
    assert CHECK.judge(view(), requested).verdict == "ok"
    finding = CHECK.judge(view(), intent(nics=[NIC], cpus=elsewhere))
    assert (finding.verdict, finding.text) == ("not-applicable", NONE_PRESENT)


def test_a_kernel_without_numa_is_of_one_node() -> None:
    files = {name: text for name, text in FILES.items() if not name.endswith("numa_node")}
    single = host(
        CHECK, files | {"/sys/devices/system/cpu/online": "0-7"}, links=LINKS, listed=LISTED
    )
    assert CHECK.judge(single, intent(nics=[NIC])).verdict == "ok"


def test_where_there_is_no_card_it_does_not_apply() -> None:
    assert CHECK.judge(view(), intent()).verdict == "not-applicable"
    guest = host(CHECK, NODES, links=VIRTIO_LINKS)
    assert CHECK.judge(guest, intent(nics=[NIC])).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    where = f"{PCI}/numa_node"
    files = {name: text for name, text in (FILES | NODES).items() if name != where}
    hidden = host(CHECK, files, links=LINKS, listed=LISTED, forbidden=[where])
    assert CHECK.judge(hidden, intent(nics=[NIC])).verdict == "unknown"
