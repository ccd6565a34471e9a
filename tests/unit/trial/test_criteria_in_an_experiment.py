"""Criteria as people write them: how mistakes are reported, and that they are kept as written."""

from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.errors import InputError
from tests.worded.says import Says

_EXPERIMENT = """\
profile:
  streams:
    - {{name: load, role: load}}
    - {{name: probe, role: latency, rate: 1kpps}}
search: {{strategy: binary, minimum: 1kpps, maximum: 1Mpps, validation: {{repeat: 5}}}}
criteria:
  - {{{criterion}}}
"""


def _load(directory: Path, criterion: str) -> Experiment:
    path = directory / "nightly.yaml"
    path.write_text(_EXPERIMENT.format(criterion=criterion))
    return load_experiment(path)


@pytest.mark.parametrize(
    ("criterion", "facts"),
    [
        (
            "kind: latency, quantile: p99",
            ("criteria[0]", "latency", "at_most", "500us", "times_lowest", "3.0)"),
        ),
        (
            "kind: latency, quantile: p99, at_most: 1ms, times_lowest: 3",
            ("criteria[0]", "latency"),
        ),
        ("kind: latency, quantile: p99, times_lowest: 0.5", ("criteria[0].times_lowest",)),
        ("kind: pdv, quantile: min, at_most: 1ms", ("criteria[0].quantile",)),
        ("kind: pdv, quantile: p99, at_most: 1ms, stream: prob", ("nightly.yaml:7",)),
        (
            "kind: rx-stability",
            ("criteria[0]", "rx-stability", "worst_window", "1%"),
        ),
        ("kind: rx-stability, deviation: 200%", ("criteria[0].deviation",)),
        ("kind: spread-of-rate", ("criteria[0].at_most",)),
        ("kind: spread-of-rate, at_most: 1%, repetitions: 1", ("criteria[0].repetitions",)),
        (
            "kind: spread-of-rate, at_most: 1%, repetitions: 6",
            ("criteria[0].repetitions", "6", "5", "search.validation.repeat"),
        ),
        ("kind: loss-ratio, per: flow", ("criteria[0].per",)),
    ],
)
def test_a_mistake_names_its_place_and_the_remedy(
    tmp_path: Path, criterion: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        _load(tmp_path, criterion)
    assert "nightly.yaml:7" in str(caught.value)
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    "criterion",
    [
        "kind: loss-ratio, per: port-pair, at_most: 0.1%",
        "kind: latency, quantile: p99, times_lowest: 3",
        "kind: latency, quantile: p99, at_most: 1ms, role: load",
        "kind: pdv, quantile: max, at_most: 30us, stream: probe",
        "kind: rx-stability, deviation: 1%, worst_window: 2%, window: 30s",
        "kind: spread-of-rate, at_most: 1%",
        "kind: spread-of-latency, quantile: p99.9, at_most: 10%, repetitions: 5",
        "kind: out-of-order, at_most: 3",
    ],
)
def test_every_criterion_is_read_again_as_it_was_normalised(tmp_path: Path, criterion: str) -> None:
    experiment = _load(tmp_path, criterion)
    assert Experiment.model_validate(experiment.normalised()) == experiment
