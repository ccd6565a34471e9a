import json
from pathlib import Path

from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import finished, make_run, make_stopped, started
from tests.worded.says import Says

ROOT = Path("runs")


def facts(text: str) -> dict[str, str]:
    """The lines before the first empty one, as name and value."""
    head = text.split("\n\n", maxsplit=1)[0]
    return {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in head.splitlines()}


def test_a_run_with_all_that_is_known(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT)
    (path / "metrics").mkdir()
    for number in (1, 2):
        (path / "metrics" / f"trial-000{number}.parquet").write_bytes(b"x" * 1500)
    (path / "latest").symlink_to("metrics")
    assert plimsoll("runs", "tag", "last", "kernel=6.1") == 0
    assert plimsoll("runs", "note", "last", "after the BIOS update\nsecond line") == 0
    assert plimsoll("runs", "show", "last") == 0
    known = facts(plimsoll.out)
    assert known["run"] == "20260314T120005-demo"
    assert known["path"] == "runs/20260314T120005-demo"
    assert known["state"] == "finished"
    assert known["answer"] == "3.025 Mpps per direction"
    assert known["verdict"] == "pass"
    assert known["began"] == "2026-03-14T12:00:05Z"
    assert known["ended"] == "2026-03-14T12:01:05Z, 1m00s later"
    assert known["versions"] == "plimsoll 0.1.0"
    assert known["tag"] == "kernel=6.1"
    assert "go" not in known
    assert "after the BIOS update" in plimsoll.out
    assert "second line" in plimsoll.out
    rows = {line.split()[0]: line.split() for line in plimsoll.out.splitlines() if line.strip()}
    assert rows["metrics/"] == ["metrics/", "(2", "files)", "3", "kB"]
    assert rows["latest"][:2] == ["latest", "(link)"]
    assert plimsoll.err == ""


def test_as_json_the_files_are_reported_too(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT)
    assert plimsoll("runs", "show", str(path), "--json") == 0
    shown = json.loads(plimsoll.out)
    assert shown["id"] == "20260314T120005-demo"
    sizes = {each["name"]: (each["kind"], each["bytes"], each["files"]) for each in shown["files"]}
    assert sizes["journal.jsonl"] == ("file", (path / "journal.jsonl").stat().st_size, 1)


def test_how_a_stopped_run_goes_on(plimsoll: Plimsoll) -> None:
    for method, command in (("load-line", "run"), ("soak", "soak"), ("trial", None)):
        make_stopped(ROOT, f"20260314T120005-{method}", events=[started(method)])
        assert plimsoll("runs", "show", f"20260314T120005-{method}") == 0
        resumption = f"plimsoll {command} --resume runs/20260314T120005-{method}"
        assert (resumption in plimsoll.out) == (command is not None)


def test_of_a_damaged_run_what_is_known_is_reported(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT, events=[started(), finished()])
    (path / "journal.jsonl").unlink()
    assert plimsoll("runs", "show", "2026") == 4
    assert facts(plimsoll.out)["state"] == "damaged"
    assert "experiment.yaml" in plimsoll.out
    assert "holds no journal.jsonl" in plimsoll.err
    assert "remedy:" in plimsoll.err


def test_a_link_and_a_dot_are_shown_by_where_they_lead(plimsoll: Plimsoll) -> None:
    make_run(Path("elsewhere"))
    ROOT.mkdir()
    (ROOT / "linked").symlink_to("../elsewhere/20260314T120005-demo")
    assert plimsoll("runs", "show", "linked") == 0
    assert facts(plimsoll.out)["run"] == "20260314T120005-demo"


def test_a_run_that_is_none_is_reported(plimsoll: Plimsoll, says: Says) -> None:
    ROOT.mkdir()
    assert plimsoll("runs", "show", "20260314") == 2
    assert plimsoll.err == says()
    assert plimsoll("runs", "show", "last") == 2
    Path("file").touch()
    assert plimsoll("runs", "show", "./file") == 4
    assert plimsoll.err == says()
