"""The difference of two texts by words."""

import pytest

from desim.show.word_difference import word_difference


def marked(a: str, b: str) -> str:
    """Return the difference as one text."""
    marks = {"same": "{}", "a": "-{}-", "b": "+{}+", "left out": "<{}>"}
    return "".join(marks[each.kind].format(each.text) for each in word_difference(a, b))


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        ("", "", ""),
        ("one", "one two", "one +two+"),
        ("keep 12 units.", "keep 7 units.", "keep -12 -+7 +units."),
        ("a  b", "a b", "-a  -+a +b"),
        ("x", "", "-x-"),
    ],
)
def test_words_of_one_text_alone_are_marked(a: str, b: str, shown: str) -> None:
    """Spaces count where nothing else differs."""
    assert marked(a, b) == shown


def test_equal_words_far_from_a_difference_are_left_out() -> None:
    """Their number is given; ten stay on each side."""
    long = " ".join(f"w{n}" for n in range(50))
    shown = marked(f"{long} 1 {long} 2", f"{long} 3 {long} 4")
    assert shown.startswith("<40 words>w40 ")
    assert "-1 -+3 +w0 w1" in shown
    assert "w9 <30 words>w40" in shown
    assert shown.endswith("-2-+4+")


def test_huge_texts_are_compared_in_a_bounded_time() -> None:
    """Behind the first words the rest counts as replaced, and a long word is cut."""
    shown = marked("a b " * 500_000 + "x", "b a c " * 500_000 + "y" * 5_000_000)
    assert len(shown) < 500_000
    assert "characters)" in shown
