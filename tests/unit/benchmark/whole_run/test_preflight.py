"""What is refused before anything is brought up."""

from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.whole_run.preflight import check_search, check_trial, search_mistakes
from plimsoll.dut.kernel import flowtable
from plimsoll.dut.lab import LineRate
from plimsoll.dut.labs.linux_router import LinuxRouterSettings
from plimsoll.errors import InputError, MachineError
from plimsoll.text.units import parse_rate
from tests.worded.says import Says

LOAD = {"name": "load", "role": "load"}
PROBE = {"name": "probe", "role": "latency", "rate": "1kpps"}
CARDS = [{"devargs": "0000:01:00.0"}, {"devargs": "0000:01:00.1"}]


def experiment(**changes: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "checked",
            "lab": {"kind": "loopback"},
            "profile": {"streams": [LOAD]},
            "search": {"minimum": "1kpps", "maximum": "2kpps"},
            **changes,
        }
    )


def refused_trial(load: str, **changes: Any) -> InputError:
    with pytest.raises(InputError) as refused:
        check_trial(experiment(**changes), parse_rate(load), "--load")
    assert refused.value.remedy
    return refused.value


def refused_search(**changes: Any) -> InputError:
    with pytest.raises(InputError) as refused:
        check_search(experiment(**changes))
    assert refused.value.remedy
    return refused.value


def streams(number: int, **changes: Any) -> dict[str, Any]:
    return {"streams": [{**LOAD, "name": f"load-{n}", **changes} for n in range(number)]}


def test_a_sound_experiment_passes() -> None:
    check_search(experiment())
    check_trial(experiment(), parse_rate("1Gpps"), "--load")


@pytest.mark.parametrize(
    ("load", "facts"),
    [
        ("50%", ("50%",)),
        ("1.5x", ("--load", "1.5x")),
        ("1e9Gpps", ("load/0-0", "1e+09")),
        ("0.001pps", ("load/0-0", "0.001", "pps")),
    ],
)
def test_an_impossible_load_is_the_options_fault(
    load: str, facts: tuple[str, ...], says: Says
) -> None:
    error = refused_trial(load)
    assert error.where == "--load"
    assert error == says(*facts)


def test_more_flows_than_the_dut_keeps_state_of_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    """Of both directions and all streams: 2 x (3000 + 500), and one probe each way."""
    monkeypatch.setattr(LinuxRouterSettings, "check_machine", lambda self: LineRate(None))
    monkeypatch.setattr(flowtable, "conntrack_max", lambda: 7001)
    many = [{**LOAD, "flows": 3000}, {**LOAD, "name": "more", "flows": 500}, PROBE]
    lab = {"kind": "linux-router", "flowtable": True}
    found = search_mistakes(experiment(lab=lab, profile={"streams": many}))
    assert [each.message for each in found if each.where == "lab.flowtable"] == [
        says("7,002", "flows", "7,001")
    ]
    fewer = {"streams": [*many[:2], {**PROBE, "direction": "unidirectional"}]}
    found = search_mistakes(experiment(lab=lab, profile=fewer))
    assert not [each for each in found if each.where == "lab.flowtable"]


def test_a_load_that_probes_take_whole_is_the_options_fault(says: Says) -> None:
    taking = {"streams": [LOAD, {**PROBE, "taken_from": "load"}]}
    error = refused_trial("900pps", profile=taking)
    assert error.where == "--load"
    assert error == says("1", "load")


def test_a_share_of_a_line_rate_that_only_links_will_tell_is_left_to_them() -> None:
    lab = {"kind": "external", "ports": CARDS}
    check_trial(experiment(lab=lab), parse_rate("50%"), "--load")
    check_search(experiment(lab=lab, search={"minimum": "1%", "maximum": "100%"}))
    check_trial(experiment(lab={**lab, "line_rate": "10Gbps"}), parse_rate("50%"), "--load")


@pytest.mark.parametrize(
    ("search", "where", "facts"),
    [
        ({"minimum": "3kpps", "maximum": "2kpps"}, "search.minimum", ("maximum",)),
        (
            {"strategy": "binary", "minimum": "1kpps", "maximum": "2kpps", "start": "3kpps"},
            *("search.start", ("1", "kpps", "2")),
        ),
        (
            {"minimum": "1kpps", "maximum": "90%"},
            "search.maximum",
            ("search.maximum", "90%", "line_rate"),
        ),
        ({"minimum": "1kpps", "maximum": "2Gpps"}, "search.maximum", ("2", "Gpps")),
        ({"minimum": "0.001pps", "maximum": "1kpps"}, "search.minimum", ("0.001", "pps")),
    ],
)
def test_an_impossible_search_names_its_field(
    search: dict[str, str], where: str, facts: tuple[str, ...], says: Says
) -> None:
    error = refused_search(search=search)
    assert error.where == where
    assert error == says(*facts)


