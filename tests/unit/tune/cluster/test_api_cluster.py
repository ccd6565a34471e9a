"""A live cluster through Kubernetes' own client, against an HTTP server of the test's own."""

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.host.kubernetes.api_client import connect
from plimsoll.tune.cluster.api_cluster import ApiCluster
from plimsoll.tune.cluster.cluster_audit import audit_cluster
from plimsoll.tune.cluster.kinds import (
    ALL_KINDS,
    CONSOLE,
    MONITORING_CONFIG,
    NODE,
    PERFORMANCE_PROFILE,
    POD,
    RUNTIME_CLASS,
)
from plimsoll.tune.host.view.unread import Unread
from tests.unit.tune.cluster.api_server import ApiServer, api_server, kubeconfig
from tests.unit.tune.cluster.clusters import intent, named, objects
from tests.worded.says import Says

pytest.importorskip("kubernetes", reason="the extra kube is not installed")


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with api_server(objects(), page=2) as running:
        yield running


@pytest.fixture
def config(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config"
    path.write_text(kubeconfig(server.url))
    monkeypatch.setenv("KUBECONFIG", str(path))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    return path


def pods(count: int) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{n}", "namespace": f"ns{n % 2}", "managedFields": [{"a": 1}]},
        }
        for n in range(count)
    ]


def _listed(kind: str, version: str, items: str | None = None, metadata: str = "{}") -> bytes:
    return (
        f'{{"kind": "{kind}", "apiVersion": "{version}", "metadata": {metadata}, '
        f'"items": {items or "[]"}}}'
    ).encode()


def test_a_cluster_as_expected_is_ok_in_every_check(config: Path, server: ApiServer) -> None:
    done = audit_cluster(ApiCluster(connect(kubeconfig=str(config))), intent())
    assert {each.verdict for each in done.findings} == {"ok"}
    assert done.source == server.url


def test_each_kind_is_listed_once_and_nothing_else_is_requested(
    config: Path, server: ApiServer
) -> None:
    audit_cluster(ApiCluster(connect(kubeconfig=str(config))), intent())
    assert len(server.requested) == len(set(server.requested))
    assert not any("secret" in path for path in server.requested)
    (of_config_maps,) = [path for path in server.requested if "configmaps" in path]
    assert of_config_maps.startswith("/api/v1/namespaces/openshift-monitoring/configmaps?")
    assert "cluster-monitoring-config" in of_config_maps


def test_all_pages_are_read_and_slimmed(config: Path, server: ApiServer) -> None:
    server.given = pods(5)
    view = ApiCluster(connect(kubeconfig=str(config)))
    found = view.need(POD)
    assert named(found) == ["p0", "p1", "p2", "p3", "p4"]
    assert named(view.need(POD, "ns1")) == ["p1", "p3"]
    assert found[0]["kind"] == "Pod"
    assert "managedFields" not in found[0]["metadata"]
    assert sum("/pods" in path for path in server.requested) == 3


@pytest.mark.parametrize(
    ("status", "cause"),
    [(403, "forbidden"), (404, "absent"), (410, "unreadable"), (500, "unreadable")],
)
def test_a_kind_that_is_refused_is_reported_with_the_servers_word(
    config: Path, server: ApiServer, status: int, cause: str, says: Says
) -> None:
    server.refused["performanceprofiles"] = (status, "No Thanks")
    unread = ApiCluster(connect(kubeconfig=str(config))).listed(PERFORMANCE_PROFILE)
    assert isinstance(unread, Unread)
    assert (unread.where, unread.cause) == ("performanceprofiles.performance.openshift.io", cause)
    assert unread.reason == says(str(status))


def test_a_refusal_names_the_right_that_is_missing(
    config: Path, server: ApiServer, says: Says
) -> None:
    said = 'User "me" cannot list resource "nodes" in API group "" at the cluster scope'
    server.refused["nodes"] = (403, "Forbidden")
    server.messages["nodes"] = f"nodes is forbidden: {said}"
    unread = ApiCluster(connect(kubeconfig=str(config))).listed(NODE)
    assert str(unread) == says("nodes", "403", str(said))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        *((nothing, "Internal Server Error") for nothing in (None, 7, "")),
        ("etcd" * 200, "etcd" * 100),
    ],
)
def test_a_refusal_is_reported_in_bounds_and_without_words_by_its_status(
    config: Path, server: ApiServer, body: Any, message: str
) -> None:
    server.refused["nodes"] = (500, "Internal Server Error")
    server.messages["nodes"] = body
    unread = ApiCluster(connect(kubeconfig=str(config))).listed(NODE)
    assert isinstance(unread, Unread)
    assert unread.reason == f"500 {message}"


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (b"<html>", ()),
        (b"[" * 100_000, ()),
        (b'"text"', ()),
        (b"[]", ()),
        (b"{}", ()),
        (b'{"items": 7}', ()),
        (b'{"items": []}', ()),
        (b'{"kind": "NodeList"}', ()),
        (b'{"kind": "NodeList", "items": 7}', ()),
        (b'{"kind": "NodeList", "metadata": {}, "items": [7]}', ()),
        (
            b'{"kind": "NodeList", "metadata": {}, "items": [{}]}',
            (),
        ),
        (b'{"kind": "Status", "status": "Failure"}', ()),
        (b'{"kind": "NodeList", "apiVersion": "v1", "items": []}', ()),
        (_listed("NodeList", "v1", None, '{"continue": 7}'), ()),
        (_listed("PodList", "v1"), ("NodeList", "v1")),
        (_listed("List", "v1"), ("NodeList", "v1")),
        (_listed("PodList", "v1", "null"), ("NodeList", "v1")),
        (_listed("NodeList", "v2"), ("NodeList", "v1")),
        (_listed("NodeList", "v1", '[{"kind": "Pod", "metadata": {"name": "a"}}]'), ()),
        (_listed("NodeList", "v1", '[{"metadata": {"name": "a"}, "x": NaN}]'), ()),
        (_listed("NodeList", "v1", '[{"metadata": {"name": "a"}, "x": -Infinity}]'), ()),
    ],
)
def test_an_answer_that_is_no_list_leaves_the_kind_unknown(
    config: Path, server: ApiServer, answer: bytes, facts: tuple[str, ...], says: Says
) -> None:
    server.answers[NODE.path] = answer
    found = ApiCluster(connect(kubeconfig=str(config))).listed(NODE)
    assert isinstance(found, Unread)
    assert found.cause == "unreadable"
    assert found.reason == says(*facts)


