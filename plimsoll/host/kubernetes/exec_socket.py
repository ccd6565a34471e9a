"""The web socket of a command in a container, to the API server and nowhere else.

It is connected here and not by the package, which sends the token again to whatever host a
redirection names, encrypted or not.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from plimsoll.host.http.redirected import REDIRECTIONS, Redirected
from plimsoll.host.kubernetes.client_settings import SERVER_SETTING

_PROTOCOLS = "v5.channel.k8s.io,v4.channel.k8s.io"


def connect_exec(
    client: Any, namespace: str, pod: str, container: str | None, command: Sequence[str]
) -> Any:
    """A connected WebSocket. Raises the package's ApiException, and Redirected.

    `client` is what `configured_client` returns.
    """
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from websocket import WebSocket, WebSocketException  # noqa: PLC0415

    url = str(client.configuration.host) + _path(namespace, pod, container, command)
    socket: Any = WebSocket(sslopt=_tls(client.configuration))
    try:
        socket.connect(
            # http becomes ws, and https wss.
            url.replace("http", "ws", 1),
            header=_headers(client),
            redirect_limit=0,
            **_proxy(client.configuration, url),
        )
    except (WebSocketException, OSError, ValueError) as error:
        _check_redirection(socket, url)
        raise ApiException(status=0, reason=str(error)) from None
    _check_redirection(socket, url)
    return socket


def _path(namespace: str, pod: str, container: str | None, command: Sequence[str]) -> str:
    place = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/exec"
    query = [("command", word) for word in command]
    query += [("container", container)] if container else []
    query += [("stdin", "true"), ("stdout", "true"), ("stderr", "true"), ("tty", "false")]
    return f"{place}?{urlencode(query)}"


def _headers(client: Any) -> list[str]:
    login: dict[str, str] = {}
    client.update_params_for_auth(login, [], ["BearerToken"])
    return [f"{name}: {value}" for name, value in login.items()] + [
        f"sec-websocket-protocol: {_PROTOCOLS}"
    ]


def _tls(settings: Any) -> dict[str, Any]:
    """As the package has it."""
    import certifi  # noqa: PLC0415 - of the package

    options: dict[str, Any] = {"cert_reqs": ssl.CERT_NONE}
    if settings.verify_ssl:
        authorities = settings.ssl_ca_cert or certifi.where()
        options = {"cert_reqs": ssl.CERT_REQUIRED, "ca_certs": authorities}
    given = {
        "check_hostname": settings.assert_hostname if settings.verify_ssl else None,
        "certfile": settings.cert_file,
        "keyfile": settings.key_file,
        "server_hostname": settings.tls_server_name,
    }
    return options | {name: value for name, value in given.items() if value is not None}


def _proxy(settings: Any, url: str) -> Mapping[str, Any]:
    if not (settings.proxy or settings.proxy_headers):
        return {}
    from kubernetes.stream.ws_client import websocket_proxycare  # noqa: PLC0415

    return dict(websocket_proxycare({}, settings, url, None))


def _check_redirection(socket: Any, url: str) -> None:
    """Raise Redirected where the server's answer was one."""
    answer = socket.handshake_response
    if answer is not None and answer.status in REDIRECTIONS:
        location = answer.headers.get("location")
        raise Redirected(url, answer.status, location, setting=SERVER_SETTING)
