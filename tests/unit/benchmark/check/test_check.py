"""Experiments looked at before they are run: mistakes by hand-counted lines, rates by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.benchmark.check.check import check_experiment, planned_cpus
from plimsoll.benchmark.check.planned_phases import cost_of
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.set_field import parse_set_field
from plimsoll.host.ledger.cpu_claims import CpuClaim, claim_cpus
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.schedule_stats import BusyCpu
from plimsoll.record.results.check_result import CheckResult, PlannedPhase, PlannedRun
from plimsoll.search.strategy.ask import ONLY_GOAL
from plimsoll.traffic.streams.compile import compile_profile
from tests.worded.says import Says, passage

# Every kind of mistake that reading finds, and CPUs that the machine lacks.
UNREADABLE = """\
lab: {kind: testpmd-memif, cpu: 7}
generator:
  cpus: [0, 7]
profile:
  streams:
    - {name: load, role: load, flos: 16}
    - {name: probe, role: latency, rate: 1kpps}
    - {name: back, role: latency, rate: 10%, pacing: back-to-back}
criteria:
  - {kind: loss-ratio, at_most: 0.002}
  - {kind: latncy}
search:
  minimum: 1kpps
  maximum: 2000000
trial: {drain: 2 fortnights}
"""
# What only shows when it is read: each section is sound in itself.
UNSOUND = """\
lab:
  kind: testpmd-memif
  cpu: 1
generator: {cpus: [0, 1]}
profile:
  streams:
    - {name: load, role: load, frame_size: 9218}
    - {name: probe, role: latency, rate: 1kpps}
trial:
  before: [/proc/nonexistent/flush]
criteria:
  - {kind: loss-ratio}
  - {kind: steal}
search:
  maximum: 2kpps
  minimum: 3kpps
  duration: 1s
observe:
  interval: 2s
"""
# Whose sections do not agree with each other.
DISAGREEING = """\
profile:
  streams: [{name: load, role: load}]
lab: {kind: loopback}
allowed: [duplicate]
criteria:
  - {kind: duplicate}
  - {kind: spread-of-rate, at_most: 1%, repetitions: 3}
  - {kind: steal}
observe: {enabled: false}
search: {minimum: 1kpps, maximum: 2kpps}
"""
SOUND = """\
lab: {kind: loopback, ports: 2}
generator: {cpus: [0]}
profile:
  streams:
    - {name: load, role: load, frame_size: 64, flows: 16}
    - {name: probe, role: latency, rate: 1kpps, frame_size: 128, direction: unidirectional}
search:
  minimum: 1Mpps
  maximum: 2Mpps
  strategy: binary
  one_shot: true
  validation: {duration: 60s}
