"""Both ends of the protocol, joined by pipes as an exec session joins them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.cluster.pods.gathering import Gathering
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.record.run.run_directory import RunDirectory

ROOT = Path(__file__).parents[4]
RUN = "20260101T000000-demo"


class PipeStream:
    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.cluster.pods.record_server", str(root)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read_line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip(b"\n")

    def read(self, length: int, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(length)

    def close(self) -> int:
        self._process.communicate()
        return self._process.returncode


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there" / RUN / "metrics").mkdir(parents=True)
    return tmp_path / "there"


@pytest.fixture
def here(tmp_path: Path) -> RunDirectory:
    (tmp_path / "here" / RUN).mkdir(parents=True)
    return RunDirectory(tmp_path / "here" / RUN)


@pytest.fixture
def stream(there: Path) -> Iterator[PipeStream]:
    opened = PipeStream(there)
    yield opened
    opened.close()


def gathering(run: RunDirectory) -> tuple[Gathering, list[str]]:
    said: list[str] = []
    return Gathering(run, said.append), said


def test_what_is_written_there_comes_here(
    there: Path, here: RunDirectory, stream: PipeStream
) -> None:
    gathered, said = gathering(here)
    (there / RUN / "journal.jsonl").write_text('{"a": 1}\n')
    (there / RUN / "metrics" / "trial-0001.parquet").write_bytes(bytes(range(256)) * 3000)
    (there / RUN / "lock").write_text("of the place, not of the record")
    (there / "output.log").write_text("one\ntw")
    gathered.fetch(stream)
    assert here.journal.read_text() == '{"a": 1}\n'
    assert (here.metrics / "trial-0001.parquet").read_bytes() == bytes(range(256)) * 3000
    assert sorted(each.name for each in here.path.iterdir()) == ["journal.jsonl", "metrics"]
    assert said == ["one"]
    assert gathered.status is None

    with (there / RUN / "journal.jsonl").open("a") as journal:
        journal.write('{"b": 2}\n')
    (there / RUN / "result.json").write_text("{}")
    (there / "output.log").write_text("one\ntwo\n")
    (there / "status.json").write_text(json.dumps({"exit_status": 5}))
    gathered.fetch(stream)
    assert here.journal.read_text() == '{"a": 1}\n{"b": 2}\n'
    assert here.result.read_text() == "{}"
    assert said == ["one", "two"]
    assert gathered.status == 5


def test_a_file_that_was_written_anew_is_as_it_is_there(
    there: Path, here: RunDirectory, stream: PipeStream
) -> None:
    gathered, _ = gathering(here)
    (there / RUN / "environment.json").write_text("a longer text than the next")
    (there / RUN / "journal.jsonl").write_text("0123456789")
    gathered.fetch(stream)
    (there / RUN / "environment.json").write_text("short")
    (there / RUN / "journal.jsonl").write_text("01")
    gathered.fetch(stream)
    assert here.environment.read_text() == "short"
    assert here.journal.read_text() == "01"


def test_a_connection_that_broke_is_gone_on_with(there: Path, here: RunDirectory) -> None:
    gathered, _ = gathering(here)
    (there / RUN / "journal.jsonl").write_text("first\n")
    before = PipeStream(there)
    gathered.fetch(before)
    before.close()
    (there / RUN / "journal.jsonl").write_text("first\nsecond\n")
    after = PipeStream(there)
    gathered.fetch(after)
    assert after.close() == 0
    assert here.journal.read_text() == "first\nsecond\n"


def test_a_run_that_goes_on_takes_its_record_along(
    there: Path, here: RunDirectory, stream: PipeStream
) -> None:
    gathered, _ = gathering(here)
    gathered.fetch(stream)
    assert not gathered.begun
    here.metrics.mkdir()
    (here.metrics / "trial-0001.parquet").write_bytes(b"\0\n\xff" * 100_000)
    here.journal.write_text("so far\n")
    here.experiment.write_text("name: x\n")
    (here.path / "cluster.json").write_text("{}")
    gathered.begin(stream, with_record=True)
    taken = sorted(p.relative_to(there).as_posix() for p in there.rglob("*") if p.is_file())
    assert taken == [
        f"{RUN}/experiment.yaml",
        f"{RUN}/journal.jsonl",
        f"{RUN}/metrics/trial-0001.parquet",
        "begin",
    ]
    assert (there / RUN / "metrics" / "trial-0001.parquet").read_bytes() == b"\0\n\xff" * 100_000
    gathered.fetch(stream)
    assert gathered.begun
    gathered.stop(stream)
    assert (there / "stop").exists()


class Lying:
    """A pod that is not what it should be."""

    def __init__(self, name: str, offset: int = 0) -> None:
        file = {"name": name, "size": 3, "mtime_ns": 1, "offset": offset, "length": 3}
        self._line = json.dumps({"files": [file], "marks": []}).encode()

    def write(self, data: bytes) -> None:
        pass

    def read_line(self, timeout_s: float) -> bytes:
        return self._line

    def read(self, length: int, timeout_s: float) -> bytes:
        return b"x" * length


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("../here/result.json", 0),
        (f"{RUN}/../../escaped.json", 0),
        ("/etc/passwd", 0),
        (f"{RUN}/lock", 0),
        ("20260101T000000-other/result.json", 0),
        (f"{RUN}/journal.jsonl", 7),
    ],
)
def test_a_pod_writes_nothing_but_its_own_record(
    here: RunDirectory, name: str, offset: int
) -> None:
    gathered, _ = gathering(here)
    with pytest.raises(StreamEnded, match="not understood"):
        gathered.fetch(Lying(name, offset))
    assert list(here.path.iterdir()) == []


class SayingStream:
    """A pod that answers with these lines, whatever it is asked."""

    def __init__(self, *lines: bytes) -> None:
        self._lines = list(lines)

    def write(self, data: bytes) -> None:
        pass

    def read_line(self, timeout_s: float) -> bytes:
        return self._lines.pop(0)

    def read(self, length: int, timeout_s: float) -> bytes:
        return self._lines.pop(0)


@pytest.mark.parametrize(
    "lines",
    [
        [b"<html>"],
        [b"[" * 100_000],
        [b"[]"],
        [b'{"files": {}}'],
        [b'{"files": [5]}'],
        [b'{"files": [{"name": "journal.jsonl"}]}'],
        [b'{"files": [{"name": 5, "length": 1, "offset": 0}]}'],
        [b'{"files": [{"name": "output.log", "length": "x", "offset": 0}]}'],
        [b'{"files": [{"name": "status.json", "length": 1, "offset": 0}]}', b"{"],
        [b'{"files": [{"name": "status.json", "length": 1, "offset": 0}]}', b'{"exit_status": []}'],
    ],
)
def test_a_pod_that_speaks_otherwise_is_named(here: RunDirectory, lines: list[bytes]) -> None:
    gathered, _ = gathering(here)
    with pytest.raises(StreamEnded, match="not understood"):
        gathered.fetch(SayingStream(*lines))
