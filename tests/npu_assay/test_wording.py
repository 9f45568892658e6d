"""Messages about many things."""

from npu_assay.wording import counted, first_of, some


def test_things_are_counted():
    assert [counted(number, "die") for number in (0, 1, 2)] == ["0 dies", "1 die", "2 dies"]


def test_the_first_is_told_and_how_many_more_there_are():
    assert first_of("gone", 1) == "gone"
    assert first_of("gone", 3) == "gone (and 2 more)"


def test_at_most_so_many_names_are_told():
    assert some([], 2) == ""
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c"], 2) == "a, b and 1 more"
