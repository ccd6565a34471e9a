"""Figures of DPDK processes that answer, and of those that do not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.observe.dpdk.dpdk import Dpdk
from plimsoll.observe.dpdk.figures import DISCOVERY, figures_of
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from tests.unit.observe.telemetry_server import TelemetryServer, telemetry_server
from tests.unit.observe.watched import Watched

PORT = {
    "ipackets": 0, "opackets": 0, "ibytes": 0, "obytes": 0, "imissed": 0, "ierrors": 0,
    "oerrors": 0, "rx_nombuf": 0, "q_ipackets": [0, 0],
}  # fmt: skip
TWO_PORTS = {
    "/ethdev/list": [0, 1],
    "/mempool/list": [],
    "/ethdev/stats,0": PORT,
    "/ethdev/stats,1": PORT,
    "/ethdev/xstats,0": {},
    "/ethdev/xstats,1": {},
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is answered counts as answered, however busy the machine is."""
    monkeypatch.setattr("plimsoll.observe.dpdk.dpdk._PATIENCE_S", 60)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TelemetryServer]:
    with telemetry_server(tmp_path / "dut.sock", TWO_PORTS) as server:
        yield server


def host(**telemetry: Path) -> ObservedHost:
    paths = {app: str(path) for app, path in telemetry.items()}
    return ObservedHost(observation=Observation(telemetry=paths, interval_s=3600))


def test_port_counters_are_reported_by_app_and_port(server: TelemetryServer) -> None:
    dpdk = Watched(Dpdk, host(dut=server.path))
    server.answers["/ethdev/stats,1"] = {**PORT, "ipackets": 700, "ibytes": 42000, "imissed": 3}
    rows = dpdk.read()
    assert rows.counts("rx-packets-sec", app="dut", port="1") == [700]
    assert rows.values("rx-bytes-sec", app="dut", port="1") == [42000.0]
    assert rows.counts("rx-missed-sec", port="1") == [3]
    assert rows.counts("rx-packets-sec", port="0") == [0]
    assert {row.type for row in rows.rows if dict(row.names).get("port") == "0"} == {
        "rx-packets-sec", "tx-packets-sec", "rx-bytes-sec", "tx-bytes-sec",
        "rx-missed-sec", "rx-errors-sec", "tx-errors-sec", "rx-nombuf-sec",
    }  # fmt: skip


def test_the_counters_of_a_driver_have_their_own_names(server: TelemetryServer) -> None:
    server.answers["/ethdev/xstats,0"] = {"rx_q0_packets": 10, "rx_crc_errors": 0}
    dpdk = Watched(Dpdk, host(dut=server.path))
    server.answers["/ethdev/xstats,0"] = {"rx_q0_packets": 15, "rx_crc_errors": 0}
    dpdk.read()
    rows = dpdk.read()
    assert rows.counts("xstat-sec", port="0", name="rx_q0_packets") == [5, 0]
    assert rows.counts("xstat-sec", port="0", name="rx_crc_errors") == [0]
    assert rows.times("xstat-sec", port="0", name="rx_crc_errors") == [(0, 2)]


def test_a_counter_that_falls_below_zero_is_absent_for_that_long(server: TelemetryServer) -> None:
    server.answers["/ethdev/xstats,0"] = {"tx_errors": 4}
    dpdk = Watched(Dpdk, host(dut=server.path))
    for total in (6, 2**64 - 1, 2**64 - 1, 1, 3):
        server.answers["/ethdev/xstats,0"] = {"tx_errors": total}
        rows = dpdk.read()
    assert rows.times("xstat-sec", name="tx_errors") == [(0, 1), (2, 3), (4, 5)]
    assert rows.counts("xstat-sec", name="tx_errors") == [2, 0, 2]


def test_a_port_that_is_closed_is_absent(server: TelemetryServer) -> None:
    dpdk = Watched(Dpdk, host(dut=server.path))
    dpdk.read()
    server.answers["/ethdev/stats,1"] = None
    dpdk.read()
    rows = dpdk.read()
    assert rows.times("rx-packets-sec", port="1") == [(0, 1)]
    assert rows.times("rx-packets-sec", port="0") == [(0, 3)]


