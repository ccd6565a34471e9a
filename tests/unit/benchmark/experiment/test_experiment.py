import struct
from pathlib import Path

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError
from plimsoll.tune.intent.load import load_preset, preset_names
from tests.worded.says import Says

EXAMPLES = Path(__file__).parents[4] / "examples"

MINIMAL = """\
profile:
  streams:
    - {name: load, role: load, flows: 16}
search:
  minimum: 1kpps
  maximum: 1Mpps
"""


def _with_latency(criterion: str) -> str:
    probe = "    - {name: probe, role: latency, rate: 1kpps}\n"
    bound = f"criteria:\n  - {{kind: latency, quantile: p99, at_most: 1ms, {criterion}}}\n"
    return MINIMAL.replace("search:", f"{probe}search:") + bound


def load(tmp_path: Path, text: str) -> Experiment:
    path = tmp_path / "nightly.yaml"
    path.write_text(text)
    return load_experiment(path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    return str(caught.value)


def test_the_demo_is_the_seed_methodology() -> None:
    demo = load_experiment(EXAMPLES / "demo.yaml")
    load_stream, probe = demo.profile.streams
    assert (load_stream.frame_size, load_stream.flows, load_stream.vary) == (64, 1024, ("dst_ip",))
    assert load_stream.direction == "bidirectional"
    assert (probe.role, probe.rate.value, probe.direction) == ("latency", 1000, "unidirectional")
    loss = next(each for each in demo.criteria if each.kind == "loss-ratio")
    assert loss.at_most == pytest.approx(0.00002)
    assert demo.tester.offered_tolerance == pytest.approx(0.05)
    assert demo.tester.of_validation().offered_tolerance == pytest.approx(0.005)
    assert demo.search.validation.duration == 60


def test_faults_that_the_dut_is_allowed_are_in_no_default_criterion(
    tmp_path: Path, says: Says
) -> None:
    experiment = load(tmp_path, MINIMAL + "allowed: [duplicate]\n")
    assert "duplicate" not in {each.kind for each in experiment.criteria}
    assert "out-of-order" in {each.kind for each in experiment.criteria}
    assert Experiment.model_validate(experiment.normalised()) == experiment
    both = "allowed: [duplicate]\ncriteria: [{kind: loss-ratio}, {kind: duplicate}]\n"
    with pytest.raises(InputError) as caught:
        load(tmp_path, MINIMAL + both)
    assert caught.value == says("duplicate")


def test_an_experiment_is_named_after_its_file_and_needs_little(tmp_path: Path) -> None:
    experiment = load(tmp_path, MINIMAL)
    assert experiment.name == "nightly"
    assert experiment.lab.kind == "testpmd-memif"
    assert {each.kind for each in experiment.criteria} == {
        "loss-ratio",
        "corrupt",
        "misdirected",
        "duplicate",
        "out-of-order",
    }


def test_what_is_recorded_loads_as_the_same_experiment(tmp_path: Path) -> None:
    demo = load_experiment(EXAMPLES / "demo.yaml")
    again = load(tmp_path, yaml.safe_dump(demo.normalised()))
    assert again == demo


@pytest.mark.parametrize("name", ["trafficgen.profile.json", "article-profile.yaml"])
def test_a_profile_may_be_a_file_next_to_the_experiment(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    experiment = load(
        tmp_path, f"profile: {name}\nsearch: {{minimum: 1kpps, maximum: 1.0x}}\nname: article\n"
    )
    assert experiment.profile.rate_pps == 29761904
    assert [stream.role for stream in experiment.profile.streams] == ["load", "latency"]


def test_captures_lie_next_to_the_file_that_names_them(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    header = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    record = struct.pack("<IIII", 0, 0, 60, 60) + bytes(60)
    (folder / "lan.pcap").write_bytes(header + record)
    replay = "{name: load, role: load, pcap: lan.pcap}"
    (folder / "replay.yaml").write_text(f"streams: [{replay}]\n")
    searched = "search: {minimum: 1kpps, maximum: 1Mpps}\n"
    named = load(tmp_path, f"profile: profiles/replay.yaml\n{searched}")
    in_place = load(folder, f"profile: {{streams: [{replay}]}}\n{searched}")
    assert named.profile == in_place.profile
    assert load(tmp_path, yaml.safe_dump(named.normalised())) == named


def test_no_search_sets_the_load_of_back_to_back_frames(tmp_path: Path, says: Says) -> None:
    alone = f"{MINIMAL}lab: {{kind: loopback}}\n"
    text = alone.replace("flows: 16", "pacing: back-to-back")
    with pytest.raises(InputError) as caught:
        check_search(load(tmp_path, text))
    assert caught.value == says("back-to-back", "plimsoll trial")
    assert caught.value.where == f"{tmp_path}/nightly.yaml:1"
    assert "plimsoll trial" in caught.value.remedy
    check_search(load(tmp_path, alone))


def test_another_validation_changes_nothing_else(tmp_path: Path) -> None:
    experiment = load(tmp_path, MINIMAL)
    longer = experiment.validated_for(10800)
    assert longer.search.validation.duration == 10800
    assert longer.search.maximum == experiment.search.maximum
    assert longer.profile == experiment.profile


@pytest.mark.parametrize("duration_s", [0.0001, 8 * 86400, float("nan")])
def test_a_validation_of_no_possible_length_is_refused(tmp_path: Path, duration_s: float) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, MINIMAL).validated_for(duration_s)
    assert caught.value.where == "--validation"
    assert "1ms to 7d" in caught.value.remedy


@pytest.mark.parametrize(
    "criterion",
    [
        "stream: probe",
        "stream: probe/0-1",
        "role: load",
        "role: load, stream: load",
        "role: latency",
    ],
)
def test_a_latency_criterion_finds_its_stream(tmp_path: Path, criterion: str) -> None:
    assert load(tmp_path, _with_latency(criterion)).criteria[0].kind == "latency"


@pytest.mark.parametrize(
    ("criterion", "facts"),
    [
        (
            "stream: prob",
            ("criteria[0].stream", "prob"),
        ),
        (
            "stream: probe/one",
            ("criteria[0].stream", "probe/one"),
        ),
        (
            "stream: load",
            ("criteria[0].stream", "load"),
        ),
    ],
)
def test_a_latency_criterion_of_no_stream_is_refused(
    tmp_path: Path, criterion: str, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(tmp_path, _with_latency(criterion)) == says("nightly.yaml:9", *facts)


def test_a_latency_criterion_of_no_role_is_refused(tmp_path: Path, says: Says) -> None:
    text = (
        MINIMAL
        + "criteria:\n  - {kind: corrupt}\n  - {kind: latency, quantile: p99, at_most: 1ms}\n"
    )
    assert refused(tmp_path, text) == says("nightly.yaml:9", "criteria[1].role", "latency")


def test_a_profile_without_a_load_is_refused(tmp_path: Path, says: Says) -> None:
    text = MINIMAL.replace("role: load, flows: 16", "role: latency, rate: 1kpps")
    assert refused(tmp_path, text) == says("nightly.yaml:2", "profile.streams")


def test_a_profile_file_without_a_load_is_refused(tmp_path: Path, says: Says) -> None:
    probes = "streams:\n  - {name: probe, role: latency, rate: 1kpps}\n"
    (tmp_path / "probes.yaml").write_text(probes)
    text = "profile: probes.yaml\nsearch: {minimum: 1kpps, maximum: 1Mpps}\n"
    assert refused(tmp_path, text) == says("nightly.yaml:1", "profile.streams", "search")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("profile: [", ("nightly.yaml:1",)),
        ("", ("nightly.yaml",)),
        (MINIMAL + "serach: 3\n", ("nightly.yaml:7", "serach")),
        (MINIMAL.replace("flows", "flos"), ("nightly.yaml:3", "flos", "flows")),
        (MINIMAL.replace("1kpps", "0pps"), ("nightly.yaml:5", "search.minimum")),
        (MINIMAL.replace("1kpps", "-1pps"), ("nightly.yaml:5", "search.minimum")),
        (MINIMAL.replace("1kpps", "1kpackets"), ("search.minimum", "500kpps")),
        (MINIMAL.replace("flows: 16", "frame_size: 59"), ("frame_size", "64")),
        (MINIMAL.replace("flows: 16", "flows: 70000"), ("flows", "70000")),
        (MINIMAL + "lab: {kind: testpmd-mem}\n", ("nightly.yaml:7",)),
        (MINIMAL + "criteria: []\n", ("nightly.yaml:7", "criteria", "1")),
        (MINIMAL + "name: ../../etc\n", ("nightly.yaml:7", "_")),
        (MINIMAL.replace("name: load", "name: a b"), ("nightly.yaml:3", "64")),
        (
            MINIMAL + "  duration: 0.5ms\n",
            ("nightly.yaml:7", "search.duration", "0.5ms", "1ms"),
        ),
        (MINIMAL + "  validation: {duration: 8d}\n", ("nightly.yaml:7", "8d", "7d")),
        (MINIMAL + "trial: {drain: 2 fortnights}\n", ("nightly.yaml:7", "trial.drain")),
    ],
)
def test_bad_input_names_the_place_and_the_remedy(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(tmp_path, text) == says(*facts)


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    message = refused(tmp_path, MINIMAL.replace("profile:", "profile: gone.yaml\nignored:"))
    assert "gone.yaml" in message


def test_without_a_strategy_the_load_line_is_searched(tmp_path: Path) -> None:
    assert load(tmp_path, MINIMAL).search.strategy == "load-line"


def test_a_field_of_another_strategy_says_which(tmp_path: Path, says: Says) -> None:
    message = refused(tmp_path, f"{MINIMAL}  granularity: 1%\n")
    assert "nightly.yaml:7: search.granularity" in message
    assert message == says("granularity")


@pytest.mark.parametrize(
    ("name", "strategy", "goals"),
    [
        ("demo.yaml", "load-line", ["load-line"]),
        ("load-line.yaml", "load-line", ["pdr", "ndr"]),
        ("mlrsearch.yaml", "mlrsearch", ["rfc2544-short", "csit-pdr"]),
    ],
)
def test_the_examples_of_searches_load(name: str, strategy: str, goals: list[str]) -> None:
    experiment = load_experiment(EXAMPLES / name)
    assert experiment.search.strategy == strategy
    assert list(experiment.goals) == goals


@pytest.mark.parametrize("preset", preset_names())
def test_an_intent_is_named_by_its_preset_and_kept_whole(tmp_path: Path, preset: str) -> None:
    experiment = load(tmp_path, f"{MINIMAL}tuning: {preset}\n")
    assert experiment.tuning == load_preset(preset)
    again = tmp_path / "again.yaml"
    again.write_text(yaml.safe_dump(experiment.normalised()))
    assert load_experiment(again).tuning == experiment.tuning


def test_an_intent_lies_next_to_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "intent.yaml").write_text(
        "name: mine\nplatform: vm\ncpus: {reserved: '0', isolated: 1-3}\n"
    )
    tuning = load(tmp_path, f"{MINIMAL}tuning: intent.yaml\n").tuning
    assert tuning is not None
    assert tuning.name == "mine"
    assert load(tmp_path, MINIMAL).tuning is None


def test_a_mistake_in_an_intent_is_reported_with_its_own_place(tmp_path: Path, says: Says) -> None:
    (tmp_path / "intent.yaml").write_text("name: mine\nplatform: vm\ncpus: {reserved: '0'}\n")
    message = refused(tmp_path, f"{MINIMAL}tuning: intent.yaml\n")
    assert "intent.yaml:3" in message
    assert "cpus.isolated: is missing" in message
    message = refused(tmp_path, f"{MINIMAL}tuning: missing.yaml\n")
    assert message == says("nightly.yaml:7", "tuning")


def test_an_intent_in_place_is_judged_with_the_experiments_lines(tmp_path: Path) -> None:
    section = "  name: mine\n  platform: cloud\n  cpus: {reserved: 0, isolated: 1}\n"
    text = f"{MINIMAL}tuning:\n{section}"
    assert "nightly.yaml:9: tuning.platform" in refused(tmp_path, text)


OBSERVED = """\
observe:
  hosts:
    - ssh: peer
    - ssh: root@dut.lab
      polled_cpus: [2, 3]
      tuning: {tuning}
"""


def test_each_observed_host_has_an_intent_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "dut.yaml").write_text(
        "name: of-the-dut\nplatform: vm\ncpus: {reserved: '0', isolated: 1-3}\n"
    )
    text = f"{MINIMAL}tuning: vm\n{OBSERVED}"
    experiment = load(tmp_path, text.replace("{tuning}", "dut.yaml"))
    peer, dut = experiment.observe.hosts
    assert (peer.tuning, experiment.tuning) == (None, load_preset("vm"))
    assert dut.tuning is not None
    assert dut.tuning.name == "of-the-dut"
    again = tmp_path / "again.yaml"
    again.write_text(yaml.safe_dump(experiment.normalised()))
    assert load_experiment(again).normalised() == experiment.normalised()
    by_preset = load(tmp_path, text.replace("{tuning}", "openshift-sno-vdu"))
    assert by_preset.observe.hosts[1].tuning == load_preset("openshift-sno-vdu")


