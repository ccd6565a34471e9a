"""What goes wrong with a cluster: it refuses a request, or it does not answer."""

from __future__ import annotations

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.kubernetes.api_client import LONGEST_REASON, described


class ClusterUnreachable(PlimsollError):
    """The API server did not answer, or hung up: what goes on in the cluster goes on."""

    exit_code = MachineError.exit_code


class ClusterRefused(PlimsollError):
    """The API server refused a request; `status` is HTTP's."""

    exit_code = MachineError.exit_code

    def __init__(self, message: str, *, where: str, remedy: str, status: int) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.status = status


class translate_api_errors:
    """Turns what the client's package raises into these errors; as a `with`."""

    def __init__(self, what: str, server: str) -> None:
        self._what = what
        self._server = server

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        if isinstance(error, ApiException) and error.status:
            raise ClusterRefused(
                f"the API server refused {self._what}: {described(error)[:LONGEST_REASON]}",
                where=self._server,
                remedy="see docs/kubernetes.md on the rights that a run needs",
                status=int(error.status),
            ) from None
        if isinstance(error, ApiException | HTTPError | OSError | ValueError | RecursionError):
            reason = " ".join(str(getattr(error, "reason", None) or error).split())
            raise ClusterUnreachable(
                f"the API server did not answer {self._what}: {reason[:LONGEST_REASON]}",
                where=self._server,
                remedy="check with kubectl version; go on with --resume",
            ) from error
