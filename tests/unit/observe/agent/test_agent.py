"""The agent, driven by hand and as a process."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.host.processes.child import WORKING_DIRECTORY, module_argv, module_environment
from plimsoll.observe.agent.agent import Agent
from plimsoll.observe.agent.host_agent import AgentFailed, HostAgent
from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.metrics.metrics import MetricsWriter, read_metrics
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.version import VERSION
from tests.this_thread import in_this_thread

OPEN = {"request": "open", "observation": {"interval_s": 0.1, "sources": ["mpstat"]}}
BEGIN = {"request": "begin", "period": "trial-0001"}
END = {"request": "end"}


class AgentSession:
    """An agent in this process; what it wrote, as objects."""

    def __init__(self, tree: Path) -> None:
        self.lines: list[str] = []
        self.agent = Agent(self.lines.extend, HostFiles(tree / "proc", tree / "sys"))

    def ask(self, *requests: object) -> dict[str, object]:
        for request in requests:
            self.agent.answer(json.dumps(request).encode())
        reply = json.loads(self.lines[-1])
        assert isinstance(reply, dict)
        return reply


@pytest.fixture
def session(tmp_path: Path) -> AgentSession:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text("cpu 0\ncpu0 5 0 0 5 0 0 0 0 0 0\nintr 0\n")
    return AgentSession(tmp_path)


def test_it_says_what_it_reads_and_where_it_runs(session: AgentSession) -> None:
    reply = session.ask(OPEN)
    assert (reply["reply"], reply["sources"], reply["missing"]) == ("opened", ["mpstat"], {})
    assert reply["pid"] == os.getpid()
    assert reply["interval_s"] == 0.1


def test_a_hosts_name_is_text_whatever_its_bytes_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: os.fsdecode(b"dut\xff\x1b7"))
    reply = AgentSession(tmp_path).ask({**OPEN, "observation": {"sources": ["smi"]}})
    assert reply["hostname"] == "dut\\xff\\x1b7"


def test_a_source_that_is_not_there_is_said_with_the_reason(
    session: AgentSession, tmp_path: Path
) -> None:
    (tmp_path / "proc/stat").unlink()
    reply = session.ask(OPEN)
    assert reply["sources"] == []
    missing = reply["missing"]
    assert isinstance(missing, dict)
    assert "No such file or directory" in missing["mpstat"]


def test_a_period_ends_with_a_last_reading(session: AgentSession, tmp_path: Path) -> None:
    session.ask(OPEN, BEGIN)
    (tmp_path / "proc/stat").write_text("cpu 0\ncpu0 8 0 0 6 0 0 0 0 0 0\nintr 0\n")
    reply = session.ask(END)
    assert (reply["reply"], reply["ticks"], reply["skipped"]) == ("ended", 1, 0)
    tick = next(json.loads(line) for line in session.lines if '"values"' in line)
    assert 0.75 in tick["values"]


def test_nothing_is_due_before_a_period_and_after_it(session: AgentSession) -> None:
    session.ask(OPEN)
    assert session.agent.wait_s() is None
    session.ask(BEGIN)
    assert session.agent.wait_s() is not None
    session.ask(END)
    assert session.agent.wait_s() is None


def test_readings_that_were_missed_are_counted_and_not_made_up_for(
    session: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.ask(OPEN, BEGIN)
    later_ns = time.monotonic_ns() + 10**9
    monkeypatch.setattr(time, "monotonic_ns", in_this_thread(time.monotonic_ns, lambda: later_ns))
    session.agent.read_if_due()
    session.agent.read_if_due()
    reply = session.ask(END)
    assert reply["ticks"] == 2
    assert reply["skipped"] in (8, 9)


@pytest.mark.parametrize(
    ("request_line", "problem"),
    [
        (b"[]", "not an object"),
        (b"{", "JSONDecodeError"),
        (b'{"request":"begin"}', "not now, or not known: 'begin'"),
        (b'{"request":"end"}', "not now, or not known: 'end'"),
        (b'{"request":"open","observation":{"interval_s":0.01}}', "greater than or equal to 0.1"),
        (b'{"request":"open","observation":{"sources":["nothing"]}}', "no source nothing"),
        (b'{"request":"open","observation":{"run_on":[8000]}}', "Invalid argument"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"request":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, "nested too deep"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(
    session: AgentSession, request_line: bytes, problem: str
) -> None:
    session.agent.answer(request_line)
    reply = json.loads(session.lines[-1])
    assert reply["reply"] == "refused"
    assert problem in reply["problem"]


def test_a_process_that_was_sent_nonsense_still_answers() -> None:
    with subprocess.Popen(
        module_argv("plimsoll.observe"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=module_environment(os.environ),
        cwd=WORKING_DIRECTORY,
    ) as process:
        said, _ = process.communicate(b"[" * 20_000 + b"\n" + json.dumps(OPEN).encode() + b"\n")
    replies = [json.loads(line)["reply"] for line in said.splitlines()]
    assert replies == ["refused", "opened"]
    assert process.returncode == 0


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "observed", {})


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostAgent]:
    agent = HostAgent("here", module_argv("plimsoll.observe"), tmp_path / "log", os.environ)
    yield agent
    agent.close()


def test_a_process_writes_what_it_sees_into_the_period(host: HostAgent, run: RunDirectory) -> None:
    opened = host.open(Observation(interval_s=0.1, sources=("mpstat",)))
    assert opened.pid == host.identity.pid
    with MetricsWriter(run, "trial-0001", opened.hostname) as writer:
        host.begin("trial-0001", writer)
        while len(read_metrics(run)) < 20:
            time.sleep(0.05)
        ended = host.end()
        writer.finish()
    assert ended.ticks >= 1
    rows = read_metrics(run)
    assert {row.names["hostname"] for row in rows} == {opened.hostname}
    assert {row.period for row in rows} == {"trial-0001"}
    # The next period stands for itself.
    with MetricsWriter(run, "trial-0002", opened.hostname) as writer:
        host.begin("trial-0002", writer)
        assert host.end().ticks == 1
        writer.finish()


def test_an_agent_that_was_killed_is_reported_and_what_it_saw_is_kept(
    host: HostAgent, run: RunDirectory
) -> None:
    opened = host.open(Observation(interval_s=0.1, sources=("mpstat",)))
    with MetricsWriter(run, "trial-0001", opened.hostname) as writer:
        host.begin("trial-0001", writer)
        while not read_metrics(run):
            time.sleep(0.05)
        os.kill(opened.pid, signal.SIGKILL)
        with pytest.raises(AgentFailed, match="the observer has ended") as caught:
            host.end()
        writer.finish()
    assert caught.value.where == "observe: here"
    assert "leave the host out" in caught.value.remedy
    assert read_metrics(run) != []


def test_what_an_agent_says_before_it_dies_is_in_the_error(tmp_path: Path) -> None:
    agent = HostAgent("far", ("sh", "-c", "echo no route >&2"), tmp_path / "log", os.environ)
    with pytest.raises(PlimsollError, match="the observer has ended: no route"):
        agent.open(Observation())
    agent.close()


OPENED = (
    '{"reply":"opened","version":"%s","hostname":"far","pid":1,"ran_on":"0","interval_s":1,'
    '"sources":[],"missing":{}}'
)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (OPENED % "0.0.9", f"is of version 0.0.9, and this is {VERSION}"),
        ('{"reply":"opened","hostname":5}', "gave an answer that is not understood: '{\"reply"),
        ('{"reply":"hello"}', "gave an answer that is not understood"),
        ('{"reply":[]}', "gave an answer that is not understood"),
        ('{"reply":"begun","unix_ns":1}', "answered begun"),
        ('{"reply":' + "[" * 20_000, "gave an answer that is not understood"),
        (
            '{"reply":"ended","ticks":1,"skipped":-1,"cpu_s":0,"missing":{}}',
            "gave an answer that is not understood",
        ),
        (
            '{"reply":"ended","ticks":1,"skipped":0,"cpu_s":NaN,"missing":{}}',
            "gave an answer that is not understood",
        ),
    ],
)
def test_an_agent_of_another_version_is_an_error(tmp_path: Path, answer: str, problem: str) -> None:
    # A shell may greet before it, which is no answer.
    said = f"Welcome to far\n{answer}\n"
    argv = ("sh", "-c", 'printf %s "$0"; exec cat', said)
    agent = HostAgent("far", argv, tmp_path / "log", os.environ)
    with pytest.raises(AgentFailed, match=re.escape(problem)):
        agent.open(Observation())
    agent.close()


def test_a_refusal_is_an_error(host: HostAgent) -> None:
    with pytest.raises(AgentFailed, match="refused: ValueError: no source nothing"):
        host.open(Observation(sources=("nothing",)))


def test_the_end_of_stdin_ends_it() -> None:
    with subprocess.Popen(
        module_argv("plimsoll.observe"),
        stdin=subprocess.PIPE,
        env=module_environment(os.environ),
        cwd=WORKING_DIRECTORY,
    ) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def test_its_clocks_are_those_of_the_kernel(session: AgentSession) -> None:
    before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    reply = session.ask({"request": "clock"})
    after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    assert reply["reply"] == "clock"
    raw_ns = reply["raw_ns"]
    assert isinstance(raw_ns, int)
    assert before_ns <= raw_ns <= after_ns


def test_a_host_without_cpus_under_test_has_no_trace_and_says_what_to_do(
    session: AgentSession,
) -> None:
    reply = session.ask(OPEN, {"request": "trace-open"})
    assert (reply["reply"], reply["loops"]) == ("trace-opened", [])
    assert reply["unavailable"] == "no CPU of it is named"
    assert "polled_cpus" in str(reply["remedy"])
    ticks = reply["ticks"]
    assert isinstance(ticks, dict)
    assert 0 < ticks["period_s"] <= 0.01
    # Nothing can be done with what is not there.
    assert session.ask({"request": "trace-start"})["problem"] == "ValueError: there is no trace"


def test_a_trace_is_opened_before_it_is_used(session: AgentSession) -> None:
    reply = session.ask(OPEN, {"request": "trace-read", "windows": [], "limit": 1})
    assert "not now, or not known: 'trace-read'" in str(reply["problem"])