@pytest.mark.parametrize(
    ("tuning", "facts"),
    [
        (
            "bare-metl",
            ("bare-metl", "nightly.yaml:12", "observe.hosts[1].tuning"),
        ),
        (
            "{name: x, platform: cloud, cpus: {reserved: 0, isolated: 1}}",
            ("cloud", "nightly.yaml:12", "observe.hosts[1].tuning.platform"),
        ),
        ("7", ("nightly.yaml:12", "observe.hosts[1].tuning", "7")),
        ("[vm]", ("vm", "nightly.yaml:12", "observe.hosts[1].tuning")),
        (
            f"{'x' * 300}.yaml",
            ("xxxxxxxxxxxx...xxxxxxxx.yaml", "nightly.yaml:12", "observe.hosts[1].tuning"),
        ),
        ('"a\\0b.yaml"', ()),
    ],
)
def test_a_mistake_in_a_hosts_intent_is_reported_with_its_place(
    tmp_path: Path, tuning: str, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(tmp_path, MINIMAL + OBSERVED.replace("{tuning}", tuning)) == says(*facts)


@pytest.mark.parametrize("observe", ["7", "{hosts: 7}", "{hosts: [7]}", "{hosts: {tuning: vm}}"])
def test_what_is_no_list_of_hosts_is_reported_as_such(tmp_path: Path, observe: str) -> None:
    assert "nightly.yaml:7: observe" in refused(tmp_path, f"{MINIMAL}observe: {observe}\n")
