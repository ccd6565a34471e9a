import pytest

from plimsoll.cluster.pods.cluster_client import ClusterPlace
from plimsoll.errors import InputError
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "context", "namespace"),
    [
        ("kube://lab", "lab", None),
        ("kube://lab/bench", "lab", "bench"),
        ("kube://lab/bench/", "lab", "bench"),
        ("kube://", None, None),
        ("kube:///bench", None, "bench"),
        ("kube://kubernetes-admin@lab/bench", "kubernetes-admin@lab", "bench"),
        # What `oc login` names a context: namespace/server:port/user.
        (
            "kube://default%2Fapi-lab:6443%2Fadmin/bench",
            "default/api-lab:6443/admin",
            "bench",
        ),
    ],
)
def test_a_place_is_read_and_written(text: str, context: str | None, namespace: str | None) -> None:
    place = ClusterPlace.parse(text)
    assert (place.context, place.namespace) == (context, namespace)
    assert ClusterPlace.parse(str(place)) == place


@pytest.mark.parametrize(
    "text", ["lab", "ssh://lab", "kube://a/b/c", "kube://lab?x=1", "kube://lab/b#c", "kube://[/b"]
)
def test_what_is_no_place_is_refused(text: str, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        ClusterPlace.parse(text)
    assert refused.value == says("kube://CONTEXT")
    assert "kube://CONTEXT" in refused.value.remedy
