"""Features of a text: each figure, and the edges of each."""

import pytest

from policies.llm.router.situation import features_of


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("-3 and +4.5", 2),
        ("1,234", 2),
        ("7.5.5", 2),
        ("٣", 1),  # a decimal digit of another script
        ("½ ² IV", 0),
    ],
)
def test_numbers_are_signed_decimals(text: str, count: int) -> None:
    """Separators of thousands divide numbers; digits are those of any script."""
    assert features_of(text, "").num_numbers == count
    assert features_of("", text).num_numbers == count


def test_numbers_of_question_and_context_are_not_joined() -> None:
    """A question that ends with a digit and a context that begins with one hold two numbers."""
    assert features_of("1", "2").num_numbers == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```", True),
        ("``", False),
        ("def f", True),
        ("import os", True),
        ("DEF f", True),
        ("Import duties", True),
        ("the import\nof", False),
        ("<code>", True),
        ('<Code class="x">', True),
        ("<codex>", False),
        ("code", False),
    ],
)
def test_code_is_a_fence_a_keyword_with_a_space_or_a_tag(text: str, *, found: bool) -> None:
    """In the question or in the context."""
    assert features_of(text, "").has_code is found
    assert features_of("", text).has_code is found


@pytest.mark.parametrize(
    ("context", "rows"),
    [
        ("a\n|b", 1),
        ("a |b", 0),
        ("a| b", 1),
        ("|a", 0),
        ("a\r\n|b|\r\nc|", 2),
        ("\n\n| \n\n", 1),
        ("a\r|b", 0),
    ],
)
def test_a_table_needs_a_pipe_at_a_line_start_or_before_a_space(context: str, rows: int) -> None:
    """Its rows are the lines with a pipe; without a table there are none."""
    found = features_of("a | b", context)
    assert (found.has_table, found.table_row_estimate) == (rows > 0, rows)


def test_the_live_agents_pattern_counts_backslashes() -> None:
    r"""Its doubled escape finds \d, not a digit."""
    assert features_of("1 2 3", "", as_published_live=True).num_numbers == 0
    assert features_of(r"-\d and \ddd", "1", as_published_live=True).num_numbers == 2
