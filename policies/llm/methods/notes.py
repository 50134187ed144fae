"""Notes that a model has analysed and linked: how they are read, searched and rewritten.

Source: reference SPEC of FirmBench, section 5 (AMEM), and its vectors.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from policies.llm.methods.similar import most_similar
from policies.llm.replies import objects

#: Notes kept; the oldest are dropped, links to them with them.
_KEPT = 2_000

#: Characters of one field of a note, and entries of its lists.
_LONGEST, _ENTRIES = 4_000, 50

_NUMBER = re.compile(r"\d{1,9}")

#: Lists of a decision that an action needs.
_NEEDED = {
    "strengthen": ("suggested_connections", "tags_to_update"),
    "update_neighbor": ("new_context_neighborhood", "new_tags_neighborhood"),
}


class BadNote(Exception):
    """A note is lost, or cannot be read, as in the published code."""


@frozen(kw_only=True)
class Note:
    """One note.

    Attributes:
        content: What happened.
        keywords: Keywords of the content.
        context: One line: where the note comes from, or what it is about.
        tags: Words to sort notes by.
        links: Other notes as the model named them: a number, or a text with a number in it.
    """

    content: str
    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str | int, ...] = ()

    @property
    def as_added(self) -> str:
        """The text by which a note is found until the index is built again."""
        words, tags = ", ".join(self.keywords), ", ".join(self.tags)
        return f"content:{self.content} context:{self.context} keywords: {words} tags: {tags}"

    @property
    def as_rebuilt(self) -> str:
        """The text by which a note is found afterwards."""
        words = " ".join([*self.keywords, *self.tags])
        return f"{self.content} , {self.context} {words}"


@frozen(kw_only=True)
class Decision:
    """A model's decision to change a new note and the notes most similar to it.

    Attributes:
        evolves: Whether it counts as an evolution.
        links: Links that the new note gets.
        tags: Tags that the new note takes; None to keep its own.
        contexts: Contexts of the similar notes, by position.
        neighbor_tags: Tags of the similar notes, by position; those beyond stay as they are.
    """

    evolves: bool = False
    links: tuple[str | int, ...] = ()
    tags: tuple[str, ...] | None = None
    contexts: tuple[str, ...] = ()
    neighbor_tags: tuple[tuple[str, ...], ...] = ()


@frozen(kw_only=True)
class Notes:
    """The memory: notes, the oldest first.

    Attributes:
        notes: The notes.
        indexed: For each note the text by which it is found. A note that a later one has changed is
            found by its old text until the index is built again.
        evolutions: The number of new notes that have changed themselves or others.
    """

    notes: tuple[Note, ...] = ()
    indexed: tuple[str, ...] = ()
    evolutions: int = 0

    def nearest(self, text: str, count: int) -> list[int]:
        """Return the indices of the most similar notes, the most similar first."""
        return most_similar(text, self.indexed[: len(self.notes)], count)

    def retrieved(self, text: str, count: int, *, as_published: bool = False) -> list[int]:
        """Return the indices of the most similar notes, each followed by those it links to.

        Raises:
            BadNote: As published, a link is a number and no text.
        """
        found = []
        for index in self.nearest(text, count):
            links = self.notes[index].links
            if as_published and any(isinstance(link, int) for link in links):
                raise BadNote(f"a link of note {index} is a number and no text")
            linked = map(_number, links)
            found += [index, *(number for number in linked if 0 <= number < len(self.notes))]
        return found

    def added(self, note: Note, decision: Decision, near: Sequence[int], every: int) -> "Notes":
        """Return the memory with one more note, after the decision about it and its neighbours.

        The notes *near* were shown for the decision; the index is built again *every* so many
        evolutions.
        """
        notes = list(self.notes)
        for at, (index, tags) in enumerate(zip(near, decision.neighbor_tags, strict=False)):
            context = (*decision.contexts[at : at + 1], notes[index].context)[0]
            notes[index] = evolve(notes[index], tags=tags, context=context)
        tags = note.tags if decision.tags is None else decision.tags
        note = evolve(note, links=note.links + decision.links, tags=tags)
        notes.append(note)
        evolutions = self.evolutions + decision.evolves
        indexed = [*self.indexed, note.as_added]
        if decision.evolves and evolutions % every == 0:
            indexed = [each.as_rebuilt for each in notes]
        if len(notes) > _KEPT:
            # The numbers of notes change, so that links are dropped.
            notes = [evolve(each, links=()) for each in notes[-_KEPT:]]
            indexed = indexed[-_KEPT:]
        return Notes(notes=tuple(notes), indexed=tuple(indexed), evolutions=evolutions)


def _number(link: str | int) -> int:
    if isinstance(link, int):
        return link
    match = _NUMBER.search(link)
    return int(match[0]) if match else -1


def noted(content: str, origin: Mapping[str, Any], analysis: Mapping[str, Any]) -> Note:
    """Return a note of a content, its origin and a model's analysis.

    The origin takes precedence: its line is the context, and its role or case is the tag.
    """
    line = " | ".join(f"{key}: {value}" for key, value in origin.items())
    tags = tuple(str(origin[key]) for key in ("role", "case") if origin.get(key))
    return Note(
        content=content,
        keywords=analysis["keywords"],
        context=line or analysis["context"],
        tags=tags or analysis["tags"],
    )


def analysis_in(reply: str, *, as_published: bool = False) -> dict[str, Any]:
    """Return keywords, context and tags of a reply, as far as it has them.

    Raises:
        BadNote: As published, the reply is an object and one of them is missing or of another kind.
    """
    given = _object(reply, ("keywords", "context", "tags"), as_published=as_published)
    context = given.get("context", "")
    if as_published and not isinstance(context, str):
        raise BadNote("the context is no text")
    return {
        "keywords": _texts(given, "keywords", as_published=as_published),
        "context": context[:_LONGEST] if isinstance(context, str) else "",
        "tags": _texts(given, "tags", as_published=as_published),
    }


def decision_in(reply: str, *, as_published: bool = False) -> Decision:
    """Return the decision of a reply; one that changes nothing if the reply has none.

    Raises:
        BadNote: As published, a part of it is missing or of another kind than it should be.
    """
    given = _object(reply, ("should_evolve",), as_published=as_published)
    evolves = given.get("should_evolve") is True
    actions = _entries(given, "actions")
    if as_published and evolves:
        needed = ["actions", *(key for name in _NEEDED if name in actions for key in _NEEDED[name])]
        _require(given, needed)
    links = _entries(given, "suggested_connections")
    tags = _texts(given, "tags_to_update", as_published=as_published)
    contexts = _texts(given, "new_context_neighborhood", as_published=as_published)
    listed = [{"tags": each} for each in _entries(given, "new_tags_neighborhood")]
    neighbor_tags = tuple(_texts(each, "tags", as_published=as_published) for each in listed)
    decision = Decision(evolves=evolves)
    if evolves and "strengthen" in actions:
        known = tuple(each for each in links if isinstance(each, str) or type(each) is int)
        decision = evolve(decision, links=known, tags=tags)
    if evolves and "update_neighbor" in actions:
        decision = evolve(decision, contexts=contexts, neighbor_tags=neighbor_tags)
    return decision


def _object(reply: str, needed: Sequence[str], *, as_published: bool) -> dict[str, Any]:
    """Return the object of a reply; an empty one if it has none.

    Raises:
        BadNote: As published, the reply is other JSON, or its object lacks a needed field.
    """
    found = next(iter(objects(reply)), None)
    if as_published and (found is None or reply.lstrip().startswith("[")) and _is_json(reply):
        raise BadNote("the reply is no JSON object")
    if as_published and found is not None:
        _require(found, needed)
    return found or {}


def _require(given: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in keys:
        if key not in given:
            raise BadNote(f"the reply lacks {key}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _texts(given: Mapping[str, Any], key: str, *, as_published: bool) -> tuple[str, ...]:
    """Return the texts of a list, shortened; none if the value is not a list of texts.

    Raises:
        BadNote: As published, the value is not a list of texts.
    """
    value = given.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        if as_published:
            raise BadNote(f"{key} is no list of texts")
        return ()
    return tuple(each[:_LONGEST] for each in value[:_ENTRIES])


def _entries(given: Mapping[str, Any], key: str) -> list[Any]:
    value = given.get(key)
    return value[:_ENTRIES] if isinstance(value, list) else []
