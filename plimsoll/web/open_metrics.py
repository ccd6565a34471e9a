"""Live values of a run as OpenMetrics, for Prometheus and Grafana (docs/grafana)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, make_wsgi_app, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.record.live.live_run import LatestValue, LiveRun, LiveState, SeriesKey
from plimsoll.record.metrics.over_time import Reduction
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.web.endpoint import ListenEndpoint

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# How a rate's type ends, and how the counter of it does: in the unit in which it is counted.
_COUNTED_UNITS = (
    (re.compile(r"-(pps|sec)$"), ""),
    (re.compile(r"-Gbps$"), "-bytes"),
    # In CPUs, as a share of time; a counter of the same name would be the gauge again.
    (re.compile(r"^residency$"), "residency-usec"),
)
_PATH = "/metrics"
_OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
# What Prometheus of old and browsers ask for.
_OTHER_KINDS = ("text/plain", "text/html", "openmetrics-text")
# Of which time a gauge is: a scrape may come every fifteenth interval only.
_NO_LONGER = "of the last interval alone, neither of the trial nor since the last scrape"
_OF_WHICH_TIME: Mapping[Reduction, str] = {
    "mean": "over the last interval",
    "max": f"the greatest {_NO_LONGER}",
    "min": f"the least {_NO_LONGER}",
    "quantile": f"of the samples {_NO_LONGER}",
}
MAX_CLIENTS = 16
# Without a byte of a request.
LONGEST_SILENCE_S = 10.0


class LiveMetrics(Collector):
    """What is served: the run that is shown, read at each request, and only then."""

    def __init__(self) -> None:
        self._live: LiveRun | None = None
        self._name = ""
        # Two scrapes at a time would read a file's lines twice or not at all.
        self._lock = threading.Lock()

    def show(self, run: RunDirectory, name: str | None = None) -> None:
        """Serve this run from now on, and no other; by its id, or by the name given."""
        with self._lock:
            self._live = LiveRun(run)
            self._name = run.run_id if name is None else name

    def collect(self) -> Iterable[Metric]:
        """The run's state, and the last value of every series; `plimsoll_up` 0 if unreadable.

        Nothing before any run is shown.
        """
        up = GaugeMetricFamily("plimsoll_up", "Whether the run's record can be read.")
        try:
            with self._lock:
                if self._live is None:
                    return []
                name, state = self._name, self._live.look()
        except PlimsollError:
            up.add_metric([], 0)
            return [up]
        up.add_metric([], 1)
        return [
            up,
            *_run_families(name, state),
            *_value_families(state.values),
            *_total_families(state.totals),
        ]


@contextmanager
def open_metrics(endpoint: ListenEndpoint) -> Iterator[LiveMetrics]:
    """Listen for the length of a `with`, and serve the run that it is given.

    Raises MachineError where it cannot listen there.
    """
    live = LiveMetrics()
    registry = CollectorRegistry()
    registry.register(live)
    try:
        server, thread = start_http_server(endpoint.port, addr=endpoint.address, registry=registry)
    except OSError as error:
        raise MachineError(
            f"cannot listen on {endpoint.address}, port {endpoint.port}: {error.strerror}",
            where="--metrics-port",
            remedy="choose another port, or end what listens on it",
        ) from error
    bound_threads(server)
    server.set_app(_only_metrics(make_wsgi_app(registry)))
    try:
        yield live
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def metric_name(source: str, kind: str) -> str:
    """The name of a type of metric, such as plimsoll_trafficgen_rx_pps.

    Words that `promtool check metrics` refuses as abbreviations are written out.
    """
    words = re.sub(r"-sec$", "-per-second", re.sub(r"^KB-", "kbytes-", kind))
    name = "plimsoll_" + re.sub(r"[^a-z0-9]+", "_", f"{source}_{words}".lower())
    # That ending is a counter's (OpenMetrics, "Counter"), and these are gauges.
    return name.removesuffix("_total") + "_in_all" if name.endswith("_total") else name


def _only_metrics(app: WSGIApplication) -> WSGIApplication:
    """`app` at /metrics and nowhere else; in OpenMetrics for clients that accept anything."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != _PATH:
            start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
            return [f"there is {_PATH} and nothing else\n".encode()]
        accepted = environ.get("HTTP_ACCEPT", "")
        if not any(kind in accepted for kind in _OTHER_KINDS):
            environ = {**environ, "HTTP_ACCEPT": f"{_OPEN_METRICS}, {accepted}"}
        return app(environ, start_response)

    return answer


