"""The sentence about what limits: the three largest causes, and the noise that was asked for."""

import pytest

from plimsoll.attribution.incidents.noise_tasks import noise_name
from plimsoll.attribution.ranking.limit_sentence import limit_sentence
from plimsoll.attribution.ranking.rank import RankedCause
from plimsoll.attribution.ranking.summary import CausesSummary


def cause(name: str, loss_share: float) -> RankedCause:
    return RankedCause(
        "task", name, "dut", 1, False, 1, 1, loss_share, None, 1_000, 1_000, "exact", None
    )


def summary(*rows: RankedCause) -> CausesSummary:
    return CausesSummary(rows, (), (), (), 0, 40, 1000, 0, 0)


LARGEST = (cause("java", 0.4), cause("sshd", 0.2), cause("cron", 0.1))


@pytest.mark.parametrize(("share", "named"), [(0.06, True), (0.04, False)])
def test_the_noise_is_named_though_others_took_more(share: float, named: bool) -> None:
    noise = noise_name("stress-ng", "stress-ng cache on CPU 1")
    said = limit_sentence(summary(*LARGEST, cause(noise, share), cause("bash", 0.06)))
    assert said.startswith("Of 1,000 lost frames in 40 events, 40% by java on the DUT's CPU 1")
    assert (noise in said) == named
    assert "bash" not in said
