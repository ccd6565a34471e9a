"""A connection to a cluster's API server, by Kubernetes' own Python client.

The client knows what a kubeconfig may say: certificates, tokens, plugins that log in. It is an
extra, for most who use Plimsoll have no cluster.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from urllib3 import Retry

from plimsoll.errors import InputError, MachineError
from plimsoll.extras import added_by
from plimsoll.host.http.origin import REDIRECTIONS, Redirected
from plimsoll.host.kubernetes.client_settings import (
    SERVER_SETTING,
    TRIES,
    client_settings,
    shown_kubeconfig,
)

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, Retry

# Connecting, and waiting for each part of an answer.
API_TIMEOUT_S = (10, 60)
JSON_CONTENT = "application/json"
MAX_ANSWER_BYTES = 256 << 20
# A refusal names the user, the verb, the resource, its group and the namespace.
LONGEST_REASON = 400
# Errors of connections hold the one that caused them, a few deep.
_DEEPEST_ERROR = 10
# An API server that is short of time asks for a second (its default), some of them for a few.
LONGEST_WAIT_S = 20.0


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """An answer's `status`, 0 without one, and its `document`, which says why it was refused."""

    status: int
    document: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether it did what was requested."""
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """The server's words for a refusal."""
        return str(self.document.get("message") or self.status)[:LONGEST_REASON]


class JunkAnswerError(MachineError):
    """Something answers, but no API server would answer so."""


