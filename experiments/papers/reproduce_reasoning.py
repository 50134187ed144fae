"""How do episodes of the reasoning tasks compare with the questions of FirmBench's Table 1?

    python experiments/papers/reproduce_reasoning.py                    # our baselines, our items
    python experiments/papers/reproduce_reasoning.py results run.jsonl  # a suite's folder, a record

The eight rows of questions of Table 1, a method a line, above those who played: what is right of
all items of a capability, or of one of its buckets of difficulty. Beneath, the accuracy of each
capability with its 95 % interval. Episodes of the same policy count together; the interval is over
items, however often each was answered.

The published figures belong to the public data sets and one language model. Only episodes of those
items (`convert_firmbench.py`, `label_items.py`) can be expected to agree with them.
"""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import define, field
from beside import Parameter, Rule, named
from published import Line, find

from desim import Episode, catalog, play
from desim.errors import BadRecord
from desim.show.console import console
from desim.show.table import Table
from desim.statistics.clusters import ClusteredMean, clustered_share
from models.reasoning.item import CAPABILITIES, slug
from models.reasoning.model import ReasoningTasks
from models.reasoning.scoring.short_answers import ABSOLUTE, RELATIVE, TOLERANCE
from policies.llm.router.labels import read_label
from policies.llm.router.policy import Policy

PAPER = "firmbench"


def parameter(line: Line, _: str) -> float | None:
    """Return a rule of the scorers, of the labels or of the router by its name in the paper."""
    own = {
        "difficulty_low": read_label("Score: 0").score,
        "difficulty_high": read_label("Score: 99").score,
        "abs_tolerance": ABSOLUTE[ReasoningTasks.preset("paper").near_zero],
        "rel_tolerance": RELATIVE,
        "tatqa_abs_tolerance": TOLERANCE,
        "routing_min_margin": Policy().min_margin,
    }
    return own[line.label]


RULES = (
    Rule(
        "parameters_evaluation",
        "*",
        "*",
        Parameter("scorers of reasoning, labels and the router of policies/llm", parameter),
    ),
)

_ROLE = "analyst"

#: The rows of Table 1 that are about questions: the published label, our metric, a short head.
CELLS: Mapping[str, tuple[str, str]] = {
    "Information Extraction / All": ("information_extraction", "extraction"),
    "Numerical Calculation / Easy": ("numerical_calculation_easy", "num. easy"),
    "Numerical Calculation / Middle": ("numerical_calculation_middle", "num. middle"),
    "Numerical Calculation / Hard": ("numerical_calculation_hard", "num. hard"),
    "Domain Knowledge / Easy": ("domain_knowledge_easy", "know. easy"),
    "Domain Knowledge / Middle": ("domain_knowledge_middle", "know. middle"),
    "Domain Knowledge / Hard": ("domain_knowledge_hard", "know. hard"),
    "Complex Reasoning / QA": ("complex_reasoning", "complex"),
}


