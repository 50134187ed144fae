"""Notes that a model has analysed and linked: how they are stored, searched and rewritten.

Source: reference SPEC of FirmBench, section 5 (AMEM), and its vectors.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from policies.llm.method_parts.embedding import Embed, most_similar
from policies.llm.replies import objects

#: Keys of a note's origin whose values are its tags.
_TAGGING = ("role", "case")

#: Notes kept; the oldest are dropped, links to them with them.
_KEPT = 2_000

#: Characters of one field of a note, and entries of its lists.
_LONGEST, _ENTRIES = 4_000, 50

_NUMBER = re.compile(r"\d{1,9}")


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
    """A model's decision about a new note and the notes most similar to it.

    Attributes:
        evolves: Whether anything is changed.
        strengthens: Whether the new note takes `links` and `tags`.
        updates: Whether the similar notes take `contexts` and `neighbor_tags`, by position.
        links: Links of the new note.
        tags: Tags of the new note.
        contexts: Contexts of the similar notes, by position.
        neighbor_tags: Tags of the similar notes, by position.
    """

    evolves: bool = False
    strengthens: bool = False
    updates: bool = False
    links: tuple[str | int, ...] = ()
    tags: tuple[str, ...] = ()
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

    def nearest(self, text: str, count: int, embed: Embed) -> list[int]:
        """Return the indices of the most similar notes, the most similar first."""
        return most_similar(text, self.indexed[: len(self.notes)], count, embed)

    def retrieved(
        self, text: str, count: int, embed: Embed, *, as_published: bool = False
    ) -> list[int]:
        """Return the indices of the most similar notes, each followed by those it links to.

        Raises:
            BadNote: As published, a link is a number and no text.
        """
        found = []
        for index in self.nearest(text, count, embed):
            found += [index, *self._linked(self.notes[index], as_published=as_published)]
        return found

    def added(self, note: Note, decision: Decision, near: Sequence[int], every: int) -> "Notes":
        """Return the memory with one more note, after the decision about it and its neighbours.

        The notes *near* were shown for the decision; the index is built again *every* so many
        evolutions.
        """
        notes = list(self.notes)
        if decision.evolves and decision.strengthens:
            note = evolve(note, links=note.links + decision.links, tags=decision.tags)
        if decision.evolves and decision.updates:
            # Neighbours beyond those that the decision has tags for stay as they are.
            for at, (index, tags) in enumerate(zip(near, decision.neighbor_tags, strict=False)):
                context = (*decision.contexts[at : at + 1], notes[index].context)[0]
                notes[index] = evolve(notes[index], tags=tags, context=context)
        notes.append(note)
        evolutions = self.evolutions + decision.evolves
        indexed = [*self.indexed, note.as_added]
        if decision.evolves and evolutions % every == 0:
            indexed = [each.as_rebuilt for each in notes]
        return _shortened(Notes(notes=tuple(notes), indexed=tuple(indexed), evolutions=evolutions))

    def _linked(self, note: Note, *, as_published: bool) -> list[int]:
        numbers = []
        for link in note.links:
            if isinstance(link, int):
                if as_published:
                    raise BadNote(f"link {link} is a number and no text")
                numbers.append(link)
            elif match := _NUMBER.search(link):
                numbers.append(int(match[0]))
        return [number for number in numbers if 0 <= number < len(self.notes)]


def noted(
    content: str,
    origin: Mapping[str, Any],
    analysis: Mapping[str, Any],
) -> Note:
    """Return a note of a content, its origin and a model's analysis.

    The origin takes precedence: its line is the context, and its role or case is the tag.
    """
    line = " | ".join(f"{key}: {value}" for key, value in origin.items())
    tags = tuple(str(origin[key]) for key in _TAGGING if origin.get(key))
    return Note(
        content=content,
        keywords=analysis.get("keywords", ()),
        context=line or analysis.get("context", ""),
        tags=tags or analysis.get("tags", ()),
    )


def analysis_in(reply: str, *, as_published: bool = False) -> dict[str, Any]:
    """Return keywords, context and tags of a reply, as far as it has them.

    Raises:
        BadNote: As published, the reply is an object and one of them is missing or of another kind.
    """
    given = _object(reply, _ANALYSED, as_published=as_published)
    words = {key: _texts(given.get(key, [])) for key in ("keywords", "tags")}
    context = given.get("context", "")
    if as_published and (None in words.values() or not isinstance(context, str)):
        raise BadNote("the analysis is malformed")
    return {
        **{key: value or () for key, value in words.items()},
        "context": context[:_LONGEST] if isinstance(context, str) else "",
    }


def decision_in(reply: str, *, as_published: bool = False) -> Decision:
    """Return the decision of a reply; one that changes nothing if the reply has none.

    Raises:
        BadNote: As published, a part of it is missing or of another kind than it should be.
    """
    given = _object(reply, ("should_evolve",), as_published=as_published)
    listed = [_texts(tags) for tags in _list(given.get("new_tags_neighborhood"))]
    actions = _list(given.get("actions"))
    links = _list(given.get("suggested_connections"))
    tags, contexts = (
        _texts(given.get(k, [])) for k in ("tags_to_update", "new_context_neighborhood")
    )
    if as_published and (None in (tags, contexts) or None in listed or _lacks_a_part(given)):
        raise BadNote("the decision is malformed")
    return Decision(
        evolves=given.get("should_evolve") is True,
        strengthens="strengthen" in actions,
        updates="update_neighbor" in actions,
        links=tuple(each for each in links if isinstance(each, str) or type(each) is int),
        tags=tags or (),
        contexts=contexts or (),
        neighbor_tags=tuple(each or () for each in listed),
    )


#: Fields of an analysis.
_ANALYSED = ("keywords", "context", "tags")

#: Parts of a decision that an action needs.
_NEEDED = {
    "strengthen": ("suggested_connections", "tags_to_update"),
    "update_neighbor": ("new_context_neighborhood", "new_tags_neighborhood"),
}


def _lacks_a_part(decision: Mapping[str, Any]) -> bool:
    """Return whether a decision to evolve lacks its actions, or what one of them needs."""
    if decision.get("should_evolve") is not True:
        return False
    actions = _list(decision.get("actions", [None]))
    needed = [key for name in _NEEDED if name in actions for key in ("actions", *_NEEDED[name])]
    return "actions" not in decision or any(key not in decision for key in needed)


def _object(reply: str, needed: Sequence[str], *, as_published: bool) -> dict[str, Any]:
    """Return the object of a reply; an empty one if it has none.

    Raises:
        BadNote: As published, the reply is other JSON, or its object lacks a needed field.
    """
    found = next(iter(objects(reply)), None)
    if as_published and (found is None or reply.lstrip().startswith("[")) and _is_json(reply):
        raise BadNote("the reply is no JSON object")
    if as_published and found is not None and not found.keys() >= {*needed}:
        raise BadNote("the reply lacks a field")
    return found or {}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _texts(value: Any) -> tuple[str, ...] | None:
    """Return the texts of a list, shortened; None if the value is not a list of texts."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(each[:_LONGEST] for each in value[:_ENTRIES])


def _list(value: Any) -> list[Any]:
    return value[:_ENTRIES] if isinstance(value, list) else []


def _shortened(memory: Notes) -> Notes:
    """Drop the oldest notes beyond the limit; their numbers change, so links are dropped too."""
    if len(memory.notes) <= _KEPT:
        return memory
    kept = [evolve(note, links=()) for note in memory.notes[-_KEPT:]]
    return evolve(memory, notes=tuple(kept), indexed=memory.indexed[-_KEPT:])
