"""A run's record is what its journal lists: other files in its folder do not count."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.export.redaction.pseudonyms import parquet_texts, replace_parquet_text
from plimsoll.record.causes.causes_record import read_causes
from plimsoll.record.causes.spikes import read_spikes
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.histogram_log import read_histogram_log
from plimsoll.record.metrics.metrics import read_metrics
from plimsoll.record.query import MetricQuery, ask
from plimsoll.record.recorder import recording
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.listed_files import ListedFiles
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.test_recorder import run_trial
from tests.unit.record.trial_parts import plan, second
from tests.worded.says import Says

METRICS = "metrics/trial-0001.parquet"
SENT = MetricQuery("trafficgen", "tx-pps", period="1", over_time="total")


def recorded(folder: Path, trials: int = 1) -> RunDirectory:
    run = RunDirectory.create(folder, "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        for number in range(1, trials + 1):
            run_trial(recorder, number)
    return run


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials; no test touches it."""
    return recorded(tmp_path_factory.mktemp("runs"), 2).path


@pytest.fixture
def run(tmp_path: Path, untouched: Path) -> RunDirectory:
    return RunDirectory.open(shutil.copytree(untouched, tmp_path / untouched.name))


def sent(run: RunDirectory) -> float:
    return sum(row.whole for row in ask(run, SENT).rows)


# As patterns they are of their neighbours, of both, or of a column.
@pytest.mark.parametrize(
    ("name", "neighbour"),
    [("a[1]", "a1"), ("runs*", "runs2"), ("q?", "qx"), ("[!b]", "a"), ("period=9", "x")],
)
def test_a_path_is_no_pattern(tmp_path: Path, untouched: Path, name: str, neighbour: str) -> None:
    other = recorded(tmp_path / neighbour, 1)
    (other.path / METRICS).unlink()
    run = RunDirectory.open(shutil.copytree(untouched, tmp_path / name / "run"))
    original = RunDirectory.open(untouched)
    assert sent(run) == sent(original) == 4020
    assert read_metrics(run) == read_metrics(original)
    assert [len(ask(each, SENT).rows) for each in (run, [run, original])] == [1, 2]
    assert list(parquet_texts(run.path / METRICS)) == list(parquet_texts(original.path / METRICS))
    target = tmp_path / name / "changed.parquet"
    replace_parquet_text(run.path / METRICS, target, str.upper)
    assert "TRAFFICGEN" in set(parquet_texts(target))


def test_growing_files_below_a_pattern_are_read(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "a[1]*", "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        with recorder.trial(plan(), number=1, phase="search", refused_is_lost=True) as trial:
            trial.interval(second())
            assert sent(run) == 2010
            assert len(read_spikes(run)) > 0
            assert len(list(read_histogram_log(run.histograms))) == 1
    assert list(check_run(run)) == []


def copied(name: str) -> Callable[[Path], object]:
    return lambda folder: shutil.copyfile(folder / METRICS, folder / name)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "metrics/trial-0001-002.parquet": copied("metrics/trial-0001-002.parquet"),
    "metrics/trial-0001@host.parquet": copied("metrics/trial-0001@host.parquet"),
    "metrics/trial-0003.parquet": copied("metrics/trial-0003.parquet"),
    "metrics/trial-0001.jsonl": lambda folder: (folder / "metrics/trial-0001.jsonl").write_text(
        '{"period":"trial-0001"}\n'
    ),
    "causes/1.json": lambda folder: (
        (folder / "causes").mkdir() or (folder / "causes/1.json").write_text("{}")
    ),
    "flows/1.parquet": lambda folder: (
        (folder / "flows").mkdir() or copied("flows/1.parquet")(folder)
    ),
    "charts/loss.html": lambda folder: (
        (folder / "charts").mkdir() or (folder / "charts/loss.html").write_text("-")
    ),
    "tables/trials.csv.exe": lambda folder: (
        (folder / "tables").mkdir() or (folder / "tables/trials.csv.exe").write_text("-")
    ),
    "notes of mine.txt": lambda folder: (folder / "notes of mine.txt").write_text("-"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_not_listed_is_reported_and_not_read(
    run: RunDirectory, name: str, says: Says
) -> None:
    rows = read_metrics(run)
    FOREIGN[name](run.path)
    assert read_metrics(run) == rows
    assert sent(run) == 4020
    assert read_causes(run) == ()
    (found,) = check_run(run)
    assert found.path == run.path / name
    assert found.reason == says()


def test_a_file_laid_beside_those_of_a_run_that_goes_on_is_not_taken_in(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        run_trial(recorder, 1)
        FOREIGN["metrics/trial-0001-002.parquet"](run.path)
        run_trial(recorder, 2)
        assert sent(run) == 4020
    assert [each.path.name for each in check_run(run)] == ["trial-0001-002.parquet"]


def test_lines_behind_the_logs_end_are_not_read(run: RunDirectory, says: Says) -> None:
    lines = run.histograms.read_text().splitlines(keepends=True)
    entries = list(read_histogram_log(run.histograms))
    with run.histograms.open("a") as file:
        file.write(lines[-1])
    assert len(list(read_histogram_log(run.histograms))) == len(entries) == 4
    (found,) = check_run(run)
    assert found.path == run.histograms
    assert found.reason == says("845", "732")


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [flipped, Path.unlink, lambda path: path.write_bytes(b"")])
def test_length_and_checksum_are_checked_by_every_reader(
    run: RunDirectory, damage: Callable[[Path], object]
) -> None:
    damage(run.path / METRICS)
    with pytest.raises(RecordError) as raised:
        read_metrics(run)
    assert raised.value.where == str(run.path / METRICS)
    with pytest.raises(RecordError):
        ask(run, SENT)
    damage(run.spikes)
    with pytest.raises(RecordError):
        read_spikes(run)
    damage(run.histograms)
    with pytest.raises(RecordError):
        list(read_histogram_log(run.histograms))


def test_what_a_killed_trial_has_written_counts_when_the_run_is_resumed(
    tmp_path: Path, untouched: Path
) -> None:
    run = RunDirectory.open(untouched)
    with (
        recording(RunDirectory.open(shutil.copytree(untouched, tmp_path / "live"))) as recorder,
        recorder.trial(plan(), number=3, phase="search", refused_is_lost=True) as trial,
    ):
        trial.interval(second())
        live = recorder.run
        assert {row.period for row in read_metrics(live)} == {f"trial-000{n}" for n in (1, 2, 3)}
        # As a kill leaves it: nobody holds the copy's lock.
        killed = RunDirectory.open(shutil.copytree(live.path, tmp_path / "killed"))
    assert read_metrics(killed) == read_metrics(run)
    assert len(list(read_histogram_log(killed.histograms))) == 4
    assert {spike.trial for spike in read_spikes(killed)} == {1, 2}
    assert list(check_run(killed)) == []
    with recording(killed):
        pass
    assert {row.period for row in read_metrics(killed)} == {f"trial-000{n}" for n in (1, 2, 3)}
    assert len(list(read_histogram_log(killed.histograms))) == 5
    assert list(check_run(killed)) == []


def test_a_journal_that_lists_nothing_closes_nothing(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {"name": "demo"})
    assert not ListedFiles.of(run).closed
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
    assert ListedFiles.of(run).closed
    (started,) = read_journal(run.journal).events
    assert "histograms.hlog" in started.fields["growing"]  # type: ignore[operator]
