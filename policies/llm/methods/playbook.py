"""A playbook: headed sections of numbered lines with counters, as text.

    ## RULES & HINTS
    [rah-00004] helpful=2 harmful=0 :: Order for the weeks that the goods are under way.

Source: reference SPEC of FirmBench, section 5 (ACE), and its vectors.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.replies import objects

#: The playbook that a method begins with.
EMPTY = "## STRATEGIES\n\n## RULES & FORMULAS\n\n## COMMON MISTAKES\n\n## OTHERS"

#: The section that takes what no other does, and the abbreviation of its lines.
_OTHERS, _OTHERS_SHORT = "others", "misc"

#: A pseudo-section whose lines are put directly under the heading of the others.
_GENERAL = "general"

#: Characters of one line's text, and operations of one reply.
_LONGEST, _OPERATIONS = 4_000, 100

_LINE = re.compile(r"^\s*\[([^\]]+)\]\s*helpful=(\d{1,9})\s*harmful=(\d{1,9})\s*::\s*(.*)$")

_CITED = re.compile(r"\[([a-z][a-z-]*-\d{5,})\]")

#: As published: at least three letters, so that lines of a section of two words are never cited.
_CITED_AS_PUBLISHED = re.compile(r"\[([a-z]{3,}-\d{5})\]")

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)

_TAG_LIST = re.compile(r'"bullet_tags"\s*:\s*(\[.*?\])', re.DOTALL)


@frozen(kw_only=True)
class Playbook:
    """The memory of a method with a playbook.

    Attributes:
        text: The playbook.
        next_id: The number of the next line.
    """

    text: str = EMPTY
    next_id: int = 1


@frozen
class Operation:
    """A line to be added."""

    section: str
    content: str


@frozen
class _Line:
    """A numbered line."""

    id: str
    helpful: int
    harmful: int
    text: str

    def __str__(self) -> str:
        return f"[{self.id}] helpful={self.helpful} harmful={self.harmful} :: {self.text}"


def tokens(text: str) -> int:
    """Return about how many tokens a text has: four characters each."""
    return -(-len(text) // 4)


def lines_of(playbook: str, ids: Sequence[str]) -> str:
    """Return the lines of these ids, in the playbook's order."""
    return "\n".join(str(line) for line in _numbered(playbook) if line.id in ids)


def lines_with(playbook: str, words: Sequence[str]) -> str:
    """Return the lines that contain one of these words, in any case."""
    wanted = [word.lower() for word in words]
    return "\n".join(
        str(line)
        for line in _numbered(playbook)
        if any(word in line.text.lower() for word in wanted)
    )


def cited_ids(reply: str, *, as_published: bool = False) -> list[str]:
    """Return the ids that a reply cites in brackets, repeated ones included."""
    return (_CITED_AS_PUBLISHED if as_published else _CITED).findall(reply)


def statistics(playbook: str) -> dict[str, Any]:
    """Return counts of lines: all, helping much, doing harm, unused, and by section."""
    counts = {"total_bullets": 0, "high_performing": 0, "problematic": 0, "unused": 0}
    sections: dict[str, dict[str, int]] = {}
    heading = ""
    for row in playbook.splitlines():
        if row.startswith("##"):
            heading = row.lstrip("#").strip()
        if (line := _line_in(row)) is None:
            continue
        counts["total_bullets"] += 1
        counts["high_performing"] += line.helpful > 5 and line.harmful < 2  # noqa: PLR2004
        counts["problematic"] += line.harmful >= max(1, line.helpful)
        counts["unused"] += not line.helpful + line.harmful
        section = sections.setdefault(heading, {"count": 0, "helpful": 0, "harmful": 0})
        section["count"] += 1
        section["helpful"] += line.helpful
        section["harmful"] += line.harmful
    return {**counts, "by_section": sections}


def with_tags(playbook: str, tags: Sequence[Any]) -> str:
    """Return a playbook with the counters raised; of several tags of a line the last one counts."""
    last = {
        tag["id"]: tag.get("tag")
        for tag in tags
        if isinstance(tag, Mapping) and isinstance(tag.get("id"), str)
    }
    return "\n".join(_tagged(row, last) for row in playbook.split("\n"))


