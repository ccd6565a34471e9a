"""Links of live traffic: who takes them down, and what is known of them."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import GeneratorRefused
from plimsoll.traffic.plan import StreamPlan
from tests.unit.benchmark.live_traffic.conftest import Live, python_traffic
from tests.worded.says import Says

STREAM = StreamPlan(
    stream=1,
    name="s1",
    role="load",
    rate_pps=1000.0,
    tx_port=0,
    rx_port=1,
    frames=(bytes(60),),
)


def links_up(live: Live) -> list[bool]:
    return [port.link_up for port in live.traffic.counts().ports]


@pytest.fixture
def started(live: Live) -> Live:
    live.traffic.add([STREAM])
    live.traffic.start()
    return live


def test_a_link_is_taken_down_while_nothing_is_sent(live: Live) -> None:
    assert live.traffic.set_link(1, up=False) is False
    assert live.generator.links.set == [(1, False, False)]
    assert links_up(live) == [True, False]
    live.traffic.clear()
    assert links_up(live) == [True, False]


def test_the_trial_that_runs_takes_it_down_and_goes_on(started: Live) -> None:
    started.step()
    started.traffic.set_link(0, up=False)
    assert links_up(started) == [False, True]
    started.step()
    assert links_up(started) == [False, True]
    assert started.traffic.sending == {1}
    assert started.traffic.set_link(0, up=True) is True
    assert started.generator.links.set == [(0, False, True), (0, True, True)]
    assert len(started.generator.trials) == 1
    started.step()
    assert links_up(started) == [True, True]


def test_a_card_comes_up_later(started: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    started.traffic.set_link(0, up=False)
    monkeypatch.setattr(started.trial, "set_link", lambda *_, **__: False)
    assert started.traffic.set_link(0, up=True) is False
    started.step()
    assert links_up(started) == [False, True]
    started.generator.links.up[0] = True
    started.step()
    assert links_up(started) == [True, True]


def test_a_trial_that_has_ended_by_itself_is_no_obstacle(started: Live) -> None:
    started.trial.stop()
    assert started.traffic.wait(60)
    started.traffic.set_link(0, up=False)
    assert started.generator.links.set == [(0, False, False)]


def test_a_trial_that_ends_meanwhile_is_no_obstacle(
    started: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = started.trial

    def end(*_: object, **__: object) -> bool:
        trial.stop()
        raise GeneratorRefused("the trial has ended")

    monkeypatch.setattr(trial, "set_link", end)
    started.traffic.set_link(0, up=False)
    assert started.generator.links.set == [(0, False, False)]


@pytest.mark.parametrize("sending", [True, False])
def test_a_driver_that_cannot_is_named_and_nothing_else_changes(
    live: Live, says: Says, *, sending: bool
) -> None:
    live.traffic.add([STREAM])
    if sending:
        live.traffic.start()
    live.generator.links.refusal = GeneratorRefused("driver net_memif cannot take links down")
    with pytest.raises(GeneratorRefused) as caught:
        live.traffic.set_link(0, up=False)
    assert caught.value == says("net_memif")
    assert links_up(live) == [True, True]
    assert live.traffic.sending == ({1} if sending else set())
    assert live.traffic.failure is None


def test_ports_that_there_are_not_are_refused(live: Live) -> None:
    with pytest.raises(InputError, match="port"):
        live.traffic.set_link(2, up=False)
    assert live.generator.links.set == []


def test_a_generator_without_links_is_refused_by_name(
    live: Live, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    without: Any = replace(EngineSettings.capabilities, links=False)
    monkeypatch.setattr(EngineSettings, "capabilities", without)
    with pytest.raises(InputError) as caught:
        live.traffic.set_link(0, up=False)
    assert caught.value == says("generator")


def test_from_python(live: Live) -> None:
    traffic = python_traffic(live)
    assert traffic.set_link(1, up=False) is False
    assert [row["link_up"] for row in traffic.stats().ports.rows()] == [True, False]
