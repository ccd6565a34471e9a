"""No client of ours takes a credential to another origin, whatever a server redirects it to.

Each asks a real server, which redirects to a second one: on another port, on another address, or
without TLS.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.churn.kpis.prometheus import PrometheusClient, PrometheusSettings
from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.export.credentials import Credentials
from plimsoll.export.object_store import Bucket, opened
from plimsoll.export.opensearch.server import Server
from plimsoll.export.output_file import ExportError
from plimsoll.export.record_store import stored_objects
from plimsoll.host.kubernetes.api_client import ApiClient, configured_client, connect
from plimsoll.tune.redfish.bmc_credentials import BmcCredentials
from plimsoll.tune.redfish.read_bios import read_bios
from tests.integration.parallel.origins import Origin, make_certificates, origin
from tests.unit.tune.redfish.bmc import answers

TOKEN = "sha256~of-this-test-alone"  # noqa: S105
PASSWORD = "correct horse"  # noqa: S105
USER_AND_PASSWORD = base64.b64encode(f"reader:{PASSWORD}".encode())
SESSION = "session-of-this-test-alone"
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDOFTHISTEST",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_SESSION_TOKEN": SESSION,
}
TOKEN_VARIABLE = "TEST_TOKEN"  # noqa: S105 - its name
REDIRECTIONS = (301, 302, 303, 307, 308)
# How the second server differs from the first: its port, with or without TLS, its address, and
# that it is without TLS.
ELSEWHERE = ("port", "port by TLS", "address", "TLS")


@dataclass(frozen=True)
class Asked:
    """A client's request to the first server, and what that is shown of the credential."""

    ask: Callable[[str, Path, Path], object]
    secret: bytes
    # Where the error says that the right server would be written.
    setting: str
    plain: bool = True
    web_socket: bool = False


