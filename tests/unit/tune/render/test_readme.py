import pytest

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import preset_names
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.unit.tune.render.rendering import rendered
from tests.worded.says import Says, passage


@pytest.mark.parametrize("preset", preset_names())
def test_every_file_is_in_the_table_and_can_be_undone(preset: str) -> None:
    files = rendered(preset)
    readme = files.pop("README.md").text
    undoing = [line for line in readme.splitlines() if line.startswith("- `")]
    for path in files:
        assert f"| `{path}` | " in readme
        assert sum(f"`{path}`" in line.partition(": ")[0] for line in undoing) == 1


def test_one_way_to_undo_two_files_is_reported_once(says: Says) -> None:
    readme = rendered("bare-metal")["README.md"].text
    (line,) = (line for line in readme.splitlines() if "`systemctl disable" in line)
    assert line == says(
        "host/etc/systemd/system/plimsoll-housekeeping.service",
        "host/usr/local/sbin/plimsoll-housekeeping",
        "systemctl disable plimsoll-housekeeping",
        "systemctl disable plimsoll-housekeeping`",
    )


BY_KIND = {"name": "dpdk", "vendor": "8086", "num_vfs": 8, "resource_name": "dpdk"}


def test_a_policy_for_a_kind_of_card_is_warned_of_and_can_be_narrowed() -> None:
    """Of the XXV710s of the article one may carry the node's own traffic."""
    files = rendered("telco-core-rds")
    message = (
        "nic dpdk selects every port 8086:158b of each node, one that carries the node's own "
        "traffic too, and divides it."
    )
    readme = files["README.md"].text
    assert f"## Before you apply it\n\n- **{message}** Name its ports in the intent" in readme
    assert readme.index(message) < readme.index("oc apply -f 2-network/")
    policy = files["2-network/50-sriov-policy-dpdk.yaml"].text
    assert policy.splitlines()[1] == f"# Beware: {message} See README.md."


def test_all_cards_of_a_vendor_are_a_kind_too(says: Says) -> None:
    assert passage(
        rendered(intent_with(POOL, nics=[BY_KIND]))["README.md"].text, "8086:any"
    ) == says("8086:any")


@pytest.mark.parametrize("named", [{"pf_names": ["ens1"]}, {"pci": ["0000:05:00.0"]}])
def test_a_policy_for_named_ports_is_not_warned_of(named: dict[str, list[str]]) -> None:
    files = rendered(intent_with(POOL, nics=[BY_KIND | named]))
    assert "Before you apply it" not in files["README.md"].text
    assert "Beware" not in files["2-network/50-sriov-policy-dpdk.yaml"].text


def test_a_host_binds_no_kind_of_card_and_says_so(says: Says) -> None:
    readme = rendered(intent_with(HOST, nics=[BY_KIND]))["README.md"].text
    assert "Before you apply it" not in readme
    assert passage(readme, "8086:any") == says("8086:any")


def steps_of(intent: Intent | str) -> list[str]:
    readme = rendered(intent)["README.md"].text
    order = readme.partition("## In which order")[2].partition("## What to expect")[0]
    lines = [line for line in order.splitlines() if line[:1].isdigit()]
    numbers, steps = zip(*(line.split(". ", 1) for line in lines), strict=True)
    assert list(numbers) == [str(number) for number in range(1, len(lines) + 1)]
    return list(steps)


def test_steps_for_a_pool_of_its_own() -> None:
    steps = steps_of("openshift-deterministic")
    starts = [
        "Set the firmware by `bios-checklist.md`",
        "`oc apply -f 1-node/10-machine-config-pool.yaml`, then label the nodes: "
        "`oc label node NODE node-role.kubernetes.io/reghwol=`",
        "Pause the pool",
        "`oc apply -f 1-node/`. ",
        """`oc patch machineconfigpool reghwol --type merge -p '{"spec":{"paused":false}}'`""",
        "Install the SR-IOV Network Operator.",
        "`oc apply -f 2-network/`. ",
        "Set the image of testpmd",
        "`oc apply -f 3-workload/`. ",
        "Judge it all: `plimsoll tune audit --kube --intent`",
        "`generator/` goes to the generator's host.",
    ]
    assert len(steps) == len(starts)
    for step, start in zip(steps, starts, strict=True):
        assert step.startswith(start)


@pytest.mark.parametrize("preset", preset_names())
def test_every_step_that_changes_something_says_how_it_shows(preset: str) -> None:
    for step in steps_of(preset):
        if any(f"`{verb}" in step for verb in ("oc apply", "oc patch", "oc label", "systemctl")):
            assert "Done when `" in step or "systemctl daemon-reload" in step