def test_streams_are_counted_by_direction(says: Says) -> None:
    check_search(experiment(profile=streams(32)))
    check_search(experiment(profile=streams(64, direction="unidirectional")))
    error = refused_search(profile=streams(33))
    assert error.where == "profile.streams"
    assert error == says("66", "streams", "64")


def test_streams_are_counted_by_queue(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    # 8 CPUs for 2 ports: each port is sent on by 2 of them, on a queue each.
    generator = {"cpus": list(range(8))}
    check_search(experiment(profile=streams(16), generator=generator))
    error = refused_search(profile=streams(17), generator=generator)
    assert error == says("34", "68")


def test_cpus_that_do_not_fit_the_ports_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    error = refused_search(generator={"cpus": [0, 1, 2]})
    assert error.where == "generator.cpus"


def test_a_direction_without_a_path_is_refused() -> None:
    error = refused_search(
        lab={"kind": "loopback", "ports": 1}, profile=streams(1, direction="revunidirectional")
    )
    assert error.where == "lab.paths"


def test_a_socket_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    monkeypatch.setattr("plimsoll.dut.needs.NeededProgram.find", lambda needed: needed.name)
    error = refused_search(lab={"kind": "testpmd-memif", "socket": "/proc/nonexistent/m.sock"})
    assert error.where == "lab.socket"
    assert error == says("lab.socket", "/proc/nonexistent/m.sock")


@pytest.mark.parametrize(
    ("load", "facts"),
    [
        ("150%", ("22.32", "150", "10")),
        ("20Gbps", ("29.76", "200", "10", "Gbps")),
        ("15Mpps", ("14.88", "Mpps")),
    ],
)
def test_a_load_above_the_line_rate_is_refused(
    load: str, facts: tuple[str, ...], says: Says
) -> None:
    lab = {"kind": "external", "ports": CARDS, "line_rate": "10Gbps"}
    error = refused_trial(load, lab=lab)
    assert error.where == "--load"
    assert error == says(*facts)
    searched = refused_search(lab=lab, search={"minimum": "1kpps", "maximum": load})
    assert searched.where == "search.maximum"
    assert searched == says("100%", *facts)


def test_the_whole_line_rate_is_a_load() -> None:
    lab = {"kind": "external", "ports": CARDS, "line_rate": "10Gbps"}
    check_trial(experiment(lab=lab), parse_rate("100%"), "--load")
    check_search(experiment(lab=lab, search={"minimum": "1%", "maximum": "10Gbps"}))


def test_a_card_that_is_not_there_is_the_machines_fault(says: Says) -> None:
    # PCI has no bus of that number on any machine that tests run on.
    lab = {"kind": "external", "ports": [{"devargs": "net_null0"}, {"devargs": "ffff:ff:1f.7"}]}
    with pytest.raises(MachineError) as refused:
        check_search(experiment(lab=lab))
    assert refused.value == says("lab.ports[1].devargs", "ffff:ff:1f.7", "plimsoll ports")
    assert refused.value.exit_code == 3


def test_a_line_rate_that_only_links_tell_refuses_loads_once_they_are_up(says: Says) -> None:
    lab = {"kind": "external", "ports": CARDS}
    search = {"minimum": "1kpps", "maximum": "20Gbps"}
    plan = experiment(lab=lab, search=search)
    check_search(plan)
    with pytest.raises(InputError) as refused:
        plan.search.resolve_range(loads_of_search(plan, 10e9))
    assert refused.value == says("200")
    assert refused.value.where == "search.maximum"


def test_resctrl_that_cannot_be_had_is_refused_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    def find() -> None:
        raise MachineError("resctrl is not mounted", where="resctrl", remedy="mount it")

    monkeypatch.setattr("plimsoll.host.resctrl.filesystem.Resctrl.find", find)
    groups = {"groups": [{"name": "loops", "of": ["tester"], "schemata": {"L3": "0xf"}}]}
    with pytest.raises(MachineError) as refused:
        check_search(experiment(resctrl=groups))
    assert refused.value == says("resctrl")
    assert refused.value.where == "resctrl"