"""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    """Two CPUs, and testpmd."""
    for name in ("online_cpus", "allowed_cpus"):
        monkeypatch.setattr(f"plimsoll.host.cpus.{name}", lambda: frozenset({0, 1}))
    monkeypatch.setattr("plimsoll.dut.needs.NeededProgram.find", lambda needed: needed.name)
    monkeypatch.setattr("plimsoll.host.processes.schedule_stats.LOOK_S", 0.001)


def checked(folder: Path, text: str, *settings: str) -> CheckResult:
    path = folder / "x.yaml"
    path.write_text(text)
    return check_experiment(path, [parse_set_field(each) for each in settings])


def mistakes(folder: Path, text: str, *settings: str) -> list[tuple[str, str]]:
    """(line or option, beginning of the message) of each; every one has a remedy."""
    result = checked(folder, text, *settings)
    assert result.run is None
    assert all(each.remedy for each in result.mistakes)
    return [
        (each.where.removeprefix(f"{folder}/x.yaml:"), each.message) for each in result.mistakes
    ]


def planned(folder: Path, text: str, *settings: str) -> PlannedRun:
    result = checked(folder, text, *settings)
    assert result.mistakes == ()
    assert result.run is not None
    return result.run


def test_all_that_cannot_be_read_and_what_the_machine_lacks_is_reported_at_once(
    tmp_path: Path, says: Says
) -> None:
    assert mistakes(tmp_path, UNREADABLE) == [
        ("6", says("profile.streams[0].flos")),
        ("8", says("profile.streams[2].rate")),
        ("8", says("profile.streams[2].pacing")),
        ("10", says("criteria[0].at_most", "0.002")),
        ("11", says("latncy", "criteria[1]")),
        ("14", says("search.maximum", "2000000")),
        ("15", says("2 fortnights", "trial.drain")),
        ("3", says("generator.cpus[1]", "7")),
        ("1", says("lab.cpu", "7")),
        ("1", says("lab.cpu", "7", "generator.cpus[1]")),
    ]


def test_all_that_only_the_whole_shows_is_reported_at_once_with_its_lines(
    tmp_path: Path, says: Says
) -> None:
    assert mistakes(tmp_path, UNSOUND) == [
        ("3", says("lab.cpu", "1", "generator.cpus[1]")),
        ("10", says("trial.before", "/proc/nonexistent/flush")),
        ("5", says("9218")),
        ("16", says("search.minimum", "3", "2")),
        ("19", says("observe.interval", "2s", "search.duration", "1s")),
    ]


def test_sections_that_disagree_are_reported_at_once(tmp_path: Path, says: Says) -> None:
    assert mistakes(tmp_path, DISAGREEING) == [
        ("6", says("criteria[0]")),
        ("7", says("criteria[1].repetitions", "3")),
        ("8", says("criteria[2]", "observe.enabled")),
    ]


def test_a_mistake_that_was_set_is_reported_for_the_option(tmp_path: Path, says: Says) -> None:
    assert mistakes(tmp_path, SOUND, "search.minimum=3Mpps", "generator.cpus=[5]") == [
        ("--set generator.cpus", says("generator.cpus[0]", "5")),
        ("--set search.minimum", says("3", "2")),
    ]


def test_files_that_an_experiment_names_are_read_all_the_same(tmp_path: Path, says: Says) -> None:
    (tmp_path / "bad.yaml").write_text("streams:\n  - {name: load, role: lod}\n  - {nme: x}\n")
    text = (
        "profile: bad.yaml\n"
        "tuning: bare-metl\n"
        "search: {minimum: 1kpps, maximum: 1Mpps}\n"
        "criteria: [{kind: loss-ratio, stream: lod}]\n"
        "gnerator: {}\n"
    )
    found = mistakes(tmp_path, text)
    assert [where.removeprefix(f"{tmp_path}/") for where, _ in found] == [
        *("bad.yaml:2", "bad.yaml:3", "bad.yaml:3", "bad.yaml:3"),
        *("2", "4", "5"),
    ]
    assert found[4][1] == says("tuning")
    assert found[6][1] == "gnerator: unknown field"


def test_a_cpu_that_another_run_polls_is_what_the_machine_lacks(tmp_path: Path, says: Says) -> None:
    other = Ledger.create("run")
    claim_cpus(other, [CpuClaim("generator.cpus[0]", 0, "plimsoll-engine")])
    try:
        (found,) = checked(tmp_path, SOUND).mistakes
    finally:
        other.undo()
    assert found.where == f"{tmp_path}/x.yaml:2"
    assert found == says("generator.cpus[0]:", "0", other.id)
    assert found.exit_code == 3


def test_rates_are_those_of_frames_on_the_wire(tmp_path: Path) -> None:
    """Layer 1 adds 20 bytes to a frame, layer 2 leaves its 4 bytes of FCS out."""
    run = planned(tmp_path, SOUND)
    streams = {each.name: each for each in run.streams}
    assert list(streams) == ["load/0-0", "load/1-1", "probe/0-0"]
    load, probe = streams["load/1-1"], streams["probe/0-0"]
    assert (load.at_minimum, load.at_maximum) != (None, None)
    assert load.at_minimum is not None
    assert load.at_minimum.model_dump() == {"pps": 1e6, "l1_bps": 672e6, "l2_bps": 480e6}
    assert load.at_maximum is not None
    assert load.at_maximum.pps == 2e6
    assert probe.at_maximum is not None
    assert probe.at_maximum.model_dump() == {"pps": 1e3, "l1_bps": 1.184e6, "l2_bps": 0.992e6}
    assert probe.at_minimum == probe.at_maximum
    first, second = run.ports
    assert first.at_minimum is not None
    assert first.at_minimum.model_dump() == {
        "pps": 1_001_000,
        "l1_bps": pytest.approx(673.184e6),
        "l2_bps": pytest.approx(480.992e6),
    }
    assert second.at_minimum == load.at_minimum
    assert (first.line_share, run.line_rate_bps) == (None, None)


def test_what_probes_take_is_taken_out_of_the_load(tmp_path: Path) -> None:
    run = planned(tmp_path, SOUND.replace("rate: 1kpps", "rate: 1kpps, taken_from: load"))
    rates = {each.name: each.at_minimum.pps for each in run.streams if each.at_minimum}
    assert rates == {"load/0-0": 999e3, "load/1-1": 1e6, "probe/0-0": 1e3}


def test_a_share_of_the_line_rate_is_reported_where_there_is_one(tmp_path: Path) -> None:
    cards = "ports: [{devargs: '0000:01:00.0'}, {devargs: '0000:01:00.1'}], line_rate: 10Gbps"
    text = SOUND.replace("kind: loopback, ports: 2", f"kind: external, {cards}")
    run = planned(tmp_path, text, "search.minimum=1%", "search.maximum=50%")
    assert run.line_rate_bps == 10e9
    # 64 bytes take 672 bits: 10 Gbit/s carry 14.88 million of them in a second.
    assert run.maximum_pps == pytest.approx(7_440_476, abs=1)
    assert run.ports[1].line_share == pytest.approx(0.5)


def test_what_only_links_will_tell_is_left_open(tmp_path: Path) -> None:
    cards = "ports: [{devargs: '0000:01:00.0'}, {devargs: '0000:01:00.1'}]"
    text = SOUND.replace("kind: loopback, ports: 2", f"kind: external, {cards}")
    run = planned(tmp_path, text, "search.maximum=50%")
    assert (run.minimum_pps, run.maximum_pps, run.most_s) == (1e6, None, None)
    load, _, probe = run.streams
    assert (load.at_maximum, run.ports[0].at_maximum) == (None, None)
    assert load.at_minimum is not None
    assert probe.at_maximum is not None
    assert [each.trials_most for each in run.phases if each.name == "validation"] == [None]


@pytest.mark.parametrize(
    ("settings", "line", "facts"),
    [
        (("search.minimum=90%", "search.maximum=10%"), "--set search.minimum", ("90%",)),
        (
            ("search.minimum=1%", "search.maximum=9%", "generator.cpus=[0, 0]"),
            *("--set generator.cpus", ("0", "generator.cpus[0]")),
        ),
        (
            ("search.minimum=1%", "search.maximum=9%", "lab.paths=[[0, 1]]"),
            *("--set lab.paths", ("lab", "1")),
        ),
    ],
)
def test_mistakes_are_reported_though_only_links_will_tell_the_line_rate(
    tmp_path: Path, settings: tuple[str, ...], line: str, facts: tuple[str, ...], says: Says
) -> None:
    cards = "ports: [{devargs: '0000:01:00.0'}, {devargs: '0000:01:00.1'}]"
    text = SOUND.replace("kind: loopback, ports: 2", f"kind: external, {cards}")
    text = text.replace("direction: unidirectional", "direction: revunidirectional")
    ((where, message),) = mistakes(tmp_path, text, *settings)
    assert where == line
    assert message == says(*facts)


def test_frames_are_shown_as_scapy_shows_them(tmp_path: Path, says: Says) -> None:
    run = planned(tmp_path, SOUND)
    (frame,) = run.streams[0].frames
    assert (frame.size, frame.share, run.streams[0].templates) == (64, 1.0, 1)
    assert frame.summary == "Ether / IP / UDP 198.18.0.1:4096 > 198.19.0.1:4097"
    lines = [line.strip() for line in frame.shown.splitlines()]
    for line in (
        "###[ Ethernet ]###",
        "dst       = 02:00:01:00:00:01",
        "###[ IP ]###",
        # 64 bytes less 18 of Ethernet, and these less 20 of IP.
        "len       = 46",
        "###[ UDP ]###",
        "len       = 26",
        "sport     = 4096",
    ):
        assert line in lines
    # 26 bytes of UDP less its header of 8.
    assert lines[-1] == says("18")
    content = bytes.fromhex(frame.hex)
    assert len(content) == 60
    assert content[:14].hex() == "0200010000010200000000010800"
    back = run.streams[2].frames[0]
    # 128 bytes less 4 of FCS, 42 of headers and the signature.
    assert passage(back.shown, "64", "18") == says()


def test_frames_of_a_mix_have_their_shares(tmp_path: Path) -> None:
    text = SOUND.replace("frame_size: 64", "imix: simple").replace("1Mpps", "1kpps")
    stream = planned(tmp_path, text.replace("2Mpps", "2kpps"), "search.minimum=2kpps").streams[0]
    found = {frame.size: frame.share for frame in stream.frames}
    assert found == {size: pytest.approx(n / 12) for size, n in ((64, 7), (594, 4), (1518, 1))}
    assert stream.mean_frame_size == pytest.approx((7 * 64 + 4 * 594 + 1518) / 12)


def test_encapsulated_and_filled_up_frames_are_shown_to_their_last_layer(tmp_path: Path) -> None:
    text = SOUND.replace("flows: 16", "protocol: ARP").replace(
        "frame_size: 128", "frame_size: 128, vxlan: {vni: 7}"
    )
    arp, _, tunnel = planned(tmp_path, text).streams
    assert "###[ ARP ]###" in arp.frames[0].shown
    assert tunnel.frames[0].summary.startswith("Ether / IP / UDP ")
    assert "vni       = 0x7" in tunnel.frames[0].shown
    assert tunnel.frames[0].shown.count("###[ UDP ]###") == 2


def _phase(run: PlannedRun, name: str) -> PlannedPhase:
    (found,) = [each for each in run.phases if each.name == name]
    return found


def test_phases_and_their_times_of_a_run_that_only_validates(tmp_path: Path) -> None:
    """Each trial is followed by 2 s of drain, and two of a second are the calibration's."""
    run = planned(tmp_path, SOUND)
    assert [each.name for each in run.phases] == ["calibration", "warmup", "ceiling", "validation"]
    assert _phase(run, "calibration").most_s == 2 * 3
    assert (_phase(run, "ceiling").least_s, _phase(run, "ceiling").most_s) == (3, 9)
    validation = _phase(run, "validation")
    assert (validation.trials_least, validation.trials_most) == (1, 1)
    assert (validation.least_s, validation.most_s) == (62, 62)
    assert (run.least_s, run.most_s) == (6 + 3 + 3 + 62, 6 + 3 + 9 + 62)
    assert any("ideal DUTs" in each for each in run.assumptions)


