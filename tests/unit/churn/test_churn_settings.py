"""Churn experiments as people write them, and their mistakes."""

from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.set_field import parse_set_field
from plimsoll.churn.driver.workload import SMALL
from plimsoll.churn.settings import ChurnCellPlan, chance_of, in_order, load_churn, of_record
from plimsoll.errors import InputError
from tests.worded.says import Says

ROOT = Path(__file__).parents[3]
POD_NETWORK = "{kind: pod-network}"
PODS = "pods: {namespace: bench, image: registry.lab/plimsoll}"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_the_example_is_valid_and_comes_back_from_its_record() -> None:
    experiment = load_churn(ROOT / "examples" / "churn.yaml")
    assert experiment.networks == ("macvlan", "host", "ovn")
    assert experiment.churn.levels == (0, 10, 50, 100)
    assert experiment.workload.objects.objects == 128
    assert of_record(experiment.normalised()) == experiment


def test_the_example_for_a_cluster_has_the_articles_pairs_and_objects() -> None:
    experiment = load_churn(ROOT / "examples" / "churn-cluster.yaml")
    assert experiment.networks == ("ovn", "macvlan")
    streams = experiment.streams
    assert streams is not None
    # 37 pairs, and NICs of 25 Gbit/s.
    assert streams.theoretical_bps == 925e9
    assert experiment.workload.objects.pods == 52


def test_little_is_enough(tmp_path: Path) -> None:
    experiment = load_churn(write(tmp_path, "cluster: {kind: own}\n"))
    assert (experiment.name, experiment.networks) == ("mine", ("none",))
    assert of_record(experiment.normalised()) == experiment


def test_fields_are_set_and_sets_of_objects_named(tmp_path: Path) -> None:
    path = write(tmp_path, "cluster: {kind: kubeconfig}\nworkload: {objects: small}\n")
    experiment = load_churn(path, [parse_set_field("workload.namespaces=9")])
    assert experiment.workload.objects == SMALL
    assert experiment.workload.namespaces == 9


@pytest.mark.parametrize(
    ("workload", "facts"),
    [
        ("qps: true", ("workload.qps",)),
        ("qps: 0200", ("workload.qps", "0200", "128", "200")),
        (
            "timeout: 1:30",
            ("workload.timeout", "1:30", "90"),
        ),
    ],
)
def test_values_that_are_not_what_was_written_are_refused(
    tmp_path: Path, workload: str, facts: tuple[str, ...], says: Says
) -> None:
    path = write(tmp_path, f"cluster: {{kind: kubeconfig}}\nworkload: {{{workload}}}\n")
    with pytest.raises(InputError) as caught:
        load_churn(path)
    assert caught.value == says(f"{path}:2", *facts)


def test_the_theoretical_throughput_is_the_pace_unless_it_is_given(tmp_path: Path) -> None:
    text = "cluster: {kind: own}\nstreams: {networks: {a: {kind: host}}, pairs: 4, rate_mbps: 30}\n"
    streams = load_churn(write(tmp_path, text)).streams
    assert streams is not None
    assert streams.theoretical_bps == 120e6
    more = [parse_set_field("streams.theoretical_mbps=50")]
    streams = load_churn(write(tmp_path, text), more).streams
    assert streams is not None
    assert streams.theoretical_bps == 200e6


def test_streams_may_be_between_pods_of_a_cluster(tmp_path: Path) -> None:
    text = f"""\
cluster: {{kind: kubeconfig}}
streams:
  networks:
    ovn: {POD_NETWORK}
    host: {{kind: host-network}}
    macvlan: {{kind: attachment, attachment: nets/macvlan}}
    sriov: {{kind: attachment, attachment: vf, resources: {{openshift.io/intelnics: "1"}}}}
  {PODS}
"""
    experiment = load_churn(write(tmp_path, text))
    assert experiment.networks == ("ovn", "host", "macvlan", "sriov")
    assert of_record(experiment.normalised()) == experiment


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("cluster: {kind: own, nods: 3}\n", ("nods",)),
        ("name: x\n", ("cluster:",)),
        ("cluster: {kind: own}\nworkload: {objects: smal}\n", ("smal", "objects")),
        ("cluster: {kind: own}\nchurn: {levels: [0, 120]}\n", ("churn.levels",)),
        ("cluster: {kind: own}\nchurn: {levels: [5, 5]}\n", ("5",)),
        ("cluster: {kind: own}\nchurn: {duration: 5}\n", ("5",)),
        ("cluster: {kind: own}\nstreams: {networks: {a: {kind: sriov}}}\n", ("sriov",)),
        (
            "cluster: {kind: own}\nstreams: {networks: {a: {kind: host}}, step: 100ms, "
            "interval: 1s}\n",
            (),
        ),
        (
            "cluster: {kind: own}\nstreams: {networks: {a: {kind: host}}, pairs: 2, "
            "latency_probe: {pairs: 3}}\n",
            ("streams.latency_probe.pairs", "2"),
        ),
        (
            f"cluster: {{kind: kubeconfig}}\nstreams: {{networks: {{a: {POD_NETWORK}}}}}\n",
            ("streams.pods", "cluster"),
        ),
        (
            f"cluster: {{kind: own}}\nstreams: {{networks: {{a: {POD_NETWORK}}}, {PODS}}}\n",
            ("cluster", "own"),
        ),
        (
            "cluster: {kind: kubeconfig}\nstreams: {networks: {a: {kind: host}}, "
            f"{PODS}}}\n",
            ("cluster",),
        ),
        (
            "cluster: {kind: kubeconfig}\nstreams: {networks: {a: {kind: attachment, "
            f"attachment: a/b/c}}}}, {PODS}}}\n",
            ("attachment",),
        ),
        ("cluster: {kind: own}\ncriteria: [{kind: dip-depth}]\n", ()),
        ("cluster: {kind: kubeconfig, prometheus: {url: 'file:///etc'}}\n", ("url",)),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as error:
        load_churn(write(tmp_path, text))
    assert error.value == says(*facts)
    assert "mine.yaml" in str(error.value)


def test_a_field_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "cluster: {kind: own}\n")
    with pytest.raises(InputError):
        load_churn(path, [parse_set_field("cluster.kind.deeper=1")])


def test_each_round_has_every_cell_once_in_an_order_of_its_own() -> None:
    order = in_order(("a", "b"), (0.0, 10.0, 50.0, 100.0), 3, seed=7)
    rounds = [order[n : n + 8] for n in range(0, 24, 8)]
    for number, cells in enumerate(rounds, start=1):
        assert {cell.repetition for cell in cells} == {number}
        assert len({(cell.network, cell.percent) for cell in cells}) == 8
    places = [[(cell.network, cell.percent) for cell in cells] for cells in rounds]
    assert places[0] != places[1]
    assert in_order(("a", "b"), (0.0, 10.0, 50.0, 100.0), 3, seed=7) == order


def test_a_cell_that_is_run_again_draws_the_same_windows() -> None:
    cell = ChurnCellPlan("a", 10, 1)
    assert chance_of(cell, 3).random() == chance_of(cell, 3).random()
    assert chance_of(cell, 3).random() != chance_of(ChurnCellPlan("a", 10, 2), 3).random()
