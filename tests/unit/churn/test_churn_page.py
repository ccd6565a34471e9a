"""The page and the list's line of a churn run, from its record."""

from pathlib import Path

import pytest

from plimsoll.churn.page import churn_answer
from plimsoll.churn.page import run_page as churn_page
from plimsoll.churn.results.churn_result import ChurnCell
from plimsoll.record.index.summarise import summarise
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.report import write_files, write_report
from plimsoll.report.figures.table import ReportTable
from plimsoll.report.registry import as_markdown
from tests.unit.churn.churn_record import CELLS, with_probe, write_churn_run
from tests.worded.says import Says, passage


def table(answer: object, section: str, title: str) -> ReportTable:
    (found,) = [
        each
        for part in answer.sections  # type: ignore[attr-defined]
        if part.title == section
        for each in part.tables
        if each.title.startswith(title)
    ]
    return found


def rows_of(found: ReportTable) -> tuple[tuple[str, ...], ...]:
    """As people see them."""
    return found.words()[1]


def test_the_article_s_table_of_network_and_level(tmp_path: Path) -> None:
    answer = churn_answer(write_churn_run(tmp_path))
    found = table(answer, "Throughput", "Mean throughput")
    assert [each.heading for each in found.columns] == ["Network", "0 % churn", "100 % churn"]
    # Two pairs of 30 Mbit/s; 98 and 81 % of it.
    assert rows_of(found) == (
        ("macvlan", "60.0 Mbit/s (100.0 %)", "58.8 Mbit/s (98.0 %)"),
        ("ovn", "60.0 Mbit/s (100.0 %)", "48.6 Mbit/s (81.0 %)"),
    )


def test_dips_with_what_chance_would_match(tmp_path: Path) -> None:
    rows = rows_of(table(churn_answer(write_churn_run(tmp_path)), "Throughput", "Dips"))
    assert rows[0] == ("macvlan", "0 %", "0", "-", "-", "-", "-", "-", "-")
    assert rows[3] == ("ovn", "100 %", "1", "40.0 %", "3.0 s", "30.0", "1 of 1", "60 %", "0.55")


def test_the_control_plane_s_tables(tmp_path: Path) -> None:
    answer = churn_answer(write_churn_run(tmp_path))
    readiness = rows_of(table(answer, "Pod readiness", "Time until"))
    assert readiness[0] == (
        *("creation", "0 %", "dpdk", "4", "900 ms", "1,500 ms", "2,460 ms", "2,500 ms", "1", "2.5"),
    )
    requests = rows_of(table(answer, "API server", "Latency of requests"))
    assert requests[0] == ("macvlan", "0 %", "-", "-", "-", "8 ms", "37.5 ms", "1,234")
    etcd = rows_of(table(answer, "etcd", "Latencies"))
    assert etcd[0] == ("macvlan", "0 %", "1 ms", "4.25 ms", "-", "-", "-")
    usage = rows_of(table(answer, "CPU and memory", "Mean over"))
    assert usage[1] == ("macvlan", "100 %", "kube-apiserver", "2.000", "+100 %", "300", "+0 %")


def test_cycles_and_what_was_left_out(tmp_path: Path) -> None:
    answer = churn_answer(write_churn_run(tmp_path))
    rows = rows_of(table(answer, "Cycles", "Every cycle"))
    assert rows == (
        ("creation", "", "", "2", "", "8.0 s", "9.0 s"),
        ("macvlan", "100 %", "1", "2", "4.0 s", "5.0 s", "6.0 s"),
        ("ovn", "100 %", "1", "2", "4.0 s", "5.0 s", "6.0 s"),
    )
    assert any("does not serve routes" in each for each in answer.sentences)
    assert any("made up" in each for each in answer.warnings)


def test_pods_of_a_cluster_are_said_to_cross_nodes_or_not(tmp_path: Path) -> None:
    placed = {"nodes": (("a", "b"), ("a", "a")), "clock_error_s": 0.0004}
    cells = [
        each.model_copy(update={"streams": each.streams.model_copy(update=placed)})
        for each in CELLS
        if each.streams is not None
    ]
    answer = churn_answer(write_churn_run(tmp_path, cells=cells))
    words = "4 of 8 streams went from one node to another; their times are right to 0.4 ms."
    assert words in answer.sentences
    rows = rows_of(table(answer, "Throughput", "Each pair"))
    assert rows[6:] == (
        ("ovn", "100 %", "1", "24.3", "a", "b"),
        ("ovn", "100 %", "2", "24.3", "a", "a"),
    )
    of_this_machine = churn_answer(write_churn_run(tmp_path / "local"))
    assert not any("from one node" in each for each in of_this_machine.sentences)
    assert rows_of(table(of_this_machine, "Throughput", "Each pair"))[0][-2:] == ("-", "-")


