import pytest

from plimsoll.tune.intent.load import preset_names
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.unit.tune.render.rendering import rendered


@pytest.mark.parametrize("preset", preset_names())
def test_every_file_is_in_the_table_and_can_be_undone(preset: str) -> None:
    files = rendered(preset)
    readme = files.pop("README.md").text
    undoing = [line for line in readme.splitlines() if line.startswith("- `")]
    for path in files:
        assert f"| `{path}` | " in readme
        assert sum(f"`{path}`" in line.partition(": ")[0] for line in undoing) == 1


def test_one_way_to_undo_two_files_is_told_once() -> None:
    readme = rendered("bare-metal")["README.md"].text
    (line,) = (line for line in readme.splitlines() if "`systemctl disable" in line)
    assert line == (
        "- `host/etc/systemd/system/plimsoll-housekeeping.service`, "
        "`host/usr/local/sbin/plimsoll-housekeeping`: `systemctl disable plimsoll-housekeeping`, "
        "then remove its script and its unit, and restart the host."
    )


BY_KIND = {"name": "dpdk", "vendor": "8086", "num_vfs": 8, "resource_name": "dpdk"}


def test_a_policy_for_a_kind_of_card_is_warned_of_and_can_be_narrowed() -> None:
    """Of the XXV710s of the article one may carry the node's own traffic."""
    files = rendered("telco-core-rds")
    told = (
        "nic dpdk selects every port 8086:158b of each node, one that carries the node's own "
        "traffic too, and divides it."
    )
    readme = files["README.md"].text
    assert f"## Before you apply it\n\n- **{told}** Name its ports in the intent" in readme
    assert readme.index(told) < readme.index("oc apply -f 2-network/")
    policy = files["2-network/50-sriov-policy-dpdk.yaml"].text
    assert policy.splitlines()[1] == f"# Beware: {told} See README.md."


def test_all_cards_of_a_vendor_are_a_kind_too() -> None:
    assert "every port 8086:any of" in rendered(intent_with(POOL, nics=[BY_KIND]))["README.md"].text


@pytest.mark.parametrize("named", [{"pf_names": ["ens1"]}, {"pci": ["0000:05:00.0"]}])
def test_a_policy_for_named_ports_is_not_warned_of(named: dict[str, list[str]]) -> None:
    files = rendered(intent_with(POOL, nics=[BY_KIND | named]))
    assert "Before you apply it" not in files["README.md"].text
    assert "Beware" not in files["2-network/50-sriov-policy-dpdk.yaml"].text


def test_a_host_binds_no_kind_of_card_and_says_so() -> None:
    readme = rendered(intent_with(HOST, nics=[BY_KIND]))["README.md"].text
    assert "Before you apply it" not in readme
    assert "By hand, for no file does it: the ports 8086:any of nic dpdk." in readme


def test_steps_for_a_pool_of_its_own() -> None:
    readme = rendered("openshift-deterministic")["README.md"].text
    steps = [line for line in readme.splitlines() if line[:1].isdigit()]
    assert steps[0] == "1. Set the firmware by `bios-checklist.md`."
    assert "`oc label node NODE node-role.kubernetes.io/reghwol=`" in steps[1]
    assert "oc patch machineconfigpool reghwol" in steps[2]
    assert steps[3] == "4. `oc apply -f 1-node/`"
    assert "`oc apply -f 2-network/`" in steps[5]
    assert steps[7] == "8. `generator/` goes to the generator's host."


def test_alternatives_are_not_applied() -> None:
    readme = rendered("openshift-sno-vdu")["README.md"].text
    assert "`alternatives/` is **not** applied with the rest" in readme
    assert "oc apply -f alternatives" not in readme


def test_expectation() -> None:
    readme = rendered("telco-core-rds")["README.md"].text
    assert "tuned.non_isolcpus=00000003,00000003" in readme
    assert "`hugepages-allocation-1048576kB-NUMA1.service`" in readme
    assert "Runtime class `performance-customcnf`, whose handler is `high-performance`" in readme


def test_names_do_not_break_the_table() -> None:
    nic = {"name": "east", "vendor": "8086", "pf_names": ["a|<b>"], "num_vfs": 1}
    readme = rendered(intent_with(HOST, nics=[nic]))["README.md"].text
    assert "a|" not in readme
    assert "<b>" not in readme
