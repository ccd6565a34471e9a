"""Where in which cluster a pod is: `kube://CONTEXT/NAMESPACE/POD[/CONTAINER]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from plimsoll.host.processes.child import module_argv

_PROGRAM = "plimsoll.host.kubernetes.pod_command"


# Names as Kubernetes takes them: DNS subdomains, of which those of namespaces are a part.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PodPlace:
    """A container of a pod, the pod's first one where it is None.

    `context` is of the kubeconfig; None for its current one, and for the cluster that we
    are in ourselves, in a pod.
    """

    context: str | None
    namespace: str
    pod: str
    container: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` gives. Raises ValueError."""
        parts = urlsplit(text)
        names = parts.path.split("/")[1:]
        sound = len(names) in (2, 3) and all(_NAME.fullmatch(each) for each in names)
        if parts.scheme != "kube" or not sound or parts.query or parts.fragment:
            raise ValueError(f"{text!r} is not a valid pod")
        return cls(unquote(parts.netloc) or None, *names)

    def __str__(self) -> str:
        names = (self.namespace, self.pod, *([self.container] if self.container else ()))
        return f"kube://{quote(self.context or '', safe=':@')}/{'/'.join(names)}"

    def argv(self, *command: str) -> tuple[str, ...]:
        """The command line of a process here that is `command` in the pod."""
        return module_argv(_PROGRAM, str(self), *command)
