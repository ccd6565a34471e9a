"""`netdev: NAME`: a run over kernel interfaces, with a Linux bridge in a namespace as DUT."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.command import (
    ROOT,
    Workplace,
    assert_goes_on,
    finished_trials,
    journal,
    until,
)
from tests.integration.network import Network, network
from tests.integration.unspoilt import unspoilt

NEAR, FAR = ("pl-a0", "pl-b0"), ("pl-a1", "pl-b1")
STREAM = {"name": "load", "role": "load", "flows": 64}
BY_EITHER_DRIVER = pytest.mark.parametrize(
    "driver", ["af_packet", pytest.param("auto", marks=pytest.mark.full)]
)

# Another program at work: it holds queue 0 of its argument as the probe does, but longer.
HOLD_QUEUE = """
import socket, sys
from plimsoll.host.ports import xdp_socket
with socket.socket(44, socket.SOCK_RAW) as held:
    xdp_socket._bind(held, socket.if_nametoindex(sys.argv[1]), 0)
    print("bound", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def bridged() -> Iterator[Network]:
    """Two cables into a bridge."""
    with network() as place:
        for near, far in zip(NEAR, FAR, strict=True):
            place.veth(near, far)
        place.bridge("pl-br", *FAR)
        yield place


def lab(**changes: object) -> dict[str, object]:
    return {"kind": "external", "ports": [{"netdev": name, **changes} for name in NEAR]}


def run_trial(place: Workplace, network: Network, **changes: object) -> dict[str, object]:
    """`plimsoll trial` in the namespace; what it printed as JSON."""
    experiment = place.experiment(**{"profile": {"streams": [STREAM]}, **changes})
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "1kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
        prefix=network.enter,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def noted(place: Workplace) -> list[str]:
    """What the run's record says of how its ports were opened."""
    (notes,) = (event["notes"] for event in journal(place.only_run()) if "notes" in event)
    return [note for note in notes if note.startswith("port ")]


@pytest.mark.full
def test_frames_pass_a_bridge_by_af_xdp_where_it_can_be(
    place: Workplace, bridged: Network, why_no_xdp: str | None
) -> None:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    trial = run_trial(place, bridged, lab=lab())
    assert trial["verdict"] == "pass"
    assert noted(place) == [
        "port 0 is pl-a0, opened by AF_XDP",
        "port 1 is pl-b0, opened by AF_XDP",
    ]


def test_frames_pass_a_bridge_by_af_packet(place: Workplace, bridged: Network) -> None:
    trial = run_trial(place, bridged, lab=lab(driver="af_packet"))
    assert trial["verdict"] == "pass"
    assert noted(place)[0] == "port 0 is pl-a0, opened by AF_PACKET as requested"
    # It has no wire whose rate could be known, so that there is no load in % of it.
    done = place.run(
        *("trial", place.experiment(lab=lab()), "--load", "50%", "--runs", place.runs),
        prefix=bridged.enter,
    )
    assert done.returncode == 2
    assert "line_rate" in done.stderr


@pytest.mark.full
def test_af_packet_is_taken_instead_of_a_queue_that_another_program_has(
    place: Workplace, bridged: Network, why_no_xdp: str | None
) -> None:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with subprocess.Popen(
        with_parent_death_signal([*bridged.enter, sys.executable, "-c", HOLD_QUEUE, NEAR[0]]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "bound\n"
        run_trial(place, bridged, lab=lab())
        holder.kill()
    assert noted(place) == [
        "port 0 is pl-a0, opened by AF_PACKET instead of AF_XDP: "
        "another program uses its queue by AF_XDP",
        "port 1 is pl-b0, opened by AF_XDP",
    ]


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        pytest.param(("link", "set", "pl-a0", "down"), 3, "pl-a0 is down", marks=pytest.mark.full),
        pytest.param(
            ("link", "set", "pl-a1", "down"), 3, "pl-a0 has no carrier", marks=pytest.mark.full
        ),
        (("route", "add", "default", "dev", "pl-a0"), 2, "it carries the default route"),
        (("link", "del", "pl-a0"), 2, "no interface 'pl-a0'"),
    ],
)
def test_an_interface_that_will_not_do_is_refused_before_anything_starts(
    place: Workplace, bridged: Network, *, spoil: tuple[str, ...], code: int, said: str
) -> None:
    bridged.run("ip", *spoil)
    done = place.run(
        *("trial", place.experiment(lab=lab()), "--load", "1kpps", "--runs", place.runs),
        prefix=bridged.enter,
    )
    assert done.returncode == code, done.stderr
    assert "lab.ports[0].netdev" in done.stderr
    assert said in done.stderr
    assert "remedy:" in done.stderr


@contextmanager
def long_trial(place: Workplace, network: Network, driver: str) -> Iterator[subprocess.Popen[str]]:
    """`plimsoll trial` of ten minutes, once frames pass."""
    experiment = place.experiment(
        profile={"streams": [STREAM]}, lab=lab(driver=driver), trial={"interval": "200ms"}
    )
    words = ("trial", experiment, "--load", "1kpps", "--duration", "10m", "--runs", place.runs)
    with subprocess.Popen(
        with_parent_death_signal([*network.enter, *place.argv(*words)]),
        cwd=ROOT,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as trial:
        try:
            until(lambda: _started(place) or trial.poll() is not None, "the trial")
            assert_goes_on(trial)
            until(lambda: frames_received(network) > 0, "frames")
            yield trial
        finally:
            trial.terminate()


def frames_received(network: Network) -> int:
    return int(network.run("cat", f"/sys/class/net/{NEAR[1]}/statistics/rx_packets"))


def _started(place: Workplace) -> bool:
    return any(event["kind"] == "trial-started" for event in place.journal_so_far())


@BY_EITHER_DRIVER
def test_an_interface_that_vanishes_ends_the_run_by_its_name(
    place: Workplace, bridged: Network, driver: str
) -> None:
    with long_trial(place, bridged, driver) as trial:
        bridged.run("ip", "link", "del", "pl-b0")
        _, said = trial.communicate(timeout=300)
    assert trial.returncode == 3, said
    assert "interface pl-b0 is gone" in said
    assert "lab.ports[1].netdev" in said
    assert finished_trials(place.only_run()) == []


@pytest.mark.slow
@BY_EITHER_DRIVER
def test_a_carrier_that_is_lost_ends_the_trial_as_invalid(
    place: Workplace, bridged: Network, driver: str
) -> None:
    with long_trial(place, bridged, driver) as trial:
        bridged.run("ip", "link", "set", "pl-b1", "down")
        _, said = trial.communicate(timeout=300)
    assert trial.returncode == 5, said
    (record,) = finished_trials(place.only_run())
    assert record["verdict"] == "invalid"
    assert record["sending_s"] < 300
    assert "interface pl-b0 lost its carrier" in [each["text"] for each in record["findings"]]
