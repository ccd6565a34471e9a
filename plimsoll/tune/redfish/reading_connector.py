"""HTTP to a BMC that can do nothing but read, and stays with that BMC.

Imported only where sushy is used, which is optional.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from sushy import exceptions
from sushy.connector import Connector

from plimsoll.host.http.origin import Origin
from plimsoll.host.http.redirected import REDIRECTIONS, Redirected

if TYPE_CHECKING:
    from requests import Response

# A system with 1000 attributes has 60 kB of them.
_MOST_BYTES = 8 << 20
_PIECE_BYTES = 1 << 16
# BMCs redirect to the same address with a slash at its end.
_MOST_REDIRECTIONS = 3


class ReadingConnector(Connector):  # type: ignore[misc]  # sushy has no types
    """Sends GET to one origin and takes at most 8 MiB an answer; all else raises.

    `address` is the origin, https://host[:port]. Certificates are verified against
    `ca_file`, or against the authorities that requests comes with.
    """

    def __init__(self, address: str, *, ca_file: str | None, timeout_s: float) -> None:
        super().__init__(
            address,
            verify=ca_file or True,
            response_callback=_read_within_bounds,
            server_side_retries=1,
            server_side_retries_delay=1,
            default_request_timeout=timeout_s,
        )
        self._origin = address
        # A proxy would see the address, .netrc would send another's password, and
        # REQUESTS_CA_BUNDLE would change what is trusted.
        self._session.trust_env = False

    def _op(self, method: str, path: str = "", *args: Any, **kwargs: Any) -> Any:
        """What every request of sushy's passes through. Raises Redirected, too."""
        url = urljoin(self._origin, path)
        if method != "GET":
            raise exceptions.ConnectionError(url=url, error=f"{method} is never sent to a BMC")
        if not self._is_own(url):
            # Whatever host a link names would get the password.
            raise exceptions.ConnectionError(url=url, error="the BMC links to another host")
        return self._got(url, args, {**kwargs, "stream": True, "allow_redirects": False})

    def _got(self, url: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The answer of `url`, or of where the BMC says that it now is, within the BMC."""
        for _ in range(_MOST_REDIRECTIONS + 1):
            response = super()._op("GET", url, *args, **kwargs)
            location = response.headers.get("Location")
            if response.status_code not in REDIRECTIONS:
                return response
            target = urljoin(url, location or "")
            if not location or not self._is_own(target):
                raise Redirected(url, response.status_code, location, setting="--bmc")
            url = target
        raise exceptions.ConnectionError(url=url, error="the BMC redirects again and again")

    def _is_own(self, url: str) -> bool:
        try:
            return Origin.of(url) == Origin.of(self._origin)
        except ValueError:
            return False


def _read_within_bounds(response: Response) -> None:
    content = b""
    for piece in response.iter_content(_PIECE_BYTES):
        content += piece
        if len(content) > _MOST_BYTES:
            raise exceptions.ConnectionError(
                url=response.url, error=f"an answer of more than {_MOST_BYTES >> 20} MiB"
            )
    # Where requests itself keeps what it has read.
    response._content = content