def add(
    playbook: str, operations: Sequence[Operation], next_id: int, budget: int | None = None
) -> tuple[str, int]:
    """Return a playbook with lines added, without space around it, and the next free number.

    Args:
        playbook: The playbook.
        operations: The lines, each added at the end of its section; those of an unknown section at
            the end of the others, or of the playbook where these have no heading.
        next_id: The number of the first of them.
        budget: Tokens that the playbook may have; a line beyond is left out.
    """
    playbook = playbook.strip()
    sections = _sections(playbook)
    known = {name for name, _ in sections[1:]}
    left = None if budget is None else budget - tokens(playbook)
    under_others: list[str] = []
    for each in operations:
        section = _key(each.section)
        if section not in known and section != _GENERAL:
            section = _OTHERS
        text = " ".join(each.content.split())[:_LONGEST]
        line = str(_Line(f"{abbreviation(section)}-{next_id:05d}", 0, 0, text))
        if left is not None and (left := left - tokens(line) - 1) < 0:
            break
        next((rows for name, rows in sections if name == section), under_others).append(line)
        next_id += 1
    others = next((rows for name, rows in sections if name == _OTHERS), None)
    if others is None:
        sections.append((_OTHERS, under_others))
    else:
        others[1:1] = under_others
    return "\n".join(row for _, rows in sections for row in rows), next_id


def abbreviation(section: str) -> str:
    """Return the letters of a section's ids.

    >>> abbreviation("Rules & Hints"), abbreviation("formulas")
    ('rah', 'form')
    """
    key = _key(section)
    if key == _OTHERS:
        return _OTHERS_SHORT
    words = [word for word in key.split("_") if word] or [_OTHERS_SHORT]
    return "".join(word[0] for word in words[:5]) if words[1:] else words[0][:4]


def object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object of a text, fenced blocks first; None if it has no object."""
    for part in (*_FENCED.findall(text), text):
        if found := objects(part):
            return found[0]
    return None


def tags_in(reply: str, *, json_mode: bool = False) -> list[Any]:
    """Return the tags of a reflection, unchecked.

    Args:
        reply: The reflection.
        json_mode: Whether the whole reply must be JSON; otherwise the list alone may be.
    """
    found = object_in(reply)
    tags = found.get("bullet_tags") if found else None
    if tags is None and not json_mode and (match := _TAG_LIST.search(reply)):
        tags = (object_in(f'{{"tags": {match[1]}}}') or {}).get("tags")
    return tags if isinstance(tags, list) else []


def operations_in(reply: str) -> list[Operation] | None:
    """Return the lines that a curator adds; None where its reply is malformed.

    Operations of other kinds are left out; one that is not an object, or lacks a kind, section or
    content, makes the reply malformed.
    """
    listed = (object_in(reply) or {}).get("operations")
    if not isinstance(listed, list):
        return None
    operations = []
    for each in listed[:_OPERATIONS]:
        if not isinstance(each, Mapping) or not isinstance(each.get("type"), str):
            return None
        if each["type"] != "ADD":
            continue
        section, content = each.get("section"), each.get("content")
        if not isinstance(section, str) or not isinstance(content, str):
            return None
        operations.append(Operation(section, content))
    return operations


def _line_in(row: str) -> _Line | None:
    match = _LINE.match(row)
    if match is None:
        return None
    return _Line(match[1], int(match[2]), int(match[3]), match[4])


def _numbered(playbook: str) -> list[_Line]:
    return [line for row in playbook.splitlines() if (line := _line_in(row)) is not None]


def _tagged(row: str, tags: Mapping[str, Any]) -> str:
    line = _line_in(row)
    if line is None or line.id not in tags:
        return row
    tag = tags[line.id]
    helpful, harmful = line.helpful + (tag == "helpful"), line.harmful + (tag == "harmful")
    return str(_Line(line.id, helpful, harmful, line.text))


def _key(section: str) -> str:
    return section.strip().lower().replace(" ", "_").replace("&", "and")


def _sections(playbook: str) -> list[tuple[str, list[str]]]:
    """Return the rows of each section under its name; what precedes the first has no name."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for row in playbook.split("\n"):
        if row.startswith("##"):
            sections.append((_key(row.lstrip("#")), []))
        sections[-1][1].append(row)
    return sections
