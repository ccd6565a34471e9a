"""Fields of an experiment that are set in addition to its file."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import parse_set_field
from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import load_matrix
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.worded.says import Says

EXAMPLES = Path(__file__).parents[4] / "examples"
DEMO = EXAMPLES / "demo.yaml"


def demo_with(*texts: str) -> Experiment:
    return load_experiment(DEMO, [parse_set_field(text) for text in texts])


def refused(*texts: str) -> InputError:
    with pytest.raises(InputError) as caught:
        demo_with(*texts)
    assert caught.value.remedy
    return caught.value


def test_a_value_is_read_as_in_the_file() -> None:
    experiment = demo_with(
        "search.maximum=2Mpps",
        "criteria.0.at_most=1e-5",
        "profile.streams[probe].vary=[src_ip, dst_ip]",
        "search.bursts=false",
        "trial.warmup=",
        "generator.cpus.0=3",
    )
    assert (experiment.search.maximum.value, experiment.search.maximum.unit) == (2e6, "pps")
    assert experiment.normalised()["criteria"][0]["at_most"] == "0.001%"
    assert experiment.profile.streams[1].vary == ("src_ip", "dst_ip")
    assert experiment.profile.streams[0].vary == ("dst_ip",)
    assert experiment.normalised()["search"]["bursts"] is False
    assert experiment.trial.warmup is None
    assert experiment.generator.cpus == (3,)


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("profile.streams[load].src_port=1:20", ("1:20", "80")),
        ("profile.streams[load].frame_size=0200", ("0200", "128")),
        ("profile.streams[load].src_mac=52:54:00:12:34:56", ("52:54:00:12:34:56",)),
        ("profile.streams[load].flows=true", ("--set", "profile.streams[load].flows")),
        ("profile={streams: [{name: a, role: load, rate: 1pps, flows: yes}]}", ("--set",)),
    ],
)
def test_a_value_that_is_not_what_was_written_is_refused(
    written: str, facts: tuple[str, ...], says: Says
) -> None:
    error = refused(written)
    assert error.where == f"--set {written.partition('=')[0]}"
    assert error == says(*facts)


def test_of_two_for_one_field_the_last_counts() -> None:
    assert demo_with("lab.cpu=2", "lab.cpu=3").lab.polled_cpus == (("lab.cpu", 3),)


def test_what_is_recorded_has_the_value(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.yaml"
    recorded.write_text(yaml.safe_dump(demo_with("search.maximum=2Mpps").normalised()))
    assert load_experiment(recorded).search.maximum.value == 2e6


@pytest.mark.parametrize(
    ("text", "where", "facts"),
    [
        ("serach.minimum=1pps", "--set serach.minimum", ("serach",)),
        ("search.minimun=1pps", "--set search.minimun", ("--set search.minimun",)),
        ("criteria.0.atmost=0", "--set criteria.0.atmost", ("at_most",)),
        ("search.minimum=5", "--set search.minimum", ("5", "5pps")),
        ("criteria.0.at_most=0.002", "--set criteria.0.at_most", ("0.002%",)),
        ("lab.cpu=one", "--set lab.cpu", ("one",)),
        ("lab={kind: testpmd-memif, cpu: x}", "--set lab", ("x", "lab.cpu")),
        (
            "criteria.9.at_most=0",
            "--set criteria.9.at_most",
            ("--set criteria.9.at_most", "profile.streams[load].frame_size"),
        ),
        ("lab.cpu.x=1", "--set lab.cpu.x", ("--set lab.cpu.x", "profile.streams[load].frame_size")),
        ("search.goals=[", "--set search.goals", ("--set search.goals",)),
        ("search.watch=1s, search.width=2", "--set search.watch", ("1m30s",)),
    ],
)
def test_a_mistake_names_the_option_as_its_place(
    text: str, where: str, facts: tuple[str, ...], says: Says
) -> None:
    error = refused(text)
    assert error.where == where
    assert error == says(*facts)


def test_a_mistake_in_the_file_keeps_its_line_next_to_a_setting(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(
        "profile: {streams: [{name: load, role: load}]}\n"
        "search: {minimum: 1kpps, maximum: 1Mpps}\n"
        "trial: {drain: soon}\n"
    )
    with pytest.raises(InputError) as caught:
        load_experiment(path, [parse_set_field("trial.gap=later")])
    assert caught.value == says("soon", f"{path}:3", "trial.drain", "--set", "trial.gap")
    assert caught.value.message.startswith("2 mistakes:")


@pytest.mark.parametrize("text", ["", "=", "=3", "search.minimum", "a b=1", "0=1"])
def test_what_sets_no_field(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_set_field(text)
    assert caught.value.where == "--set"
    assert caught.value.remedy


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """An experiment that names its profile, and another profile next to it."""
    for name, flows in (("few", 2), ("many", 2000)):
        (tmp_path / f"{name}.yaml").write_text(
            f"streams: [{{name: load, role: load, flows: {flows}}}]\n"
        )
    path = tmp_path / "named.yaml"
    path.write_text("profile: few.yaml\nsearch: {minimum: 1kpps, maximum: 1Mpps}\n")
    return path


def flows(path: Path, *texts: str) -> int:
    settings = [parse_set_field(text) for text in texts]
    return load_experiment(path, settings).profile.streams[0].flows


def test_a_named_profile_is_set_as_a_whole_and_in_its_fields(named: Path) -> None:
    assert flows(named) == 2
    assert flows(named, "profile=many.yaml") == 2000
    assert flows(named, "profile.streams.0.flows=7") == 7
    assert flows(named, "profile.streams[load].flows=7", "profile=many.yaml") == 7


def test_of_a_profile_that_is_not_there_only_that_is_reported(named: Path) -> None:
    named.write_text(named.read_text().replace("few", "gone"))
    with pytest.raises(InputError) as caught:
        flows(named, "profile.streams.0.flows=7")
    assert caught.value.message == "no such file"
    assert caught.value.where.endswith("gone.yaml")


def test_what_an_alias_shares_is_set_in_one_place_only(tmp_path: Path) -> None:
    path = tmp_path / "alias.yaml"
    path.write_text(
        "profile:\n"
        "  streams:\n"
        "    - &one {name: load, role: load, frame_size: 80, vlan: &tags [{id: 5}]}\n"
        "    - {name: other, role: load, frame_size: 80, vlan: *tags}\n"
        "search: {minimum: 1kpps, maximum: 1Mpps}\n"
    )
    streams = load_experiment(path, [parse_set_field("profile.streams.1.vlan.0.id=9")]).profile
    assert [stream.vlan[0].id for stream in streams.streams] == [5, 9]


def test_a_matrix_is_varied_upon_what_is_set(tmp_path: Path) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.duration": ["1s", "2s"]}]})
    texts = ("profile.streams.0.flows=9", "search.duration=3s", "matrix.samples=2")
    matrix = load_matrix(path, [parse_set_field(text) for text in texts])
    assert matrix.settings.samples == 2
    assert [each.experiment.profile.streams[0].flows for each in matrix.iterations] == [9, 9]
    durations = [each.experiment.normalised()["search"]["duration"] for each in matrix.iterations]
    assert durations == ["1s", "2s"]
    assert matrix.written["profile"]["streams"][0]["flows"] == 9


def leaves(value: Any, path: str, written: Any) -> Iterator[tuple[str, Any]]:
    """Every field by its path; lists whole, and by position where the file has them, too."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        here = f"{path}.{key}".removeprefix(".")
        has = isinstance(written, dict) and key in written
        there = written[key] if has or isinstance(written, list) else None
        if isinstance(each, dict) and each:
            yield from leaves(each, here, there)
        else:
            yield here, each
        if isinstance(each, list) and isinstance(there, list):
            yield from leaves(each, here, there)


@functools.cache
def dumped(name: str) -> tuple[Any, list[tuple[str, Any]]]:
    """An example as it is dumped, and the fields of that."""
    written = yaml.safe_load((EXAMPLES / name).read_text())
    whole = load_experiment(EXAMPLES / name).normalised()
    return whole, list(leaves(whole, "", written))


@pytest.mark.parametrize("name", ["demo.yaml", "load-line.yaml", "mlrsearch.yaml"])
@given(data=st.data())
def test_any_dumped_value_that_is_set_again_changes_nothing(name: str, data: st.DataObject) -> None:
    whole, fields = dumped(name)
    path, value = data.draw(st.sampled_from(fields))
    text = yaml.safe_dump(value, default_flow_style=True)
    again = load_experiment(EXAMPLES / name, [parse_set_field(f"{path}={text}")])
    assert again.normalised() == whole


@given(st.floats(1e-9, 9e-5))
def test_any_share_that_is_set_is_the_one_that_is_read(share: float) -> None:
    criterion = demo_with(f"criteria.0.at_most={share:e}").criteria[0].model_dump()
    assert criterion["at_most"] == float(f"{share:e}")
