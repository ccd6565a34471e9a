"""A plugfest as it is written: its cells, those that are refused, and mistakes of the file."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.methods.plugfest.document import load_plugfest
from tests.unit.methods.plugfest.plugfest_files import FAST, SLOW, write_plugfest
from tests.worded.says import Says

TWO: dict[str, Any] = {"duts": {"fast": FAST, "slow": SLOW}}


def test_every_combination_is_a_cell_whose_experiment_has_its_values(tmp_path: Path) -> None:
    section = {**TWO, "flows": [1, 40], "frame_sizes": [64, "simple"], "seed": 5}
    found = load_plugfest(write_plugfest(tmp_path, section))
    assert [cell.label for cell in found.plan.cells[:3]] == [
        "fast, p2p, 1 flow, 64 B, quiet, engine",
        "fast, p2p, 1 flow, simple, quiet, engine",
        "fast, p2p, 40 flows, 64 B, quiet, engine",
    ]
    assert len(found.plan.cells) == len(found.matrix.iterations) == 8
    last = found.matrix.iterations[-1].experiment
    (load,) = last.profile.load_streams
    assert (load.flows, load.imix, load.frame_size) == (40, "simple", None)
    assert last.search.maximum.value == 15_000
    assert found.matrix.iterations[0].experiment.search.maximum.value == 20_000
    assert found.plan.frames["simple"].startswith("7 of 64, 4 of 594, 1 of 1518 bytes")


def test_the_order_is_one_of_rounds_by_the_seed(tmp_path: Path) -> None:
    found = load_plugfest(write_plugfest(tmp_path, {**TWO, "seed": 5, "repetitions": 3}))
    settings = found.matrix.settings
    assert (settings.order, settings.seed, settings.samples) == ("rounds", 5, 3)


def test_a_seed_that_is_drawn_is_written_down(tmp_path: Path) -> None:
    found = load_plugfest(write_plugfest(tmp_path, TWO))
    assert found.matrix.written["plugfest"]["seed"] == found.matrix.settings.seed


def test_a_cell_without_an_experiment_is_refused_and_the_others_are_not(tmp_path: Path) -> None:
    found = load_plugfest(write_plugfest(tmp_path, {**TWO, "chains": ["p2p", "pvp"]}))
    by_chain = {cell.chain: cell for cell in found.plan.cells}
    assert by_chain["p2p"].refused is None
    assert by_chain["pvp"].iteration is None
    assert "chain" in (by_chain["pvp"].refused or "")
    assert len(found.matrix.iterations) == 2


def test_where_no_cell_is_without_a_mistake_it_is_the_files(tmp_path: Path) -> None:
    path = write_plugfest(tmp_path, TWO, criteria=[{"kind": "loss-ratio", "at_most": "lots"}])
    with pytest.raises(InputError) as refused:
        load_plugfest(path)
    assert "fest.yaml" in str(refused.value)
    assert "at_most" in str(refused.value)


@pytest.mark.parametrize(
    ("section", "facts"),
    [
        ({"duts": {"fast": {"lab": {"kind": "linux-brigde"}}}}, ("linux-brigde",)),
        ({"duts": {}}, ("duts",)),
        ({**TWO, "flows": [1, 1]}, ()),
        ({**TWO, "frame_sizes": ["gibberish!"]}, ("frame_sizes",)),
        ({**TWO, "frame_sizes": [[{"size": 64}]]}, ()),
        ({**TWO, "baseline": "fats"}, ("fats",)),
        ({"duts": {"fast": {**FAST, "settings": {"search..maximum": 1}}}}, ()),
        ({**TWO, "noise": {"loud": [{"kind": "shouting"}]}}, ("noise",)),
        ({**TWO, "settled": "0%"}, ("settled",)),
        (
            {**TWO, "duts": {f"d{n}": FAST for n in range(60)}, "flows": list(range(1, 90))},
            ("5,340",),
        ),
    ],
)
def test_mistakes_of_the_axes_are_the_files(
    section: dict[str, Any], facts: tuple[str, ...], tmp_path: Path, says: Says
) -> None:
    with pytest.raises(InputError, match=r"fest\.yaml") as refused:
        load_plugfest(write_plugfest(tmp_path, section))
    assert refused.value == says(*facts)


def test_without_its_section_it_is_no_plugfest(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "fest.yaml"
    path.write_text("search: {minimum: 1kpps, maximum: 2kpps}\n")
    with pytest.raises(InputError) as caught:
        load_plugfest(path)
    assert caught.value == says("fest.yaml")


def test_the_experiments_own_noise_has_a_name(tmp_path: Path) -> None:
    noise = [{"kind": "stress-ng", "stressor": "timer", "cpus": [0]}]
    assert load_plugfest(write_plugfest(tmp_path, TWO, noise=noise)).plan.cells[0].noise == "noisy"
    axis = {**TWO, "noise": {"none": [], "timers": noise}}
    cells = load_plugfest(write_plugfest(tmp_path, axis)).matrix.iterations
    assert [len(each.experiment.noise) for each in cells] == [0, 1, 0, 1]
