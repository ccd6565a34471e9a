"""10: whether the intent fits the host's cores."""

from __future__ import annotations

from plimsoll.errors import MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.expected_argument import ONLINE
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    ok,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.fit.topology import Problem, Topology, TopologyRule, read_topology
from plimsoll.tune.fit.topology_rules import check_topology
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_TOPOLOGY = "/sys/devices/system/cpu/cpu*/topology"
# The rules about memory and cards are other checks'.
_RULES: tuple[TopologyRule, ...] = (
    "cpus-exist",
    "cpus-covered",
    "siblings-together",
    "smt",
    "cpu-0-reserved",
    "node-has-reserved",
    "generator-isolated",
)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = (
        f"reserved {intent.cpus.reserved} and isolated {intent.cpus.isolated} make up the CPUs "
        "online, by whole cores"
    )
    try:
        topology = read_topology(view.read)
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}", expected=expected)
    read = Reading(ONLINE, format_cpu_list(topology.online)), _cores(topology)
    problems = [each for each in check_topology(intent, topology) if each.rule in _RULES]
    if not problems:
        return ok("the intent's CPUs are this host's", *read, expected=expected)
    judged = worst_of(_judge_problem(problem, read) for problem in problems)
    return CheckJudgement(judged.verdict, judged.text, read, expected, judged.steps)


def _judge_problem(problem: Problem, read: tuple[Reading, ...]) -> CheckJudgement:
    say = fail if problem.severity == "fail" else warn
    return say(problem.text, *read, steps=[advice(f"{problem.field}: {problem.remedy}")])


def _cores(topology: Topology) -> Reading:
    nodes = ", ".join(
        f"node {node}: CPUs {format_cpu_list(cpus) or 'none'}"
        for node, cpus in topology.nodes.items()
    )
    smt = "with SMT" if topology.smt else "without SMT"
    return Reading(_TOPOLOGY, f"{len(topology.cores)} cores {smt}; {nodes}")


CHECK = Check(
    number=10,
    name="cpu-layout",
    group="boot",
    title="Reserved and isolated CPUs are all there are, by whole cores",
    reads=TOPOLOGY,
    why=(
        "Two threads of a core share its caches and execution units: a housekeeping thread "
        "takes its share from its polling sibling. A CPU that is neither reserved "
        "nor isolated gets whatever comes; CPU 0 keeps work of the kernel that cannot be "
        "moved; a node without a reserved core has its housekeeping done across the link "
        "between the sockets. The Node Tuning Operator sees none of this."
    ),
    fix="Change cpus.reserved and cpus.isolated; plimsoll tune init proposes both for a host.",
    sources=(
        "OpenShift, Low latency tuning: Partitioning the CPUs",
        "DPDK, Getting Started Guide for Linux: How to get best performance with NICs",
    ),
    rule=_judge,
)