def test_a_list_without_entries_may_be_null(config: Path, server: ApiServer) -> None:
    server.answers[NODE.path] = (
        b'{"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": null}'
    )
    assert ApiCluster(connect(kubeconfig=str(config))).listed(NODE) == ()


def test_what_every_cluster_has_is_not_absent(config: Path, server: ApiServer) -> None:
    server.refused["nodes"] = server.refused["runtimeclasses"] = (404, "Not Found")
    view = ApiCluster(connect(kubeconfig=str(config)))
    for kind in (NODE, RUNTIME_CLASS):
        found = view.listed(kind)
        assert isinstance(found, Unread)
        assert found.cause == "unreadable"


def _junk(server: ApiServer, answer: bytes) -> None:
    server.answers |= dict.fromkeys(["/version", *(kind.path for kind in ALL_KINDS)], answer)


def _broken(server: ApiServer, status: int) -> None:
    server.refused |= {kind.plural: (status, "Broken") for kind in ALL_KINDS}
    server.answers["/version"] = b"{}"


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>OK</html>",
        b"{}",
        b'{"items": []}',
        b"[1]",
        b"null",
        _listed("List", "v1", "null"),
    ],
)
def test_of_a_server_that_answers_junk_nothing_is_known(
    config: Path, server: ApiServer, answer: bytes
) -> None:
    _junk(server, answer)
    done = audit_cluster(ApiCluster(connect(kubeconfig=str(config))), intent())
    assert {each.verdict for each in done.findings} == {"unknown"}


def test_of_a_server_that_lists_pods_whatever_it_is_asked_pods_alone_are_known(
    config: Path, server: ApiServer
) -> None:
    _junk(server, _listed("PodList", "v1", '[{"metadata": {"name": "x", "namespace": "y"}}]'))
    view = ApiCluster(connect(kubeconfig=str(config)))
    found = {each.verdict for each in audit_cluster(view, intent()).findings}
    assert found == {"unknown", "not-applicable"}
    assert named(view.need(POD)) == ["x"]


@pytest.mark.parametrize("status", [404, 500, 502])
def test_of_a_server_that_serves_nothing_nothing_is_known(
    config: Path, server: ApiServer, status: int
) -> None:
    _broken(server, status)
    done = audit_cluster(ApiCluster(connect(kubeconfig=str(config))), intent())
    assert {each.verdict for each in done.findings} == {"unknown"}


def test_a_server_that_goes_away_makes_the_rest_unknown(tmp_path: Path, config: Path) -> None:
    with api_server(objects()) as brief:
        config.write_text(kubeconfig(brief.url))
        view = ApiCluster(connect(kubeconfig=str(config)))
    unread = view.listed(CONSOLE)
    assert isinstance(unread, Unread)
    assert unread.cause == "unreadable"


def test_one_object_by_name_is_found(config: Path) -> None:
    view = ApiCluster(connect(kubeconfig=str(config)))
    assert named(view.need(MONITORING_CONFIG)) == ["cluster-monitoring-config"]


def test_a_server_that_does_not_answer_is_reported_with_its_place(config: Path, says: Says) -> None:
    with pytest.raises(MachineError) as refused:
        connect("nowhere", str(config))
    assert refused.value.where == "http://127.0.0.1:1"
    assert refused.value == says("http://127.0.0.1:1", "--context")
    assert "--context" in refused.value.remedy


def test_who_has_no_valid_token_is_sent_to_log_in(
    config: Path, server: ApiServer, says: Says
) -> None:
    config.write_text(kubeconfig(server.url, "stale"))
    with pytest.raises(MachineError) as refused:
        connect(kubeconfig=str(config))
    assert refused.value == says("--context")
    assert "oc login" in refused.value.remedy
    assert "stale" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "context"),
    [("{}", None), ("a: [", None), ("", None), ("7", None), (None, "elsewhere")],
)
def test_a_kubeconfig_that_is_none_is_named(
    config: Path, text: str | None, context: str | None, says: Says
) -> None:
    if text is not None:
        config.write_text(text)
    with pytest.raises(InputError) as refused:
        connect(context, str(config))
    assert refused.value == says("config")
    assert refused.value.where == str(config)
    assert "get-contexts" in refused.value.remedy


def test_without_the_package_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "kubernetes":
            raise ImportError(name)
        return genuine(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MachineError) as refused:
        connect()
    assert refused.value == says("EXTRAS=kube")
