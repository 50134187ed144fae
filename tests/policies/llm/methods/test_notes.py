"""Notes: links, evolution, and what of a malformed reply is used."""

import pytest

from policies.llm.methods.notes import (
    BadNote,
    Decision,
    Note,
    Notes,
    analysis_in,
    decision_in,
    noted,
)

TWO = Notes(
    notes=(Note(content="cash is low"), Note(content="beer is late", links=(0, "note 0", "x", 9))),
    indexed=("cash is low", "beer is late"),
)


def test_links_are_followed_once_and_only_to_notes_that_exist() -> None:
    """Numbers and texts with numbers; as published a number cannot be followed."""
    assert TWO.retrieved("beer", 1) == [1, 0, 0]
    with pytest.raises(BadNote, match="note 1"):
        TWO.retrieved("beer", 1, as_published=True)
    assert TWO.retrieved("cash", 1, as_published=True) == [0]
    assert Notes().retrieved("cash", 4) == []


def test_neighbours_are_rewritten_by_position() -> None:
    """As many as there are tags for; a context that is missing stays."""
    decision = Decision(evolves=True, contexts=("new",), neighbor_tags=(("a",), ("b",), ("c",)))
    after = TWO.added(Note(content="x"), decision, [1, 0], every=100)
    assert [note.tags for note in after.notes] == [("b",), ("a",), ()]
    assert [note.context for note in after.notes] == ["", "new", ""]
    # They are found by their old text until the index is built again.
    assert after.indexed[:2] == TWO.indexed
    assert "b" in TWO.added(Note(content="x"), decision, [1, 0], every=1).indexed[0]


def test_nothing_changes_without_evolution() -> None:
    """Actions alone do nothing."""
    reply = (
        '{"should_evolve": false, "actions": ["strengthen", "update_neighbor"], '
        '"suggested_connections": [0], "tags_to_update": [], "new_tags_neighborhood": [["a"]]}'
    )
    assert decision_in(reply) == Decision()
    after = TWO.added(Note(content="x", tags=("t",)), Decision(), [0], every=100)
    assert after.notes == (*TWO.notes, Note(content="x", tags=("t",)))
    assert after.evolutions == 0


@pytest.mark.parametrize(
    "reply",
    [
        '{"keywords": "cash", "tags": ["t"], "context": ""}',
        '{"keywords": [5], "tags": ["t"], "context": ""}',
        '{"keywords": [], "tags": ["t"]}',
        '{"context": "", "tags": ["t"]}',
    ],
)
def test_a_malformed_analysis_is_used_as_far_as_it_goes(reply: str) -> None:
    """As published it loses the note, also by a missing field; a text without JSON does not."""
    assert analysis_in(reply) == {"keywords": (), "tags": ("t",), "context": ""}
    with pytest.raises(BadNote):
        analysis_in(reply, as_published=True)
    assert analysis_in("no JSON", as_published=True)["keywords"] == ()


def test_a_malformed_decision_is_used_as_far_as_it_goes() -> None:
    """Links may be numbers or texts; everything else must be texts."""
    reply = (
        '{"should_evolve": true, "actions": ["strengthen"], "tags_to_update": 5, '
        '"suggested_connections": [1, "2", null, true, {}]}'
    )
    assert decision_in(reply) == Decision(evolves=True, links=(1, "2"), tags=())
    with pytest.raises(BadNote):
        decision_in(reply, as_published=True)
    for lacking in (
        "{}",
        '{"actions": []}',
        '{"should_evolve": true}',
        '{"should_evolve": true, "actions": ["strengthen"]}',
    ):
        with pytest.raises(BadNote):
            decision_in(lacking, as_published=True)
        assert decision_in(lacking).links == ()
    with pytest.raises(BadNote):
        decision_in("[1, 2]", as_published=True)
    assert decision_in("no JSON", as_published=True) == Decision()
    assert decision_in('{"should_evolve": "yes"}') == Decision()


def test_the_origin_of_a_note_takes_precedence() -> None:
    """Its line is the context, its role the tag; without one the model's are used."""
    analysis = {"keywords": ("k",), "context": "c", "tags": ("t",)}
    assert noted("x", {}, analysis) == Note(content="x", keywords=("k",), context="c", tags=("t",))
    of_role = noted("x", {"role": "cfo", "note": 3}, analysis)
    assert (of_role.context, of_role.tags) == ("role: cfo | note: 3", ("cfo",))


def test_the_oldest_notes_are_dropped_beyond_the_limit() -> None:
    """With the links, whose numbers would be wrong."""
    many = Notes(notes=TWO.notes * 1_000, indexed=TWO.indexed * 1_000)
    after = many.added(Note(content="new"), Decision(), [], every=100)
    assert (len(after.notes), len(after.indexed)) == (2_000, 2_000)
    assert after.notes[-1].content == "new"
    assert not any(note.links for note in after.notes)
