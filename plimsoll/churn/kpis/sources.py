"""Where a component's metrics are read: by way of the API server, or from a socket."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from prometheus_client.parser import text_string_to_metric_families
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import HTTPError

from plimsoll.churn.kpis.histogram import CumulativeHistogram
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiClient

_TIMEOUT_S = 30.0
_MAX_BYTES = 64 << 20
REQUESTS = "apiserver_request_duration_seconds"
WAL_FSYNC = "etcd_disk_wal_fsync_duration_seconds"
BACKEND_COMMIT = "etcd_disk_backend_commit_duration_seconds"
PEER_RTT = "etcd_network_peer_round_trip_time_seconds"
CPU, MEMORY = "process_cpu_seconds_total", "process_resident_memory_bytes"
_OF_USE = (REQUESTS, WAL_FSYNC, BACKEND_COMMIT, PEER_RTT, CPU, MEMORY)
_LINE = re.compile(rf"(?:# (?:TYPE|HELP) )?(?:{'|'.join(_OF_USE)})(?:_bucket|_sum|_count)?[ {{]")
Labels = tuple[tuple[str, str], ...]


class MetricsSource(Protocol):
    """Gives a component's metrics as text, now. Raises MachineError."""

    def read(self) -> str:
        """What it says."""


class ApiServerMetrics:
    """The API server's own."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def read(self) -> str:
        """What it says. Raises MachineError, also where this user may not ask."""
        try:
            return self._client.text("/metrics")
        except MachineError:
            raise
        except Exception as error:
            raise MachineError(
                f"its metrics cannot be read: {error}"[:400],
                where=self._client.server,
                remedy="allow this user to get the path /metrics, or give cluster.prometheus",
            ) from error


class SocketMetrics:
    """Those of a component that listens on a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        """What it says. Raises MachineError."""
        with _SocketPool(self._path) as pool:
            try:
                response = pool.request("GET", "/metrics", preload_content=False)
                content = response.read(_MAX_BYTES)
            except (OSError, HTTPError) as error:
                raise self._failed(str(error)) from error
        if response.status != 200:
            raise self._failed(f"it answers {response.status}")
        return content.decode(errors="replace")

    def _failed(self, reason: str) -> MachineError:
        return MachineError(
            f"its metrics cannot be read: {reason}",
            where=str(self._path),
            remedy="look whether the component still runs",
        )


class _SocketConnection(HTTPConnection):
    """HTTP over a Unix socket, whose path may be longer than an address is."""

    def __init__(self, *args: Any, path: Path, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._path = path

    def _new_conn(self) -> socket.socket:
        """Connected to the socket."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(_TIMEOUT_S)
        folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # An address has 107 bytes, which the path of a run may exceed.
            made.connect(f"/proc/self/fd/{folder}/{self._path.name}")
        except OSError:
            made.close()
            raise
        finally:
            os.close(folder)
        return made


class _SocketPool(HTTPConnectionPool):
    """Such connections, none of them tried again."""

    ConnectionCls = _SocketConnection

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S, retries=False, path=path)


# What a component says of itself in Prometheus's text format: the families that are of use.
#
# An API server's metrics are megabytes; what is not of use is left out before it is parsed.
@dataclass(frozen=True, slots=True)
class Scrape:
    """One reading: when, in ns since the epoch, and the samples of use by name and labels.

    `text` are the lines that it was read from, as they came.
    """

    at_ns: int
    text: str
    samples: Mapping[str, Mapping[Labels, float]]

    def value(self, name: str) -> float | None:
        """That of a metric without labels."""
        return self.samples.get(name, {}).get(())

    def histograms(
        self, name: str, takes: Callable[[Mapping[str, str]], Labels | None]
    ) -> dict[Labels, CumulativeHistogram]:
        """The histograms of a family, added up by what `takes` makes of their labels.

        Those of which it makes None are left out.
        """
        found: dict[Labels, dict[float, float]] = {}
        for labels, value in self.samples.get(f"{name}_bucket", {}).items():
            named = dict(labels)
            bound = float(named.pop("le"))
            key = takes(named)
            if key is not None:
                sums = found.setdefault(key, {})
                sums[bound] = sums.get(bound, 0.0) + value
        return {key: CumulativeHistogram.of(sums) for key, sums in found.items()}


def read_scrape(text: str, at_ns: int) -> Scrape:
    """A reading of what a component says. Raises ValueError for what is not in that format."""
    kept = "".join(f"{line}\n" for line in _of_use(text.splitlines()))
    samples: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(kept):
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            samples.setdefault(sample.name, {})[labels] = float(sample.value)
    return Scrape(at_ns, kept, samples)


def _of_use(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if _LINE.match(line))
