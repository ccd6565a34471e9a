"""The chain of a journal's lines: what changes it, and journals that have none."""

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.analysis.runs import open_run
from plimsoll.export.bundle.pack import write_bundle
from plimsoll.export.bundle.unpack import import_bundle
from plimsoll.export.redaction.pseudonyms import Pseudonyms
from plimsoll.export.redaction.redacted_run import write_redacted
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.index.summarise import read_journal_summary, summarise
from plimsoll.record.metrics.metrics import read_metrics
from plimsoll.record.recorder import recording
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.journal import LINE_CUT, Journal, JournalFollower, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.test_recorder import run_trial
from tests.worded.says import Says

UNCHAINED = Path(__file__).with_name("unchained")
OLD_RUNS = ("load-line", "churn", "plugfest")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of six lines."""
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for number in range(5):
            journal.append("note", number=number)
        journal.finish({})
    return path


def test_each_line_carries_the_digest_of_the_line_before(path: Path) -> None:
    before = b""
    for line in path.read_bytes().splitlines():
        assert json.loads(line)["previous_sha256"] == hashlib.sha256(before).hexdigest()
        before = line
    chain = read_journal(path).chain
    assert (chain.last, chain.chained, chain.unchained) == (
        hashlib.sha256(before).hexdigest(),
        6,
        0,
    )


Lines = list[bytes]
CHANGES: dict[str, tuple[Callable[[Lines], Lines], int]] = {
    "the first is gone": (lambda lines: lines[1:], 1),
    "one is gone": (lambda lines: lines[:2] + lines[3:], 3),
    "two are swapped": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3),
    "one is there twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),
    "one is copied to the end": (lambda lines: [*lines, lines[1]], 7),
    "one comes from elsewhere": (lambda lines: [*lines[:2], unlinked(9), *lines[2:]], 3),
    "one was edited, with its checksum": (lambda lines: edited(lines, 2), 4),
}


def unlinked(number: int) -> bytes:
    """As an earlier version wrote it."""
    return checked(f'{{"kind": "note", "at_unix_ns": 1, "number": {number}')


def checked(text: str) -> bytes:
    return f'{text}, "crc32": "{zlib.crc32(text.encode()):08x}"}}\n'.encode()


def edited(lines: Lines, place: int) -> Lines:
    text = lines[place].decode().rpartition(', "crc32"')[0].replace('"number": 2', '"number": 7')
    assert '"number": 7' in text
    return [*lines[:place], checked(text), *lines[place + 1 :]]


@pytest.mark.parametrize(("change", "line"), CHANGES.values(), ids=CHANGES.keys())
def test_lines_that_were_changed_are_named(
    path: Path, change: Callable[[Lines], Lines], line: int
) -> None:
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    readers: list[Callable[[Path], object]] = [
        read_journal,
        read_journal_summary,
        Journal,
        lambda path: JournalFollower(path).read(),
    ]
    for read in readers:
        with pytest.raises(RecordError, match=f"line {line} is damaged"):
            read(path)


def test_a_run_whose_failed_trial_was_taken_out_is_not_resumed(tmp_path: Path, says: Says) -> None:
    run = RunDirectory.create(tmp_path, "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        run_trial(recorder, 1)
        run_trial(recorder, 2)
    lines = run.journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"kind": "trial"' not in line or b'"number": 1' not in line]
    assert len(kept) == len(lines) - 1
    run.journal.write_bytes(b"".join(kept))
    with pytest.raises(RecordError) as caught, recording(run):
        pass
    assert caught.value == says("journal.jsonl")
    with pytest.raises(RecordError) as caught:
        read_metrics(run)
    assert caught.value == says()


@pytest.mark.parametrize("cut", [1, 40, 120])
def test_after_a_torn_line_it_goes_on_from_the_last_whole_one_and_says_so(
    path: Path, cut: int
) -> None:
    data = path.read_bytes()
    whole = data[: data.rindex(b"\n", 0, -1) + 1]
    path.write_bytes((data * 2)[: len(whole) + cut])
    assert read_journal(path).torn
    with Journal(path) as journal:
        journal.append("resumed")
    contents = read_journal(path)
    assert [event.kind for event in contents.events[5:]] == [LINE_CUT, "resumed"]
    assert contents.events[5].fields == {"after_line": 5}
    assert contents.chain.chained == 7


def test_a_follower_sees_a_line_that_does_not_follow(path: Path, says: Says) -> None:
    follower = JournalFollower(path)
    assert len(follower.read().events) == 6
    with path.open("ab") as file:
        file.write(path.read_bytes().splitlines(keepends=True)[2])
    with pytest.raises(RecordError) as caught:
        follower.read()
    assert caught.value == says("7")


def old_run(folder: Path, name: str) -> RunDirectory:
    return RunDirectory.open(shutil.copytree(UNCHAINED / name, folder / name))


@pytest.mark.parametrize("name", OLD_RUNS)
def test_a_run_of_an_earlier_version_is_read_and_unchained(tmp_path: Path, name: str) -> None:
    run = old_run(tmp_path, name)
    parts = [run, *map(RunDirectory, part_paths(run.path))]
    assert len(parts) == (3 if name == "plugfest" else 1)
    for part in parts:
        contents = read_journal(part.journal)
        assert (contents.chain.chained, contents.chain.unchained) == (0, len(contents.events))
        assert list(check_run(part)) == []
    assert summarise(run).complete
    assert len(read_metrics(parts[-1])) > 0


def test_an_old_load_line_has_its_trials_histograms_and_damage(tmp_path: Path) -> None:
    run = old_run(tmp_path, "load-line")
    trials = open_run(run.path, tmp_path).trials
    assert [trial.verdict for trial in trials].count("invalid") == 3
    for trial in trials:
        for stream in trial.streams:
            histogram = trial.latency(stream.name)
            assert histogram.get_total_count() == stream.latency.count
            assert "by time" in histogram.of or not stream.latency.count
    (run.path / "metrics/trial-0099.parquet").write_bytes(b"PAR1")
    assert [each.path.name for each in check_run(run)] == ["trial-0099.parquet"]


def test_an_old_run_that_goes_on_is_chained_from_there(tmp_path: Path) -> None:
    run = old_run(tmp_path, "load-line")
    before = read_journal(run.journal)
    with Journal(run.journal) as journal:
        journal.append("note")
        journal.append("note")
    after = read_journal(run.journal)
    assert (after.chain.chained, after.chain.unchained) == (2, len(before.events))
    lines = run.journal.read_bytes().splitlines(keepends=True)
    # The link holds the last of the old lines, too.
    run.journal.write_bytes(b"".join([*lines[:-3], *lines[-2:]]))
    with pytest.raises(RecordError, match="is damaged"):
        read_journal(run.journal)


def test_copies_are_chained_as_their_originals(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "here", "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        run_trial(recorder, 1)
    for original in (run, old_run(tmp_path, "load-line")):
        chain = read_journal(original.journal).chain
        copy = write_redacted(original, tmp_path / "redacted", Pseudonyms([]))
        made = read_journal(copy.journal).chain
        assert (made.chained, made.unchained) == (chain.chained, chain.unchained)
        assert list(check_run(copy)) == []
        bundle = tmp_path / f"{original.run_id}.tar.gz"
        write_bundle(original, bundle, redacted=False, force=False)
        imported, _ = import_bundle(bundle, tmp_path / "there")
        assert read_journal(imported.journal).chain == chain
