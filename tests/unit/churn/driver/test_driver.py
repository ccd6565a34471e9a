"""The driver against a cluster in memory: order, patience, and what it leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from plimsoll.churn.api.removal import NAMESPACES, remove
from plimsoll.churn.driver import driver as driver_module
from plimsoll.churn.driver.driver import ChurnDriver, ChurnPlan, TokenBucket
from plimsoll.churn.driver.pod_watch import PodWatch
from plimsoll.churn.driver.workload import SMALL, Workload
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiAnswer, ApiClient
from tests.unit.churn.driver.cluster_in_memory import ClusterInMemory
from tests.worded.says import Says

WORKLOAD = Workload("t", SMALL, "pause", {})


class ReadyAtOnce:
    """A watch to which all pods are ready; or none ever, in no time."""

    def __init__(self, ready: bool = True) -> None:
        self.ready = ready
        self.waited_for: list[dict[str, int]] = []

    def wait_until_ready(self, pods: Mapping[str, int], since_ns: int, timeout_s: float) -> bool:
        self.waited_for.append(dict(pods))
        return self.ready


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadPoolExecutor]:
    monkeypatch.setattr(driver_module, "_POLL_S", 0.0)
    monkeypatch.setattr(driver_module, "_FIRST_PAUSE_S", 0.0)
    with ThreadPoolExecutor(4) as made:
        yield made


def make(
    cluster: ClusterInMemory, pool: ThreadPoolExecutor, watch: Any = None, timeout_s: float = 60.0
) -> ChurnDriver:
    return ChurnDriver(
        cast(ApiClient, cluster),
        WORKLOAD,
        cast(PodWatch, watch or ReadyAtOnce()),
        limit=TokenBucket(1e6, 1000),
        timeout_s=timeout_s,
        pool=pool,
    )


def test_a_namespace_comes_before_its_objects(pool: ThreadPoolExecutor) -> None:
    cluster, watch = ClusterInMemory(), ReadyAtOnce()
    phase = make(cluster, pool, watch).create([0, 1])
    assert cluster.made[0] == ("Namespace", "plimsoll-t-0")
    assert len(cluster.made) == 2 * (1 + SMALL.objects)
    assert watch.waited_for == [{"plimsoll-t-0": 7, "plimsoll-t-1": 7}]
    assert phase.complete
    assert phase.begin_ns <= (phase.made_ns or 0) <= phase.end_ns


def test_churn_deletes_waits_and_makes_the_same_anew(pool: ThreadPoolExecutor) -> None:
    cluster = ClusterInMemory(linger=3)
    driver = make(cluster, pool)
    driver.create(range(4))
    cluster.made.clear()
    plan = ChurnPlan(4, 50, duration_s=60, cycles=2, delay_s=0, deletion_delay_s=0)
    phases = driver.churn(plan, random.Random(1), lambda phase: None)  # noqa: S311
    assert [(each.cycle, each.kind) for each in phases] == [
        (1, "delete"),
        (1, "create"),
        (2, "delete"),
        (2, "create"),
    ]
    assert phases[0].namespaces == phases[1].namespaces
    assert all(len(each.namespaces) == 2 for each in phases)
    made = [name for kind, name in cluster.made if kind == "Namespace"]
    assert made == [f"plimsoll-t-{n}" for n in (*phases[1].namespaces, *phases[3].namespaces)]
    assert len(cluster.namespaces) == 4


def test_a_phase_that_is_not_over_in_time_ends_the_churn(pool: ThreadPoolExecutor) -> None:
    cluster = ClusterInMemory(linger=10**9)
    driver = make(cluster, pool, timeout_s=0.2)
    driver.create(range(2))
    plan = ChurnPlan(2, 100, duration_s=60, cycles=0, delay_s=0, deletion_delay_s=0)
    (phase,) = driver.churn(plan, random.Random(1), lambda phase: None)  # noqa: S311
    assert (phase.kind, phase.complete) == ("delete", False)
    not_ready = make(ClusterInMemory(), pool, ReadyAtOnce(ready=False))
    assert not not_ready.create([0]).complete


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_server_at_fault_is_asked_again(pool: ThreadPoolExecutor, status: int) -> None:
    cluster = ClusterInMemory()
    cluster.answers = [ApiAnswer(status, {}), ApiAnswer(status, {})]
    driver = make(cluster, pool)
    driver.create([0])
    assert len(cluster.made) == 1 + SMALL.objects
    assert driver.retries == 2


def test_what_an_answer_that_was_lost_has_made_is_taken(pool: ThreadPoolExecutor) -> None:
    cluster = ClusterInMemory()
    cluster.answers = [ApiAnswer(409, {"message": "already exists"})]
    assert make(cluster, pool).create([0]).complete


def test_a_refusal_is_told_with_the_object(pool: ThreadPoolExecutor, says: Says) -> None:
    cluster = ClusterInMemory()
    cluster.answers = [ApiAnswer(403, {"message": "namespaces is forbidden"})]
    with pytest.raises(MachineError) as caught:
        make(cluster, pool).create([0])
    assert caught.value == says("plimsoll-t-0")


def test_nothing_is_left_that_it_made(pool: ThreadPoolExecutor) -> None:
    cluster = ClusterInMemory(linger=2)
    driver = make(cluster, pool)
    driver.create(range(3))
    driver.remove_all()
    assert cluster.namespaces == {}


def test_what_does_not_go_is_told_with_the_command(pool: ThreadPoolExecutor) -> None:
    cluster = ClusterInMemory(linger=10**9)
    driver = make(cluster, pool, timeout_s=0.2)
    driver.create([0])
    with pytest.raises(MachineError) as error:
        driver.remove_all()
    assert error.value.remedy == "kubectl delete namespaces -l plimsoll/churn=t"


def test_the_ledger_s_removal_deletes_each_namespace_once(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.churn.api.removal._POLL_S", 0.0)
    cluster = ClusterInMemory(linger=3)
    make(cluster, pool).create(range(2))
    cluster.requests = 0
    assert remove(cast(ApiClient, cluster), WORKLOAD.selector, NAMESPACES) == []
    assert cluster.requests == 2
    stuck = ClusterInMemory(linger=10**9)
    make(stuck, pool).create([0])
    assert remove(cast(ApiClient, stuck), WORKLOAD.selector, NAMESPACES, 0.05) == ["plimsoll-t-0"]