def kubeconfig(server: str, authority: Path, folder: Path, user: dict[str, Any]) -> str:
    cluster = {"server": server, "certificate-authority": str(authority)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def kube(server: str, authority: Path, folder: Path) -> str:
    return kubeconfig(server, authority, folder, {"token": TOKEN})


def place() -> ClusterPlace:
    return ClusterPlace(None, "bench")


def prometheus(url: str, _: Path, __: Path) -> object:
    settings = PrometheusSettings(url=url, token_variable=TOKEN_VARIABLE)
    return PrometheusClient(settings).value("up", 0)


def reading(url: str, authority: Path, folder: Path) -> object:
    return connect(None, kube(url, authority, folder))


def making(url: str, authority: Path, folder: Path) -> object:
    client = ClusterClient.connect(place(), kube(url, authority, folder))
    return client.create({"kind": "Pod", "metadata": {"name": "x"}})


def metrics(url: str, authority: Path, folder: Path) -> object:
    return ApiClient.of(None, kube(url, authority, folder)).text("/metrics")


def running(url: str, authority: Path, folder: Path) -> object:
    client = ClusterClient.connect(place(), kube(url, authority, folder))
    return client.run_in("pod", "container", ["sh"])


def opensearch(url: str, authority: Path, _: Path) -> object:
    return Server(url, Credentials("reader", PASSWORD), ca_file=authority).ask("HEAD", "/index")


def object_put(url: str, _: Path, folder: Path) -> None:
    bucket = Bucket.of("s3://bucket/x", url)
    (folder / "part").write_bytes(b"rows")
    with opened(bucket) as there:
        there.put_file("x/part", folder / "part")


def object_list(url: str, _: Path, __: Path) -> object:
    return list(stored_objects(Bucket.of("s3://bucket/x", url)))


def bmc(url: str, authority: Path, _: Path) -> object:
    return read_bios(url, BmcCredentials("reader", PASSWORD), authority)


CLIENTS = {
    "prometheus": Asked(prometheus, TOKEN.encode(), "cluster.prometheus.url"),
    "kubernetes-read": Asked(reading, TOKEN.encode(), "the kubeconfig"),
    "kubernetes-create": Asked(making, TOKEN.encode(), "the kubeconfig"),
    "kubernetes-metrics": Asked(metrics, TOKEN.encode(), "the kubeconfig"),
    "kubernetes-exec": Asked(running, TOKEN.encode(), "the kubeconfig", web_socket=True),
    "opensearch": Asked(opensearch, USER_AND_PASSWORD, "--to"),
    "s3-put": Asked(object_put, SESSION.encode(), "--endpoint"),
    "s3-list": Asked(object_list, SESSION.encode(), "--endpoint"),
    "redfish": Asked(bmc, USER_AND_PASSWORD, "--bmc", plain=False),
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def environment(certificates: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        **AWS,
        TOKEN_VARIABLE: TOKEN,
        "SSL_CERT_FILE": str(certificates[0]),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def two_servers(name: str, elsewhere: str, certificate: Path) -> Iterator[tuple[Origin, Origin]]:
    """The one that is asked, and the one it redirects to."""
    plain = CLIENTS[name].plain
    host = "127.0.0.2" if elsewhere == "address" else "127.0.0.1"
    with (
        origin(certificate=None if plain and elsewhere != "TLS" else certificate) as first,
        origin(
            host=host, certificate=None if plain or elsewhere == "TLS" else certificate
        ) as second,
    ):
        # Which a BMC gives to everybody: only then it is asked with a password.
        first.answers = {"/redfish/v1/": json.dumps(answers("hpe")["/redfish/v1"]).encode()}
        first.location = lambda path: address_of(name, second) + path
        yield first, second


def address_of(name: str, second: Origin) -> str:
    return second.url.replace("http", "ws", 1) if CLIENTS[name].web_socket else second.url


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize("status", REDIRECTIONS)
@pytest.mark.parametrize("name", CLIENTS)
def test_nothing_reaches_the_second_server(
    name: str, status: int, elsewhere: str, certificates: tuple[Path, Path], tmp_path: Path
) -> None:
    asked, (authority, certificate) = CLIENTS[name], certificates
    with two_servers(name, elsewhere, certificate) as (first, second):
        first.status = status
        with pytest.raises(PlimsollError) as refused:
            asked.ask(first.url, authority, tmp_path)
    assert asked.secret in first.received
    assert second.requests == []
    assert second.connections == 0
    # obstore follows an upload by 303 alone, and does not say where others lead.
    unnamed = name == "s3-put" and status != 303 and elsewhere == "TLS"
    named = "another address" if unnamed else address_of(name, second)
    assert f"redirects to {named}" in refused.value.message
    assert asked.setting in refused.value.remedy
    assert refused.value.where.startswith((first.url, "s3://bucket", "bucket"))


@pytest.mark.usefixtures("environment")
def test_a_redirection_within_the_bmc_is_followed(certificates: tuple[Path, Path]) -> None:
    """Some write every address with a slash at its end."""
    found = {f"{path}/": json.dumps(each).encode() for path, each in answers("hpe").items()}
    with origin(certificate=certificates[1]) as first:
        first.answers = found
        first.location, first.status = lambda path: f"{path}/", 308
        answer = read_bios(first.url, BmcCredentials("reader", PASSWORD), certificates[0])
    assert answer.vendor == "HPE"
    assert answer.attributes["ProcHyperthreading"] == "Disabled"


@pytest.mark.usefixtures("environment")
def test_a_bmc_that_redirects_in_a_circle_is_left(certificates: tuple[Path, Path]) -> None:
    with origin(certificate=certificates[1]) as first:
        first.location = lambda path: path
        with pytest.raises(MachineError, match="again and again"):
            read_bios(first.url, BmcCredentials("reader", PASSWORD), certificates[0])
    assert len(first.requests) == 4


def expired_login(issuer: str, authority: Path) -> dict[str, Any]:
    """Of a user whose identity token ended in 2001 (kubectl's auth-provider oidc)."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": 1_000_000_000}).encode()).rstrip(b"=")
    config = {
        "idp-issuer-url": issuer,
        "idp-certificate-authority": str(authority),
        "client-id": "plimsoll",
        "client-secret": "secret-of-the-client",
        "id-token": f"e30.{claims.decode()}.c2ln",
        "refresh-token": "refresh-of-this-test",
    }
    return {"auth-provider": {"name": "oidc", "config": config}}


@pytest.mark.usefixtures("environment")
def test_a_refresh_token_goes_nowhere(certificates: tuple[Path, Path], tmp_path: Path) -> None:
    """The package would post it to its issuer, and again to wherever that redirects."""
    authority, own = certificates
    with origin(certificate=own) as issuer, origin() as second:
        issuer.location = lambda path: second.url + path
        found = {"token_endpoint": f"{issuer.url}/token"}
        issuer.answers = {"/.well-known/openid-configuration": json.dumps(found).encode()}
        user = expired_login(issuer.url, authority)
        path = kubeconfig("https://127.0.0.1:1", authority, tmp_path, user)
        with pytest.raises(InputError, match="the login has expired") as refused:
            ApiClient(configured_client(None, path))
    assert (issuer.connections, second.connections) == (0, 0)
    assert refused.value.where == path


CONTAINER_KEY = {
    "AccessKeyId": "AKIDOFTHECONTAINER",
    "SecretAccessKey": "secret",
    "Token": SESSION,
    "Expiration": "2100-01-01T00:00:00Z",
}
ASSUMED_ROLE = f"""\
<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
<AccessKeyId>AKIDOFTHEROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
<SessionToken>{SESSION}</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"""


def asked_for_a_list(url: str, credentials: Credentials | None = None) -> None:
    """Its answer is none of S3's, which does not matter here."""
    with pytest.raises(ExportError):
        list(stored_objects(Bucket.of("s3://bucket/x", url, credentials)))


@pytest.mark.usefixtures("environment")
def test_a_key_in_a_file_goes_without_the_sessions_token_of_another() -> None:
    with origin() as storage:
        asked_for_a_list(storage.url, Credentials("AKIDOFTHEFILE", "secret"))
    assert b"Credential=AKIDOFTHEFILE/" in storage.received
    assert SESSION.encode() not in storage.received


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("source", ["container", "web identity"])
def test_keys_that_a_service_gives_still_come(
    source: str,
    certificates: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a container's metadata, and of AWS's service for the tokens of pods."""
    for name in AWS:
        monkeypatch.delenv(name)
    token = tmp_path / "token"
    token.write_text("of-the-pod")
    by_tls = certificates[1] if source == "web identity" else None
    with origin(certificate=by_tls) as service, origin() as storage:
        service.answers = {
            "/": ASSUMED_ROLE.encode(),
            "/key": json.dumps(CONTAINER_KEY).encode(),
        }
        variables = {
            "container": {
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{service.url}/key",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token),
            },
            "web identity": {
                "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
                "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
                "AWS_ENDPOINT_URL_STS": service.url,
            },
        }[source]
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        asked_for_a_list(storage.url)
    assert b"of-the-pod" in service.received
    assert SESSION.encode() in storage.received
