"""Matrices as they are written: every experiment in one is checked before any is run."""

from pathlib import Path

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import load_matrix
from tests.unit.methods.matrix.matrix_files import EXPERIMENT, write_matrix
from tests.worded.says import Says

SIZE = "profile.streams[load].frame_size"


def section_line(path: Path) -> int:
    """Where what is varied is written."""
    return path.read_text().splitlines().index("matrix:") + 1


def test_each_iteration_is_an_experiment_of_its_own(tmp_path: Path) -> None:
    path = write_matrix(tmp_path, {"sets": [{SIZE: [64, 512], "search.duration": ["1s", "2s"]}]})
    matrix = load_matrix(path)
    assert matrix.name == "sizes"
    assert [each.number for each in matrix.iterations] == [1, 2, 3, 4]
    assert [
        (each.experiment.profile.mean_frame_size, each.experiment.search.duration)
        for each in matrix.iterations
    ] == [(64, 1), (64, 2), (512, 1), (512, 2)]
    assert matrix.iterations[1].params == {SIZE: 64, "search.duration": "2s"}
    # One does not change the other, or what was written.
    assert "frame_size" not in matrix.written["profile"]["streams"][0]


def test_a_profile_in_a_file_can_be_varied_and_be_a_parameter_itself(tmp_path: Path) -> None:
    for name, flows in (("few.yaml", 2), ("many.yaml", 2000)):
        streams = [{"name": "load", "role": "load", "rate": "1pps", "flows": flows}]
        (tmp_path / name).write_text(yaml.safe_dump({"streams": streams}))
    parameters = {SIZE: [128], "profile": ["few.yaml", "many.yaml"]}
    matrix = load_matrix(write_matrix(tmp_path, {"sets": [parameters]}, profile="few.yaml"))
    assert [
        (each.experiment.profile.streams[0].flows, each.experiment.profile.mean_frame_size)
        for each in matrix.iterations
    ] == [(2, 128), (2000, 128)]


@pytest.mark.parametrize(
    ("varied", "facts"),
    [
        ("[64, 0200]", ("frame_size[1]", "0200", "128", "200")),
        ("[64, true]", ("profile.streams[0].frame_size",)),
    ],
)
def test_values_that_are_not_what_was_written_are_refused(
    tmp_path: Path, varied: str, facts: tuple[str, ...], says: Says
) -> None:
    path = write_matrix(tmp_path, {"sets": [{SIZE: "HERE"}]})
    path.write_text(path.read_text().replace("HERE", varied))
    with pytest.raises(InputError) as caught:
        load_matrix(path)
    assert caught.value == says(*facts)


def test_a_mistake_names_its_combination(tmp_path: Path) -> None:
    path = write_matrix(
        tmp_path, {"common": {"search.duration": ["1s"]}, "sets": [{SIZE: [64, 6]}]}
    )
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value.message.startswith("iteration 2 (duration = 1s, frame_size = 6): ")
    assert "frame_size" in raised.value.message
    assert raised.value.where.startswith(f"{path}:")


def test_what_only_the_search_can_refuse_is_refused_before_anything_runs(
    tmp_path: Path, says: Says
) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.minimum": ["1kpps", "30kpps"]}]})
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value == says("2", "minimum", "30kpps", "search.minimum", "30", "kpps", "20")
    assert raised.value.where == f"{path}:{section_line(path)}"


def test_an_unknown_field_is_reported_where_it_was_meant_to_be(tmp_path: Path, says: Says) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.durations": ["1s"]}]})
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert "search.durations: unknown field" in raised.value.message
    assert raised.value == says("1", "1s", "search.durations")


def test_a_path_that_leads_nowhere(tmp_path: Path, says: Says) -> None:
    path = write_matrix(tmp_path, {"sets": [{"profile.streams[probe].flows": [1]}]})
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value.where == f"{path}:{section_line(path)}"
    assert "iteration 1 (flows = 1): " in raised.value.message
    assert raised.value == says("probe")


def test_a_mistake_in_the_section_has_its_line(tmp_path: Path) -> None:
    path = write_matrix(tmp_path, {"samples": 2, "order": "backwards"})
    line = path.read_text().splitlines().index("  order: backwards") + 1
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value.where == f"{path}:{line}"
    assert raised.value.message.startswith("matrix.order: ")


def test_too_much_is_refused(tmp_path: Path, says: Says) -> None:
    values = list(range(64, 164))
    path = write_matrix(tmp_path, {"samples": 2, "sets": [{SIZE: values, "x.y": values}]})
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value == says("20,000", "10,000")


def test_an_experiment_without_the_section_is_for_another_command(
    tmp_path: Path, says: Says
) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(yaml.safe_dump(EXPERIMENT))
    with pytest.raises(InputError) as raised:
        load_matrix(path)
    assert raised.value == says("matrix:", "sets:", "plimsoll run")


def test_an_experiment_with_the_section_is_no_single_one(tmp_path: Path, says: Says) -> None:
    path = write_matrix(tmp_path, {"sets": [{SIZE: [64]}]})
    with pytest.raises(InputError) as raised:
        load_experiment(path)
    assert raised.value == says("plimsoll matrix")
    assert "plimsoll matrix" in raised.value.remedy
