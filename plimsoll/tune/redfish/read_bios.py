"""Asking a BMC for its host's firmware settings, by Redfish.

By sushy, OpenStack's Redfish client: docs/decisions say why.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from sushy import exceptions
from sushy.connector import Connector

from plimsoll.errors import InputError, MachineError
from plimsoll.extras import added_by
from plimsoll.host.http.origin import REDIRECTIONS, Origin, Redirected
from plimsoll.tune.host.view.host_view import BiosAnswer
from plimsoll.tune.redfish.bmc_credentials import BmcCredentials
from plimsoll.tune.redfish.vendor_map import map_of

if TYPE_CHECKING:
    from requests import Response

_ROOT = "/redfish/v1/"
_TIMEOUT_S = 30.0
_LONGEST = 200
# A system with 1000 attributes has 60 kB of them.
_MAX_BYTES = 8 << 20
_PIECE_BYTES = 1 << 16
# BMCs redirect to the same address with a slash at its end.
_MAX_REDIRECTIONS = 3


def read_bios(address: str, credentials: BmcCredentials, ca_file: Path | None = None) -> BiosAnswer:
    """The settings that the maps know, of the one system behind the BMC at `address`.

    Sends GET alone, with basic authentication: a session would have to be made by POST.
    Raises InputError for a `ca_file` that is none, and MachineError without sushy, where
    the BMC does not answer, is not trusted, refuses, or has no or several systems.
    """
    if ca_file is not None:
        _check_authorities(ca_file)
    return _answer(address, _system(address, credentials, ca_file))


def _check_authorities(path: Path) -> None:
    """Before any request, for errors of the connection hide this one."""
    try:
        ssl.create_default_context(cafile=str(path))
    except (OSError, ValueError) as error:
        reason = "holds no certificate" if isinstance(error, ssl.SSLError) else "cannot be read"
        raise InputError(
            reason, where=str(path), remedy="give a file of certificates in PEM form"
        ) from None


def _system(address: str, credentials: BmcCredentials, ca_file: Path | None) -> Any:
    try:
        import sushy  # noqa: PLC0415 - optional
        from sushy.auth import BasicAuth  # noqa: PLC0415

        from plimsoll.tune.redfish.read_bios import ReadingConnector  # noqa: PLC0415
    except ImportError:
        raise MachineError(
            "asking a BMC needs the Python package sushy",
            where=address,
            remedy=added_by("redfish"),
        ) from None
    # What it has to say is in the errors below; by itself it would write on stderr.
    logging.getLogger("sushy").addHandler(logging.NullHandler())
    connector = ReadingConnector(
        address, ca_file=str(ca_file) if ca_file else None, timeout_s=_TIMEOUT_S
    )
    auth = BasicAuth(credentials.user, credentials.password)
    return _requested(
        address,
        lambda: sushy.Sushy(address, auth=auth, connector=connector).get_system(),
    )


def _answer(address: str, system: Any) -> BiosAnswer:
    bios = _requested(address, lambda: system.bios)
    manufacturer = _text(system.manufacturer)
    known = map_of(manufacturer)
    given = bios.attributes if isinstance(bios.attributes, Mapping) else {}
    return BiosAnswer(
        where=address + _text(bios.path),
        manufacturer=manufacturer,
        model=_text(system.model),
        bios_version=_text(system.bios_version),
        vendor=known.vendor if known else None,
        attributes={
            _text(name): _text(value)
            for name, value in given.items()
            if known is not None and known.knows(_text(name))
        },
    )


def _text(value: object) -> str:
    """On one line and short, whatever the BMC sent; "" for what is not text or a number."""
    if not isinstance(value, str | int | float):
        return ""
    return "".join(c if c.isprintable() else "?" for c in str(value))[:_LONGEST]


def _requested(address: str, ask: Callable[[], Any]) -> Any:
    """What sushy gives; whatever it stumbles over is the BMC's doing, and is reported as such."""
    import requests  # noqa: PLC0415 - sushy's
    import sushy  # noqa: PLC0415

    try:
        return ask()
    except sushy.exceptions.AccessError:
        raise MachineError(
            "the BMC refuses the name or the password",
            where=address,
            remedy="check them, and that the user may read",
        ) from None
    except sushy.exceptions.UnknownDefaultError:
        raise MachineError(
            "the BMC manages no system, or several",
            where=address,
            remedy="ask the BMC of the host itself, not the chassis manager",
        ) from None
    except (sushy.exceptions.SushyError, requests.RequestException) as error:
        raise _no_answer(address, str(error)) from None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise MachineError(
            "what answers does not speak Redfish as it should",
            where=address,
            remedy="check that the address is the BMC's, and update its firmware",
        ) from None


def _no_answer(address: str, message: str) -> MachineError:
    if "CERTIFICATE_VERIFY_FAILED" in message:
        return MachineError(
            "the BMC's certificate is not signed by a trusted authority, or is another host's",
            where=address,
            remedy="give the authority that signed it: --ca-file FILE",
        )
    # The cause stands at the end, behind the names of the layers that passed it on.
    return MachineError(
        f"the BMC gives no answer: {_text(message[-_LONGEST:])}",
        where=address,
        remedy="check the address, and that the BMC is reachable from here",
    )


# HTTP to a BMC that can do nothing but read, and stays with that BMC.
#
# Imported only where sushy is used, which is optional.
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
        for _ in range(_MAX_REDIRECTIONS + 1):
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
        if len(content) > _MAX_BYTES:
            raise exceptions.ConnectionError(
                url=response.url, error=f"an answer of more than {_MAX_BYTES >> 20} MiB"
            )
    # Where requests itself keeps what it has read.
    response._content = content
