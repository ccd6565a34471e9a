"""An experiment's streams by name and by load."""

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import ExperimentTraffic
from plimsoll.errors import InputError
from plimsoll.text.units import parse_rate
from tests.unit.benchmark.live_traffic.conftest import Live
from tests.worded.says import Says

STREAMS = [
    {"name": "load", "role": "load", "flows": 64},
    {"name": "probe", "role": "latency", "rate": "500pps", "direction": "unidirectional"},
]
SEARCH = {"minimum": "1kpps", "maximum": "8kpps"}


def experiment(**profile: object) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "lab": {"kind": "loopback", "ports": 2},
            "profile": {"streams": STREAMS, **profile},
            "search": SEARCH,
        }
    )


@pytest.fixture
def traffic(live: Live) -> ExperimentTraffic:
    return ExperimentTraffic(live.traffic, experiment())


def rates(live: Live) -> dict[str, float | None]:
    return {each.name: each.rate_pps for each in live.traffic.streams}


def test_streams_are_named_by_direction(traffic: ExperimentTraffic) -> None:
    assert traffic.names == ("load/0-1", "load/1-0", "probe/0-1")


def test_before_there_is_a_load_there_is_no_rate(live: Live, traffic: ExperimentTraffic) -> None:
    assert rates(live) == {"load/0-1": 0.0, "load/1-0": 0.0, "probe/0-1": 500.0}
    assert traffic.load_pps is None


def test_the_load_is_each_direction_s_and_probes_keep_their_rate(
    live: Live, traffic: ExperimentTraffic
) -> None:
    traffic.start(load=parse_rate("4kpps"))
    assert live.trial.rates == {0: 4000.0, 1: 4000.0, 2: 500.0}
    traffic.set_load(parse_rate("9kpps"))
    assert rates(live) == {"load/0-1": 9000.0, "load/1-0": 9000.0, "probe/0-1": 500.0}
    assert live.trial.rates == {0: 9000.0, 1: 9000.0, 2: 500.0}
    assert traffic.load_pps == 9000


def test_a_name_without_direction_means_both(live: Live, traffic: ExperimentTraffic) -> None:
    traffic.start(["load"], load=parse_rate("4kpps"))
    assert live.trial.rates == {0: 4000.0, 1: 4000.0, 2: 0.0}
    traffic.stop(["load/1-0"])
    assert live.traffic.sending == {0}
    traffic.set_rate("load", 7.0)
    assert rates(live)["load/1-0"] == 7.0


def test_without_a_load_nothing_is_started(traffic: ExperimentTraffic, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        traffic.start()
    assert caught.value == says()


def test_an_unknown_stream_is_named_with_a_suggestion(
    traffic: ExperimentTraffic, says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        traffic.start(["prob"], load=parse_rate("1kpps"))
    assert caught.value == says("prob")
    assert "probe" in caught.value.remedy


def test_a_share_of_an_unknown_line_rate_is_refused(traffic: ExperimentTraffic) -> None:
    with pytest.raises(InputError) as caught:
        traffic.set_load(parse_rate("60%"))
    assert caught.value.where == "load"


def test_the_generator_ends_it_after_its_duration(live: Live, traffic: ExperimentTraffic) -> None:
    traffic.start(load=parse_rate("4kpps"), duration_s=2.0)
    assert {begin.duration_s for begin in live.trial.begins[0].values()} == {2.0}
    live.step()
    assert not traffic.wait(0)
    live.step()
    assert traffic.wait(60)
    assert live.traffic.sending == frozenset()