def test_the_page_s_answer_is_the_network_that_kept_least(tmp_path: Path, says: Says) -> None:
    page = churn_page(write_churn_run(tmp_path))
    headline = page.headline
    assert (headline.value, headline.unit) == ("81.0", "% of throughput kept")
    assert headline.facts == (
        ("ovn, 100 %", says()),
        ("98.0 %", "kept, macvlan, 100 %"),
    )
    assert headline.outcome == "fail"


def test_every_chart_is_drawn(tmp_path: Path, says: Says) -> None:
    run = write_churn_run(tmp_path)
    text = write_report(run).read_text()
    assert "1.34.4" in text
    names = {path.stem for path in write_files(run, charts=True, tables=False)[1:]}
    assert {"throughput-over-macvlan", "throughput-over-ovn", "pod-readiness"} <= names
    assert passage(as_markdown(run), "81.0") == says("81.0")


def test_a_run_that_goes_on_shows_what_there_is(tmp_path: Path, says: Says) -> None:
    run = write_churn_run(tmp_path, finished=False)
    page = churn_page(run)
    assert page.headline.outcome_words == "not ended"
    assert page.headline.limit[0] == says()
    assert "<h2>Throughput</h2>" in write_report(run).read_text()


def test_a_list_of_runs_says_what_it_found(tmp_path: Path, says: Says) -> None:
    summary = summarise(write_churn_run(tmp_path))
    assert summary.method == "churn"
    assert summary.answer is not None
    assert summary.answer.text == says("81.0", "100")
    assert summary.answer.value == pytest.approx(81.0)


def test_the_figure_comes_from_the_record_s_samples(tmp_path: Path) -> None:
    run = write_churn_run(tmp_path)
    statement = "SELECT sum(value) FROM rows WHERE source = 'iperf3' AND begin_ms = 1700000000000"
    assert query_metrics(run, statement, periods=["trial-0002"]) == [(60e6,)]


def test_udp_latency_next_to_the_streams(tmp_path: Path) -> None:
    run = write_churn_run(tmp_path, cells=[with_probe(each) for each in CELLS])
    rows = rows_of(table(churn_answer(run), "UDP latency", "Before and under churn"))
    measured = ("10.2", "20.5", "12.0", "50.0", "1,234.5", "2,000.0", "2,500.0")
    assert rows[0] == ("macvlan", "0 %", *measured, "-", "1,000", "2", "7")
    assert rows[3] == ("ovn", "100 %", *measured, "2,345.6", "1,000", "2", "7")
    names = {path.stem for path in write_files(run, charts=True, tables=False)[1:]}
    assert {"udp-latency-over-macvlan", "udp-latency-over-ovn"} <= names


def test_latency_between_pods_of_a_cluster_is_said_to_be_of_both_ways(
    tmp_path: Path, says: Says
) -> None:
    def explained(*cells: ChurnCell) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        sections = churn_answer(write_churn_run(folder, cells=cells)).sections
        (found,) = [each for each in sections if each.title == "UDP latency"]
        return " ".join(found.sentences)

    one_way = with_probe(CELLS[0])
    assert one_way.probe is not None
    probe = one_way.probe.model_copy(update={"round_trip": True})
    changes = {"probe": probe, "network": "pods", "period": "trial-0009"}
    both_ways = one_way.model_copy(update=changes)
    assert ": one way" in explained(one_way)
    assert "both ways" not in explained(one_way)
    assert ": both ways" in explained(both_ways)
    assert explained(one_way, both_ways) == says("pods", "latency")
    assert ": one way" in explained(one_way, both_ways)


def test_the_distribution_of_a_level_is_of_all_its_repetitions(tmp_path: Path) -> None:
    once = with_probe(CELLS[0])
    assert once.probe is not None
    slow = once.probe.model_copy(update={"histogram": ((2999, 998),)})
    again = once.model_copy(update={"repetition": 2, "probe": slow, "period": "trial-0006"})
    answer = churn_answer(write_churn_run(tmp_path, cells=[once, again]))
    (figure,) = [each for each in answer.figures if each.name == "udp-latency-over-ovn"]
    assert figure.chart is not None
    rows = figure.chart.to_dict()["data"]["values"]
    # 998 of each: 500, 488 and 10 of the one, all of the other in one microsecond.
    assert [(row["latency"], row["level"]) for row in rows] == [
        (12, "100 %"),
        (13, "100 %"),
        (2501, "100 %"),
    ]
    assert [row["share"] for row in rows] == pytest.approx([1496 / 1996, 1008 / 1996, 998 / 1996])


def test_without_a_probe_there_is_no_section_of_it(tmp_path: Path) -> None:
    titles = {each.title for each in churn_answer(write_churn_run(tmp_path)).sections}
    assert "UDP latency" not in titles
