"""Experiments checked, started, followed, stopped and gone on with over HTTP; no lab is needed."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from plimsoll.record.run.run_lock import is_held
from tests.integration.command import finished_trials, until
from tests.integration.parallel.serve.served import (
    ENDLESS,
    SIMULATED,
    Served,
    environment,
    run_simulated,
    served,
    write_simulated,
)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Served]:
    """For a test that ends it."""
    (tmp_path / "runs").mkdir()
    with served(tmp_path) as running:
        yield running
        for run in running.runs.glob("*/lock"):
            if is_held(run):
                os.kill(int(run.read_text()), signal.SIGTERM)
                until(lambda lock=run: not is_held(lock), "the run to end")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "runs").mkdir()
    with served(folder) as running:
        yield running


def text_of(name: str, validation: str = "2s") -> str:
    return SIMULATED.format(name=name, validation=validation)


def events(server: Served, run: str) -> Iterator[dict[str, Any]]:
    """The documents of the stream, as they come."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as stream:
        head = f"GET /runs/{quote(run)}/events HTTP/1.0\r\nHost: localhost\r\n"
        stream.sendall(f"{head}Cookie: {server.headers['Cookie']}\r\n\r\n".encode())
        for line in stream.makefile(encoding="utf-8"):
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def _is_validating(document: dict[str, Any]) -> bool:
    trial = document["trial"]
    return trial is not None and trial["phase"] == "validation"


def test_mistakes_come_with_line_and_remedy(server: Served) -> None:
    text = "lab:\n  kind: simulated\nprofile: {streams: []}\nsearch:\n  minimum: 5\n"
    found = server.post("/experiments/check", {"text": text}).json["mistakes"]
    minimum = next(each for each in found if each["line"] == 5)
    assert minimum["message"] == "search.minimum: a rate of 5 has no unit"
    assert minimum["remedy"] == "write 5pps if that is meant"
    assert {each["line"] for each in found} >= {1, 4, 5}


@pytest.mark.parametrize(
    ("text", "line"), [("a: b: c\n", 1), ("a: 1\na: 2\n", 2), ("- x\n", None), ("", None)]
)
def test_what_is_no_experiment_says_so(server: Served, text: str, line: int | None) -> None:
    found = server.post("/experiments/check", {"text": text, "plan": True}).json
    assert found["mistakes"][0]["line"] == line
    assert found["plan"] is None


def test_a_plan_says_what_a_run_would_do(server: Served) -> None:
    found = server.post("/experiments/check", {"text": text_of("planned"), "plan": True}).json
    assert found["mistakes"] == []
    assert ["loads", "10 kpps to 20 kpps per direction"] in found["plan"]["facts"]
    assert found["values"]["search.maximum"] == "20kpps"


def test_a_field_of_the_form_changes_its_place_in_the_text(server: Served) -> None:
    text = "search:   # where\n  maximum: 20kpps  # up to\n"
    sent = {"text": text, "path": "search.maximum", "value": "3Mpps"}
    changed = server.post("/experiments/change", sent).json["text"]
    assert changed == "search:   # where\n  maximum: 3Mpps  # up to\n"
    other = server.post("/experiments/change", {**sent, "path": "lab.command"})
    assert other.status == 400


def test_a_run_is_started_and_tagged_and_ends_by_itself(server: Served) -> None:
    sent = {"text": text_of("from-page"), "tags": "kernel=6.1 try=2"}
    address = server.post("/experiments/start", sent).json["address"]
    run = server.runs / address.split("/")[2]
    until((run / "report.html").exists, "the report")
    until(lambda: not is_held(run / "lock"), "the run to end")
    listed = server.get("/?tag=kernel%3D6.1&state=finished").text
    assert run.name in listed
    assert "kernel=6.1" in listed
    assert server.get(f"{address}report").body == (run / "report.html").read_bytes()


def test_what_cannot_start_says_why(server: Served) -> None:
    before = list(server.runs.iterdir())
    answer = server.post("/experiments/start", {"text": "lab: {kind: no-such}\n"})
    assert answer.status == 400
    assert any("no-such" in each["message"] for each in answer.json["mistakes"])
    bad_tag = server.post("/experiments/start", {"text": text_of("tagged"), "tags": "nothing"})
    assert bad_tag.status == 400
    assert list(server.runs.iterdir()) == before


@pytest.mark.slow
def test_a_run_outlives_the_server_and_is_stopped_and_gone_on_with(
    own_server: Served, tmp_path: Path
) -> None:
    sent = {"text": text_of("long", ENDLESS)}
    address = own_server.post("/experiments/start", sent).json["address"]
    run = own_server.runs / address.split("/")[2]
    assert own_server.end(signal.SIGINT) == 0
    assert is_held(run / "lock")
    with served(tmp_path) as again:
        until(lambda: len(finished_trials(run)) > 0, "a finished trial")
        assert again.post(f"{address}stop", {}).status == 200
        until(lambda: not is_held(run / "lock"), "the run to end")
        kept = finished_trials(run)
        assert "This run was cut short." in again.get(address).text
        assert "plimsoll run --resume" in again.get(address).text
        assert again.get(f"{address}report").status == 200
        refused = again.post(f"{address}stop", {})
        assert refused.status == 400
        assert "no process" in refused.json["mistakes"][0]["message"]
        assert again.post(f"{address}resume", {}).json["address"] == address
        assert is_held(run / "lock")
        assert finished_trials(run)[: len(kept)] == kept


def test_a_lock_file_that_names_another_process_has_none_signalled(server: Served) -> None:
    run = run_simulated(server.folder, "idle")
    (run / "lock").write_text(f"{os.getpid()}\n")
    assert server.post(f"/runs/{run.name}/stop", {}).status == 400


@pytest.mark.slow
def test_a_run_of_another_terminal_is_followed_from_its_record(server: Served) -> None:
    file = write_simulated(server.folder, "elsewhere", ENDLESS)
    other = subprocess.Popen(
        [sys.executable, "-m", "plimsoll.cli", "run", file, "--runs", server.runs],
        env=environment(server.folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        locks = "*-elsewhere/lock"
        until(lambda: any(is_held(each) for each in server.runs.glob(locks)), "the run")
        (run,) = server.runs.glob("*-elsewhere")
        stream = events(server, run.name)
        seen = [next(stream)]
        assert seen[0]["state"] == "running"
        while not (seen[-1]["points"] and _is_validating(seen[-1])):
            seen.append(next(stream))
        validation = seen[-1]
        # 20 kpps from each of the two load streams, and the probe's thousand a second.
        assert validation["trial"]["load"] == "20 kpps"
        assert validation["points"][-1]["sent"] == pytest.approx(0.042, rel=0.05)
        assert validation["figures"]["loss"] == "0 %"
        assert validation["points"][-1]["latency"].keys() == {"p50", "p99", "p99.9", "max"}
        other.send_signal(signal.SIGTERM)
        other.wait(300)
        last = list(stream)[-1]
        assert last["state"] == "stopped"
        # Every finished trial was sent once, whatever of it a document had.
        numbers = [int(each["trial"]) for document in [*seen] for each in document["trials"]]
        assert numbers == sorted(set(numbers))
    finally:
        other.kill()
        other.wait()
