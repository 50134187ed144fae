"""Does every link of a page, and of the built site, lead somewhere?"""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from attrs import define, field

#: Faults of one text, at most.
_FAULTS = 50
_FENCE = re.compile(r"(^```.*?^```[^\S\n]*$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_LOADING_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "manifest"}


class SiteFault(Exception):
    """A page, a link or the build of the site has a fault; the text names each, one a line."""

    @classmethod
    def raise_any(cls, faults: Iterable[str]) -> None:
        """Raise one error of all faults; none is raised without faults."""
        found = list(faults)
        if found:
            more = [f"and {len(found) - _FAULTS} more"] if len(found) > _FAULTS else []
            raise cls("\n".join([*found[:_FAULTS], *more]))


# -- pages in the repository -----------------------------------------------------------------------


def page_faults(root: Path, page: str) -> Iterator[str]:
    """Yield the links of a page that lead to no file of the repository."""
    for part in _FENCE.split((root / page).read_text(encoding="utf-8"))[::2]:
        for link in _LINK.finditer(part):
            target = _target(page, link["target"])
            if target is not None and not _is_inside(root, target):
                yield f"{page}: the link to {link['target']} leads to no file of the repository"


def with_plain_links(root: Path, page: str, pages: set[str]) -> str:
    """Return the text of a page with links to other files than pages as plain code.

    `[the suites](experiments/suites)` becomes "the suites (`experiments/suites`)": the site has no
    such file. Links to pages and pictures stay as they are.
    """

    def plain(link: re.Match[str]) -> str:
        target = _target(page, link["target"])
        if target is None or target in pages or link["picture"]:
            return link[0]
        shown = link["text"]
        return shown if target in shown else f"{shown} (`{target}`)"

    parts = _FENCE.split((root / page).read_text(encoding="utf-8"))
    parts[::2] = [_LINK.sub(plain, part) for part in parts[::2]]
    return "".join(parts)


def _target(page: str, link: str) -> str | None:
    """Return the path from the root that a link names; None for the page and for other hosts."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    return normpath(f"{page}/../{unquote(parts.path)}")


def _is_inside(root: Path, target: str) -> bool:
    return not target.startswith(("..", "/")) and (root / target).exists()


# -- the built site --------------------------------------------------------------------------------


@define
class Html(HTMLParser):
    """The links, anchors and loaded files of a page of the site.

    Attributes:
        anchors: Values of `id` and `name`.
        links: Targets of links, as written.
        navigation: Those of them that are in a `nav` element.
        loaded: Targets that a browser loads with the page.
        unrendered: Texts in a paragraph that begin like an item of a list or a row of a table.
    """

    anchors: set[str] = field(factory=set)
    links: list[str] = field(factory=list)
    navigation: set[str] = field(factory=set)
    loaded: list[str] = field(factory=list)
    unrendered: list[str] = field(factory=list)
    _open: list[str] = field(factory=list)

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the anchors and the targets of an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag in ("nav", "p"):
            self._open.append(tag)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
            if "nav" in self._open:
                self.navigation.add(values["href"])
        relations = set(values.get("rel", "").split())
        if tag in _LOADED and (tag != "link" or relations & _LOADING_RELATIONS):
            self.loaded += [values[_LOADED[tag]]] if values.get(_LOADED[tag]) else []

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        if tag in ("nav", "p") and tag in self._open:
            self._open.reverse()
            self._open.remove(tag)
            self._open.reverse()

    def handle_data(self, data: str) -> None:
        """Take items of lists and rows of tables that are part of a paragraph."""
        if "p" in self._open:
            self.unrendered += re.findall(r"^[*|-] .{0,30}", data, re.MULTILINE)


def check_site(site: Path) -> int:
    """Return the number of pages of a built site.

    Raises:
        SiteFault: A link or an anchor leads to nothing, a page is missing in the navigation or
            loads something from another host, or a list or table is shown as a paragraph.
    """
    pages = {str(file.relative_to(site)): _read_html(file) for file in site.rglob("*.html")}
    pages.pop("404.html", None)
    if "index.html" not in pages:
        raise SiteFault(f"{site} has no index.html")
    navigation = {_target("index.html", link) for link in pages["index.html"].navigation}
    faults = [
        f"{page}: not in the navigation"
        for page in pages
        if page not in navigation and page != "index.html"
    ]
    for page, html in pages.items():
        faults += _faults_of(site, page, html, pages)
    SiteFault.raise_any(sorted(faults))
    return len(pages)


def _read_html(file: Path) -> Html:
    html = Html()
    html.feed(file.read_text(encoding="utf-8"))
    return html


def _faults_of(site: Path, page: str, html: Html, pages: dict[str, Html]) -> Iterator[str]:
    for text in html.unrendered:
        what = f"{page}: the list or table at {text!r} is part of a paragraph"
        yield f"{what}; an empty line is missing or too many"
    for loaded in html.loaded:
        if urlsplit(loaded).netloc:
            yield f"{page}: loads {loaded} from another host"
    for link in {*html.links, *html.loaded}:
        anchor = unquote(urlsplit(link).fragment)
        if urlsplit(link).scheme or urlsplit(link).netloc:
            continue
        target = _target(page, link) or page
        if not (site / target).is_file():
            yield f"{page}: the link to {link} leads to no page"
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield f"{page}: the link to {link} leads to no heading of {target}"
