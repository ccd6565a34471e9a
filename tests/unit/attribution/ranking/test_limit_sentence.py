"""The sentence about what limits: the three largest causes, and the noise that was asked for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.attribution.incidents.loops import LoopOwner, noise_name
from plimsoll.attribution.ranking.summary import CausesSummary, limit_sentence
from plimsoll.record.causes.causes_record import RankedCause
from tests.unit.attribution.cause_records import a_ranked_cause

NOISE = noise_name("stress-ng", "stress-ng cache on CPU 1")


def cause(name: str, loss_share: float, spike_share: float | None = None) -> RankedCause:
    return a_ranked_cause(
        name=name, loss_share=loss_share, spike_share=spike_share, total_ns=1_000, worst_ns=1_000
    )


def summary(*rows: RankedCause) -> CausesSummary:
    return CausesSummary(rows, (), (), (), 50, 40, 1000, 0, 0)


LARGEST = (cause("java", 0.4), cause("sshd", 0.2), cause("cron", 0.1))


@pytest.mark.parametrize(("share", "named"), [(0.06, True), (0.04, False)])
def test_the_noise_is_named_though_others_took_more(share: float, named: bool) -> None:
    said = limit_sentence(summary(*LARGEST, cause(NOISE, share), cause("bash", 0.06)))
    assert said.startswith("Of 1,000 lost frames in 40 events, 40% by java on the DUT's CPU 1")
    assert (NOISE in said) == named
    assert "bash" not in said


def test_causes_that_are_not_named_are_counted() -> None:
    said = limit_sentence(summary(*LARGEST, cause("ksoftirqd", 0.2), cause("bash", 0.1)))
    assert said.endswith("; 20% by 2 other causes.")


def test_noise_that_lost_nothing_is_named_by_what_it_delayed() -> None:
    said = limit_sentence(summary(*LARGEST, cause(NOISE, 0.0, 0.4)))
    assert said.endswith(
        f". Of 50 latency spikes, 40% by {NOISE} on the DUT's CPU 1 (task, up to 1 µs); "
        "60% by other causes."
    )
    assert "spikes" not in limit_sentence(summary(*LARGEST, cause("cron", 0.0, 0.4)))


def unexplained(owner: LoopOwner, loss_share: float) -> RankedCause:
    """One of several kinds of knowing nothing: they differ in name, loop and CPU."""
    name = f"no kernel event of {owner} accounts for it"
    return a_ranked_cause(
        kind="unexplained", name=name, owner=owner, loss_share=loss_share, confidence="unexplained"
    )


def test_what_is_unexplained_is_one_share() -> None:
    rows = (unexplained("dut", 0.32), cause("java", 0.59), unexplained("tester", 0.09))
    said = limit_sentence(summary(*rows))
    assert said == (
        "Of 1,000 lost frames in 40 events, 59% by java on the DUT's CPU 1 (task, up to 1 µs); "
        "41% are unexplained."
    )


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.lists(st.floats(0.0, 1.0), max_size=3),
    st.floats(0.3, 1.0),
)
def test_the_shares_of_a_sentence_add_up_to_100_percent(
    causes: list[float], unknown: list[float], explained: float
) -> None:
    total = sum(causes) + sum(unknown) or 1.0
    rows = [cause(f"task{n}", explained * each / total) for n, each in enumerate(causes)]
    rows += [unexplained("dut", explained * each / total) for each in unknown]
    said = limit_sentence(summary(*rows))
    shares = [int(each) for each in re.findall(r"(\d+)% ", said)]
    assert not shares or sum(shares) == 100
    assert said.count("unexplained") <= 1
