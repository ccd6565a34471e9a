"""What goes wrong with a cluster: it refuses a request, does not answer, or answers with junk."""

from __future__ import annotations

import json
import ssl
from typing import Any

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.http.connection_errors import innermost, words_of

# A refusal names the user, the verb, the resource, its group and the namespace.
LONGEST_REASON = 400
_REMEDY = "check with kubectl version, or name another cluster with --context"


class ClusterUnreachable(MachineError):
    """The API server did not answer, or hung up: what goes on in the cluster goes on."""


class JunkAnswerError(ClusterUnreachable):
    """Something answers, but no API server would answer so."""


class ClusterRefused(PlimsollError):
    """The API server refused a request; `status` is HTTP's, `reason` what it says."""

    exit_code = MachineError.exit_code

    def __init__(
        self, message: str, *, where: str, remedy: str, status: int, reason: str = ""
    ) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.status = status
        self.reason = reason


class translate_api_errors:
    """Turns what the client's package raises for `what` into these errors; as a `with`."""

    def __init__(self, what: str, server: str) -> None:
        self._what = what
        self._server = server

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        if isinstance(error, ApiException) and error.status:
            raise refused(self._what, described(error), self._server, int(error.status)) from None
        if isinstance(error, ApiException):
            raise unreachable(str(error.reason), self._server) from None
        if isinstance(error, HTTPError):
            raise _of_connection(error, self._server) from None
        if isinstance(error, OSError | ValueError | RecursionError):
            raise unreachable(" ".join(str(error).split()), self._server) from error


def refused(what: str, reason: str, server: str, status: int) -> ClusterRefused:
    """The error of a refusal of `what`."""
    return ClusterRefused(
        f"the API server refused {what}: {reason[:LONGEST_REASON]}",
        where=server,
        remedy="check what this user may do with kubectl auth can-i --list",
        status=status,
        reason=reason,
    )


def unreachable(
    reason: str, server: str, kind: type[ClusterUnreachable] = ClusterUnreachable
) -> ClusterUnreachable:
    """The error of no answer, or of one that no API server gives."""
    said = f"the API server cannot be read: {reason[:LONGEST_REASON]}"
    return kind(said, where=server, remedy=_REMEDY)


def described(refusal: Any) -> str:
    """The message of the Status that the server answered with; else what HTTP says."""
    try:
        found = json.loads(refusal.body)
    except (TypeError, ValueError, RecursionError):
        found = None
    message = found.get("message") if isinstance(found, dict) else None
    return message if isinstance(message, str) and message else str(refusal.reason or "")


def _of_connection(error: BaseException, server: str) -> ClusterUnreachable:
    from urllib3.exceptions import DecodeError, MaxRetryError, ProtocolError  # noqa: PLC0415

    last = error.reason if isinstance(error, MaxRetryError) else error
    inner = innermost(error)
    if isinstance(last, ProtocolError | DecodeError):
        return unreachable(words_of(inner), server, JunkAnswerError)
    if isinstance(inner, ssl.SSLCertVerificationError):
        return ClusterUnreachable(
            f"the API server's certificate is not trusted: {inner.verify_message}",
            where=server,
            remedy="give the cluster's certificate-authority-data in the kubeconfig, and make "
            "sure that this is its server",
        )
    return unreachable(words_of(inner), server)
