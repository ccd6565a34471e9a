"""A matrix's job, its indexes run as processes here, and their records through an S3 store.

The cells are the programs that the job's pods run, with the data of its config map; the store is
moto's model of S3 by its real protocol. The DUTs are simulated, so what they carry is known.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cluster.pods.cluster_client import ClusterPlace
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.export.object_store import Bucket
from plimsoll.methods.matrix import jobs as matrix_jobs
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.jobs import NO_RECORD, JobStore, MatrixJobs
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.matrix.run import RunNone, run_matrix
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.command import ROOT
from tests.unit.export.moto_store import KEY, client_of, moto_store

CAPACITIES = {1: 0.6e6, 2: 0.9e6, 3: 0.75e6}
MATRIX = """\
name: capacities
lab: {kind: simulated, model: {kind: fixed-capacity, capacity: 0.6Mpps}}
profile: {streams: [{name: load, role: load}]}
criteria: [{kind: loss-ratio, at_most: 0%}]
search: {minimum: 100kpps, maximum: 1Mpps, width: 2%, validation: {duration: 10s}}
matrix:
  sets: [{lab.model.capacity: [0.6Mpps, 0.9Mpps, 0.75Mpps]}]
"""


class Silent:
    """A listener to whom nothing matters."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


class JobsHere:
    """As much of a namespace as a matrix uses; a job's pods are processes on this machine."""

    def __init__(self, folder: Path, *, fails: frozenset[int] = frozenset()) -> None:
        self.place = ClusterPlace("lab", "bench")
        self.namespace = "bench"
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.counts: list[int] = []
        self._folder = folder
        self._fails = fails

    def create(self, manifest: dict[str, Any]) -> Mapping[str, Any]:
        made = {**manifest, "metadata": {**manifest["metadata"], "uid": "1"}}
        self.objects[manifest["kind"], manifest["metadata"]["name"]] = made
        if manifest["kind"] == "Job":
            self._run(made)
        return made

    def read(self, kind: str, name: str) -> Mapping[str, Any] | None:
        return self.objects.get((kind, name))

    def labelled(self, kind: str, selector: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(found for (each, _), found in self.objects.items() if each == kind)

    def delete(self, kind: str, name: str) -> None:
        self.objects.pop((kind, name), None)

    def _run(self, job: dict[str, Any]) -> None:
        spec = job["spec"]
        self.counts.append(spec["completions"])
        owner = job["metadata"]["ownerReferences"][0]["name"]
        cells = self._folder / f"cells-{len(self.counts)}"
        cells.mkdir()
        for name, text in self.objects["ConfigMap", owner]["data"].items():
            (cells / name).write_text(text)
        *_, mounted, _, run_id, url, endpoint = spec["template"]["spec"]["containers"][0]["command"]
        assert mounted == "/etc/plimsoll"
        volume = str(self._folder / f"volume-{len(self.counts)}")
        words = [str(cells), volume, run_id, url, endpoint]
        statuses = [self._index(index, words) for index in range(spec["completions"])]
        failed = sum(status != 0 for status in statuses)
        kind = "Failed" if failed else "Complete"
        job["status"] = {"failed": failed, "conditions": [{"type": kind, "status": "True"}]}

    def _index(self, index: int, words: list[str]) -> int:
        if index in self._fails:
            return 137
        found = subprocess.run(
            [sys.executable, "-m", "plimsoll.methods.matrix.job_cell", *words],
            cwd=ROOT,
            env={**os.environ, "JOB_COMPLETION_INDEX": str(index)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stdout + found.stderr
        return found.returncode


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JobStore]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY.user)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY.secret)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with moto_store() as endpoint:
        client_of(endpoint).create_bucket(Bucket="bench")
        yield JobStore(Bucket.of("s3://bench/x", endpoint), "s3://bench/x")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    path = tmp_path / "capacities.yaml"
    path.write_text(MATRIX)
    return begin_matrix(load_matrix(path), tmp_path / "runs")


def run_jobs(here: JobsHere, run: RunDirectory, store: JobStore) -> list[str]:
    said: list[str] = []
    experiment = matrix_jobs.read_experiment_of(run)
    plan = plan_pods(experiment, "registry.lab/plimsoll", hugepages=False)
    MatrixJobs(here, run, store, said.append).execute(plan, None)  # type: ignore[arg-type]
    return said


@pytest.mark.slow
def test_each_sample_comes_back_with_what_its_dut_carries(
    tmp_path: Path, run: RunDirectory, store: JobStore
) -> None:
    here = JobsHere(tmp_path)
    run_jobs(here, run, store)
    assert (here.counts, here.objects) == ([3], {})
    result = run_matrix(run, Silent(), lambda _: None, course=RunNone(NO_RECORD))
    for iteration in result.iterations:
        (sample,) = iteration.samples
        assert sample.load_line_pps == pytest.approx(CAPACITIES[iteration.number], rel=0.03)


@pytest.mark.full
def test_a_sample_without_a_record_is_run_by_the_next_job_alone(
    tmp_path: Path, run: RunDirectory, store: JobStore
) -> None:
    run_jobs(JobsHere(tmp_path, fails=frozenset({1})), run, store)
    result = run_matrix(run, Silent(), lambda _: None, course=RunNone(NO_RECORD))
    assert [each.samples[0].load_line_pps is None for each in result.iterations] == [
        False,
        True,
        False,
    ]
    again = JobsHere(tmp_path / "again")
    (tmp_path / "again").mkdir()
    run_jobs(again, run, store)
    assert again.counts == [1]
    assert matrix_jobs.unfinished(run) == ()
