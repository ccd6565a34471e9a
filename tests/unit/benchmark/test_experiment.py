from pathlib import Path

import pytest
import yaml

from plimsoll.benchmark.experiment import Experiment, load_experiment
from plimsoll.errors import InputError

EXAMPLES = Path(__file__).parents[3] / "examples"

MINIMAL = """\
profile:
  streams:
    - {name: load, role: load, flows: 16}
search:
  minimum: 1kpps
  maximum: 1Mpps
"""


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
    assert demo.tester.rate_tolerance == pytest.approx(0.05)
    assert demo.search.validation.duration == 60


def test_an_experiment_is_named_after_its_file_and_needs_little(tmp_path: Path) -> None:
    experiment = load(tmp_path, MINIMAL)
    assert experiment.name == "nightly"
    assert experiment.lab.kind == "testpmd-memif"
    assert {each.kind for each in experiment.criteria} == {
        "loss-ratio",
        "corrupt",
        "misdirected",
    }


def test_what_is_recorded_loads_as_the_same_experiment(tmp_path: Path) -> None:
    demo = load_experiment(EXAMPLES / "demo.yaml")
    again = load(tmp_path, yaml.safe_dump(demo.normalised()))
    assert again == demo


@pytest.mark.parametrize("name", ["trafficgen.profile.json", "article-profile.yaml"])
def test_a_profile_may_be_a_file_beside_the_experiment(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    experiment = load(
        tmp_path, f"profile: {name}\nsearch: {{minimum: 1kpps, maximum: 1.0x}}\nname: article\n"
    )
    assert experiment.profile.rate_pps == 29761904
    assert [stream.role for stream in experiment.profile.streams] == ["load", "latency"]


def test_another_validation_changes_nothing_else(tmp_path: Path) -> None:
    experiment = load(tmp_path, MINIMAL)
    longer = experiment.validated_for(10800)
    assert longer.search.validation.duration == 10800
    assert longer.search.maximum == experiment.search.maximum
    assert longer.profile == experiment.profile


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profile: [", ["nightly.yaml:1", "mend the file"]),
        ("", ["nightly.yaml"]),
        (MINIMAL + "serach: 3\n", ["nightly.yaml:7", "serach", "search"]),
        (MINIMAL.replace("flows", "flos"), ["nightly.yaml:3", "flos", "flows"]),
        (MINIMAL.replace("1kpps", "0pps"), ["nightly.yaml:5", "search.minimum", "above zero"]),
        (MINIMAL.replace("1kpps", "-1pps"), ["nightly.yaml:5", "search.minimum"]),
        (MINIMAL.replace("1kpps", "1kpackets"), ["search.minimum", "unknown unit", "500kpps"]),
        (MINIMAL.replace("flows: 16", "frame_size: 59"), ["frame_size", "at least 64"]),
        (MINIMAL.replace("flows: 16", "flows: 70000"), ["flows", "70000", "prefix"]),
        (MINIMAL + "lab: {kind: testpmd}\n", ["nightly.yaml:7", "testpmd-memif"]),
        (MINIMAL + "criteria: []\n", ["nightly.yaml:7", "criteria"]),
        (MINIMAL + "name: ../../etc\n", ["nightly.yaml:7", "name"]),
        (MINIMAL + "trial: {drain: 2 fortnights}\n", ["nightly.yaml:7", "trial.drain"]),
    ],
)
def test_bad_input_names_the_place_and_the_remedy(
    tmp_path: Path, text: str, said: list[str]
) -> None:
    message = refused(tmp_path, text)
    for part in said:
        assert part in message


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    message = refused(tmp_path, MINIMAL.replace("profile:", "profile: gone.yaml\nignored:"))
    assert "gone.yaml" in message
