"""What is read of a component's metrics, and what it comes to between two readings."""

import math

import pytest

from plimsoll.churn.kpis.latencies import (
    MUTATING,
    READ_ONLY,
    etcd_latencies,
    request_latencies,
)
from plimsoll.churn.kpis.sources import read_scrape

_REQUESTS = "apiserver_request_duration_seconds"


def _bucket(verb: str, resource: str, le: str, count: int, subresource: str = "") -> str:
    labels = f'verb="{verb}",resource="{resource}",subresource="{subresource}",scope="resource"'
    return f'{_REQUESTS}_bucket{{{labels},le="{le}"}} {count}\n'


def _requests(verb: str, resource: str, counts: tuple[int, int, int], subresource: str = "") -> str:
    return "".join(
        _bucket(verb, resource, le, count, subresource)
        for le, count in zip(("0.1", "1", "+Inf"), counts, strict=True)
    )


BEFORE = (
    f"# HELP {_REQUESTS} Response latency.\n# TYPE {_REQUESTS} histogram\n"
    + _requests("GET", "pods", (5, 5, 5))
    + "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 10.5\n"
)
NOW = (
    f"# HELP {_REQUESTS} Response latency.\n# TYPE {_REQUESTS} histogram\n"
    + _requests("GET", "pods", (15, 15, 15))
    + _requests("LIST", "pods", (0, 10, 10))
    + _requests("POST", "secrets", (2, 4, 4))
    + _requests("WATCH", "pods", (0, 0, 9))
    + _requests("POST", "pods", (0, 9, 9), "exec")
    + "# TYPE apiserver_audit_event_total counter\napiserver_audit_event_total 77\n"
    + "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 12.5\n"
    + "process_resident_memory_bytes 3.5e+07\n"
)


def test_only_families_of_use_are_kept() -> None:
    scrape = read_scrape(NOW, 7)
    assert "apiserver_audit" not in scrape.text
    assert scrape.value("process_cpu_seconds_total") == 12.5
    assert scrape.value("process_resident_memory_bytes") == 35_000_000
    assert scrape.value("process_open_fds") is None
    assert scrape.at_ns == 7


def test_requests_between_two_readings_by_verb_and_resource() -> None:
    found = request_latencies(read_scrape(NOW, 2), read_scrape(BEFORE, 1))
    counts = {
        (dict(labels)["kind"], dict(labels)["verb"], dict(labels)["resource"]): buckets.count
        for labels, buckets in found.by_request.items()
    }
    # Watches and exec are streams, whose length is no latency.
    assert counts == {
        (READ_ONLY, "GET", "pods"): 10,
        (READ_ONLY, "LIST", "pods"): 10,
        (MUTATING, "POST", "secrets"): 4,
    }


def test_read_only_requests_are_added_up() -> None:
    of_kind = request_latencies(read_scrape(NOW, 2), read_scrape(BEFORE, 1)).of_kind(READ_ONLY)
    assert of_kind is not None
    # 10 below 0.1 s, 20 below 1 s: rank 19.8 is 98 % of the way from 0.1 to 1.
    assert of_kind.quantile(0.99) == pytest.approx(0.1 + 0.9 * 0.98)
    assert math.isinf(of_kind.bounds[-1])


def test_without_an_earlier_reading_all_counts() -> None:
    found = request_latencies(read_scrape(BEFORE, 1), None)
    assert [buckets.count for buckets in found.by_request.values()] == [5]


def test_etcd_of_one_member_has_no_peers() -> None:
    family = "etcd_disk_wal_fsync_duration_seconds"
    text = f'# TYPE {family} histogram\n{family}_bucket{{le="0.001"}} 3\n'
    text += f'{family}_bucket{{le="+Inf"}} 4\n{family}_sum 0.1\n{family}_count 4\n'
    found = etcd_latencies(read_scrape(text, 1), None)
    assert list(found) == ["wal-fsync"]
    assert found["wal-fsync"].count == 4


def test_what_is_not_in_that_format_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        read_scrape('process_cpu_seconds_total{le="} x\n', 1)
