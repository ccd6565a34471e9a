"""What a binary-search.py command line becomes."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.trafficgen.experiment import ImportedExperiment, import_command
from plimsoll.benchmark.trafficgen.options import OPTIONS, PROFILE, TXRX, TrafficgenOption
from plimsoll.benchmark.trafficgen.trex_config import TrexConfig, load_trex_config
from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import QUICK_LOADER
from plimsoll.text.units import Rate
from tests.worded.says import Says

ROOT = Path(__file__).parents[4]
ARTICLES_PROFILE = ROOT / "examples" / "trafficgen.profile.json"
# Of "Build deterministic OpenShift dataplane performance with TRex", --output-dir shortened.
ARTICLES_COMMAND = """\
binary-search.py --traffic-generator trex-txrx-profile --traffic-profile trafficgen.profile
--rate-unit % --min-rate 1 --rate 60 --latency-rate 1000 --one-shot 0 --search-runtime 30
--validation-runtime 10800 --stream-mode segmented --warmup-trial --send-teaching-warmup
--teaching-warmup-packet-type generic --teaching-measurement-packet-type generic
--teaching-warmup-packet-rate 100 --teaching-measurement-packet-rate 100
--teaching-measurement-interval 10.0 --rate-tolerance 5 --runtime-tolerance 5
--rate-tolerance-failure fail --max-loss-pct 0.002 --search-granularity 0.05 --random-seed 42
--disable-upward-search --compress-files --result-output none --process-all-profiler-data
--dst-macs=AA:AA:AA:AA:AA:AA,BB:BB:BB:BB:BB:BB --output-dir sample-1
--device-pairs=0:1 --active-device-pairs=0:1
"""
ARTICLES_TREX = TrexConfig(("0000:87:00.0", "0000:87:00.1"), tuple(range(35, 8, -2)), 25)
BY_PROFILE = ["--traffic-generator", PROFILE, "--rate-unit", "%", "--rate", "60"]
BY_OPTIONS = ["--rate-unit", "%", "--rate", "60"]


def _import(*words: str, trex: TrexConfig | None = None) -> ImportedExperiment:
    return import_command(words, profile_path=ARTICLES_PROFILE, trex=trex)


def _experiment(folder: Path, *words: str, trex: TrexConfig | None = None) -> Experiment:
    path = folder / "imported.yaml"
    path.write_text(_import(*words, trex=trex).text)
    return load_experiment(path)


def _refused(*words: str) -> str:
    with pytest.raises(InputError) as caught:
        _import(*words)
    assert caught.value.remedy
    return str(caught.value)


def test_the_articles_command_line_does_what_the_article_did(tmp_path: Path) -> None:
    got = _experiment(tmp_path, ARTICLES_COMMAND, trex=ARTICLES_TREX)
    assert got.lab.kind == "external"
    assert [port.devargs for port in got.lab.ports] == ["0000:87:00.0", "0000:87:00.1"]
    assert got.lab.paths == ((0, 1), (1, 0))
    assert got.lab.line_rate == Rate(25e9, "l1_bps")
    assert got.generator.cpus == (35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9)
    load, probe = got.profile.streams
    assert (load.role, load.rate, load.direction) == (
        "load",
        Rate(29_761_904, "pps"),
        "bidirectional",
    )
    assert (probe.role, probe.rate, probe.direction) == (
        "latency",
        Rate(1000, "pps"),
        "unidirectional",
    )
    for stream in (load, probe):
        assert (stream.frame_size, stream.flows, stream.vary) == (64, 1024, ("dst_ip",))
    loss = got.criteria[0]
    assert loss.kind == "loss-ratio"
    assert (loss.at_most, loss.per) == (pytest.approx(0.00002), "direction")
    assert [each.kind for each in got.criteria] == [
        "loss-ratio",
        "duplicate",
        "corrupt",
        "misdirected",
    ]
    assert got.tester.rate_tolerance == pytest.approx(0.05)
    assert got.tester.of_validation().offered_tolerance == pytest.approx(0.05)
    assert got.tester.runtime_tolerance == pytest.approx(0.05)


def test_the_articles_trials_and_search(tmp_path: Path) -> None:
    got = _experiment(tmp_path, ARTICLES_COMMAND)
    assert (got.trial.warmup, got.trial.gap, got.trial.before) == (30, None, None)
    warmup, measurement = got.trial.teaching.warmup, got.trial.teaching.measurement
    assert warmup is not None
    assert measurement is not None
    assert (warmup.frames, warmup.rate) == ("generic", Rate(100, "pps"))
    assert (measurement.frames, measurement.rate, measurement.interval) == (
        "generic",
        Rate(100, "pps"),
        10,
    )
    search = got.search
    assert search.strategy == "binary"
    # 1 % and 60 % of the profile's 29,761,904 pps.
    assert (search.minimum, search.maximum) == (Rate(0.01, "multiplier"), Rate(0.6, "multiplier"))
    assert (search.start, search.rise, search.sniff, search.one_shot) == (None, None, None, False)
    assert search.granularity == pytest.approx(0.0005)
    assert (search.duration, search.retries) == (30, 1)
    assert search.on_rate_failure == "fail"
    assert (search.validation.duration, search.validation.retries) == (10_800, 1)
    assert search.validation.repeat == 1


def test_what_the_article_asks_for_in_vain_is_reported(says: Says) -> None:
    notices = _import(ARTICLES_COMMAND).notices
    assert [notice.partition(":")[0] for notice in notices] == [
        "--stream-mode segmented",
        "--send-teaching-warmup",
        "--teaching-warmup-packet-type generic",
        "--teaching-measurement-packet-type generic",
        "--compress-files",
        "--result-output none",
        "--process-all-profiler-data",
        "--dst-macs AA",
        "--output-dir sample-1",
        says("0", "1"),
    ]
    assert notices[0] == says("--stream-mode segmented", "trex-txrx-profile")


def test_lines_say_which_option_they_came_from() -> None:
    text = _import(ARTICLES_COMMAND).text
    for line in (
        "  maximum: 0.6x # --rate 60, --disable-upward-search",
        "    at_most: 0.002% # --max-loss-pct 0.002",
        "    duration: 3h # --validation-runtime 10800",
        "  retries: 1 # --max-retries is 1 by default",
        "    - devargs: trex-device-0 # put device 0's PCI address here",
    ):
        assert line in text.splitlines()


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--rate-unit", "%", "--rate", "120"], ("--rate", "120")),
        (
            ["--frame-size", "imix", "--rate-unit", "mpps", "--rate", "1"],
            ("--rate-unit", "mpps", "imix"),
        ),
        (["--frame-size", "IMIX", "--rate", "0"], ("--rate-unit",)),
    ],
)
def test_rates_that_trafficgen_refuses_are_refused(
    words: list[str], facts: tuple[str, ...], says: Says
) -> None:
    assert _refused(*words) == says(*facts)


def test_a_profile_may_be_sent_faster_than_it_says(tmp_path: Path) -> None:
    got = _experiment(tmp_path, "--traffic-generator", PROFILE, "--rate-unit", "%", "--rate=120")
    assert got.search.start == Rate(1.2, "multiplier")


_SAY_WHAT_IS_IMPORTED = ("traffic-generator", "traffic-profile", "traffic-profile-name")
# Of each option a value that is not its default; "text" ones that need a form have it here.
_VALUES = {
    "frame-size": "128",
    "use-src-ip-flows": "0",
    "use-dst-ip-flows": "0",
    "use-src-mac-flows": "0",
    "use-dst-mac-flows": "0",
    "measure-latency": "0",
    "one-shot": "1",
    "loss-granularity": "segment",
    "src-macs": "02:00:00:00:00:0a,02:00:00:00:00:0b",
    "dst-macs": "02:00:00:00:00:0c,02:00:00:00:00:0d",
    "src-ips": "10.1.0.1,10.2.0.1",
    "dst-ips": "10.3.0.1,10.4.0.1",
    "src-ports": "1001,1002",
    "dst-ports": "2001,2002",
    "vlan-ids": "11,12",
    "device-pairs": "3:2",
    "active-device-pairs": "1:0",
    "rate": "50",
    "min-rate": "2",
    "rate-unit": "mpps",
    "search-granularity": "0.5",
    "pre-trial-cmd": "ssh dut 'a; b'",
}


def _value(option: TrafficgenOption) -> list[str]:
    if option.form == "flag":
        return [f"--{option.name}"]
    others = [choice for choice in option.choices if choice != option.default]
    usual = {"whole": "7", "number": "7.5", "text": "some", "toggle": "ON"}[option.form]
    return [f"--{option.name}={_VALUES.get(option.name, others[0] if others else usual)}"]


@pytest.mark.parametrize("generator", [PROFILE, TXRX])
@pytest.mark.parametrize(
    "option",
    [option for name, option in OPTIONS.items() if name not in _SAY_WHAT_IS_IMPORTED],
    ids=lambda option: option.name,
)
def test_every_option_is_in_the_experiment_or_reported(
    option: TrafficgenOption, generator: str
) -> None:
    """In the experiment, at least in a comment of its lines; or reported; or refused by name."""
    base = ["--traffic-generator", generator, "--rate-unit", "%", "--rate", "60"]
    needs = {
        "packet-protocol": ["--frame-size=128"],
        "vlan-ids": ["--frame-size=128"],
        "warmup-trial-runtime": ["--warmup-trial"],
        "active-device-pairs": ["--device-pairs=0:1"],
        "teaching-warmup-packet-type": ["--send-teaching-warmup"],
        "teaching-warmup-packet-rate": _teaching("warmup"),
        "teaching-measurement-packet-type": ["--send-teaching-measurement"],
        "teaching-measurement-packet-rate": _teaching("measurement"),
        "teaching-measurement-interval": _teaching("measurement"),
        "send-teaching-warmup": ["--teaching-warmup-packet-type=garp"],
        "send-teaching-measurement": ["--teaching-measurement-packet-type=garp"],
    }.get(option.name, [])
    plain = _plain(*base, *needs)
    try:
        imported = _import(*base, *needs, *_value(option))
    except InputError as error:
        refused = error.where
    else:
        refused = ""
        noticed = any(notice.startswith(f"--{option.name}") for notice in imported.notices)
        heading, _, lines = imported.text.partition("\n\n")
        changed = _content(imported) != plain or f"--{option.name} " in lines
        assert changed != noticed
        assert not noticed or f"--{option.name}" in heading
    assert refused in ("", f"--{option.name}")


def _teaching(when: str) -> list[str]:
    return [f"--send-teaching-{when}", f"--teaching-{when}-packet-type=icmp"]


@functools.cache
def _plain(*words: str) -> Any:
    return _content(_import(*words))


def _content(imported: ImportedExperiment) -> Any:
    """All but comments."""
    return yaml.load(imported.text, Loader=QUICK_LOADER)  # noqa: S506 the loader is a safe one


def test_without_a_profile_the_options_say_what_is_sent(tmp_path: Path) -> None:
    got = _experiment(tmp_path, *BY_OPTIONS, "--frame-size", "256", "--num-flows", "100")
    load, probe = got.profile.streams
    assert (load.rate, load.frame_size, load.flows) == (Rate(1, "multiplier"), 256, 100)
    assert load.vary == ("src_mac", "dst_mac", "src_ip", "dst_ip")
    assert (probe.rate, probe.taken_from) == (Rate(1000, "pps"), "load")
    # Of the line rate.
    assert got.search.start == Rate(60, "percent")


def test_addresses_are_given_for_each_direction(tmp_path: Path) -> None:
    ips, macs = "10.1.0.1,10.2.0.1", "02:00:00:00:00:0c,02:00:00:00:00:0d"
    words = ["--measure-latency=0", f"--dst-ips={ips}", f"--src-macs={macs}", "--vlan-ids=5,6"]
    got = _experiment(tmp_path, *BY_OPTIONS, *words, "--frame-size=100")
    forward, reverse = got.profile.streams
    assert [forward.direction, reverse.direction] == ["unidirectional", "revunidirectional"]
    assert (str(forward.dst_ip), forward.src_mac) == ("10.1.0.1", "02:00:00:00:00:0c")
    sent_back = reverse.stacks(reverse=True)[0]
    assert (sent_back[0].get("src"), sent_back[1].get("vlan")) == ("02:00:00:00:00:0d", 6)
    assert sent_back[2].get("dst") == "10.2.0.1"


def test_segmented_streams_are_judged_by_segments(tmp_path: Path) -> None:
    got = _experiment(tmp_path, *BY_OPTIONS, "--stream-mode=segmented", "--max-loss-pct=0.01")
    segment = got.criteria[1]
    assert segment.kind == "segment-loss"
    assert (segment.at_most, segment.segments) == (pytest.approx(0.0001), 10)


def test_an_upward_search_doubles_from_its_first_rate(tmp_path: Path) -> None:
    search = _experiment(tmp_path, *BY_PROFILE).search
    assert search.strategy == "binary"
    assert (search.start, search.rise) == (Rate(0.6, "multiplier"), 2)
    assert search.maximum == Rate(100, "percent")
    # --search-granularity, 0.1 %, of --rate, as there is no --min-rate.
    assert search.minimum == Rate(0.0006, "multiplier")


def test_without_a_profile_nothing_is_above_the_line_rate(tmp_path: Path) -> None:
    search = _experiment(tmp_path, "--rate-unit=%").search
    assert search.strategy == "binary"
    assert (search.maximum, search.start, search.rise) == (Rate(100, "percent"), None, None)


def test_rates_in_millions_of_frames(tmp_path: Path) -> None:
    words = ["--rate=2.5", "--disable-upward-search", "--min-rate=0.5"]
    search = _experiment(tmp_path, *words).search
    assert (search.minimum, search.maximum) == (Rate(500_000, "pps"), Rate(2_500_000, "pps"))
    # trafficgen's own default: 9999 / (64 * 8 + 160) = 14.879464 Mpps.
    fastest = _experiment(tmp_path, "--disable-upward-search").search
    assert fastest.maximum == Rate(14_879_464, "pps")


def test_one_shot_validates_the_rate_alone(tmp_path: Path) -> None:
    words = ["--one-shot=1", "--sniff-runtime=5", "--uniform-trial-runtime=90"]
    search = _experiment(tmp_path, *BY_PROFILE, *words).search
    assert search.strategy == "binary"
    assert (search.one_shot, search.maximum) == (True, Rate(0.6, "multiplier"))
    assert (search.sniff, search.rise, search.validation.duration) == (None, None, 90)


def test_ports_are_those_of_all_pairs(tmp_path: Path) -> None:
    words = ["--device-pairs=0:1,3:2", "--active-device-pairs=3:2"]
    lab = _experiment(tmp_path, *BY_PROFILE, *words).lab
    assert lab.kind == "external"
    assert [port.devargs for port in lab.ports] == [f"trex-device-{n}" for n in (0, 1, 3, 2)]
    assert lab.paths == ((2, 3), (3, 2))


def test_cpus_that_do_not_divide_over_the_ports_are_reported(says: Says) -> None:
    imported = _import(*BY_PROFILE, trex=TrexConfig(("a", "b"), (1, 2, 3)))
    assert "generator" not in _content(imported)
    assert imported.notices[-1] == says("generator.cpus")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("flush --all", ["flush", "--all"]),
        ("ssh dut 'a; b > c'", ["ssh", "dut", "a; b > c"]),
        ('ssh dut "a; b"', ["ssh", "dut", "a; b"]),
    ],
)
def test_a_pre_trial_command_is_words(tmp_path: Path, command: str, words: list[str]) -> None:
    before = _experiment(tmp_path, *BY_PROFILE, f"--pre-trial-cmd={command}").trial.before
    assert before is not None
    assert list(before.command) == words


@pytest.mark.parametrize(
    "command", ["a; b", "a | b", 'a "$HOME"', "a `b`", "X=1 a", "a > b", "a *", "~/a", "a && b"]
)
def test_a_pre_trial_command_for_a_shell_is_refused(command: str, says: Says) -> None:
    message = _refused(*BY_PROFILE, f"--pre-trial-cmd={command}")
    assert message == says("--pre-trial-cmd")


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["--traffic-generator=trex-astf"], ("--traffic-generator", "trex-astf")),
        (
            ["--traffic-generator", PROFILE],
            ("--rate-unit",),
        ),
        (["--rate-unit=cps"], ("--rate-unit", "cps")),
        ([*BY_PROFILE, "--rate=-1"], ("--rate", "-1")),
        ([*BY_PROFILE, "--min-rate=61"], ("--min-rate", "61", "--rate", "60")),
        ([*BY_PROFILE, "--device-pairs=0-1"], ("0-1", "--device-pairs")),
        ([*BY_PROFILE, "--device-pairs=1:1"], ("1:1", "--device-pairs")),
        (
            [*BY_PROFILE, "--active-device-pairs=2:3"],
            ("--active-device-pairs", "2", "--device-pairs"),
        ),
        ([*BY_PROFILE, "--latency-rate=0"], ("--latency-rate", "0")),
        ([*BY_PROFILE, "--search-runtime=0"], ("search.duration",)),
        ([*BY_PROFILE, "--search-granularity=0"], ("--search-granularity",)),
        ([*BY_PROFILE, "--search-granularity=-1"], ("--search-granularity", "-1")),
        ([*BY_PROFILE, "--rate-tolerance=200"], ("tester.rate_tolerance", "200%")),
        ([*BY_OPTIONS, "--frame-size=big"], ("big", "--frame-size")),
        (["--frame-size=imix"], ("--rate-unit", "imix")),
        (
            [*BY_OPTIONS, "--frame-size=60", "--measure-latency=0"],
            ("streams[0].frame_size", "60"),
        ),
        ([*BY_OPTIONS, "--dst-macs=02:00:00:00:00:01"], ("--dst-macs", "1", "2")),
        ([*BY_OPTIONS, "--vlan-ids=a,b"], ("a", "--vlan-ids")),
        ([*BY_OPTIONS, "--use-protocol-flows=1"], ("--use-protocol-flows",)),
    ],
)
def test_what_would_test_something_else_is_refused(
    words: list[str], facts: tuple[str, ...], says: Says
) -> None:
    assert _refused(*words) == says(*facts)


def test_a_profile_is_needed(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        import_command(BY_PROFILE)
    assert caught.value == says("--traffic-profile")


def test_a_profile_of_several_is_chosen_by_name(tmp_path: Path) -> None:
    streams = json.loads(ARTICLES_PROFILE.read_text())["streams"]
    several = tmp_path / "several profiles.json"
    profiles = [{"name": "both", "streams": streams}, {"name": "load", "streams": streams[:1]}]
    several.write_text(json.dumps({"profiles": profiles}))
    imported = import_command([*BY_PROFILE, "--traffic-profile-name=load"], profile_path=several)
    content = _content(imported)
    assert content["name"] == "several-profiles"
    assert [stream["name"] for stream in content["profile"]["streams"]] == ["stream1"]


def test_a_hostile_value_stays_in_its_comment() -> None:
    hostile = "x\nsearch: {}\u2028lab: 1\r#"
    imported = _import(*BY_PROFILE, f"--trex-host={hostile}")
    assert _content(imported) == _content(_import(*BY_PROFILE))
    before = _import(*BY_PROFILE, "--pre-trial-cmd='a\nb: [c' d")
    assert _content(before)["trial"]["before"] == ["a\nb: [c", "d"]


def test_the_example_is_what_the_import_writes() -> None:
    trex = load_trex_config(ROOT / "examples" / "trex_cfg.yaml")
    assert trex == ARTICLES_TREX
    words = [ARTICLES_COMMAND]
    imported = import_command(words, profile_path=ARTICLES_PROFILE, trex=trex, name="article")
    assert (ROOT / "examples" / "article.yaml").read_text() == imported.text