def _run_families(name: str, state: LiveState) -> Iterator[Metric]:
    info = GaugeMetricFamily(
        "plimsoll_run", "The run; 1 while it goes on, 0 once it has a result.", labels=["run"]
    )
    info.add_metric([name], 0 if state.finished else 1)
    yield info
    verdicts = CounterMetricFamily("plimsoll_trials", "Finished trials.", labels=["verdict"])
    for verdict in ("pass", "fail", "invalid", "none"):
        verdicts.add_metric([verdict], state.verdicts.get(verdict, 0))
    yield verdicts
    if state.trial is not None:
        labels = ["number", "phase"]
        load = GaugeMetricFamily(
            "plimsoll_trial_load_pps", "The load of the trial, per direction.", labels=labels
        )
        load.add_metric([str(state.trial.number), state.trial.phase], state.trial.load_pps)
        yield load


def _value_families(values: Iterable[LatestValue]) -> Iterator[Metric]:
    by_type: dict[tuple[str, str], list[LatestValue]] = {}
    for value in values:
        by_type.setdefault((value.source, value.type), []).append(value)
    for (source, kind), members in sorted(by_type.items()):
        labels = sorted({name for member in members for name in member.names})
        unit = f" in {members[0].unit}" if members[0].unit else ""
        family = GaugeMetricFamily(
            metric_name(source, kind),
            f"{kind} of {source}{unit}, {_OF_WHICH_TIME[members[0].reduction]}.",
            labels=[label_name(label) for label in labels],
        )
        for member in members:
            family.add_metric([member.names.get(label, "") for label in labels], member.value)
        yield family


def _total_families(totals: Mapping[SeriesKey, float]) -> Iterator[Metric]:
    by_type: dict[tuple[str, str], dict[tuple[tuple[str, str], ...], float]] = {}
    for (source, kind, names), total in totals.items():
        by_type.setdefault((source, kind), {})[names] = total
    for (source, kind), members in sorted(by_type.items()):
        labels = sorted({name for names in members for name, _ in names})
        family = CounterMetricFamily(
            total_name(source, kind).removesuffix("_total"),
            f"What {kind} of {source} is the rate of, counted since the run was first looked at.",
            labels=[label_name(label) for label in labels],
        )
        for names, total in members.items():
            family.add_metric([dict(names).get(label, "") for label in labels], total)
        yield family


def total_name(source: str, kind: str) -> str:
    """The name of what a rate counts, such as plimsoll_trafficgen_lost_rx_total of lost-rx-pps."""
    counted = next(
        (ending.sub(unit, kind) for ending, unit in _COUNTED_UNITS if ending.search(kind)), kind
    )
    return metric_name(source, counted) + "_total"


def label_name(name: str) -> str:
    """A breakout's name as a label's."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


# A bound on a server that answers each client in a thread of its own.
def bound_threads(server: Any) -> None:
    """Hang up on clients beyond some, and on those that send nothing.

    `server` is of socketserver's ThreadingMixIn, and its handlers are StreamRequestHandlers.
    """
    places = threading.BoundedSemaphore(MAX_CLIENTS)
    answer = server.process_request_thread

    def answer_in_place(request: Any, address: Any) -> None:
        if not places.acquire(blocking=False):
            server.shutdown_request(request)
            return
        try:
            answer(request, address)
        finally:
            places.release()

    server.process_request_thread = answer_in_place
    bounds = {"timeout": LONGEST_SILENCE_S}
    server.RequestHandlerClass = type("_Handler", (server.RequestHandlerClass,), bounds)
