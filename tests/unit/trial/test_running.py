"""What a lab notices while its trial runs."""

from collections.abc import Callable

import pytest

from plimsoll.dut.lab import LabPorts, LinkGone, LinkWatch
from plimsoll.dut.wired import PassiveLab
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import Generator, Interval, PortInfo, TrialPlan, TrialReport
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.running.trial import run_trial
from tests.unit.trial.trial_builder import PLAN, interval, outcome
from tests.worded.says import Says

PORTS = LabPorts(("a", "b"), 1024, 1024, ((0, 1), (1, 0)), "wire", None)


class WatchedLab(PassiveLab):
    """Its link is lost, or its interface gone, once `spoiled`."""

    def __init__(self, *, gone: bool = False) -> None:
        super().__init__("external", PORTS)
        self.spoiled = False
        self._gone = gone

    def check(self) -> None:
        if self.spoiled and self._gone:
            raise LinkGone("interface eth1 is gone", where="lab.ports[0].netdev", remedy="-")

    def watch_links(self) -> LinkWatch:
        return lambda: ("interface eth1",) if self.spoiled else ()


class TenIntervals:
    """A generator whose lab is spoiled in its third interval; may `die` of it."""

    def __init__(self, lab: WatchedLab, *, dies: bool = False) -> None:
        self._lab = lab
        self._dies = dies
        self.run = 0

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        return ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        for self.run in range(1, 11):
            self._lab.spoiled = self.run >= 3
            if self._dies and self._lab.spoiled:
                raise PlimsollError("the generator died")
            if watch(interval(self.run - 1)):
                break
        return outcome().report

    def close(self) -> None:
        pass


def trial(generator: Generator, lab: WatchedLab) -> Outcome:
    return run_trial(generator, lab, PORTS, PLAN, watch=lambda interval: False)


def test_a_lost_link_ends_the_trial() -> None:
    lab = WatchedLab()
    generator = TenIntervals(lab)
    assert trial(generator, lab).links_lost == ("interface eth1",)
    assert generator.run == 3


def test_every_interval_is_in_the_series() -> None:
    kept = trial(TenIntervals(WatchedLab()), WatchedLab()).series
    assert list(kept.begin_s) == list(range(10))
    assert [len(each.sent) for each in kept.streams.values()] == [10, 10, 10]


def test_an_interface_that_is_gone_ends_it_with_an_error() -> None:
    lab = WatchedLab(gone=True)
    generator = TenIntervals(lab)
    with pytest.raises(LinkGone):
        trial(generator, lab)
    assert generator.run == 3


def test_what_the_generator_died_of_is_what_is_reported(says: Says) -> None:
    lab = WatchedLab(gone=True)
    with pytest.raises(LinkGone) as caught:
        trial(TenIntervals(lab, dies=True), lab)
    assert caught.value == says("eth1")
    spared = WatchedLab()
    with pytest.raises(PlimsollError) as caught:
        trial(TenIntervals(spared, dies=True), spared)
    assert caught.value == says()
