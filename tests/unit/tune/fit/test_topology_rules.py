"""What is wrong with an intent on a given host, rule by rule; expectations are by hand."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.tune.fit.topology import Problem, Topology
from plimsoll.tune.fit.topology_rules import check_topology
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.worded.says import Says


def topology(cores: int, threads: int, nodes: int, **ports: int | None) -> Topology:
    """Core n has CPUs n, n + cores, …; nodes are alternate cores; 64 GiB each."""
    online = frozenset(range(cores * threads))
    return Topology(
        online=online,
        siblings={cpu: frozenset(range(cpu % cores, len(online), cores)) for cpu in online},
        nodes={n: frozenset(c for c in online if c % cores % nodes == n) for n in range(nodes)},
        memory_kb=dict.fromkeys(range(nodes), 64 * 2**20),
        port_nodes=ports,
    )


def intent(reserved: str, isolated: str, **more: Any) -> Intent:
    data = {"name": "lab", "platform": "bare-metal", **more}
    data["cpus"] = {"reserved": reserved, "isolated": isolated, **more.get("cpus", {})}
    return Intent.model_validate(data)


def found(expected: Intent, host: Topology) -> list[tuple[str, str, str]]:
    return [(each.rule, each.field, each.severity) for each in check_topology(expected, host)]


def test_a_sound_intent_has_no_problem() -> None:
    host = topology(4, 2, 2, ens1=1)
    pages = [{"size": "1G", "count": 4, "node": 1}]
    expected = intent(
        "0-1,4-5",
        "2-3,6-7",
        nics=[{"name": "a", "pf_names": ["ens1"], "numa_node": 1}],
        hugepages={"default_size": "1G", "pages": pages},
        generator={"cpus": "2,6"},
    )
    assert check_topology(expected, host) == ()


def test_a_cpu_that_is_not_there(says: Says) -> None:
    (problem,) = check_topology(intent("0", "1-5"), topology(4, 1, 1))
    assert problem == Problem(
        rule="cpus-exist",
        field="cpus.isolated",
        severity="fail",
        text=says("4-5"),
        remedy=says("0-3"),
    )


def test_a_cpu_that_is_neither(says: Says) -> None:
    (problem,) = check_topology(intent("0", "2-3"), topology(4, 1, 1))
    assert (problem.rule, problem.field) == ("cpus-covered", "cpus")
    assert problem.text == says("1")
    assert problem == says("1")


def test_a_cpu_that_is_to_be_offlined_may_still_be_online() -> None:
    expected = intent("0", "2-3", cpus={"offlined": "1"})
    assert check_topology(expected, topology(4, 1, 1)) == ()


def test_siblings_on_both_sides(says: Says) -> None:
    (problem,) = check_topology(intent("0", "1-7"), topology(4, 2, 1))
    assert (problem.rule, problem.severity) == ("siblings-together", "fail")
    assert problem.text == says("1", "0,4")


@pytest.mark.parametrize(
    ("threads", "smt", "problems"),
    [
        (1, "enabled", [("smt", "cpus.smt", "fail")]),
        (2, "disabled", [("smt", "cpus.smt", "fail")]),
        (1, "disabled", []),
        (2, "enabled", []),
        (1, "any", []),
        (2, "any", []),
    ],
)
def test_smt_is_as_expected(threads: int, smt: str, problems: list[Any]) -> None:
    reserved, isolated = ("0", "1-3") if threads == 1 else ("0,4", "1-3,5-7")
    expected = intent(reserved, isolated, cpus={"smt": smt})
    assert found(expected, topology(4, threads, 1)) == problems


def test_cpu_0_is_reserved() -> None:
    assert found(intent("1", "0,2-3"), topology(4, 1, 1)) == [
        ("cpu-0-reserved", "cpus.reserved", "fail")
    ]


def test_a_node_without_a_reserved_cpu_is_a_warning(says: Says) -> None:
    (problem,) = check_topology(intent("0", "1-3"), topology(4, 1, 2))
    assert (problem.rule, problem.severity) == ("node-has-reserved", "warn")
    assert problem == says("1")


def test_a_generator_on_a_reserved_cpu() -> None:
    expected = intent("0", "1-3", generator={"cpus": "0,2"})
    assert found(expected, topology(4, 1, 1)) == [("generator-isolated", "generator", "fail")]


def test_a_generator_of_another_host_is_none_of_this_one() -> None:
    expected = intent("0", "1-3", generator={"cpus": "0,39"})
    assert check_topology(expected, topology(4, 1, 1)) == ()


def test_a_pod_of_half_a_core_is_a_warning() -> None:
    pod = {"name": "dut", "cpus": 3, "memory": "1Gi"}
    expected = intent("0,4", "1-3,5-7", pods=[pod])
    assert found(expected, topology(4, 2, 1)) == [("pods-whole-cores", "pods[0].cpus", "warn")]
    assert found(intent("0", "1-3", pods=[pod]), topology(4, 1, 1)) == []


@pytest.mark.parametrize(
    ("pages", "rule", "facts"),
    [
        ([{"size": "1G", "count": 1, "node": 2}], "hugepage-nodes-exist", ("node", "2")),
        (
            [{"size": "1G", "count": 64, "node": 1}],
            "hugepages-fit",
            ("64.0", "GiB", "node", "1"),
        ),
        (
            [{"size": "1G", "count": 130}],
            "hugepages-fit",
            ("130.0", "GiB", "128.0"),
        ),
    ],
)
def test_hugepages_that_do_not_fit(
    pages: list[Any], rule: str, facts: tuple[str, ...], says: Says
) -> None:
    expected = intent("0-1", "2-3", hugepages={"default_size": "1G", "pages": pages})
    (problem,) = check_topology(expected, topology(4, 1, 2))
    assert (problem.rule, problem.field) == (rule, "hugepages.pages")
    assert problem.text == says(*facts)


def test_hugepages_fit_where_the_memory_is_not_known() -> None:
    host = topology(4, 1, 2)
    unknown = Topology(host.online, host.siblings, host.nodes, {})
    pages = [{"size": "1G", "count": 500}]
    expected = intent("0-1", "2-3", hugepages={"default_size": "1G", "pages": pages})
    assert check_topology(expected, unknown) == ()


def test_a_port_that_is_not_there() -> None:
    expected = intent("0", "1-3", nics=[{"name": "a", "pf_names": ["ens1"]}])
    (problem,) = check_topology(expected, topology(4, 1, 1))
    assert (problem.rule, problem.field, problem.text) == (
        "nics-exist",
        "nics[0]",
        "no port is ens1",
    )


def test_a_card_on_another_node_than_said(says: Says) -> None:
    expected = intent("0-1", "2-3", nics=[{"name": "a", "pf_names": ["ens1"], "numa_node": 0}])
    (problem,) = check_topology(expected, topology(4, 1, 2, ens1=1))
    assert problem.field == "nics[0].numa_node"
    assert problem.text == says("1", "0")


def test_a_card_on_a_node_without_isolated_cpus() -> None:
    expected = intent("0,1,3", "2", nics=[{"name": "a", "pf_names": ["ens1"]}])
    assert found(expected, topology(4, 1, 2, ens1=1)) == [
        ("nic-node-has-isolated", "nics[0]", "fail")
    ]


def test_a_card_on_a_node_without_hugepages(says: Says) -> None:
    expected = intent(
        "0-1",
        "2-3",
        nics=[{"name": "a", "pf_names": ["ens1"]}],
        hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 1, "node": 0}]},
    )
    (problem,) = check_topology(expected, topology(4, 1, 2, ens1=1))
    assert problem.rule == "nic-node-has-hugepages"
    assert problem == says("node", "1")


@pytest.mark.parametrize(
    ("nic", "problems"),
    [
        ({"pf_names": ["eth0"], "driver": "vfio-pci"}, [("nic-is-uplink", "nics[0]", "fail")]),
        ({"pci": ["0000:01:00.0"], "driver": "vfio-pci"}, [("nic-is-uplink", "nics[0]", "fail")]),
        ({"pf_names": ["eth0"], "driver": "netdevice"}, []),
        # Its VFs go to the driver, and the port stays.
        ({"pf_names": ["eth0"], "driver": "vfio-pci", "num_vfs": 2}, []),
        ({"pf_names": ["eth1"], "driver": "vfio-pci"}, []),
    ],
)
def test_the_port_that_the_host_lives_by(
    nic: dict[str, Any], problems: list[tuple[str, str, str]], says: Says
) -> None:
    ports = {"eth0": 0, "eth1": 0, "0000:01:00.0": 0}
    reason = "it carries the default route"
    host = replace(topology(4, 1, 1, **ports), in_use={"eth0": reason, "0000:01:00.0": reason})
    expected = intent("0", "1-3", nics=[nic | {"name": "a"}])
    assert found(expected, host) == problems
    for each in check_topology(expected, host):
        assert each.text == says()


def test_one_port_by_two_names(says: Says) -> None:
    nics = [{"name": "a", "pf_names": ["ens1", "ens2"]}, {"name": "b", "pci": ["0000:01:00.1"]}]
    host = replace(
        topology(4, 1, 1, **{"ens1": 0, "ens2": 0, "0000:01:00.1": 0}),
        port_addresses={"ens1": "0000:01:00.0", "ens2": "0000:01:00.1"},
    )
    (problem,) = check_topology(intent("0", "1-3", nics=nics), host)
    assert (problem.rule, problem.field) == ("port-named-once", "nics[0].pf_names")
    assert problem.text == says("ens2", "0000:01:00.1")


def test_a_card_whose_node_is_not_known_is_not_judged() -> None:
    expected = intent("0,1,3", "2", nics=[{"name": "a", "pf_names": ["ens1"], "numa_node": 1}])
    assert check_topology(expected, topology(4, 1, 2, ens1=None)) == ()


def test_the_articles_intents_are_sound_on_the_articles_hosts() -> None:
    """Even CPUs on node 0 and odd ones on node 1, which TRex's threads of socket 1 show."""
    first = topology(40, 1, 2, ens7f0=1, ens7f1=1)
    assert check_topology(load_preset("openshift-deterministic"), first) == ()
    assert check_topology(load_preset("openshift-sno-vdu"), topology(16, 2, 1)) == ()
    # 160 GiB are more than the 64 of each node here.
    telco = topology(32, 2, 2)
    large = Topology(telco.online, telco.siblings, telco.nodes, {0: 384 * 2**20, 1: 384 * 2**20})
    assert check_topology(load_preset("telco-core-rds"), large) == ()
