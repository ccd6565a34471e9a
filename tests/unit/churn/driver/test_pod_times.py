"""When pods were ready, by our watch and by their conditions."""

from plimsoll.churn.driver.pod_watch import PodTimes
from plimsoll.churn.driver.workload import KIND_LABEL
from plimsoll.churn.kpis.sampler import pod_metrics

_EPOCH_S = 1_700_000_000
_CREATED = "2023-11-14T22:13:20Z"


def pod(conditions: list[dict[str, str]]) -> dict[str, object]:
    return {
        "metadata": {
            "uid": "u1",
            "namespace": "n",
            "name": "p",
            "labels": {KIND_LABEL: "dpdk"},
            "creationTimestamp": _CREATED,
        },
        "status": {"conditions": conditions},
    }


def condition(kind: str, second: int, status: str = "True") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "lastTransitionTime": f"2023-11-14T22:13:{second:02}Z",
    }


def test_by_the_watch_and_by_conditions() -> None:
    times = PodTimes.of(pod([]), seen_ns=1_000_000_000)
    times.note(pod([condition("PodScheduled", 20)]), 1_100_000_000)
    times.note(pod([condition("PodScheduled", 20), condition("Ready", 22)]), 2_250_000_000)
    assert times.created_s == _EPOCH_S
    assert times.ready_ms == 1250
    assert times.condition_s("PodScheduled") == 0
    assert times.condition_s("Ready") == 2
    assert times.condition_s("Initialized") is None


def test_what_is_not_true_does_not_count_and_the_first_time_stays() -> None:
    times = PodTimes.of(pod([]), seen_ns=0)
    times.note(pod([condition("Ready", 25, status="False")]), 5)
    assert times.ready_ns is None
    times.note(pod([condition("Ready", 26)]), 6_000_000)
    times.note(pod([condition("Ready", 40)]), 9_000_000)
    assert (times.ready_ms, times.condition_s("Ready")) == (6, 6)


def test_as_metrics_by_kind() -> None:
    times = PodTimes.of(pod([]), seen_ns=10_000_000)
    times.note(pod([condition("ContainersReady", 21), condition("Ready", 21)]), 35_000_000)
    found = {
        sample.metric.type: (sample.value, dict(sample.names)["kind"])
        for timed in pod_metrics([times])
        for sample in timed.samples
    }
    assert found == {
        "readiness-msec": (25, "dpdk"),
        "containers-ready-sec": (1, "dpdk"),
        "ready-sec": (1, "dpdk"),
    }
