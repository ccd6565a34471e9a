"""The page of all checks of a cluster, tuning-cluster.md, made of their words by `make docs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.host.entry.entry_point import enter
from plimsoll.tune.cluster.cluster_audit import all_cluster_checks
from plimsoll.tune.cluster.kinds import ALL_KINDS, Kind
from plimsoll.tune.cluster.object_judgement import ClusterCheck

_INTRODUCTION = """\
# Tuning audit of a cluster, and a reference for kube-compare

`plimsoll tune audit` compares a cluster's objects with what \
[`plimsoll tune render`](tuning-render.md) makes of the same intent ([tuning-intent.md]\
(tuning-intent.md)), in the table and with the verdicts of the audit of a host ([tuning.md]\
(tuning.md)).

```
plimsoll tune audit --intent intent.yaml --kube                     # by the current kubeconfig
plimsoll tune audit --intent intent.yaml --kube --context lab       # another of its contexts
plimsoll tune audit --intent intent.yaml --from must-gather.tar.gz  # offline
plimsoll tune audit --intent intent.yaml --kube --root worker-1.tar.gz  # with a node's capture
```

Objects say what is expected and what controllers report; whether a node really is so, only an \
audit of the node tells. With `--root` both are in one table.

**What is compared.** Only fields that the intent specifies: what it leaves open, and what others \
set in addition, does not count. Values are compared by what they mean: `0,1` and `0-1` are one \
list of CPUs, `4` and `4000m` one amount, and text that is JSON, YAML or a TuneD profile is \
compared field by field. A field that is not set has the default of its CRD. A value that is \
wrong or missing fails; one more in a list (a kernel argument that is not in the intent) is \
warned of, and so is a right that goes further than the rendered one.

**Which pods.** Those of the intent, by name or by the label `app`; and every pod that names the \
profile's runtime class or has one of CRI-O's CPU annotations, wherever it came from.

**Live**, the objects are read with Kubernetes' own client, an extra: `make build \
EXTRAS=kube`. It takes the kubeconfig as kubectl does ($KUBECONFIG, ~/.kube/config), logs in \
as it says, and inside a pod uses its service account. Each kind is listed once; nothing is \
written. What the server refuses is `unknown`, with its words on the right that is missing, and \
so is what it answers with something else than a list of the kind requested (a proxy's page, 500, \
an answer that breaks off, a list of another `kind` or `apiVersion`, `NaN`) or with 404 for a kind \
that every cluster has. `items: null` is a list without entries, as Go writes one, where the rest \
of the list is right. Unknown is, too, what has no end: a list that continues where it was before, \
or over more than 4000 pages or 200,000 objects, whatever is still to be read after 15 minutes, \
and a server that requests patience (`Retry-After`) for more than 20 s in all. Where no check \
failed but one could not tell, the command ends with 5; where nothing answers, the server does not \
know the credentials, or it redirects to another address, with 3. The rights that it takes:

```yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: plimsoll-tune-audit}
rules:
"""

_AFTER_RIGHTS = """\
```

**Offline**, a must-gather is read as a directory or as an archive (tar, plain or under gzip, xz \
or bzip2), which is not unpacked: only the objects of these kinds are taken from it, no link is \
followed, and files that `oc adm inspect` would not write (anchors, deep nesting, more than \
32 MiB) make their kind `unknown` or are refused. What a must-gather does not hold is `unknown` \
too, never missing: by default it has no namespaces of workloads, so add them with `oc adm \
inspect ns/NAME`, and who may do what there with `oc adm inspect -n NAME \
serviceaccounts,roles,rolebindings`, both with `--dest-dir` of the same folder.

The reader of the API is tested against a real kube-apiserver (1.34) that has OpenShift's kinds: \
all that is rendered of the presets passes its strict validation, each check turns when its \
object is changed, and the role above is enough, with no right in it idle. What operators, a \
scheduler and kubelets would write is written by hand there. The reader of must-gathers is tested \
on trees made by hand after the layout that openshift/oc writes. Neither has met a whole OpenShift \
cluster in our tests.

## A reference for kube-compare

```
plimsoll tune reference intent.yaml -o reference/
oc cluster-compare -r reference/metadata.yaml                     # kubectl cluster-compare
oc cluster-compare -r reference/metadata.yaml -R \\
  -f "must-gather*/*/cluster-scoped-resources","must-gather*/*/namespaces"
```

The reference is of version 2: `metadata.yaml` lists a template for every object that is \
rendered, with `ignore-unspecified-fields`. Objects of the node, the cluster and the network, and \
the pods' namespaces and rights, are required; pods are compared where they run. The \
alternatives of `plimsoll tune render` are left out.

kube-compare compares values as they are written. The templates get around that for text that is \
YAML or JSON (monitoring, the addresses of a SriovNetwork) and for the containers of a pod; not \
for lists of CPUs, amounts, defaults that are not set, the text of a TuneD profile, and pods \
under other names. There `plimsoll tune audit` knows better, and kube-compare shows a difference; \
and a ServiceAccount that is missing it takes for there, with a warning, where a RoleBinding names \
it.

Checked once with kube-compare itself, built from openshift/kube-compare at commit 5f667c71: for \
the three OpenShift presets it takes the reference, finds no difference to what `plimsoll tune \
render` makes, and shows the changed fields and the missing object where something was changed.

## Checks

"""

_SEEN = ["list"]


def cluster_document() -> str:
    """The whole document."""
    checks = all_cluster_checks()
    lines = [*_rights(), _AFTER_RIGHTS + "| # | check | question |", "|--:|---|---|"]
    lines += [
        f"| {each.number} | [{each.name}](#{each.number}-{each.name}) | {each.title} |"
        for each in checks
    ]
    for each in checks:
        lines += ["", *_section(each)]
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _rights() -> Iterator[str]:
    """Rules of a ClusterRole, one for each API group; of ConfigMaps the one that is read."""
    free = [kind for kind in ALL_KINDS if kind.only is None]
    for group in dict.fromkeys(kind.group for kind in free):
        plurals = [kind.plural for kind in free if kind.group == group]
        yield f'  - apiGroups: ["{group}"]'
        yield f"    resources: [{', '.join(plurals)}]"
        yield f"    verbs: [{', '.join(_SEEN)}]"
    for kind in ALL_KINDS:
        if kind.only is not None:
            yield f'  - apiGroups: ["{kind.group}"]'
            yield f"    resources: [{kind.plural}]"
            yield f"    resourceNames: [{kind.only}]"
            yield f"    verbs: [{', '.join(_SEEN)}]"


def _section(check: ClusterCheck) -> Iterator[str]:
    yield f"### {check.number} {check.name}"
    yield ""
    yield f"{check.title}. {check.why}"
    yield ""
    yield f"**Fix.** {check.fix}"
    yield ""
    yield f"**Reads** {_named(check.reads)}"
    yield ""
    yield f"**Sources**: {'; '.join(check.sources)}"


def _named(kinds: Iterable[Kind]) -> str:
    return ", ".join(f"`{kind.resource}`" for kind in kinds)


if __name__ == "__main__":
    enter(lambda: print(cluster_document(), end=""))
