"""What is refused before anything is brought up."""

from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.whole_run.preflight import check_search, check_trial, search_mistakes
from plimsoll.dut.kernel import flowtable
from plimsoll.dut.kernel.linux_router import LinuxRouterSettings
from plimsoll.dut.lab import LineRate
from plimsoll.errors import InputError, MachineError
from plimsoll.text.units import parse_rate

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
    ("load", "said"),
    [
        ("50%", "50% is a share of the line rate, and these ports have none"),
        ("1.5x", "multiplies the profile's own rate"),
        ("1e9Gpps", "stream load/0-0 would be sent at 1e+09 Gpps"),
        ("0.001pps", "stream load/0-0 would be sent at 0.001 pps"),
    ],
)
def test_an_impossible_load_is_the_options_fault(load: str, said: str) -> None:
    error = refused_trial(load)
    assert error.where == "--load"
    assert said in error.message


def test_more_flows_than_the_dut_keeps_state_of_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of both directions and all streams: 2 x (3000 + 500), and one probe each way."""
    monkeypatch.setattr(LinuxRouterSettings, "check_machine", lambda self: LineRate(None))
    monkeypatch.setattr(flowtable, "conntrack_max", lambda: 7001)
    many = [{**LOAD, "flows": 3000}, {**LOAD, "name": "more", "flows": 500}, PROBE]
    lab = {"kind": "linux-router", "flowtable": True}
    found = search_mistakes(experiment(lab=lab, profile={"streams": many}))
    assert [each.message for each in found if each.where == "lab.flowtable"] == [
        "7,002 flows may be tracked at a time, and this kernel tracks 7,001 of a network "
        "namespace, and drops the frames of all others"
    ]
    fewer = {"streams": [*many[:2], {**PROBE, "direction": "unidirectional"}]}
    found = search_mistakes(experiment(lab=lab, profile=fewer))
    assert not [each for each in found if each.where == "lab.flowtable"]


def test_a_load_that_probes_take_whole_is_the_options_fault() -> None:
    taking = {"streams": [LOAD, {**PROBE, "taken_from": "load"}]}
    error = refused_trial("900pps", profile=taking)
    assert error.where == "--load"
    assert "probes take 1 kpps out of stream load" in error.message


def test_a_share_of_a_line_rate_that_only_links_will_tell_is_left_to_them() -> None:
    lab = {"kind": "external", "ports": CARDS}
    check_trial(experiment(lab=lab), parse_rate("50%"), "--load")
    check_search(experiment(lab=lab, search={"minimum": "1%", "maximum": "100%"}))
    check_trial(experiment(lab={**lab, "line_rate": "10Gbps"}), parse_rate("50%"), "--load")


@pytest.mark.parametrize(
    ("search", "where", "said"),
    [
        ({"minimum": "3kpps", "maximum": "2kpps"}, "search.minimum", "above the maximum"),
        (
            {"strategy": "binary", "minimum": "1kpps", "maximum": "2kpps", "start": "3kpps"},
            *("search.start", "outside 1 kpps to 2 kpps"),
        ),
        ({"minimum": "1kpps", "maximum": "90%"}, "search.maximum", "have none"),
        ({"minimum": "1kpps", "maximum": "2Gpps"}, "search.maximum", "would be sent at 2 Gpps"),
        ({"minimum": "0.001pps", "maximum": "1kpps"}, "search.minimum", "sent at 0.001 pps"),
    ],
)
def test_an_impossible_search_names_its_field(
    search: dict[str, str], where: str, said: str
) -> None:
    error = refused_search(search=search)
    assert error.where == where
    assert said in error.message


def test_streams_are_counted_by_direction() -> None:
    check_search(experiment(profile=streams(32)))
    check_search(experiment(profile=streams(64, direction="unidirectional")))
    error = refused_search(profile=streams(33))
    assert error.where == "profile.streams"
    assert error.message == (
        "these are 66 streams with each direction counted; the generator takes 64"
    )


def test_streams_are_counted_by_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    # 8 CPUs for 2 ports: each port is sent on by 2 of them, on a queue each.
    generator = {"cpus": list(range(8))}
    check_search(experiment(profile=streams(16), generator=generator))
    error = refused_search(profile=streams(17), generator=generator)
    assert "these are 34 streams with each direction counted, 68 over the ports' queues" in (
        error.message
    )


def test_cpus_that_do_not_fit_the_ports_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    error = refused_search(generator={"cpus": [0, 1, 2]})
    assert error.where == "generator.cpus"


def test_a_direction_without_a_path_is_refused() -> None:
    error = refused_search(
        lab={"kind": "loopback", "ports": 1}, profile=streams(1, direction="revunidirectional")
    )
    assert error.where == "lab.paths"


def test_a_socket_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.benchmark.whole_run.preflight.cpu_mistakes", lambda cpus: ())
    monkeypatch.setattr("plimsoll.dut.needs.NeededProgram.find", lambda needed: needed.name)
    error = refused_search(lab={"kind": "testpmd-memif", "socket": "/proc/nonexistent/m.sock"})
    assert error.where == "lab.socket"
    assert "its directory does not exist" in error.message


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ("150%", "a load of 22.32 Mpps per direction is 150 % of the line rate of 10 Gbps"),
        ("20Gbps", "a load of 29.76 Mpps per direction is 200 % of the line rate of 10 Gbps"),
        ("15Mpps", "which carries 14.88 Mpps of these frames"),
    ],
)
def test_a_load_above_the_line_rate_is_refused(load: str, said: str) -> None:
    lab = {"kind": "external", "ports": CARDS, "line_rate": "10Gbps"}
    error = refused_trial(load, lab=lab)
    assert error.where == "--load"
    assert said in error.message
    searched = refused_search(lab=lab, search={"minimum": "1kpps", "maximum": load})
    assert searched.where == "search.maximum"
    assert said in searched.message
    assert searched.remedy == "give at most 100%, or correct the lab's line rate"


def test_the_whole_line_rate_is_a_load() -> None:
    lab = {"kind": "external", "ports": CARDS, "line_rate": "10Gbps"}
    check_trial(experiment(lab=lab), parse_rate("100%"), "--load")
    check_search(experiment(lab=lab, search={"minimum": "1%", "maximum": "10Gbps"}))


def test_a_card_that_is_not_there_is_the_machines_fault() -> None:
    # PCI has no bus of that number on any machine that tests run on.
    lab = {"kind": "external", "ports": [{"devargs": "net_null0"}, {"devargs": "ffff:ff:1f.7"}]}
    with pytest.raises(MachineError) as refused:
        check_search(experiment(lab=lab))
    assert str(refused.value) == (
        "lab.ports[1].devargs: this machine has no PCI device ffff:ff:1f.7 (plimsoll ports "
        "lists the cards that it has)"
    )
    assert refused.value.exit_code == 3


def test_a_line_rate_that_only_links_tell_refuses_loads_once_they_are_up() -> None:
    lab = {"kind": "external", "ports": CARDS}
    search = {"minimum": "1kpps", "maximum": "20Gbps"}
    plan = experiment(lab=lab, search=search)
    check_search(plan)
    with pytest.raises(InputError, match="200 % of the line rate") as refused:
        plan.search.resolve_range(loads_of_search(plan, 10e9))
    assert refused.value.where == "search.maximum"


def test_resctrl_that_cannot_be_had_is_refused_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find() -> None:
        raise MachineError("resctrl is not mounted", where="resctrl", remedy="mount it")

    monkeypatch.setattr("plimsoll.host.resctrl.filesystem.Resctrl.find", find)
    groups = {"groups": [{"name": "loops", "of": ["tester"], "schemata": {"L3": "0xf"}}]}
    with pytest.raises(MachineError, match="resctrl is not mounted") as refused:
        check_search(experiment(resctrl=groups))
    assert refused.value.where == "resctrl"
