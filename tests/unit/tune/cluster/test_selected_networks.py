"""Networks in a pod's annotation. Forms of the Kubernetes Network CRD De-facto Standard, 4.1."""

import pytest

from plimsoll.tune.cluster.selected_networks import selected_networks
from tests.worded.says import Says


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
    ("given", "facts"),
    [
        ("/a", ("/a",)),
        ("x/", ("x/",)),
        ("@net1", ("@net1",)),
        ("[{", ()),
        ('["a"]', ()),
        ('[{"name": "a", "namespace": 7}]', ()),
        (None, ()),
        (["a"], ()),
    ],
)
def test_what_multus_would_not_read(given: object, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        selected_networks(given, "own")
    assert caught.value == says(*facts)
