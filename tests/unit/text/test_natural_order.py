from plimsoll.text.counted import natural_order


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


def test_a_number_of_any_length_has_its_place() -> None:
    long = "1" + "0" * 5000
    assert sorted([long, "9" * 5000, "11", "000"], key=natural_order) == [
        "000",
        "11",
        "9" * 5000,
        long,
    ]
