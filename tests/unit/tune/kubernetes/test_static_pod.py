"""What of a static pod's manifest may be shown to others."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.tune.kubernetes.pods import parse_static_pod, without_secrets
from tests.worded.says import Says

MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: router
  namespace: edge
  labels: {app: router, licence: hunter2}
  annotations: {vendor.example.org/token: hunter2}
spec:
  runtimeClassName: performance-edge
  imagePullSecrets: [{name: hunter2}]
  volumes: [{name: hunter2, hostPath: {path: /hunter2}}]
  initContainers:
    - {name: key-loader, command: [load, hunter2], restartPolicy: Always}
  containers:
    - name: router
      image: registry.example.org/hunter2
      args: [--password=hunter2]
      env: [{name: PASSWORD, value: hunter2}]
      resources:
        limits: {cpu: 2, memory: 1Gi, example.org/hunter2: 1}
        requests: {cpu: hunter2, memory: 1Gi}
      livenessProbe:
        exec: {command: [check, hunter2]}
        periodSeconds: 5
      readinessProbe:
        httpGet: {port: 80, httpHeaders: [{name: Authorization, value: hunter2}]}
        hunter2: {}
      startupProbe: {grpc: {port: 1, service: hunter2}}
"""


def test_what_decides_about_cpus_and_probes_is_kept_and_nothing_else() -> None:
    assert json.loads(without_secrets(MANIFEST)) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "router", "namespace": "edge", "labels": {"app": "router"}},
        "spec": {
            "containers": [
                {
                    "name": "router",
                    "resources": {
                        "limits": {"cpu": "2", "memory": "1Gi"},
                        "requests": {"cpu": "unknown", "memory": "1Gi"},
                    },
                    "livenessProbe": {"exec": {}},
                    "readinessProbe": {"httpGet": {}},
                    "startupProbe": {"grpc": {}},
                }
            ],
            "initContainers": [
                {
                    "name": "key-loader",
                    "restartPolicy": "Always",
                    "resources": {"limits": {}, "requests": {}},
                }
            ],
        },
    }


def test_no_secret_is_in_what_is_kept() -> None:
    assert "hunter2" in MANIFEST
    assert "hunter2" not in without_secrets(MANIFEST)


def test_what_is_kept_is_a_manifest_itself() -> None:
    kept = without_secrets(MANIFEST)
    assert parse_static_pod(kept)["kind"] == "Pod"
    assert without_secrets(kept) == kept


@pytest.mark.parametrize("text", ["", "kind: Secret\ndata: {a: b}\n", "{", "a: &a b\nc: *a\n"])
def test_what_is_no_pod_is_refused(text: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        without_secrets(text)
    assert caught.value == says()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(metadata=ANYTHING, container=ANYTHING, resources=ANYTHING, probe=ANYTHING)
def test_fields_of_any_shape_are_no_error(
    metadata: object, container: object, resources: object, probe: object
) -> None:
    known = {"name": "x", "resources": resources, "livenessProbe": probe}
    pod = {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container, known], "initContainers": container},
    }
    text = yaml.safe_dump(pod)
    if "&" in text or "*" in text:
        return
    assert json.loads(without_secrets(text))["kind"] == "Pod"
