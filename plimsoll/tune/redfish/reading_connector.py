"""HTTP to a BMC that can do nothing but read, and stays with that BMC.

Imported only where sushy is used, which is optional.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from sushy import exceptions
from sushy.connector import Connector

if TYPE_CHECKING:
    from requests import Response

# A system with 1000 attributes has 60 kB of them.
_MOST_BYTES = 8 << 20
_PIECE_BYTES = 1 << 16


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
        """What every request of sushy's passes through."""
        url = urljoin(self._origin, path)
        if method != "GET":
            raise exceptions.ConnectionError(url=url, error=f"{method} is never sent to a BMC")
        if urlsplit(url)[:2] != urlsplit(self._origin)[:2]:
            # Whatever host a link names would get the password.
            raise exceptions.ConnectionError(url=url, error="the BMC links to another host")
        return super()._op(method, path, *args, **{**kwargs, "stream": True})


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
