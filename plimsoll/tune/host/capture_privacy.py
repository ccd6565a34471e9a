"""What a capture never takes, and what it blots out of what it takes.

People attach captures to issues and mails, so no secret may be in one.
"""

from __future__ import annotations

import re

from plimsoll.tune.host import kernel_command_line
from plimsoll.tune.host.own_routes import ROUTES, ROUTES_6, default_routes
from plimsoll.tune.host.path_pattern import matches
from plimsoll.tune.kube.static_pod import MANIFESTS, without_secrets

MASK = "[masked]"

# Processes' environments, arguments and memory; keys and passwords; memory itself.
_NEVER = (
    "/proc/*/environ",
    "/proc/*/cmdline",
    "/proc/*/auxv",
    "/proc/*/maps",
    "/proc/*/smaps",
    "/proc/*/mem",
    "/proc/*/fd/**",
    "/proc/*/root/**",
    "/proc/*/cwd/**",
    "/proc/*/task/*/environ",
    "/proc/*/task/*/cmdline",
    "/proc/*/task/*/mem",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/kallsyms",
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/ssh/**",
    "/etc/pki/**",
    "/etc/ssl/**",
    "/etc/kubernetes/kubeconfig*",
    "/root/**",
    "/home/**",
    "/dev/**",
)
# Below those, what Plimsoll itself keeps: a calibration is figures of the tester.
_YET = (
    "/root/.local/state/plimsoll/calibrations/*.json",
    "/home/*/.local/state/plimsoll/calibrations/*.json",
)
# Where a service's own file has one after all: a kubeadm kubelet.conf is a kubeconfig.
_SECRET_TEXT = re.compile(
    r"PRIVATE KEY|client-key-data|^\s*[\"']?(?:token|password)[\"']?\s*[:=]",
    re.MULTILINE | re.IGNORECASE,
)
# Arguments of the kernel, the initramfs and systemd that carry secrets or name where they lie
# (dracut.cmdline(7): rd.luks.*, rd.iscsi.*; systemd(1): systemd.set_credential).
_SECRET_ARGUMENT = re.compile(
    r"password|passwd|passphrase|secret|token|credential|luks|iscsi|netroot|setenv"
    r"|(?:^|[._-])(?:pass|pwd|key|keyfile|auth)(?:$|[._-])",
    re.IGNORECASE,
)
_USER_IN_URL = re.compile(r"//[^/\s@]+@")
_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')


def is_private(path: str) -> bool:
    """Whether a capture must not take the file, whatever pattern asks for it."""
    return any(matches(pattern, path) for pattern in _NEVER) and not any(
        matches(pattern, path) for pattern in _YET
    )


def kept_text(path: str, text: str) -> str:
    """What a capture takes of a file's text. Raises ValueError, saying why, for none of it."""
    if path == kernel_command_line.PATH:
        return masked_command_line(text)
    if path in (ROUTES, ROUTES_6):
        return default_routes(path, text)
    if path.startswith(f"{MANIFESTS}/"):
        return _manifest(text)
    if holds_secret(text):
        raise ValueError("it holds a secret")
    return text


def _manifest(text: str) -> str:
    """The reason may quote the text, and so is not told."""
    try:
        return without_secrets(text)
    except ValueError:
        raise ValueError("it is no pod's manifest, and may hold a secret") from None


def holds_secret(text: str) -> bool:
    """Whether a file's text has a private key, a token or a password in it."""
    return _SECRET_TEXT.search(text) is not None


def masked_command_line(text: str) -> str:
    """The kernel's command line with the values of telling arguments blotted out.

    Their names stay, and so do all other arguments; what follows "--" is for the first
    process and goes altogether.
    """
    words: list[str] = []
    for word in _WORD.findall(text):
        if word == "--":
            words += ["--", MASK]
            break
        words.append(_masked(word))
    return " ".join(words)


def _masked(word: str) -> str:
    name, equals, value = word.partition("=")
    if equals and _SECRET_ARGUMENT.search(name.strip('"')):
        return f"{name}={MASK}"
    return name + equals + _USER_IN_URL.sub(f"//{MASK}@", value)
