"""What every answer forbids the browser to do with it."""

from __future__ import annotations

from collections.abc import Mapping

# Our pages run our own scripts and styles, load from nowhere else, and stand in no foreign frame.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# A report is a page of a run directory, which may be from anybody: it has an origin of its own,
# so its scripts reach nothing here, and its own policy holds in addition.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
_ALWAYS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def guarded_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Those to add to an answer that has `given` ones already."""
    defaults = {
        **_ALWAYS,
        "content-security-policy": PAGE_POLICY,
        "cache-control": "no-store",
    }
    return {name: value for name, value in defaults.items() if name not in given}
