from plimsoll.record.query import TimeRange


def test_windows_are_of_equal_length_and_end_with_the_range() -> None:
    assert TimeRange(0, 10).windows(4) == (
        TimeRange(0, 2.5),
        TimeRange(2.5, 5),
        TimeRange(5, 7.5),
        TimeRange(7.5, 10),
    )
    assert TimeRange(0, 1).windows(3)[-1].end_ms == 1
