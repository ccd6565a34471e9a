"""An intent as a reference for kube-compare (oc cluster-compare).

Format: metadata.yaml of apiVersion v2, parts of components of templates, as in
docs/reference-config-guide-v2.md of openshift/kube-compare at commit 5f667c71. Templates are
Go's; ours vary nothing, except that a value which is itself YAML or JSON is compared by what
it means and not by how it is written.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from plimsoll.errors import InputError
from plimsoll.tune.cluster.kinds import (
    MACHINE_CONFIG,
    MACHINE_CONFIG_POOL,
    MONITORING_CONFIG,
    NAMESPACE,
    NETWORK_ATTACHMENT,
    PERFORMANCE_PROFILE,
    POD,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONSTRAINT,
    SERVICE_ACCOUNT_OF_PODS,
    SRIOV_NETWORK,
    SRIOV_POLICY,
    TUNED,
    Kind,
)
from plimsoll.tune.cluster.objects.expected_object import ExpectedObject
from plimsoll.tune.cluster.objects.expected_objects import expected_objects
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import Manifest, RenderedFile, manifest_text

METADATA = "metadata.yaml"

# kube-compare's components; what is in none of them is the cluster's.
_COMPONENTS: tuple[tuple[str, frozenset[Kind]], ...] = (
    ("node", frozenset({PERFORMANCE_PROFILE, TUNED, MACHINE_CONFIG, MACHINE_CONFIG_POOL})),
    ("network", frozenset({SRIOV_POLICY, SRIOV_NETWORK, NETWORK_ATTACHMENT})),
    (
        "rights",
        frozenset({NAMESPACE, SERVICE_ACCOUNT_OF_PODS, SECURITY_CONSTRAINT, ROLE, ROLE_BINDING}),
    ),
    ("workload", frozenset({POD})),
)
_OTHERS = "cluster"
# Fields whose text is YAML, or JSON, which YAML takes in.
_STRUCTURED: dict[Kind, tuple[str, str]] = {
    MONITORING_CONFIG: ("data", "config.yaml"),
    SRIOV_NETWORK: ("spec", "ipam"),
    NETWORK_ATTACHMENT: ("spec", "config"),
}
_PLACEHOLDER = "PLIMSOLL-STRUCTURED-TEXT"
_DOES = "For kube-compare."
_UNDO = "Remove the folder."


def reference(intent: Intent) -> tuple[RenderedFile, ...]:
    """metadata.yaml, then its templates. Raises InputError for other platforms' intents."""
    if intent.platform != "openshift" or intent.pool is None:
        raise InputError(
            f"the intent {intent.name} is for {intent.platform}, which has no such objects",
            where="plimsoll tune reference",
            remedy="give an intent of platform: openshift",
        )
    expected = list(expected_objects(intent, intent.pool))
    files = (RenderedFile(_path(each), _template(each), _DOES, _UNDO) for each in expected)
    metadata = manifest_text(_metadata(intent, expected))
    return (RenderedFile(METADATA, metadata, _DOES, _UNDO), *files)


def _metadata(intent: Intent, expected: Iterable[ExpectedObject]) -> dict[str, Any]:
    components: dict[str, list[ExpectedObject]] = {}
    for each in expected:
        components.setdefault(_component(each.kind), []).append(each)
    part = {
        "name": intent.name,
        **({"description": intent.description} if intent.description else {}),
        "components": [_listed(name, objects) for name, objects in components.items()],
    }
    return {"apiVersion": "v2", "parts": [part]}


def _listed(name: str, expected: list[ExpectedObject]) -> dict[str, Any]:
    """allOf misses what is not there, anyOf compares only what is."""
    templates = [
        {"path": _path(each), "config": {"ignore-unspecified-fields": True}} for each in expected
    ]
    return {"name": name, ("allOf" if expected[0].required else "anyOf"): templates}


def _component(kind: Kind) -> str:
    return next((name for name, kinds in _COMPONENTS if kind in kinds), _OTHERS)


def _path(expected: ExpectedObject) -> str:
    """Where each namespace has one of the same name, the namespace tells them apart."""
    shared = expected.kind in (SERVICE_ACCOUNT_OF_PODS, ROLE, ROLE_BINDING)
    place = f"{expected.namespace}-" if shared else ""
    return f"{expected.kind.plural}-{place}{expected.name}.yaml"


def _template(expected: ExpectedObject) -> str:
    manifest: Manifest = copy.deepcopy(expected.manifest)
    if expected.kind == POD and (container := _only_container(manifest)) is not None:
        manifest["spec"]["containers"] = _PLACEHOLDER
        return _filled(manifest, _reading_container(container), _CONTAINERS)
    section, field = _STRUCTURED.get(expected.kind, ("", ""))
    if field not in manifest.get(section, {}):
        return _escaped(manifest_text(manifest))
    given = manifest[section][field]
    manifest[section][field] = _PLACEHOLDER
    return _filled(manifest, _reading_text(section, field, given), _TEXT)


def _only_container(manifest: Manifest) -> dict[str, Any] | None:
    """The pod's one container; None where the intent's extra fields made it others."""
    found = manifest["spec"].get("containers")
    only = found[0] if isinstance(found, list) and len(found) == 1 else None
    return only if isinstance(only, dict) else None


def _filled(manifest: Manifest, reading: str, choice: str) -> str:
    """The template with `reading` at its head, and `choice` in the placeholder's place."""
    before, _, after = _escaped(manifest_text(manifest)).partition(_PLACEHOLDER)
    return reading + before + choice + after


def _escaped(text: str) -> str:
    """Go would run what is between double braces."""
    return text.replace("{{", '{{ "{{" }}')


def _quoted(text: str) -> str:
    """A text of JSON is one of Go's, as long as it escapes nothing beyond 16 bits."""
    return json.dumps(text, ensure_ascii=False)


def _reading_text(section: str, field: str, expected: str) -> str:
    """Read what the cluster has, and merge what is expected into it."""
    return (
        f'{{{{- $text := get (default dict .{section}) "{field}" | default "" }}}}\n'
        f"{{{{- $expected := {_quoted(expected)} }}}}\n"
        "{{- $found := fromYaml $text }}\n"
        "{{- $merged := mergeOverwrite (deepCopy $found) (fromYaml $expected) }}\n"
    )


# As the cluster writes it where that means the same, else as the intent does.
_TEXT = (
    "{{ if eq (toJson $found) (toJson $merged) }}{{ toJson $text }}"
    "{{ else }}{{ toJson $expected }}{{ end }}"
)


def _reading_container(container: dict[str, Any]) -> str:
    return f"{{{{- $expected := fromJson {_quoted(json.dumps(container))} }}}}\n"


# kube-compare takes a list as a whole: the pod's own containers, with what is expected of one.
_CONTAINERS = """
{{- $met := false }}
{{- range (get (default dict .spec) "containers" | default list) }}
{{- if eq .name $expected.name }}
{{- $met = true }}
    - {{ toJson (mergeOverwrite (deepCopy .) (deepCopy $expected)) }}
{{- else }}
    - {{ toJson . }}
{{- end }}
{{- end }}
{{- if not $met }}
    - {{ toJson $expected }}
{{- end }}"""
