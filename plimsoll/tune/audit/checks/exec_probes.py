"""45: whether the kubelet runs programs inside the workload's containers."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    worst_of,
)
from plimsoll.tune.expected.node import is_declared
from plimsoll.tune.host.boot.kubelet import (
    KUBELET_FILES,
    read_kubelet_configuration,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, full_name, mapping_at
from plimsoll.tune.kubernetes.pods import (
    MANIFESTS,
    containers_of,
    exec_probes,
    has_cpus_of_its_own,
    parse_static_pod,
)

_EXPECTED = "no exec probe in static pods that poll"
# True whether or not the cluster is audited as well as the host.
_OTHERS = "the probes of all other pods are the cluster's, and judged by check 117 of its audit"
# A node has a handful: etcd, the API server and the like.
_MAX_FILES = 100


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    names = [name for name in view.find_names(MANIFESTS) if not name.startswith(".")]
    _, configuration = read_kubelet_configuration(view)
    if configuration is not None and (elsewhere := _elsewhere(configuration.get("staticPodPath"))):
        return elsewhere
    if not names:
        return not_applicable(f"there are no static pods in {MANIFESTS}; {_OTHERS}")
    if len(names) > _MAX_FILES:
        raise CannotRead(Unread(MANIFESTS, "unreadable", f"more than {_MAX_FILES} files"))
    judged = [_manifest(view, intent, f"{MANIFESTS}/{name}") for name in names]
    applies = [each for each in judged if each is not None]
    if not applies:
        return not_applicable(
            f"no static pod has CPUs of its own or is a pod of the intent; {_OTHERS}"
        )
    found = worst_of(applies)
    if found.verdict != "ok":
        return found
    return ok(f"{found.text}; {_OTHERS}", *found.read, expected=_EXPECTED)


def _elsewhere(configured: object) -> CheckJudgement | None:
    """Where the kubelet does not look into the directory that is read; None where it does."""
    if not configured:
        return not_applicable(f"the kubelet takes no static pods; {_OTHERS}")
    if str(configured).rstrip("/") == MANIFESTS:
        return None
    return unknown(f"the kubelet takes static pods from {str(configured)[:200]}, which is not read")


def _manifest(view: HostView, intent: Intent, path: str) -> CheckJudgement | None:
    """None for a pod that has no CPUs of its own and is not one of the intent's."""
    try:
        pod = parse_static_pod(view.need(path))
    except CannotRead as error:
        return unknown(str(error.unread))
    except ValueError as error:
        return unknown(f"{path} {error}")
    polling = tuple(_polling(intent, pod))
    return _pod(path, pod, polling) if polling else None


def _polling(intent: Intent, pod: KubeObject) -> Iterator[KubeObject]:
    """The containers in which nothing should be started: all of a pod that the intent names."""
    named = any(
        is_declared(_placed(pod, intent.namespace_of(each)), intent, each) for each in intent.pods
    )
    yield from filter(lambda each: named or has_cpus_of_its_own(pod, each), containers_of(pod))


def _placed(pod: KubeObject, namespace: str) -> KubeObject:
    """A manifest that names no namespace is known by the pod's name alone."""
    return {**pod, "metadata": {"namespace": namespace, **mapping_at(pod, "metadata")}}


def _pod(path: str, pod: KubeObject, polling: tuple[KubeObject, ...]) -> CheckJudgement:
    name = full_name(pod)
    found = list(exec_probes(polling))
    if not found:
        return ok(
            f"static pod {name} has no exec probe", Reading(path, "no exec"), expected=_EXPECTED
        )
    message = ", ".join(found)
    return fail(
        f"programs are started in the containers of static pod {name}: {message}",
        Reading(path, f"exec in {message}"),
        expected=_EXPECTED,
        steps=[advice(f"use httpGet, tcpSocket or grpc in {path}, answered off the polling CPUs")],
    )


CHECK = Check(
    number=45,
    name="exec-probes",
    group="pod",
    title="No probe runs programs in the workload's containers",
    reads=(*KUBELET_FILES, f"{MANIFESTS}/*"),
    lists=(MANIFESTS,),
    why=(
        "For an exec probe the runtime starts a process in the container, on the container's own "
        "CPUs, every few seconds: fork, exec and page faults in the midst of the polling loops. "
        "A host knows of its static pods alone: those that have CPUs of their own are judged, "
        "and those that the intent names."
    ),
    fix=(
        "Use an httpGet, tcpSocket or grpc probe, or none, in pods that poll. The pods that the "
        "API server knows are in check 117: plimsoll tune audit --kube, or --from a must-gather."
    ),
    sources=(
        "Kubernetes, Configure Liveness, Readiness and Startup Probes",
        "Kubernetes, Create static Pods: staticPodPath",
        "OpenShift, Low latency tuning: exec probes and CPU pinning",
    ),
    rule=_judge,
)
