"""Networks in a pod's annotation. Forms of the Kubernetes Network CRD De-facto Standard, 4.1."""

import pytest

from plimsoll.tune.cluster.selected_networks import selected_networks


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("", []),
        ("a", ["own/a"]),
        ("b, a", ["own/a", "own/b"]),
        ("a,a", ["own/a", "own/a"]),
        ("x/a@net1,b@net2", ["own/b", "x/a"]),
        ('[{"name": "a"}, {"name": "b", "namespace": "x", "interface": "i"}]', ["own/a", "x/b"]),
        ("[]", []),
    ],
)
def test_both_forms(given: str, names: list[str]) -> None:
    assert [str(each) for each in selected_networks(given, "own")] == names


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("/a", "names '/a', which is not a valid network"),
        ("x/", "names 'x/', which is not a valid network"),
        ("@net1", "names '@net1', which is not a valid network"),
        ("[{", "is not JSON"),
        ('["a"]', "names a network without a name"),
        ('[{"name": "a", "namespace": 7}]', "names a network without a name"),
        (None, "is not a list of networks"),
        (["a"], "is not a list of networks"),
    ],
)
def test_what_multus_would_not_read(given: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("[", r"\[")):
        selected_networks(given, "own")
