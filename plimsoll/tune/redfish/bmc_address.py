"""The address of a baseboard management controller."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from plimsoll.errors import InputError

_REMEDY = "write it as https://host or https://host:port"


def bmc_address(text: str) -> str:
    """`https://host[:port]`, as given but for a slash at its end; raises InputError.

    Only HTTPS: passwords go to it. None may stand in the address, which is shown.
    """
    try:
        parts = urlsplit(text)
        usable = _is_plain(parts, text)
    except ValueError:
        usable = False
    if not usable:
        raise InputError("is not an address of a BMC", where="--bmc", remedy=_REMEDY)
    return f"https://{parts.netloc}"


def _is_plain(parts: SplitResult, text: str) -> bool:
    whole = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    return (
        whole
        and "@" not in parts.netloc
        and not parts.query
        and not parts.fragment
        and parts.path in ("", "/")
        and text.isprintable()
        and " " not in text
    )
