"""A running OpenSearch: where it is, how requests are sent, what its answers mean.

TLS is verified, redirections are not followed, and a password travels encrypted or within
this machine.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import urllib3

from plimsoll.errors import InputError
from plimsoll.export.credentials import PASSWORD, USER, Credentials
from plimsoll.export.output_file import ExportError
from plimsoll.host.http.origin import REDIRECTIONS, Origin, Redirected

T = TypeVar("T")


class Unavailable(Exception):
    """Not now: asking again may help, after `wait_s` if the server says when."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """So many attempts, the pause after each twice the one before: a minute in all.

    `notice` is called with a message at every pause.
    """

    attempts: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    notice: Callable[[str], None] = lambda _: None

    def patiently(self, ask: Callable[[], T], where: str) -> T:
        """What `ask` returns, retried while it raises Unavailable. Raises ExportError."""
        for attempt in range(1, self.attempts):
            try:
                return ask()
            except Unavailable as error:
                self.pause(attempt, error)
        try:
            return ask()
        except Unavailable as error:
            raise ExportError(
                f"gave up after {self.attempts} attempts: {error.reason}",
                where=where,
                remedy="see to the server, then export again: "
                "ids stay the same, so what has arrived is not doubled",
            ) from error

    def pause(self, attempt: int, error: Unavailable) -> None:
        """Wait after the attempt with this number, counted from 1."""
        wait_s = error.wait_s if error.wait_s is not None else self.first_s * 2 ** (attempt - 1)
        wait_s = min(wait_s, self.longest_s)
        self.notice(f"{error.reason}; asking again in {wait_s:g} s")
        self.sleep(wait_s)


# A bulk request may take that long on a busy server.
_TIMEOUT = urllib3.Timeout(connect=10.0, read=120.0)
# Too many requests, and what proxies say while a node restarts.
_BUSY = frozenset({429, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_MAX_CHARACTERS = 300
# To a bulk request; what is longer is as good as no JSON.
_MAX_BYTES = 16 << 20
# Names that do not resolve are among the first.
_NO_CONNECTION = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
)


@dataclass(frozen=True, slots=True)
class Response:
    """The status of HTTP, and what the body says where it is a JSON object."""

    status: int
    body: Mapping[str, Any]

    @property
    def reason(self) -> str:
        """What was wrong, as the server tells it."""
        error = self.body.get("error")
        reason = error.get("reason") if isinstance(error, dict) else error
        return f"HTTP {self.status}: {str(reason)[:_MAX_CHARACTERS]}" if reason else self._status

    @property
    def _status(self) -> str:
        return f"HTTP {self.status}"


class Server:
    """Asks one server; connections are kept open between requests."""

    def __init__(
        self, url: str, credentials: Credentials | None = None, *, ca_file: Path | None = None
    ) -> None:
        """Nothing is sent yet. Raises InputError for an invalid URL or CA file."""
        # A server that has answered once is restarting; for one that never did, waiting is no help.
        self._answered = False
        self.url = url
        self._base = _base(url, credentials)
        headers = {"user-agent": "plimsoll"}
        if credentials is not None:
            basic = f"{credentials.user}:{credentials.secret}"
            headers |= urllib3.make_headers(basic_auth=basic)
        self._pool = urllib3.PoolManager(
            headers=headers,
            retries=False,
            timeout=_TIMEOUT,
            cert_reqs="CERT_REQUIRED",
            ca_certs=None if ca_file is None else str(_readable(ca_file)),
        )

    def ask(
        self, method: str, path: str, body: bytes | None = None, content: str = "application/json"
    ) -> Response:
        """Its answer, whatever the status but those below.

        Raises Unavailable where asking again may help, ExportError where nothing listens at
        the first request and where it redirects, InputError where it refuses these credentials
        or its certificate is not trusted.
        """
        headers = {**self._pool.headers, "content-type": content} if body is not None else None
        try:
            response = self._pool.request(
                method,
                f"{self._base}{path}",
                body=body,
                headers=headers,
                redirect=False,
                preload_content=False,
            )
            answered = _read(response)
        except urllib3.exceptions.SSLError as error:
            raise _untrusted(self.url, error) from error
        except _NO_CONNECTION as error:
            if not self._answered:
                raise _unreachable(self.url, error) from error
            raise Unavailable(_in_short(error)) from error
        except urllib3.exceptions.HTTPError as error:
            raise Unavailable(_in_short(error)) from error
        self._answered = True
        answer = Response(response.status, _object(answered))
        if answer.status in _BUSY:
            raise Unavailable(answer.reason, _seconds(response.headers.get("retry-after")))
        if answer.status in _REFUSED:
            raise self._refused(answer)
        if answer.status in REDIRECTIONS:
            raise self._redirected(answer.status, response.headers.get("location"))
        return answer

    def unexpected(self, doing: str, answer: Response) -> ExportError:
        """The error for an answer that nothing can be made of."""
        return ExportError(
            f"{doing} failed: {answer.reason}",
            where=self.url,
            remedy="see that this is an OpenSearch or Elasticsearch, and what its log says",
        )

    def _redirected(self, status: int, location: str | None) -> ExportError:
        found = Redirected(self.url, status, location, setting="--to")
        return ExportError(found.message, where=found.where, remedy=found.remedy)

    def _refused(self, answer: Response) -> InputError:
        return InputError(
            f"access was refused: {answer.reason}",
            where=self.url,
            remedy=f"set {USER} and {PASSWORD}, or name a file with --credentials",
        )


def _base(url: str, credentials: Credentials | None) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _bad_url(url, str(error)) from error
    if parts.username is not None or parts.password is not None:
        # Not repeated: it holds a password.
        raise InputError(
            "credentials do not belong into the URL, which every user here can read",
            where="--to",
            remedy=f"set {USER} and {PASSWORD}, or name a file with --credentials",
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise _bad_url(url, "not of the form https://host:port")
    if credentials is not None and not Origin.of(url).keeps_secrets:
        raise InputError(
            "a password is not sent in the clear", where=url, remedy="use https://, or a tunnel"
        )
    return url.rstrip("/")


def _bad_url(url: str, reason: str) -> InputError:
    return InputError(
        f"{url!r} cannot be used: {reason}", where="--to", remedy="write --to https://host:9200"
    )


def _readable(path: Path) -> Path:
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            remedy="name the PEM file of the authority that signed the server's certificate",
        ) from error


def _untrusted(url: str, error: Exception) -> InputError:
    return InputError(
        f"its TLS certificate is not trusted: {_in_short(error)}",
        where=url,
        remedy="name the authority that signed it with --ca-file",
    )


def _in_short(error: Exception) -> str:
    # Which urllib3 counts among the time-outs.
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return "nothing listens there"
    if isinstance(error, urllib3.exceptions.TimeoutError):
        return "it did not answer in time"
    return f"the connection was lost: {error}"[:_MAX_CHARACTERS]


def _unreachable(url: str, error: Exception) -> ExportError:
    unknown = isinstance(error, urllib3.exceptions.NameResolutionError)
    problem = "there is no host of this name" if unknown else _in_short(error)
    return ExportError(problem, where=url, remedy="see that the server runs, and its address")


def _read(response: urllib3.BaseHTTPResponse) -> bytes:
    """The body as far as it is read, inflated no further. The connection is kept where it ends."""
    content = response.read(_MAX_BYTES)
    if len(content) < _MAX_BYTES:
        response.release_conn()
    else:
        response.close()
    return content


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(text: str | None) -> float | None:
    """A Retry-After in seconds; one that names a date is as good as none."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
