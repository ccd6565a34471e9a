"""The same figures from a cluster's Prometheus, over a stretch of time, by its HTTP API."""

from __future__ import annotations

import json
import math
import os
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.request import getproxies, proxy_bypass

import urllib3
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.churn.kpis.latencies import ETCD_FAMILIES, MUTATING, READ_ONLY
from plimsoll.churn.kpis.sources import REQUESTS
from plimsoll.errors import InputError, MachineError
from plimsoll.host.http.connection_errors import innermost, words_of
from plimsoll.host.http.origin import REDIRECTIONS, Origin, Redirected

_TIMEOUT_S = 60
_MAX_BYTES = 64 << 20
_MAX_WORDS = 400
_CHECKED_S = 60
_VERBS = {READ_ONLY: "LIST|GET", MUTATING: "POST|PUT|DELETE|PATCH"}
_STREAMS = "log|exec|portforward|attach|proxy"


class PrometheusSettings(BaseModel):
    """Where a Prometheus answers, and the environment variable that holds its bearer token.

    `control_plane` and `workers` select nodes by their instance labels (regular expressions).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$")]
    token_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    apiserver: str = 'job="apiserver"'
    etcd: str = 'job="etcd"'
    control_plane: str = 'role="control-plane"'
    workers: str = 'role="worker"'


@dataclass(frozen=True, slots=True)
class Stretch:
    """[begin_s, end_s) since the epoch, as PromQL counts; in ms it is a TimeRange.

    Its figures are of no other time: a range that began earlier would thin out what happened in
    it. Where Prometheus has fewer than two scrapes of the stretch, it has no figure.
    """

    begin_s: float
    end_s: float

    @property
    def range(self) -> str:
        """As PromQL has it."""
        return f"{max(1, math.floor(self.end_s - self.begin_s))}s"


def figure_queries(settings: PrometheusSettings, over: str) -> dict[str, str]:
    """PromQL by the figure's name, each over the range `over`."""
    queries: dict[str, str] = {}
    for kind, verbs in _VERBS.items():
        selector = f'{settings.apiserver}, verb=~"{verbs}", subresource!~"{_STREAMS}"'
        queries[f"{kind} p99 s"] = _quantile(f"{REQUESTS}_bucket{{{selector}}}", over)
    for name, family in ETCD_FAMILIES.items():
        queries[f"{name} p99 s"] = _quantile(f"{family}_bucket{{{settings.etcd}}}", over)
    for name, selector in (("kube-apiserver", settings.apiserver), ("etcd", settings.etcd)):
        queries[f"{name} cores"] = _cores(selector, over)
        memory = f"process_resident_memory_bytes{{{selector}}}[{over}]"
        queries[f"{name} bytes"] = f"sum(avg_over_time({memory}))"
    for name, selector in (
        ("control-plane", settings.control_plane),
        ("workers", settings.workers),
    ):
        busy = f'node_cpu_seconds_total{{{selector}, mode!~"idle|iowait"}}[{over}]'
        queries[f"{name} cores"] = f"sum(rate({busy}))"
    return queries


def _quantile(series: str, over: str) -> str:
    return f"histogram_quantile(0.99, sum by (le) (increase({series}[{over}])))"


def _cores(selector: str, over: str) -> str:
    return f"sum(rate(process_cpu_seconds_total{{{selector}}}[{over}]))"


class PrometheusClient:
    """Asks one Prometheus."""

    def __init__(self, settings: PrometheusSettings) -> None:
        """Raises InputError where the token is not set, or would be sent in the clear."""
        self._settings = settings
        headers = {}
        if settings.token_variable is not None:
            headers["authorization"] = f"Bearer {_token(settings.url, settings.token_variable)}"
        self._pool = _pool(settings.url, headers)

    def figures(self, stretch: Stretch) -> dict[str, float | None]:
        """Every figure over a stretch; None of what this Prometheus has nothing."""
        queries = figure_queries(self._settings, stretch.range)
        return {name: self.value(query, stretch.end_s) for name, query in queries.items()}

    def check(self) -> None:
        """Raise MachineError where it does not answer, or refuses a query of the figures."""
        now_s = time.time()
        self.figures(Stretch(now_s - _CHECKED_S, now_s))

    def value(self, query: str, at_s: float) -> float | None:
        """The one value of a query at a time; None of none. Raises MachineError."""
        words = urllib.parse.urlencode({"query": query, "time": f"{at_s:.3f}"})
        document = self._get(f"{self._settings.url.rstrip('/')}/api/v1/query?{words}")
        try:
            found = document["data"]["result"]
            value = float(found[0]["value"][1]) if found else math.nan
        except (KeyError, IndexError, TypeError, ValueError):
            raise _not_understood(document) from None
        return value if math.isfinite(value) else None

    def _get(self, url: str) -> Mapping[str, Any]:
        try:
            answer = self._pool.request("GET", url, preload_content=False)
            content = answer.read(_MAX_BYTES)
            answer.release_conn()
            if answer.status != HTTPStatus.OK:
                raise _refused(url, answer, content)
            found = json.loads(content)
        except (urllib3.exceptions.HTTPError, OSError, ValueError, RecursionError) as error:
            raise MachineError(
                f"Prometheus does not answer: {words_of(innermost(error))}",
                where="cluster.prometheus",
                remedy="look whether its URL and token are right",
            ) from error
        return found if isinstance(found, dict) else {}


def _not_understood(document: Mapping[str, Any]) -> MachineError:
    return MachineError(
        f"Prometheus gives an answer that is not understood: {document}"[:_MAX_WORDS],
        where="cluster.prometheus",
        remedy="look whether its URL is that of a Prometheus",
    )


def _token(url: str, variable: str) -> str:
    """Raises InputError."""
    token = os.environ.get(variable)
    if not token:
        raise InputError(
            f"${variable} is not set",
            where="cluster.prometheus.token_variable",
            remedy="export the token, as by oc whoami -t",
        )
    if not Origin.of(url).keeps_secrets:
        raise InputError(
            "a token is not sent in the clear",
            where="cluster.prometheus.url",
            remedy="use https://, or a tunnel",
        )
    return token


def _pool(url: str, headers: Mapping[str, str]) -> urllib3.PoolManager:
    """By the proxy of the environment, as curl goes; a redirection is an answer like any other."""
    scheme, _, place = url.partition("://")
    proxy = getproxies().get(scheme)
    if proxy is None or proxy_bypass(place.partition("/")[0]):
        return urllib3.PoolManager(headers=headers, retries=False, timeout=_TIMEOUT_S)
    return urllib3.ProxyManager(proxy, headers=headers, retries=False, timeout=_TIMEOUT_S)


def _refused(url: str, answer: urllib3.BaseHTTPResponse, content: bytes) -> MachineError:
    """By what Prometheus says itself, where it does; a proxy before it may answer instead."""
    if answer.status in REDIRECTIONS:
        location = answer.headers.get("Location")
        return Redirected(url, answer.status, location, setting="cluster.prometheus.url")
    try:
        said = json.loads(content).get("error")
    except (ValueError, AttributeError, RecursionError):
        said = None
    if answer.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY) and said:
        return MachineError(
            f"Prometheus refuses a query: {said}"[:_MAX_WORDS],
            where="cluster.prometheus",
            remedy="look at its selectors: apiserver, etcd, control_plane and workers",
        )
    return MachineError(
        f"Prometheus answers {answer.status} {answer.reason}",
        where="cluster.prometheus",
        remedy="look whether its URL and token are right",
    )
