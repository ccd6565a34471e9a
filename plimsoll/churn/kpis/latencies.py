"""Latencies of the API server and of etcd between two readings of their histograms.

What counts is what kube-burner's profiles count: LIST and GET are read-only, POST, PUT, PATCH
and DELETE mutate, streams (watches, logs, exec and their kin) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.churn.kpis.histogram import CumulativeHistogram, added
from plimsoll.churn.kpis.sources import (
    BACKEND_COMMIT,
    PEER_RTT,
    REQUESTS,
    WAL_FSYNC,
    Labels,
    Scrape,
)

_Takes = Callable[[Mapping[str, str]], Labels | None]
READ_ONLY, MUTATING = "read-only", "mutating"
_KINDS = {
    **dict.fromkeys(("GET", "LIST"), READ_ONLY),
    **dict.fromkeys(("POST", "PUT", "PATCH", "DELETE"), MUTATING),
}
_STREAMS = ("log", "exec", "portforward", "attach", "proxy")
# By what they are called in metrics.
ETCD_FAMILIES = {
    "wal-fsync": WAL_FSYNC,
    "backend-commit": BACKEND_COMMIT,
    "peer-round-trip": PEER_RTT,
}


@dataclass(frozen=True, slots=True)
class RequestLatencies:
    """The API server's, by (kind, verb, resource); `of_kind` has them added up."""

    by_request: Mapping[Labels, CumulativeHistogram]

    def of_kind(self, kind: str) -> CumulativeHistogram | None:
        """All read-only, or all mutating requests; None where there were none."""
        return added(
            buckets for labels, buckets in self.by_request.items() if dict(labels)["kind"] == kind
        )


def request_latencies(now: Scrape, before: Scrape | None) -> RequestLatencies:
    """Of the requests that ended between two readings."""
    return RequestLatencies(_between(now, before, REQUESTS, _request))


def etcd_latencies(now: Scrape, before: Scrape | None) -> dict[str, CumulativeHistogram]:
    """Of what ended between two readings, by name; a store of one member has no peers."""
    found: dict[str, CumulativeHistogram] = {}
    for name, family in ETCD_FAMILIES.items():
        buckets = _between(now, before, family, lambda _: ()).get(())
        if buckets is not None:
            found[name] = buckets
    return found


def _between(
    now: Scrape, before: Scrape | None, family: str, takes: _Takes
) -> dict[Labels, CumulativeHistogram]:
    earlier = {} if before is None else before.histograms(family, takes)
    since = {
        key: buckets.since(earlier.get(key))
        for key, buckets in now.histograms(family, takes).items()
    }
    return {key: buckets for key, buckets in since.items() if buckets.count > 0}


def _request(labels: Mapping[str, str]) -> Labels | None:
    kind = _KINDS.get(labels.get("verb", ""))
    if kind is None or labels.get("subresource") in _STREAMS:
        return None
    return (
        ("kind", kind),
        ("resource", labels.get("resource", "")),
        ("verb", labels.get("verb", "")),
    )