def test_the_pool_stays_paused_until_the_operators_have_made_their_part(says: Says) -> None:
    """Names as the operators give them.

    GetMachineConfigName and MachineConfigPrefix of cluster-node-tuning-operator, and
    99-POOL-generated-kubelet of machine-config-operator; the article's for the other two.
    """
    paused, applied, unpaused = steps_of("openshift-sno-vdu")[:3]
    assert paused == says('{"spec":{"paused":true}}', "-p")
    for name in (
        "50-performance-performance-worker-pao-sno",
        "50-nto-master",
        "99-master-generated-kubelet",
        "02-master-workload-partitioning",
        "99-master-kubelet-housekeeping",
    ):
        assert f"`{name}`" in applied
    # Else oc wait returns on the state of before.
    assert "says UPDATED False" in applied
    assert "--for=condition=Updated" in unpaused
    assert unpaused == says()


def test_vfs_are_counted_where_pods_will_ask_for_them(says: Says) -> None:
    """The operator's own status may still be that of before."""
    step = next(each for each in steps_of("openshift-deterministic") if "2-network/" in each)
    assert r"intelnic_east:.status.allocatable.openshift\.io/intelnic_east" in step
    assert "-l node-role.kubernetes.io/reghwol= " in step
    assert step == says("1", "intelnic_east", "intelnic_west")
    assert "Succeeded" not in step


def test_a_pods_own_labels_are_set_before_it_is_applied(says: Says) -> None:
    steps = steps_of("telco-core-rds")
    label = "node-role.kubernetes.io/worker-dpdk="
    (place,) = (n for n, step in enumerate(steps) if f"`oc label node NODE {label}`" in step)
    assert steps[place] == says(f"oc get node -l {label}")
    assert place < next(n for n, step in enumerate(steps) if "3-workload/" in step)


def test_labels_that_nodes_have_by_themselves_are_not_set() -> None:
    for own in ({"kubernetes.io/hostname": "node1"}, {"node-role.kubernetes.io/worker-cnf": ""}):
        pod = {"name": "p", "cpus": 1, "memory": "1Gi", "node_selector": own}
        intent = intent_with(POOL, pods=[pod])
        assert not any("may run on" in step for step in steps_of(intent))


def test_pods_are_ready_and_under_the_constraint_that_was_meant(says: Says) -> None:
    step = next(each for each in steps_of("openshift-deterministic") if "3-workload/" in each)
    assert step == says("`oc", "pod/testpmd", "-n", "--for=condition=Ready")
    assert r"{.metadata.annotations.openshift\.io/scc}" in step
    assert step.endswith("prints `Guaranteed reghwol-dataplane`.")


def test_a_single_node_is_not_drained() -> None:
    nic = {"name": "n", "pf_names": ["ens1"], "num_vfs": 2, "resource_name": "n"}
    for single, message in ((True, True), (False, False)):
        steps = steps_of(intent_with(POOL, nics=[nic], cluster={"single_node": single}))
        assert any('{"spec":{"disableDrain":true}}' in step for step in steps) == message


def test_a_port_that_is_not_divided_is_reported(says: Says) -> None:
    whole = intent_with(POOL, nics=[{"name": "n", "pf_names": ["ens1"]}])
    readme = rendered(whole)["README.md"].text
    assert passage(readme, "**nic", "num_vfs") == says("**nic", "num_vfs")


def test_alternatives_are_not_applied(says: Says) -> None:
    readme = rendered("openshift-sno-vdu")["README.md"].text
    assert passage(readme, "alternatives/", "**not**") == says("alternatives/", "**not**")
    assert "oc apply -f alternatives" not in readme


def test_expectation(says: Says) -> None:
    readme = rendered("telco-core-rds")["README.md"].text
    assert "tuned.non_isolcpus=00000003,00000003" in readme
    assert "`hugepages-allocation-1048576kB-NUMA1.service`" in readme
    assert passage(readme, "performance-customcnf", "high-performance") == says(
        "performance-customcnf", "high-performance"
    )


def test_names_do_not_break_the_table() -> None:
    nic = {"name": "east", "vendor": "8086", "pf_names": ["a|<b>"], "num_vfs": 1}
    readme = rendered(intent_with(HOST, nics=[nic]))["README.md"].text
    assert "a|" not in readme
    assert "<b>" not in readme
