"""An experiment for a host at hand, as YAML to be read, changed and run."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from plimsoll.benchmark.proposal.survey import HostSurvey
from plimsoll.dut.lab import LabModel
from plimsoll.dut.labs.external import ExternalSettings
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.errors import MachineError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.ports.machine_ports import MachinePort, is_open_to_dpdk
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.bounded_yaml import Noted, commented_yaml
from plimsoll.text.plain_text import plain_text

_WIDTH = 98
_FRAME_SIZE = 64
# The loops that two ports can have: one a port and direction, one a port, one for all.
_LAYOUTS = {4: "one a port and direction", 2: "one a port", 1: "it polls both ports"}
_DESCRIPTORS: int = ExternalSettings.model_fields["descriptors"].default


def proposed_experiment(survey: HostSurvey) -> str:
    """The file's text: on two cards that DPDK can open, or without them on testpmd over memif.

    `load_experiment` reads it. Raises MachineError for a host that can run neither.
    """
    ports = pair_of_ports(survey.ports)
    document = _on_cards(survey, ports) if ports else _on_memif(survey)
    return commented_yaml(document, tuple(_heading(survey, ports)))


def _heading(survey: HostSurvey, ports: Sequence[MachinePort]) -> Iterator[str]:
    yield from textwrap.wrap(
        "An experiment for this host, proposed by plimsoll init: the highest load with next to no "
        "loss and bounded latency, and a validation at it. Nothing was changed on the host. Read "
        "it, change what does not fit, and give the file to plimsoll run. Every field: "
        "docs/experiment.md.",
        _WIDTH,
    )
    yield ""
    for said in (cpus_in_words(survey), *ports_in_words(survey.ports), *_wiring(ports)):
        # A list of CPUs or an address that is broken in two can be neither found nor copied.
        yield from textwrap.wrap(said, _WIDTH, break_on_hyphens=False, break_long_words=False)


def _wiring(ports: Sequence[MachinePort]) -> Iterator[str]:
    if ports:
        yield (
            "Both ports must be cabled to the DUT. Frames have made-up MAC addresses: a DUT that "
            "goes by them needs src_mac and dst_mac in the streams."
        )


def _on_cards(survey: HostSurvey, ports: Sequence[MachinePort]) -> dict[str, Any]:
    node = ports[0].numa_node
    loops = max(count for count in _LAYOUTS if count <= max(1, whole_cores(survey, node)))
    cpus = _cpus(survey, loops, node)
    addresses = [port.pci_address for port in ports]
    line_rate = line_rate_of(ports)
    needed = ExternalSettings.model_validate(
        {"ports": [{"devargs": address} for address in addresses]}
    )
    return {
        "lab": {
            "kind": Noted("external", "a DUT that Plimsoll neither starts nor stops"),
            "ports": [Noted({"devargs": port.pci_address}, _port_note(port)) for port in ports],
            **(
                {"line_rate": Noted(line_rate, "as the kernel knows the links")}
                if line_rate
                else {}
            ),
        },
        "generator": {"cpus": Noted(cpus, f"{_LAYOUTS[loops]}; {why_these(survey, cpus)}")},
        "require_hugepages": Noted(True, f"cards need them: {_pages(survey, needed, cpus)}"),
        "profile": _profile(),
        "criteria": _criteria("1ms", "of the probe; write what your service needs"),
        "search": _search(
            Noted("1%", "of the line rate, per direction"), Noted("100%", "of the line rate"), "1%"
        ),
    }


def _on_memif(survey: HostSurvey) -> dict[str, Any]:
    if survey.no_testpmd is not None:
        raise MachineError(
            f"no two free ports are bound for DPDK, and without them {survey.no_testpmd.message}",
            where="plimsoll init",
            remedy=f"{survey.no_testpmd.remedy}; or bind two ports, plimsoll ports shows how",
        )
    best = best_cpus(survey)
    dut, tester = _cpus(survey, 2, survey.topology.node_of(best[0]) if best else None)
    lab = TestpmdSettings(cpu=dut)
    why = why_these(survey, (dut, tester))
    return {
        "lab": {
            "kind": Noted(
                "testpmd-memif", "dpdk-testpmd by shared memory: no two ports are bound for DPDK"
            ),
            "cpu": Noted(dut, f"its forwarding loop polls here; {why}"),
            "line_rate": Noted(
                "10Gbps", "nominal, memif has no wire; utilisation is a share of it"
            ),
        },
        "generator": {"cpus": Noted([tester], f"{_LAYOUTS[1]}; {why}")},
        "require_hugepages": Noted(False, f"slower without; {_pages(survey, lab, (tester,))}"),
        "profile": _profile(),
        "trial": {"drain": Noted("300ms", "memif has no wire on which frames could linger")},
        "criteria": _criteria("10ms", "of the probe; a shared CPU can be away for milliseconds"),
        "search": _search(
            Noted("50kpps", "per direction"),
            Noted("6Mpps", "raise it where the search ends there"),
            "5%",
        ),
    }


def _cpus(survey: HostSurvey, count: int, node: int | None) -> list[int]:
    """So many CPUs, for a polling loop each."""
    cpus = best_cpus(survey, node)
    if len(cpus) < count:
        raise MachineError(
            f"{count} polling loops need a CPU each, and this process may use {len(cpus)}",
            where="plimsoll init",
            remedy=f"widen its affinity or cpuset, or take a host of {count} CPUs or more",
        )
    return list(cpus[:count])


def _port_note(port: MachinePort) -> str:
    node = "" if port.numa_node is None else f", NUMA node {port.numa_node}"
    return f"driver {port.driver}{node}"


def _pages(survey: HostSurvey, lab: LabModel, tester_cpus: Sequence[int]) -> str:
    """How many hugepages it takes, and where they come from."""
    tester = EngineSettings(cpus=tuple(tester_cpus))
    frame_bytes = _FRAME_SIZE - FCS_BYTES
    needed = lab.megabytes + tester.megabytes_for(lab.port_count, _DESCRIPTORS, frame_bytes)
    text = f"of {needed} MB {min(survey.free_megabytes, needed)} MB are free"
    if survey.free_megabytes >= needed:
        return text
    if survey.adds_hugepages:
        return f"{text}, a run reserves the rest"
    return f"{text}, as root: sysctl vm.nr_hugepages={-(-needed // 2)}"


def _profile() -> dict[str, Any]:
    """The load apart from the probe that measures."""
    flows = {"frame_size": Noted(_FRAME_SIZE, "bytes, with FCS"), "flows": 1024}
    return {
        "streams": [
            {"name": "load", "role": "load", **flows, "direction": "bidirectional"},
            {
                "name": "probe",
                "role": "latency",
                "rate": Noted("1000pps", "fixed, whatever the load"),
                **flows,
                "direction": "unidirectional",
            },
        ]
    }


def _criteria(latency: str, why: str) -> list[dict[str, Any]]:
    counted = ("corrupt", "misdirected", "duplicate", "out-of-order")
    return [
        {"kind": "loss-ratio", "at_most": Noted("0.002%", "per direction")},
        {"kind": "latency", "quantile": "p99", "at_most": Noted(latency, why)},
        *({"kind": kind} for kind in counted),
    ]


def _search(minimum: Noted, maximum: Noted, width: str) -> dict[str, Any]:
    return {
        "strategy": Noted("load-line", "binary, mlrsearch and checkpoints: docs/searches.md"),
        "minimum": minimum,
        "maximum": maximum,
        "width": Noted(width, "how near the capacity is searched for"),
        "duration": Noted("5s", "of a trial that looks for the capacity"),
        "validation": {"duration": Noted("60s", "to prove it for hours: --validation 3h")},
    }


# Which CPUs the polling loops of a proposed experiment get, and why.
def best_cpus(survey: HostSurvey, node: int | None = None) -> tuple[int, ...]:
    """Every CPU that may poll, the best first.

    Isolated ones before others, then those that need not share a core, those of NUMA `node`,
    and those that are not on the core of CPU 0, which the kernel has most work for.
    """
    topology = survey.topology
    threads: dict[int, int] = {}
    for core in topology.cores:
        by_worth = sorted(core & survey.usable, key=lambda cpu: (cpu not in survey.isolated, cpu))
        threads.update({cpu: thread for thread, cpu in enumerate(by_worth)})

    def worth(cpu: int) -> tuple[bool, int, bool, bool, int]:
        elsewhere = node is not None and topology.node_of(cpu) != node
        of_cpu_0 = 0 in topology.siblings[cpu]
        return cpu not in survey.isolated, threads[cpu], elsewhere, of_cpu_0, cpu

    return tuple(sorted(threads, key=worth))


def whole_cores(survey: HostSurvey, node: int | None) -> int:
    """For how many loops there are cores on `node`, of the isolated CPUs where there are any.

    The core of CPU 0 is left to the system where none are isolated.
    """
    isolated = survey.isolated & survey.usable
    candidates = isolated or survey.usable - survey.topology.siblings.get(0, frozenset())
    near = candidates if node is None else candidates & survey.topology.nodes.get(node, frozenset())
    return len({survey.topology.siblings[cpu] for cpu in near})


def why_these(survey: HostSurvey, cpus: Sequence[int]) -> str:
    """What is to be known of the choice, in clauses."""
    isolated = survey.isolated.issuperset(cpus)
    reasons = ["isolated from the scheduler" if isolated else "not isolated: others may disturb it"]
    if _share_a_core(survey, cpus):
        reasons.append("threads of one core, for want of others")
    nodes = {survey.topology.node_of(cpu) for cpu in cpus}
    if len(survey.topology.nodes) > 1:
        reasons.append(f"NUMA node {', '.join(str(node) for node in sorted(nodes, key=str))}")
    return "; ".join(reasons)


def cpus_in_words(survey: HostSurvey) -> str:
    """All CPUs of the host, what this process may use of them, and what would give it more."""
    text = f"CPUs {format_cpu_list(survey.topology.online)} are online"
    text += f", {_listed(survey.isolated)} isolated"
    if survey.usable != survey.topology.online:
        text += f", {_listed(survey.usable)} allowed to this process"
    if beyond := survey.isolated & survey.topology.online - survey.allowed:
        every = format_cpu_list(survey.topology.online)
        text += (
            f"; for the isolated {format_cpu_list(beyond)} run both plimsoll init and plimsoll run "
            f"under taskset -c {every}"
        )
    elif not survey.isolated:
        text += "; plimsoll tune init and tune audit show how to isolate some"
    return f"{text}."


def _listed(cpus: Collection[int]) -> str:
    return format_cpu_list(cpus) or "none"


def _share_a_core(survey: HostSurvey, cpus: Sequence[int]) -> bool:
    return len({survey.topology.siblings[cpu] for cpu in cpus}) < len(cpus)


# The ports of a proposed experiment: two cards that DPDK can open and the host can spare.
def pair_of_ports(ports: Sequence[MachinePort]) -> tuple[MachinePort, ...]:
    """The first two that will do, on one NUMA node if possible; none where there is one or none."""
    open_ones = sorted((port for port in ports if _will_do(port)), key=_node)
    of_a_node = [tuple(group) for _, group in groupby(open_ones, key=_node)]
    pairs = [group[:2] for group in (*of_a_node, tuple(open_ones)) if len(group) > 1]
    return pairs[0] if pairs else ()


def line_rate_of(ports: Sequence[MachinePort]) -> str | None:
    """The slower port's, as an experiment says it; None where the kernel does not know both."""
    speeds = [port.speed_mbps for port in ports if port.speed_mbps]
    if not speeds or len(speeds) < len(ports):
        return None
    slowest = min(speeds)
    return f"{slowest}Mbps" if slowest % 1000 else f"{slowest // 1000}Gbps"


def ports_in_words(ports: Sequence[MachinePort]) -> Iterator[str]:
    """Each card, and what it still needs for DPDK, or why it is to be left alone."""
    for port in ports:
        if port.pci_address is None:
            continue
        named = f" ({plain_text(port.name)})" if port.name else ""
        state = (
            f"missing for DPDK: {'; '.join(port.pci_needs)}" if port.pci_needs else "ready for DPDK"
        )
        if port.in_use:
            state = f"in use, {port.in_use}"
        yield f"Port {port.pci_address}{named}, driver {port.driver or 'none'}; {state}."


def _will_do(port: MachinePort) -> bool:
    return port.pci_address is not None and not port.in_use and is_open_to_dpdk(port.driver)


def _node(port: MachinePort) -> int:
    return -1 if port.numa_node is None else port.numa_node
