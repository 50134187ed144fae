"""Features of a text: the edges that the published vectors do not reach."""

import pytest

from policies.llm.router.situation import features_of


@pytest.mark.parametrize(
    ("text", "count"), [("-3 and +4.5", 2), ("1,234", 2), ("7.5.5", 2), ("½ ² IV", 0)]
)
def test_numbers_are_signed_decimals(text: str, count: int) -> None:
    """Separators of thousands divide numbers; those of question and context are not joined."""
    assert features_of(text, "").num_numbers == count
    assert features_of(text, text).num_numbers == 2 * count


@pytest.mark.parametrize(
    ("text", "found"),
    [("```", True), ("DEF f", True), ("the import\nof", False), ("<Code>", True), ("code", False)],
)
def test_code_is_a_fence_a_keyword_with_a_space_or_a_tag(text: str, *, found: bool) -> None:
    """In the question or in the context."""
    assert features_of(text, "").has_code is found
    assert features_of("", text).has_code is found


@pytest.mark.parametrize(
    ("context", "rows"), [("a\n|b", 1), ("a |b", 0), ("|a", 0), ("a\r\n|b|\r\nc|", 2), ("a\r|b", 0)]
)
def test_a_table_needs_a_pipe_at_a_line_start_or_before_a_space(context: str, rows: int) -> None:
    """Its rows are the lines with a pipe; without a table there are none."""
    found = features_of("a | b", context)
    assert (found.has_table, found.table_row_estimate) == (rows > 0, rows)