def test_pauses_and_what_is_not_known_are_in_the_times(tmp_path: Path, says: Says) -> None:
    settings = ("trial.gap=10s", "trial.drain=1s", "trial.before=['true']", "trial.warmup=")
    run = planned(tmp_path, SOUND, *settings)
    assert _phase(run, "validation").most_s == 10 + 60 + 1
    assert "warmup" not in {each.name for each in run.phases}
    assert passage(run.assumptions, "trial.before", "1m00s") == says()


def test_a_baseline_is_a_phase_where_criteria_are_multiples_of_it(tmp_path: Path) -> None:
    criterion = "{kind: latency, quantile: p99, times_lowest: 3}"
    run = planned(tmp_path, f"{SOUND}criteria: [{criterion}]\n")
    baseline = _phase(run, "baseline")
    assert (baseline.trials_least, baseline.trials_most) == (1, 5)
    assert (baseline.least_s, baseline.most_s) == (12, 60)


@pytest.mark.parametrize(
    "strategy",
    ["binary", "mlrsearch", "checkpoints", pytest.param("load-line", marks=pytest.mark.slow)],
)
def test_every_strategy_has_bounds(tmp_path: Path, strategy: str) -> None:
    text = SOUND.replace("strategy: binary\n  one_shot: true", f"strategy: {strategy}")
    run = planned(tmp_path, text, "search.minimum=10kpps")
    assert run.least_s is not None
    assert run.most_s is not None
    assert 0 < run.least_s <= run.most_s
    assert _phase(run, "search").trials_most


