import json
from pathlib import Path

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.export.record_store import stored_id
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.jobs import (
    CELLS_FILE,
    cell_files,
    cells_of,
    job_manifest,
    stored_id_of,
)
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.record.run.run_directory import RunDirectory

OWNER = {"metadata": {"name": "plimsoll-0123456789", "uid": "1f2e"}}
MATRIX = """\
name: sizes
lab: {kind: testpmd-memif, cpu: 1}
generator: {cpus: [0]}
profile: {streams: [{name: load, role: load, frame_size: 64}]}
search: {minimum: 100kpps, maximum: 1Mpps}
matrix:
  samples: 2
  sets: [{"profile.streams[load].frame_size": [64, 1518]}]
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    # What this machine has is no matter for what runs elsewhere.
    path = tmp_path / "sizes.yaml"
    path.write_text(MATRIX)
    return begin_matrix(load_matrix(path), tmp_path / "runs")


def test_each_sample_is_an_index_with_its_experiment(run: RunDirectory) -> None:
    cells = cells_of(run)
    assert [each.folder for each in cells] == [
        "iteration-0001/sample-1",
        "iteration-0002/sample-1",
        "iteration-0001/sample-2",
        "iteration-0002/sample-2",
    ]
    files = cell_files(run, cells)
    assert [each["folder"] for each in json.loads(files[CELLS_FILE])] == [
        each.folder for each in cells
    ]
    sizes = [
        yaml.safe_load(files[f"iteration-{n}.yaml"])["profile"]["streams"][0]["frame_size"]
        for n in (1, 2)
    ]
    assert sizes == [64, 1518]


def test_a_sample_is_found_in_the_store_under_the_name_that_its_pod_gives_it(
    run: RunDirectory,
) -> None:
    for cell in cells_of(run):
        there = RunDirectory.within(run.path / cell.folder, {"name": "x"})
        assert stored_id_of(run, cell) == stored_id(there)


def job(folder: Path, *, queue: str | None = None) -> dict[str, object]:
    path = folder / "one.yaml"
    path.write_text(MATRIX.partition("matrix:")[0])
    plan = plan_pods(load_experiment(path), "registry.lab/plimsoll", hugepages=False)
    return job_manifest(
        "plimsoll-0123456789",
        "20260101T000000-sizes",
        plan,
        OWNER,
        count=4,
        store=("s3://bench/x", "http://minio:9000"),
        secret="bench-key",  # noqa: S106 - the name of one
        queue=queue,
    )


def test_samples_run_at_once_one_on_a_node(tmp_path: Path) -> None:
    spec = job(tmp_path)["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)
    assert spec["backoffLimitPerIndex"] == 0
    pod = spec["template"]["spec"]
    (rule,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    selected = rule["labelSelector"]["matchLabels"].items()
    assert selected <= spec["template"]["metadata"]["labels"].items()
    (container,) = pod["containers"]
    assert container["command"][-2:] == ["s3://bench/x", "http://minio:9000"]
    assert container["envFrom"] == [{"secretRef": {"name": "bench-key"}}]
    # A secret is never in the object itself.
    assert "SECRET" not in json.dumps(container)


def test_a_queue_of_kueues_starts_it(tmp_path: Path) -> None:
    queued = job(tmp_path, queue="benches")
    assert queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "benches"
    assert queued["spec"]["suspend"] is True
    # Kueue's documentation, "Run Kubernetes Jobs", partial admission.
    partly = "kueue.x-k8s.io/job-min-parallelism"
    assert queued["metadata"]["annotations"][partly] == "1"
    assert partly not in job(tmp_path)["metadata"]["annotations"]
    assert job(tmp_path)["spec"]["suspend"] is False
