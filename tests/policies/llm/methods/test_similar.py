"""Vectors without a server, and which texts are most similar."""

import pytest

from policies.llm.methods.similar import DIMENSIONS, hashed, most_similar, similarities

TEXTS = ["the bank lends cash", "the plant brews beer", "the bank lends cash at a rate"]


def test_a_text_is_as_similar_to_itself_as_can_be_and_an_empty_one_to_nothing() -> None:
    """The cosines are 1 and 0."""
    assert hashed([*TEXTS, "", "?!"]).shape == (5, DIMENSIONS)
    assert similarities(TEXTS[0], [TEXTS[0], "", "?!"]) == pytest.approx([1, 0, 0])


def test_rare_words_weigh_more_than_common_ones() -> None:
    """`beer` is in one text, `the` in all of them."""
    near = similarities("the beer", TEXTS)
    assert near[1] > 2 * max(near[0], near[2])
    assert similarities("", TEXTS).tolist() == [0, 0, 0]
    assert similarities("beer", []).shape == (0,)


@pytest.mark.parametrize(
    ("count", "found"), [(0, []), (1, [0]), (2, [0, 2]), (9, [0, 2, 1]), (-1, [])]
)
def test_the_most_similar_come_first(count: int, found: list[int]) -> None:
    """As many as there are, at most."""
    assert most_similar("the bank lends cash", TEXTS, count) == found


def test_of_equally_similar_texts_the_later_comes_first() -> None:
    """As in the published code."""
    assert most_similar("beer", ["beer", "cash", "beer"], 2) == [2, 0]
