"""The environment of tests and of all that they start, whoever started them, and from where."""

from __future__ import annotations

from collections.abc import Mapping

# What shapes output: how wide, how colourful, for whom; typer looks at GITHUB_ACTIONS.
_OUTPUT = frozenset(
    {
        *("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR", "CLICOLOR_FORCE"),
        *("TTY_COMPATIBLE", "TTY_INTERACTIVE", "CI", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "PAGER"),
    }
)
# Clusters, stores, bases and zones of whoever started them.
_PLACES = frozenset({"KUBECONFIG", "SSH_AUTH_SOCK", "BROWSER", "EDITOR", "VISUAL"})
_PREFIXES = ("AWS_", "KUBERNETES_", "PLIMSOLL_EXPORT_", "PLIMSOLL_BMC_", "LC_")
_OURS = frozenset({"PLIMSOLL_STATE", "PLIMSOLL_IMAGE"})
_PYTHON = frozenset({"PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONDEVMODE", "PYTHONINSPECT"})
_LEFT_OUT = _OUTPUT | _PLACES | _OURS | _PYTHON
_LOOPBACK = "127.0.0.1,localhost,::1"
_SET = {
    "TERM": "xterm",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # A proxy is for other machines.
    "NO_PROXY": _LOOPBACK,
    "no_proxy": _LOOPBACK,
}


def plain(given: Mapping[str, str]) -> dict[str, str]:
    """Without what is somebody's own, and with the same terminal, language and time zone."""
    kept = {
        name: value
        for name, value in given.items()
        if name not in _LEFT_OUT and not name.startswith(_PREFIXES)
    }
    return {**kept, **_SET}