class ApiClient:
    """Reads from one API server; it can do nothing else."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def server(self) -> str:
        """The server's URL."""
        return str(self._client.configuration.host)

    def get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> ApiAnswer:
        """What the server answers.

        Raises MachineError where it does not, JunkAnswerError where that breaks off, is encoded
        wrongly, or is not an object of JSON.
        """
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
        from urllib3.exceptions import (  # noqa: PLC0415
            DecodeError,
            HTTPError,
            MaxRetryError,
            ProtocolError,
        )

        try:
            response = call_api(self._client, "GET", path, query)
            content = response.read(MAX_ANSWER_BYTES + 1)
        except ApiException as error:
            if not error.status:
                raise self._failed(str(error.reason)) from None
            return ApiAnswer(int(error.status), {"message": described(error)})
        except HTTPError as error:
            last = error.reason if isinstance(error, MaxRetryError) else error
            if isinstance(last, ProtocolError | DecodeError):
                raise self._junk(_said(_innermost(error))) from None
            raise self._not_connected(_innermost(error)) from None
        return ApiAnswer(200, self._document(content))

    def _document(self, content: bytes) -> Mapping[str, Any]:
        if len(content) > MAX_ANSWER_BYTES:
            raise self._failed(f"an answer is larger than {MAX_ANSWER_BYTES >> 20} MiB")
        try:
            found = json.loads(content, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise self._junk("it answered with something that is not JSON") from None
        if not isinstance(found, dict):
            raise self._junk("it answered with JSON that is not an object")
        return found

    def _junk(self, reason: str) -> JunkAnswerError:
        failed = self._failed(reason)
        return JunkAnswerError(failed.message, where=failed.where, remedy=failed.remedy)

    def _not_connected(self, error: BaseException) -> MachineError:
        if isinstance(error, ssl.SSLCertVerificationError):
            return MachineError(
                f"the API server's certificate is not trusted: {error.verify_message}",
                where=self.server,
                remedy="give the cluster's certificate-authority-data in the kubeconfig, and make "
                "sure that this is its server",
            )
        return self._failed(_said(error))

    def _failed(self, reason: str) -> MachineError:
        return MachineError(
            f"the API server cannot be read: {reason[:LONGEST_REASON]}",
            where=self.server,
            remedy="check with kubectl version, or name another cluster with --context",
        )


def call_api(
    client: Any,
    method: str,
    path: str,
    query: Sequence[tuple[str, str]] = (),
    body: Mapping[str, Any] | None = None,
    *,
    accept: str = JSON_CONTENT,
    content: str = JSON_CONTENT,
    timeout_s: tuple[int, int] = API_TIMEOUT_S,
) -> Any:
    """The response, not yet read, of one request as the client's user.

    `timeout_s` is for connecting and for reading. Raises Redirected, and what the package
    raises: its ApiException of a refusal, urllib3's HTTPError where nothing answers.
    """
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415

    headers = {"Accept": accept}
    if body is not None:
        headers["Content-Type"] = content
    try:
        return client.call_api(
            path,
            method,
            query_params=list(query),
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
            _preload_content=False,
            _return_http_data_only=True,
            _request_timeout=timeout_s,
        )
    except ApiException as error:
        if error.status not in REDIRECTIONS:
            raise
        where, location = f"{client.configuration.host}{path}", error.headers.get("Location")
        raise Redirected(where, error.status, location, setting=SERVER_SETTING) from None


def described(refused: Any) -> str:
    """The message of the Status that the server answered with; else what HTTP says."""
    try:
        found = json.loads(refused.body)
    except (TypeError, ValueError, RecursionError):
        found = None
    message = found.get("message") if isinstance(found, dict) else None
    return message if isinstance(message, str) and message else str(refused.reason or "")


def _refuse_constant(name: str) -> NoReturn:
    """Python takes NaN and Infinity, which JSON does not have (RFC 8259, section 6)."""
    raise ValueError(f"{name} is no JSON")


def _said(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


def _innermost(error: BaseException) -> BaseException:
    """The error that a connection's errors are about: of the system, or of TLS."""
    for _ in range(_DEEPEST_ERROR):
        held = (getattr(error, "reason", None), error.__cause__, *error.args)
        inner = next((each for each in held if isinstance(each, BaseException)), None)
        if inner is None:
            break
        error = inner
    return error


def connect(context: str | None = None, kubeconfig: str | None = None) -> ApiClient:
    """Connect as kubectl would: by $KUBECONFIG or ~/.kube/config, or from inside a pod.

    Raises MachineError without the client's package, where the server does not answer, and
    where it does not know who asks; InputError for a kubeconfig or context that is none. What
    its answers are worth, junk among them, is for each reading of them to say; a redirection is
    an error of its own, as the kubeconfig is to name the server itself.
    """
    client = ApiClient(configured_client(context, kubeconfig, BoundedRetry()))
    try:
        status = client.get("/version").status
    except JunkAnswerError:
        return client
    if status == 401:
        raise MachineError(
            "the API server does not know who asks",
            where=client.server,
            remedy="log in again (oc login), or name another user with --context",
        )
    return client


def configured_client(
    context: str | None, kubeconfig: str | None = None, retries: Retry | None = None
) -> Any:
    """A client of Kubernetes' package with the kubeconfig's settings, not yet connected.

    With `retries` it tries again as these say.
    Raises MachineError without the package, InputError for a kubeconfig or context that is none.
    """
    try:
        from kubernetes import client  # noqa: PLC0415
    except ImportError:
        raise MachineError(
            "reading a cluster needs the Python package kubernetes",
            where="--kube",
            remedy=f"{added_by('kube')}, or read a must-gather with --from",
        ) from None
    try:
        return client.ApiClient(client_settings(context, kubeconfig, retries))
    except InputError:
        raise
    # The client raises whatever the parts of a broken kubeconfig make it raise.
    except Exception as error:
        raise InputError(
            f"the kubeconfig cannot be used: {' '.join(str(error).split())[:LONGEST_REASON]}",
            where=shown_kubeconfig(kubeconfig),
            remedy="list what there is with kubectl config get-contexts",
        ) from None


# Tries again as a server asks for it (Retry-After), but not for longer than a bound.
class WaitBudget:
    """What is left of the time that may be waited, in seconds; shared by all requests."""

    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def take(self, requested_s: float) -> float:
        """As much of it as there is."""
        taken = min(requested_s, self.left_s)
        self.left_s -= taken
        return taken


class BoundedRetry(Retry):
    """For one client: once its budget is at an end, a refusal is the answer at once.

    A redirection is an answer like any other.
    """

    def __init__(self, *args: Any, budget: WaitBudget | None = None, **settings: Any) -> None:
        usual = {"redirect": 0, "raise_on_redirect": False}
        if not args:
            usual["total"] = TRIES
        super().__init__(*args, **(usual | settings))
        self._budget = budget or WaitBudget(LONGEST_WAIT_S)

    def new(self, **changed: Any) -> BoundedRetry:
        """The same for the next try, with the same budget."""
        return super().new(budget=self._budget, **changed)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether a request is repeated."""
        waits = has_retry_after and self._budget.left_s > 0
        return super().is_retry(method, status_code, waits)

    def sleep_for_retry(self, response: BaseHTTPResponse) -> bool:
        """Wait as long as the answer says, or what is left; whether it says so at all."""
        requested_s = self.get_retry_after(response)
        if not requested_s:
            return False
        time.sleep(self._budget.take(requested_s))
        return True
