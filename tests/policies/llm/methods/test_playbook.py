"""Playbooks: what is added where, what is counted, and what a model may write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.llm.methods.playbook import (
    Operation,
    add,
    cited_ids,
    lines_of,
    lines_with,
    operations_in,
    statistics,
    tags_in,
    tokens,
    with_tags,
)

BOOK = "## RULES\n[rule-00001] helpful=0 harmful=0 :: buy low\n\n## OTHERS"


def test_lines_are_added_at_the_end_of_their_section() -> None:
    """The number goes up by one a line, whatever the section."""
    text, next_id = add(BOOK, [Operation("rules", "sell\nhigh"), Operation("x", "wait")], 7)
    assert text == (
        "## RULES\n[rule-00001] helpful=0 harmful=0 :: buy low\n\n"
        "[rule-00007] helpful=0 harmful=0 :: sell high\n"
        "## OTHERS\n[misc-00008] helpful=0 harmful=0 :: wait"
    )
    assert next_id == 9


def test_the_section_general_is_directly_under_the_others() -> None:
    """As published: before what is there."""
    book = "## RULES\n## OTHERS\n[misc-00003] helpful=1 harmful=0 :: wait"
    text, _ = add(book, [Operation("General", "look")], 4)
    assert text.splitlines()[2:] == [
        "[gene-00004] helpful=0 harmful=0 :: look",
        "[misc-00003] helpful=1 harmful=0 :: wait",
    ]


def test_a_budget_of_tokens_holds() -> None:
    """Lines that would exceed it are left out, and the numbers go on with those added."""
    lines = [Operation("rules", "x" * 400) for _ in range(10)]
    text, next_id = add(BOOK, lines, 1, tokens(BOOK) + 400)
    assert tokens(text) <= tokens(BOOK) + 400
    assert 3 <= next_id - 1 < 10
    assert add(BOOK, lines, 1, 0) == (BOOK, 1)


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=50)), max_size=8),
    st.integers(0, 200_000),
)
def test_whatever_is_added_can_be_read_again(pairs: list[tuple[str, str]], first: int) -> None:
    """Every line added is one numbered line; none changes another."""
    operations = [Operation(section, content) for section, content in pairs]
    text, next_id = add(BOOK, operations, first)
    assert next_id == first + len(pairs)
    assert statistics(text)["total_bullets"] == 1 + len(pairs)
    assert "[rule-00001] helpful=0 harmful=0 :: buy low" in text


@pytest.mark.parametrize(
    ("reply", "operations"),
    [
        (
            '{"operations": [{"type": "ADD", "section": "a", "content": "b"}]}',
            [Operation("a", "b")],
        ),
        ('{"operations": [{"type": "DELETE"}]}', []),
        ('{"operations": []}', []),
        ('{"operations": [{"type": "ADD", "section": "a"}]}', None),
        ('{"operations": [{"type": "ADD", "section": "a", "content": "b"}, 5]}', None),
        ('{"operations": {"type": "ADD"}}', None),
        ("no JSON", None),
        ("", None),
    ],
)
def test_one_malformed_operation_rejects_the_reply(
    reply: str, operations: list[Operation] | None
) -> None:
    """Only lines to add are taken."""
    assert operations_in(reply) == operations


@pytest.mark.parametrize(
    "tags", [[], [5], [[1]], [{"id": 5}], [{"id": "rule-00001"}], [{"tag": "x"}]]
)
def test_malformed_tags_change_nothing(tags: list[object]) -> None:
    """A reflector may write anything."""
    assert with_tags(BOOK, tags) == BOOK


def test_tags_beside_words_are_found_unless_the_reply_must_be_json() -> None:
    """The list alone is enough."""
    reply = 'so "bullet_tags": [{"id": "a", "tag": "helpful"}] it is'
    assert tags_in(reply) == [{"id": "a", "tag": "helpful"}]
    assert tags_in(reply, json_mode=True) == []


def test_short_ids_are_cited_but_were_not_as_published() -> None:
    """A section of two words has ids of two letters."""
    assert cited_ids("[sl-00001] [rule-00002]") == ["sl-00001", "rule-00002"]
    assert cited_ids("[sl-00001] [rule-00002]", as_published=True) == ["rule-00002"]


def test_lines_are_found_by_id_and_by_word() -> None:
    """In any case, and as they stand."""
    assert lines_of(BOOK, ["rule-00001"]) == lines_with(BOOK, ["LOW"])
    assert lines_of(BOOK, ["rule-1"]) == lines_with(BOOK, ["nothing"]) == ""
