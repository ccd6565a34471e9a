"""What the rendered intent asks of one object, without what only rendering brings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.cluster.objects.difference import PLAIN, Difference, Meanings, differences
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, full_name, name_of, namespace_of
from plimsoll.tune.render.files.extra_fields import with_extra
from plimsoll.tune.render.files.manifest import Manifest


@dataclass(frozen=True, slots=True)
class ExpectedObject:
    """The object as `manifest` has it, and what its fields mean.

    Everything in `manifest` counts: what the intent leaves open has been taken out.
    `required` is whether the cluster is to have it at all times; pods come and go.
    """

    kind: Kind
    manifest: Manifest
    meanings: Meanings = PLAIN
    required: bool = True

    @property
    def name(self) -> str:
        """The object's name."""
        return name_of(self.manifest)

    @property
    def namespace(self) -> str | None:
        """The object's namespace, None for one of the whole cluster."""
        return namespace_of(self.manifest) or None

    @property
    def title(self) -> str:
        """As people name it: PerformanceProfile reghwol."""
        return f"{self.kind.name} {full_name(self.manifest)}"

    def differences(self, found: KubeObject) -> tuple[Difference, ...]:
        """What `found` lacks of it."""
        return differences(self.manifest, found, self.meanings)


def with_intents_extra(intent: Intent, expected: ExpectedObject) -> ExpectedObject:
    """With the intent's annotations and extra fields, which count as given."""
    return replace(expected, manifest=with_extra(intent, expected.manifest))


def reduced(manifest: Manifest, **parts: object) -> Manifest:
    """The object's identity, with `parts` for all else, empty ones left out."""
    metadata = {
        field: value
        for field, value in manifest["metadata"].items()
        if field in ("name", "namespace")
    }
    given = {name: value for name, value in parts.items() if value}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": metadata | _metadata(given),
        **given,
    }


def _metadata(parts: dict[str, object]) -> dict[str, object]:
    return {name: parts.pop(name) for name in ("labels", "annotations") if name in parts}
