"""The HTML of a report, read as a browser would: what it holds, and what it refers to."""

import base64
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from attrs import define, field

#: Elements without an end tag.
_VOID = {"meta", "img", "br", "link"}

#: Attributes whose value a browser fetches, sends to or runs.
_FETCHED = {"src", "href", "srcset", "action", "data", "poster", "background"}


@define
class Picture:
    """A figure: its alternative text, its caption, its table, and its picture."""

    alt: str = ""
    caption: str = ""
    tables: list[list[list[str]]] = field(factory=list)
    svg: bytes = b""


@define
class Read:
    """A page.

    Attributes:
        tags: Every element, in order.
        fetched: The addresses that it names, without those inside itself.
        handlers: Attributes that are programs.
        text: All texts, joined.
        tables: The cells of each table.
        pictures: The figures.
        heads: The heads of the sections.
    """

    tags: list[str] = field(factory=list)
    fetched: list[str] = field(factory=list)
    handlers: list[str] = field(factory=list)
    text: str = ""
    tables: list[list[list[str]]] = field(factory=list)
    pictures: list[Picture] = field(factory=list)
    heads: list[str] = field(factory=list)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Read()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        page, given = self.page, dict(attrs)
        page.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        page.handlers += [name for name in given if name.startswith("on")]
        page.fetched += [
            value or ""
            for name, value in given.items()
            if name in _FETCHED
            and not (value or "").startswith(("#", "data:image/svg+xml;base64,"))
        ]
        match tag:
            case "figure":
                page.pictures.append(Picture())
            case "img":
                page.pictures[-1].alt = given.get("alt") or ""
                _, _, data = (given["src"] or "").partition(",")
                page.pictures[-1].svg = base64.b64decode(data, validate=True)
            case "table":
                page.tables.append([])
                if "figure" in self.open:
                    page.pictures[-1].tables.append(page.tables[-1])
            case "tr":
                page.tables[-1].append([])
            case "td" | "th":
                page.tables[-1][-1].append("")
            case "h2":
                page.heads.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.page.text += data
        where = self.open[-1] if self.open else ""
        if where in {"td", "th"}:
            self.page.tables[-1][-1][-1] += data
        if where == "figcaption":
            self.page.pictures[-1].caption += data
        if where == "h2":
            self.page.heads[-1] += data


def read(content: bytes) -> Read:
    """Parse a report, and check what holds for every report."""
    parser = _Parser()
    parser.feed(content.decode("utf-8"))
    parser.close()
    page = parser.page
    assert parser.open == []
    assert (page.fetched, page.handlers) == ([], [])
    assert not {"script", "iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert not re.search(r"@import|url\(", content.decode())
    for picture in page.pictures:
        assert picture.alt
        assert picture.caption
        assert [len(table) > 1 for table in picture.tables] == [True]
        assert ET.fromstring(picture.svg).tag.endswith("svg")  # noqa: S314 (ours)
    for table in page.tables:
        assert len({len(line) for line in table}) == 1
    return page