def test_a_validation_may_be_given_another_length(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(SOUND)
    run = check_experiment(path, validation_s=3600.0).run
    assert run is not None
    assert _phase(run, "validation").most_s == 3602
    (refused,) = check_experiment(path, validation_s=1e9).mistakes
    assert refused.where == "--validation"


def bisected(capacity_pps: float) -> tuple[int, int]:
    """Search and validation trials between 100 and 200 kpps, to within 30 % of the upper."""
    search = {
        "strategy": "binary",
        "minimum": "100kpps",
        "maximum": "200kpps",
        "granularity": "30%",
    }
    experiment = _experiment(search=search)
    cost = cost_of(experiment.search.begin(lambda _, rate: rate.value), [ONLY_GOAL], capacity_pps)
    assert cost is not None
    return cost.trials["search"], cost.trials["validation"]


def test_an_ideal_dut_is_bisected() -> None:
    """All passes: the maximum at once. 120 kpps: 200 and 150 fail, 100 passes, 150 is within 30 %
    of neither. Below the minimum nothing is left to validate.
    """
    assert bisected(1e9) == (1, 1)
    search, validation = bisected(120e3)
    assert (search >= 3, validation) == (True, 1)
    assert bisected(50e3)[1] == 0


def _experiment(**changes: object) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "lab": {"kind": "testpmd-memif", "cpu": 9},
            "generator": {"cpus": [0, 1, 2, 3]},
            "profile": {
                "streams": [
                    {"name": "load", "role": "load"},
                    {"name": "probe", "role": "latency", "rate": "1kpps"},
                ]
            },
            "search": {"minimum": "1kpps", "maximum": "2kpps"},
            **changes,
        }
    )