@define
class Counts:
    """The answers of a policy over its episodes, by capability and by bucket.

    Attributes:
        answers: By capability or bucket: 1 or 0 for each answer, with its item.
    """

    answers: dict[str, list[tuple[int, Hashable]]] = field(factory=dict)

    def add(self, params: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        """Add the metrics of an episode; an item is a place among those of the same parameters."""
        items = str([params.get(name) for name in ("items", "tasks", "split", "limit")])
        for name, outcomes in metrics.get("by_item", {}).items():
            known = self.answers.setdefault(name, [])
            known += [(right, (items, place)) for place, right in enumerate(outcomes)]

    def share(self, name: str) -> ClusteredMean | None:
        """Return the accuracy with its interval over items; None where nothing was counted."""
        answers = self.answers.get(name, [])
        return clustered_share(*zip(*answers, strict=True)) if answers else None


#: A policy's name, the parameters of the world, and the metrics.
Named = tuple[str, Mapping[str, Any], Mapping[str, Any]]


def counted(episodes: Sequence[Named]) -> dict[str, Counts]:
    """Return the counts by policy of named metrics."""
    found: dict[str, Counts] = {}
    for name, params, metrics in episodes:
        found.setdefault(name, Counts()).add(params, metrics)
    return found


def table_1(found: Mapping[str, Counts]) -> Table:
    """Return the published lines and ours, in the columns of the eight rows of Table 1."""
    published = find(PAPER, "table_1")
    lines = [
        [f"paper: {method}", *(published[label].cells[method].text for label in CELLS)]
        for method in published[next(iter(CELLS))].cells
    ]
    for name, counts in found.items():
        shares = [counts.share(metric) for metric, _ in CELLS.values()]
        lines.append(
            [name, *(f"{one.mean:.3f} ({one.clusters})" if one else None for one in shares)]
        )
    return Table(["accuracy", *(head for _, head in CELLS.values())], lines)


def capabilities(found: Mapping[str, Counts]) -> Table:
    """Return the accuracy of each capability with its interval and its counts."""
    return Table(
        ["right of counted", *CAPABILITIES],
        (
            [name, *(_estimate(counts.share(slug(each))) for each in CAPABILITIES)]
            for name, counts in found.items()
        ),
    )


def _estimate(found: ClusteredMean | None) -> str | None:
    if found is None:
        return None
    ends = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.mean:.3f}{ends} {round(found.mean * found.n):,}/{found.n:,}"


def show_questions(out: Any, paths: Sequence[Path] = ()) -> None:
    """Print both tables, of records and suites' folders, or of our baselines where none is given.

    Raises:
        click.ClickException: No record of the reasoning tasks is there, or one is damaged.
    """
    episodes = list(_recorded(paths) if paths else _baselines())
    if not episodes:
        raise click.ClickException("no whole record of the reasoning tasks was found")
    found = counted(episodes)
    out.print("[bold]firmbench table_1[/bold]: its rows of questions, and items counted of ours")
    out.print(table_1(found))
    out.print("accuracy by capability, 95 % interval over items, right of counted")
    out.print(capabilities(found))


def _baselines() -> Iterator[Named]:
    """Play our baselines."""
    model = ReasoningTasks()
    for spec in catalog.baselines(model):
        episode = play(model, spec, keep_steps=False)
        yield named(model, spec), episode.header.params, episode.metrics


def _recorded(paths: Sequence[Path]) -> Iterator[Named]:
    for episode in records(paths, catalog.model_name(ReasoningTasks)):
        policy = policy_name(episode.header.policies[_ROLE])
        yield policy, episode.header.params, episode.metrics


def records(paths: Sequence[Path], model: str, *, keep_steps: bool = False) -> Iterator[Episode]:
    """Yield the whole records of a world in files and folders.

    Raises:
        click.ClickException: A record is damaged.
    """
    left_out = 0
    for file in _files(paths):
        try:
            episode = Episode.read(file, whole=False, keep_steps=keep_steps)
        except BadRecord as fault:
            raise click.ClickException(str(fault)) from None
        if episode.header.model == model and episode.result is not None:
            yield episode
        else:
            left_out += episode.header.model == model
    if left_out:
        print(f"{left_out} records without a result are left out", file=sys.stderr)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and the records in the folders: a suite's, or any with records in it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        folder = path / "records" if (path / "records").is_dir() else path
        yield from sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])


def policy_name(label: str) -> str:
    """Return a short name of a policy: of a language model its method and its own name."""
    kind, *parts = label.split(",")
    arguments = dict(part.split("=", 1) for part in parts if "=" in part)
    if "model" not in arguments:
        return label
    return f"{arguments.get('method', kind)} ({arguments['model']})"


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(paths: Sequence[Path]) -> None:
    """Print the questions of Table 1 beside PATHS: records or folders of suites."""
    show_questions(console(), paths)


if __name__ == "__main__":
    main()
