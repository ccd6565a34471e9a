"""Where on Kubernetes a run goes: `kube://CONTEXT[/NAMESPACE]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from plimsoll.errors import InputError

_REMEDY = (
    "write kube://CONTEXT or kube://CONTEXT/NAMESPACE, a slash within the context as %2F; "
    "kubectl config get-contexts lists the contexts"
)


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A context of the kubeconfig, None for its current one, and a namespace.

    Without a namespace it is the context's own.
    """

    context: str | None
    namespace: str | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `kube://CONTEXT[/NAMESPACE]`. Raises InputError."""
        try:
            parts = urlsplit(text)
        except ValueError:
            raise _not_a_place(text) from None
        namespace = parts.path.removeprefix("/").removesuffix("/")
        # The part between the slashes may hold a colon and an at sign, which are nothing here.
        context = unquote(parts.netloc)
        if parts.scheme != "kube" or "/" in namespace or parts.query or parts.fragment:
            raise _not_a_place(text)
        return cls(context or None, namespace or None)

    def __str__(self) -> str:
        tail = f"/{self.namespace}" if self.namespace else ""
        return f"kube://{quote(self.context or '', safe=':@')}{tail}"


def _not_a_place(text: str) -> InputError:
    return InputError(f"{text!r} is not a place in a cluster", where="--on", remedy=_REMEDY)