def test_cpus_are_reported_with_what_they_poll_and_who_is_on_them() -> None:
    """Four CPUs for two ports: two send on a port each, then two receive from one each."""
    experiment = _experiment()
    plans = compile_profile(experiment.profile, 1e6, experiment.lab.directions)

    def look(cpus: Sequence[int]) -> list[BusyCpu]:
        assert list(cpus) == [0, 1, 2, 3, 9]
        return [BusyCpu(9, 0.625, (("java", 77, 0.6),))]

    found = planned_cpus(experiment, plans, look)  # type: ignore[arg-type]
    assert [(each.cpu, each.role, each.sends, each.receives_from) for each in found] == [
        (0, "tester", ("load/0-1", "probe/0-1"), ()),
        (1, "tester", ("load/1-0", "probe/1-0"), ()),
        (2, "tester", (), (0,)),
        (3, "tester", (), (1,)),
        (9, "dut", (), ()),
    ]
    assert [each.busy_share for each in found] == [0, 0, 0, 0, 0.625]
    assert (found[4].field, found[4].busy_with) == ("lab.cpu", ("java (77)",))


def test_a_simulated_lab_polls_nothing(tmp_path: Path) -> None:
    text = SOUND.replace("kind: loopback, ports: 2", "kind: simulated, model: {kind: soft-knee}")
    run = planned(tmp_path, text)
    assert run.cpus == ()
    assert [each.name for each in run.phases] == ["warmup", "validation"]
    assert any("simulated" in each for each in run.assumptions)


def test_nothing_is_left_behind(tmp_path: Path, state: Path) -> None:
    planned(tmp_path, SOUND)
    assert [each.name for each in tmp_path.iterdir()] == ["x.yaml"]
    assert list(state.iterdir()) == []


EXTERNAL = (
    "lab={kind: external, drained_by: dut, line_rate: 10Gbps, ports: [{devargs: net_ring0}, "
    "{devargs: net_ring1}]}"
)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((), ["no host of it is named. To do: name it under observe.hosts"]),
        (("observe.hosts=[{ssh: dut.lab}]",), ["on dut.lab were not watched: no CPU of it"]),
        (("observe.hosts=[{ssh: dut.lab, polled_cpus: [2]}]",), []),
        (
            ("observe.hosts=[{pod: kube://lab/bench/dut, polled_cpus: [2]}]",),
            ["on kube://lab/bench/dut are watched only if its container is privileged"],
        ),
        (("observe.kernel_events=false",), []),
    ],
)
def test_what_will_not_be_watched_of_a_dut_elsewhere_is_said_beforehand(
    tmp_path: Path, settings: tuple[str, ...], said: list[str]
) -> None:
    notes = planned(tmp_path, SOUND, EXTERNAL, *settings).notes
    found = [each for each in notes if "watched" in each]
    assert len(found) == len(said)
    for note, part in zip(found, said, strict=True):
        assert part in note


def test_a_dut_of_ours_is_watched_here(tmp_path: Path) -> None:
    assert [each for each in planned(tmp_path, SOUND).notes if "watched" in each] == []
