from collections.abc import Callable
from dataclasses import replace

import pytest

from plimsoll.attribution.ranking.trial_causes import causes_of_trial
from plimsoll.report.charts.causes_timeline import causes_timeline
from plimsoll.report.data.run_data import RunData
from tests.unit.attribution.ranking.test_trial_causes import facts
from tests.unit.report.rendering import rendered
from tests.worded.says import Says


def with_causes(data: RunData, trial: int) -> RunData:
    found = causes_of_trial(facts(number=trial))
    return replace(data, causes=(found.record,), kernel_events={trial: found.events})


def test_the_sentence_is_in_the_answer_and_the_section_follows_the_checks(
    cut_short: Callable[[int], RunData],
) -> None:
    page = rendered(with_causes(cut_short(11), 7))
    assert page.index("<h2>Why believe it") < page.index("<h2>Causes: what limits this load line")
    sentence = "100% by java on the DUT&#39;s CPU 1"
    assert page.index(sentence) < page.index('<section id="latency">')
    assert page.index(sentence, page.index('<section id="causes">'))
    assert "sched_switch" in page
    assert page.count('id="chart-causes"') == 1


def test_without_causes_there_is_no_section(cut_short: Callable[[int], RunData]) -> None:
    page = rendered(cut_short(11))
    assert "what limits this load line" not in page
    assert "chart-causes" not in page


def test_names_of_processes_cannot_write_into_the_page(cut_short: Callable[[int], RunData]) -> None:
    data = with_causes(cut_short(11), 7)
    (record,) = data.causes
    incident = record.incidents[0].model_copy(update={"sentence": "<script>alert(1)</script>"})
    hostile = record.model_copy(update={"incidents": (incident,)})
    assert "<script>alert(1)" not in rendered(replace(data, causes=(hostile,)))


@pytest.mark.slow
def test_a_trial_far_above_the_load_line_does_not_say_what_limits_it(finished: RunData) -> None:
    # Trial 4 is the first, at 4 Mpps; the line is 2.742 Mpps, and 2.797 Mpps failed above it.
    assert "what limits" not in rendered(with_causes(finished, 4))
    assert "what limits" in rendered(with_causes(finished, 14))


def test_the_timeline_has_a_dot_for_each_incident(
    cut_short: Callable[[int], RunData], says: Says
) -> None:
    figure = causes_timeline(with_causes(cut_short(11), 7))
    specification = figure.specification()
    assert specification is not None
    assert figure.chart is not None
    figure.chart.to_dict(validate=True)
    rows = specification["data"]["values"]
    assert sorted(row["what"] for row in rows) == ["latency spike", "loss", says()]
    assert {row["cause"] for row in rows} == {"task", "unexplained"}