def test_objects_of_a_mempool_are_free_or_in_use(server: TelemetryServer) -> None:
    server.answers["/mempool/list"] = ["mb_pool_0"]
    pool = {"name": "mb_pool_0", "size": 1000, "common_pool_count": 600, "total_cache_count": 150}
    server.answers["/mempool/info,mb_pool_0"] = pool
    dpdk = Watched(Dpdk, host(dut=server.path))
    rows = dpdk.read()
    assert rows.values("mempool-free", app="dut", name="mb_pool_0") == [750]
    assert rows.values("mempool-used", app="dut", name="mb_pool_0") == [250]


def test_a_mempool_that_is_not_counted_is_queried_once(server: TelemetryServer) -> None:
    server.answers["/mempool/list"] = ["mb_pool_0"]
    server.answers["/mempool/info,mb_pool_0"] = {"name": "mb_pool_0", "size": 16384}
    dpdk = Watched(Dpdk, host(dut=server.path))
    dpdk.read()
    rows = dpdk.read()
    assert server.commands.count("/mempool/info,mb_pool_0") == 1
    assert rows.matching("mempool-free") == []
    assert server.commands.count("/ethdev/stats,0") == 3


def test_busy_cycles_of_lcores_are_shares_since_the_last_reading(server: TelemetryServer) -> None:
    def usage(*cycles: tuple[int, int]) -> dict[str, list[int]]:
        totals, busy = map(list, zip(*cycles, strict=True))
        return {"lcore_ids": [1, 2], "total_cycles": totals, "busy_cycles": busy}

    server.answers["/eal/lcore/usage"] = usage((1000, 1000), (1000, 0))
    dpdk = Watched(Dpdk, host(dut=server.path))
    server.answers["/eal/lcore/usage"] = usage((5000, 2000), (5000, 4000))
    rows = dpdk.read()
    assert rows.values("lcore-busy", app="dut", lcore="1") == [0.25]
    assert rows.values("lcore-busy", app="dut", lcore="2") == [1]


def test_lcores_that_count_no_cycles_are_not_queried_again(server: TelemetryServer) -> None:
    server.answers["/eal/lcore/usage"] = {"lcore_ids": [], "total_cycles": [], "busy_cycles": []}
    Watched(Dpdk, host(dut=server.path)).read()
    assert server.commands.count("/eal/lcore/usage") == 1


def test_one_that_hangs_is_absent_until_it_goes_on_and_no_other_is(
    server: TelemetryServer, tmp_path: Path
) -> None:
    with telemetry_server(tmp_path / "other.sock", TWO_PORTS) as other:
        dpdk = Watched(Dpdk, host(dut=server.path, other=other.path))
        dpdk.read()
        server.hang()
        # The other's answers are taken however late it is when its turn comes.
        be_patient_with(dpdk, 0.5)
        dpdk.read()
        server.go_on()
        be_patient_with(dpdk, 30)
        for _ in range(8):
            rows = dpdk.read()
        assert rows.times("rx-packets-sec", app="other", port="0") == [(0, 10)]
        first, *later = rows.times("rx-packets-sec", app="dut", port="0")
        assert first == (0, 1)
        assert later[0][0] >= 3
        assert later[-1][1] == 10
        # What it answered too late was thrown away, and nobody hung up on it.
        assert server.clients == 1


def be_patient_with(dpdk: Watched, patience_s: float) -> None:
    assert isinstance(dpdk.observer, Dpdk)
    dpdk.observer._patience_s = patience_s


def test_one_that_goes_on_hanging_is_not_queried_again(server: TelemetryServer) -> None:
    dpdk = Watched(Dpdk, host(dut=server.path))
    server.hang()
    be_patient_with(dpdk, 0.01)
    for _ in range(20):
        rows = dpdk.read()
    assert rows.matching("rx-packets-sec") == []
    server.go_on()
    server.die()
    # The first reading, and the one that was never answered.
    assert server.commands.count("/ethdev/stats,0") <= 2
    assert server.clients == 1


