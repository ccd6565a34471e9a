"""Documents in a real OpenSearch: one node on loopback, of its artifacts in Maven Central.

Skipped where there is no JDK, no Maven, or no way to those artifacts.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from plimsoll.export.cdm.document import CdmDocument, CdmVersion
from plimsoll.export.cdm.documents import RunDocuments
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.export.opensearch.bulk import load, prepare_indices
from plimsoll.export.opensearch.server import RetryPolicy, Server
from tests.free_ports import free_ports
from tests.unit.export.exported_run import BEGIN_MS, small_run

HERE = Path(__file__).parent / "opensearch_node"
FETCH_S = 240.0
START_S = 120.0


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    folder = tmp_path_factory.mktemp("jars")
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    # Maven writes beside the file that it reads.
    shutil.copy(HERE / "pom.xml", folder / "pom.xml")
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=FETCH_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"Maven cannot fetch OpenSearch: {error}")
    return folder


@pytest.fixture(scope="module")
def url(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("node")
    http, transport = free_ports(2)
    command = ["java", "-Xmx512m", "-cp", f"{jars}/*", str(HERE / "LoopbackNode.java")]
    with (home / "log").open("w") as log:
        node = subprocess.Popen(
            [*command, str(home), str(http), str(transport)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
        try:
            wait_until_up(node, f"http://127.0.0.1:{http}", home / "log")
            yield f"http://127.0.0.1:{http}"
        finally:
            assert node.stdin is not None
            node.stdin.close()
            try:
                node.wait(timeout=30)
            except subprocess.TimeoutExpired:
                node.kill()
                node.wait()


def wait_until_up(node: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and node.poll() is None:
        try:
            urllib3.request("GET", url, timeout=5, retries=False)
        except urllib3.exceptions.HTTPError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"OpenSearch did not start: {log.read_text()[-2000:]}")


def ask(url: str, path: str, body: object = None) -> Any:
    method = "GET" if body is None else "POST"
    answer = urllib3.request(method, f"{url}/{path}", json=body, timeout=60)
    return answer.json()


@pytest.mark.parametrize("version", CdmVersion)
def test_a_run_can_be_requested_as_crucible_does(
    url: str, version: CdmVersion, tmp_path: Path
) -> None:
    run = small_run(tmp_path)
    made = list(RunDocuments(run, outline_of(run), version, tags={"dut": "testpmd"}))
    server, patience = Server(url), RetryPolicy()
    indices = RunDocuments(run, outline_of(run), version).indices
    assert set(prepare_indices(server, indices, version, patience, make=True)) == set(
        indices.values()
    )
    for _ in range(2):
        # The second time everything replaces itself.
        loaded = load(server, made, patience)
        assert (loaded.taken, loaded.failed) == (len(made), 0)
        ask(url, "_refresh", {})
        for kind, index in indices.items():
            count = ask(url, f"{index}/_count")["count"]
            assert count == sum(document.kind == kind for document in made)
    assert rates(url, indices) == {"0": 1900.0 + 1000.0, "1": 1900.0 + 1000.0}
    assert prepare_indices(server, indices, version, patience, make=False) == ()


def rates(url: str, indices: Any) -> dict[str, float]:
    """The frames a second on each port in the measurement, both trials being at that time.

    Found as Crucible's queries find them: descriptors by terms, then an average of what is
    within the period, weighted by duration, times the descriptors that it is of.
    """
    named = {"term": {"period.name": "measurement"}}
    (hit,) = ask(url, f"{indices['period']}/_search", {"query": named})["hits"]["hits"]
    period = hit["_source"]["period"]
    assert (period["begin"], period["end"]) == (BEGIN_MS, BEGIN_MS + 1999)
    found = {}
    for port in ("0", "1"):
        terms = [
            {"term": {"metric_desc.type": "rx-pps"}},
            {"term": {"metric_desc.names.rx_port": port}},
        ]
        query = {"query": {"bool": {"filter": terms}}}
        (hit,) = ask(url, f"{indices['metric_desc']}/_search", query)["hits"]["hits"]
        series = hit["_source"]["metric_desc"]["metric_desc-uuid"]
        within = [
            {"term": {"metric_desc.metric_desc-uuid": series}},
            {"range": {"metric_data.begin": {"gte": period["begin"]}}},
            {"range": {"metric_data.end": {"lte": period["end"]}}},
        ]
        aggregation = {
            "average": {
                "weighted_avg": {
                    "value": {"field": "metric_data.value"},
                    "weight": {"field": "metric_data.duration"},
                }
            },
            "time": {"sum": {"field": "metric_data.duration"}},
        }
        query_ = {"size": 0, "query": {"bool": {"filter": within}}, "aggs": aggregation}
        answer = ask(url, f"{indices['metric_data']}/_search", query_)["aggregations"]
        length = period["end"] - period["begin"] + 1
        found[port] = answer["average"]["value"] * answer["time"]["value"] / length
    return found


def test_a_field_that_cdm_has_not_is_refused_and_reported(url: str) -> None:
    index = {"tag": CdmVersion.V9.index_of("tag", BEGIN_MS)}
    server, patience = Server(url), RetryPolicy()
    prepare_indices(server, index, CdmVersion.V9, patience, make=True)
    odd = CdmDocument("tag", index["tag"], "odd", '{"tag":{"colour":"blue"}}')
    loaded = load(server, [odd], patience)
    assert (loaded.taken, loaded.failed) == (0, 1)
    assert "1 tag: strict_dynamic_mapping_exception" in str(loaded)
    assert ask(url, f"{index['tag']}/_doc/odd")["found"] is False
