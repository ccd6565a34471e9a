from plimsoll.record.query.natural_order import natural_order


def test_numbers_in_names_are_in_their_own_order_and_no_name_is_last() -> None:
    names = [None, "i40e-10", "i40e-9", "10", "2", "eth", "02", ""]
    assert sorted(names, key=natural_order) == [
        "",
        "02",
        "2",
        "10",
        "eth",
        "i40e-9",
        "i40e-10",
        None,
    ]