def test_one_that_dies_is_absent_until_another_takes_its_place(server: TelemetryServer) -> None:
    server.answers["/ethdev/stats,0"] = {**PORT, "ipackets": 1000}
    dpdk = Watched(Dpdk, host(dut=server.path))
    dpdk.read()
    server.die()
    dpdk.read()
    with telemetry_server(server.path, TWO_PORTS) as successor:
        # It says what it has, and where its counters stand.
        dpdk.read()
        dpdk.read()
        successor.answers["/ethdev/stats,0"] = {**PORT, "ipackets": 7}
        rows = dpdk.read()
    assert rows.counts("rx-packets-sec", port="0") == [0, 7]
    assert rows.times("rx-packets-sec", port="0") == [(0, 1), (4, 5)]


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\xff\xfe",
        b"[1]",
        b'{"/ethdev/info":{}}',
        b"[" * 60000,
        b" " * 70000,
    ],
    ids=["no text", "no object", "another answer", "deep", "huge"],
)
def test_nonsense_ends_the_conversation_and_a_new_one_begins(
    nonsense: bytes, server: TelemetryServer
) -> None:
    dpdk = Watched(Dpdk, host(dut=server.path))
    dpdk.read()
    server.answers["/ethdev/stats,0"] = nonsense
    dpdk.read()
    server.answers["/ethdev/stats,0"] = PORT
    dpdk.read()
    dpdk.read()
    rows = dpdk.read()
    assert server.clients == 2
    assert rows.times("rx-packets-sec", port="0") == [(0, 1), (4, 5)]


@pytest.mark.parametrize("total", [True, -1, 1.5, "7", None, [1], {}])
def test_what_is_no_count_is_not_reported(total: object, server: TelemetryServer) -> None:
    server.answers["/ethdev/stats,0"] = {**PORT, "ipackets": total}
    server.answers["/ethdev/xstats,0"] = {"rx_good_packets": total}
    rows = Watched(Dpdk, host(dut=server.path)).read()
    assert rows.matching("rx-packets-sec", port="0") == []
    assert rows.matching("xstat-sec") == []
    assert rows.counts("tx-packets-sec", port="0") == [0]


@pytest.mark.parametrize("name", ["", "\ud800", "a\x00b", "line\nend", "x" * 129])
def test_names_that_cannot_be_recorded_are_left_out(name: str, server: TelemetryServer) -> None:
    server.answers["/mempool/list"] = [name]
    server.answers["/ethdev/xstats,0"] = {name: 1, "good": 1}
    rows = Watched(Dpdk, host(dut=server.path)).read()
    assert {row.names["name"] for row in rows.matching("xstat-sec")} == {"good"}
    assert not any(command.startswith("/mempool/info") for command in server.commands)


def test_ever_new_names_do_not_fill_the_memory(server: TelemetryServer) -> None:
    dpdk = Watched(Dpdk, host(dut=server.path))
    for first in range(0, 6000, 1000):
        names = [f"counter_{number}" for number in range(first, first + 1000)]
        server.answers["/ethdev/xstats,0"] = dict.fromkeys(names, 1)
        rows = dpdk.read()
    assert len({row.names["name"] for row in rows.matching("xstat-sec")}) <= 4096


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    found=st.fixed_dictionaries(dict.fromkeys(DISCOVERY, JSON)),
    answers=st.lists(
        st.dictionaries(
            st.sampled_from([*PORT, "size", "lcore_ids", "total_cycles", "busy_cycles"]), JSON
        ),
        max_size=3,
    ),
)
def test_whatever_is_answered_can_be_recorded(
    found: dict[str, object], answers: list[dict[str, object]]
) -> None:
    readings = Readings("dpdk", MetricLog("trial-0001", 0))
    found["/ethdev/list"] = found["/ethdev/list"] or [0]
    for second, answer in enumerate(answers):
        readings.begin(second * 10**9)
        for figure in figures_of("dut", found):
            figure.tell(answer, readings)
            figure.absent(readings)
            figure.tell(answer, readings)
        for line in readings.lines():
            json.loads(line)


def test_a_host_without_dpdk_processes_is_not_observed() -> None:
    with pytest.raises(NotObservable, match="no DPDK process of this host is part of"):
        Watched(Dpdk, host())


def test_a_socket_where_no_one_listens_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotObservable, match=r"gone: cannot connect: No such file .*check that"):
        Watched(Dpdk, host(dut=tmp_path / "gone"))


def test_one_that_listens_is_enough(server: TelemetryServer, tmp_path: Path) -> None:
    rows = Watched(Dpdk, host(dut=server.path, other=tmp_path / "gone")).read()
    assert rows.counts("rx-packets-sec", app="dut", port="0") == [0]
    assert rows.matching("rx-packets-sec", app="other") == []
