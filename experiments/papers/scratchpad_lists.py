"""Which clients does a founder's scratchpad say to select and to avoid? (Figure 4b of YC-Bench)

    python experiments/papers/scratchpad_lists.py results run.jsonl.gz

PATHS are records, or folders of suites. The notes are read as they are at the end of an episode. A
client is on the list of the word that stands next to its name: words of a piece between commas
count for the names in it, then those before it in the sentence, behind it, and of the heading.
A client that is named several times is on the list of the last mention.

The classes of Figure 4b: a founder who names clients to select, with or without others to avoid,
has the policy "select and avoid"; "avoid only"; "no policy".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import click
from attrs import frozen
from published import find
from reproduce_reasoning import policy_name, records

from desim import Episode, catalog
from desim.show.console import console
from desim.show.table import Table
from models.yc_bench import YCBench

#: The words of each list. A name is neither on a list of its own nor in these words.
_WORDS = {
    "avoid": r"avoid\w*|black-?list\w*|never|do not|don'?t|skip\w*|bann?\w*|reject\w*|declin\w*|"
    r"ignor\w*|adversarial|scam\w*|bad|toxic|untrust\w*|unreliable|disloyal|stay away|traps?|worst",
    "select": r"prefer\w*|white-?list\w*|prioriti\w*|priority|favou?r\w*|good|best|reliable|safe|"
    r"trusted|loyal|focus\w*|stick|select\w*|only accept|accept only|allow\w*",
}
_WORD = re.compile(
    "|".join(rf"\b(?P<{name}>{words})\b" for name, words in _WORDS.items()), re.IGNORECASE
)
_SENTENCE, _PIECE = re.compile(r"[.;!?](?=\s|$)"), re.compile(r",|\band\b|\bbut\b|\s-\s")

CLASSES = ("select and avoid", "avoid only", "no policy")


@frozen
class Lists:
    """The clients that notes name to select and to avoid."""

    select: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    @property
    def policy(self) -> str:
        """The class of Figure 4b."""
        return CLASSES[0] if self.select else CLASSES[1] if self.avoid else CLASSES[2]


def read_lists(notes: str, clients: Collection[str]) -> Lists:
    """Return the lists of a scratchpad.

    >>> read_lists("AVOID: Vanguard ML. Stick with Nova Research", ["Vanguard ML", "Nova Research"])
    Lists(select=('Nova Research',), avoid=('Vanguard ML',))
    """
    found: dict[str, str] = {}
    heading = ""
    for line in notes.splitlines():
        found |= dict(_mentions(line, clients, heading))
        if not any(client.lower() in line.lower() for client in clients):
            heading = (_words(line) or [""])[-1] if line.strip() else ""
    select, avoid = (
        tuple(client for client, word in found.items() if word == kind)
        for kind in ("select", "avoid")
    )
    return Lists(select, avoid)


def _mentions(line: str, clients: Collection[str], heading: str) -> Iterator[tuple[str, str]]:
    """Yield the clients that a line names, each with its list, if a word says which."""
    before = heading
    for sentence in _SENTENCE.split(line):
        pieces = _PIECE.split(sentence)
        for place, piece in enumerate(pieces):
            own = _words(piece)
            behind = [word for later in pieces[place + 1 :] for word in _words(later)]
            words = [*own, *([before] if before else []), *behind]
            yield from ((c, words[0]) for c in clients if words and c.lower() in piece.lower())
            before = own[-1] if own else before


def _words(text: str) -> list[str]:
    return [found.lastgroup or "" for found in _WORD.finditer(text)]


def notes_at_end(episode: Episode) -> str:
    """Return the scratchpad after the last command of an episode."""
    notes = ""
    for action in (step.action for step in episode.steps):
        if action["do"] == "scratchpad_write":
            notes = action["content"]
        elif action["do"] == "scratchpad_append":
            notes = f"{notes}\n{action['content']}"
        elif action["do"] == "scratchpad_clear":
            notes = ""
    return notes


def lists_of(paths: Sequence[Path]) -> Iterator[tuple[str, int, Lists]]:
    """Yield policy, seed and lists of the whole records of the world."""
    for episode in records(paths, catalog.model_name(YCBench), keep_steps=True):
        clients = episode.metrics["trust_by_client"]
        name = policy_name(next(iter(episode.header.policies.values())))
        yield name, episode.header.seed, read_lists(notes_at_end(episode), list(clients))


def classes(counted: Mapping[str, Counter[str]]) -> Table:
    """Return how many runs have which policy: the published models, then ours."""
    lines = {
        f"paper: {name}": Counter(str(cell.value) for cell in row.cells.values())
        for name, row in find("yc_bench", "figure_4b").items()
        if "seed_1" in row.cells
    }
    return Table(
        ["runs by client policy", *CLASSES],
        (
            [name, *(found[each] for each in CLASSES)]
            for name, found in {**lines, **counted}.items()
        ),
    )


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(paths: Sequence[Path]) -> None:
    """Print the lists in the notes of PATHS, and Figure 4b with them."""
    found = list(lists_of(paths))
    if not found:
        raise click.ClickException("no whole record of yc_bench was found")
    out = console()
    heads = ["policy", "seed", "select", "avoid", "client policy"]
    rows = ([n, s, ", ".join(one.select), ", ".join(one.avoid), one.policy] for n, s, one in found)
    out.print(Table(heads, rows))
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, _, one in found:
        counted[name][one.policy] += 1
    out.print(classes(counted))


if __name__ == "__main__":
    main()
