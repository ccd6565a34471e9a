"""The articles' search on 25 Gbit/s, and loads above the line, on a simulated DUT."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.whole_run.preflight import check_search, check_trial
from plimsoll.benchmark.whole_run.simulation import SimulationRequest
from plimsoll.errors import InputError
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.trial.run import run_single_trial
from plimsoll.text.units import parse_rate
from tests.unit.benchmark.simulated_tests import Seen, run_directory
from tests.worded.says import Says

ARTICLE = Path(__file__).parents[4] / "examples" / "article.yaml"


def article(capacity: str, **lab: Any) -> Experiment:
    """Its traffic, criteria and search, and a DUT of that capacity per direction."""
    model = {"kind": "fixed-capacity", "capacity": capacity, "capacity_deviation": 0}
    written = load_experiment(ARTICLE).normalised()
    written["lab"] = {"kind": "simulated", "model": model, **lab}
    return Experiment.model_validate(written)


@pytest.mark.parametrize(
    "validation_s",
    [30.0, pytest.param(10_800.0, marks=pytest.mark.slow, id="as in the article, 40 s to compute")],
)
def test_the_articles_search_finds_what_the_dut_carries(
    tmp_path: Path, validation_s: float
) -> None:
    """Binary from 0.01x to 0.6x of 29.76 Mpps, which is above the line of 10 Gbit/s."""
    experiment = article("15Mpps", line_rate="25Gbps").validated_for(validation_s)
    check_search(experiment)
    seen = Seen()
    result = find_load_line(experiment, run_directory(tmp_path, experiment), seen)
    assert result.load_line is not None
    # The granularity is 0.05 % of the first load; the probe takes 1000 of one direction.
    assert 0.998 <= result.load_line.pps_per_direction / 15e6 <= 1
    assert "invalid" not in {trial.verdict for trial in seen.trials}
    assert seen.trials[-1].verdict == "pass"


def test_a_fixed_load_of_20_mpps(tmp_path: Path) -> None:
    experiment = article("22Mpps", line_rate="25Gbps")
    check_trial(experiment, parse_rate("20Mpps"), "--load")
    run = run_directory(tmp_path, experiment)
    trial = run_single_trial(experiment, run, parse_rate("20Mpps"), 30.0, Seen())
    assert trial.verdict == "pass"
    assert trial.offered_pps == pytest.approx(20e6, rel=1e-3)


def test_what_the_line_does_not_carry_is_refused_before_the_run(says: Says) -> None:
    """Of frames of 64 bytes 10 Gbit/s are 14.88 Mpps, 25 Gbit/s 37.2 Mpps."""
    with pytest.raises(InputError) as caught:
        check_search(article("15Mpps"))
    assert caught.value.where == "search.maximum"
    assert caught.value == says("10", "Gbps")
    with pytest.raises(InputError) as caught:
        check_trial(article("22Mpps"), parse_rate("20Mpps"), "--load")
    assert caught.value == says("20", "Mpps", "134.4")
    with pytest.raises(InputError) as caught:
        check_trial(article("22Mpps", line_rate="25Gbps"), parse_rate("40Mpps"), "--load")
    assert caught.value == says("25", "Gbps")


def test_a_line_rate_is_in_bits(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        article("1Mpps", line_rate="10Mpps")
    assert caught.value == says()


@pytest.mark.parametrize(
    ("capacity", "gbps"), [("1Mpps", 10), ("9Mpps", 10), ("10Mpps", 25), ("1000Mpps", 1008)]
)
def test_simulate_has_a_link_that_carries_its_highest_load(capacity: str, gbps: int) -> None:
    """It is half as much again as the capacity, in frames of 84 bytes on the wire."""
    request = SimulationRequest.model_validate(
        {"model": "fixed-capacity", "settings": {"capacity": capacity}}
    )
    assert request.experiment().normalised()["lab"]["line_rate"] == f"{gbps * 10**9}bps-l1"


def test_simulate_keeps_the_line_rate_of_its_experiment() -> None:
    base = load_experiment(ARTICLE)
    experiment = SimulationRequest.model_validate({"model": "fixed-capacity"}).experiment(base)
    assert experiment.normalised()["lab"]["line_rate"] == "25000000000bps-l1"
    check_search(experiment)
