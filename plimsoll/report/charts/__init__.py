"""The report's charts. A new one is a file here and a line in CHARTS or HOST_CHARTS."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.report.charts.causes_timeline import causes_timeline
from plimsoll.report.charts.hosts.cpu_heat import cpu_heat
from plimsoll.report.charts.hosts.cpu_time import cpu_time
from plimsoll.report.charts.hosts.interrupt_rate import interrupt_rate
from plimsoll.report.charts.latency.latency_buckets import latency_buckets
from plimsoll.report.charts.latency.latency_by_trial import latency_by_trial
from plimsoll.report.charts.latency.latency_ccdf import latency_ccdf
from plimsoll.report.charts.latency.latency_distribution import latency_distribution
from plimsoll.report.charts.latency.latency_over_time import latency_over_time
from plimsoll.report.charts.lost_frames import lost_frames
from plimsoll.report.charts.polling_gaps import polling_gaps
from plimsoll.report.charts.rx_rate import rx_rate
from plimsoll.report.charts.search_path import search_path
from plimsoll.report.charts.sent_rate import sent_rate
from plimsoll.report.charts.stalls import stalls
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import Figure

CHARTS: tuple[Callable[[RunData], Figure], ...] = (
    search_path,
    rx_rate,
    latency_over_time,
    latency_buckets,
    latency_distribution,
    latency_ccdf,
    latency_by_trial,
    sent_rate,
    lost_frames,
    stalls,
    polling_gaps,
)
# Of runs during which hosts were observed; all of them stand in the page's section on hosts.
HOST_CHARTS: tuple[Callable[[RunData], Figure], ...] = (cpu_time, cpu_heat, interrupt_rate)


def figures_of(data: RunData) -> tuple[Figure, ...]:
    """All charts of a run but those of its hosts."""
    charts = (causes_timeline, *CHARTS) if data.causes else CHARTS
    return tuple(make(data) for make in charts)


def host_figures_of(data: RunData) -> tuple[Figure, ...]:
    """All charts of a run's hosts; none where no host was observed."""
    charts = HOST_CHARTS if data.hosts and data.hosts.hosts else ()
    return tuple(make(data) for make in charts)
