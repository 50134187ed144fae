"""Known scores of a preset, and what policies know, as tables of rows show them."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any

from attrs import frozen
from msgspec import structs

from desim.catalog import model_finder, policy_finder
from desim.catalog.imports import is_loaded
from desim.catalog.known_scores import known_scores_of
from desim.catalog.policy_spec import Spec, read_policies
from desim.catalog.presets import from_preset
from desim.core.model import Model
from desim.core.roles import Knowledge, with_knowledge
from desim.engine.plan import Row
from desim.episodes.lineup import Policies, assign, lineup_knows
from desim.errors import UsageError
from desim.schema import to_plain
from desim.show.labels import estimate_text

if TYPE_CHECKING:
    from desim.catalog.known_scores import KnownScore, KnownScores

#: Most policies that are named; of more, the first and a count.
_NAMED = 2


@frozen
class KnownMeans:
    """The known scores of several seeds of a preset.

    Attributes:
        known: The known scores of the preset.
        scores: The known scores of each of the seeds, at least one.
    """

    known: "KnownScores"
    scores: "tuple[KnownScore, ...]"

    @property
    def floor(self) -> float:
        """The mean of the scores that count 0."""
        return _mean([one.floor for one in self.scores])

    @property
    def best(self) -> float:
        """The mean of the best known scores."""
        return _mean([one.best for one in self.scores])

    @property
    def bound(self) -> float | None:
        """The mean of the bounds; None if a seed has no bound."""
        bounds = [one.bound for one in self.scores if one.bound is not None]
        return _mean(bounds) if len(bounds) == len(self.scores) else None

    @property
    def kind(self) -> str:
        """The kind of the scores that count 1; if seeds differ, the number of seeds by kind."""
        counts = Counter(one.ceiling_kind for one in self.scores).most_common()
        if len(counts) == 1:
            return counts[0][0]
        return ", ".join(f"{count} {kind}" for kind, count in counts)

    @property
    def policies(self) -> str:
        """The policies of the best runs, the most frequent first, with what they know.

        Several have the number of seeds on which each is the best. Those of which only a record
        shows what they did are marked.
        """
        counts = Counter((one.policy, bool(one.record)) for one in self.scores).most_common()
        knows = self.known.knows
        names = [
            with_knowledge(name + " (on record)" * recorded, knows.get(name))
            + f" on {count:,}" * (len(counts) > 1)
            for (name, recorded), count in counts
        ]
        if len(names) > _NAMED:
            return f"{names[0]} and {len(names) - 1} others"
        return " and ".join(names)

    @property
    def sentence(self) -> str:
        """The best known score and the bound, for the foot of a table."""
        several = self.known.every is None and len(self.scores) > 1
        seeds = f" on these {len(self.scores)} seeds: mean" if several else ":"
        bound = "no bound is known"
        if self.bound is not None:
            bound = f"bound {estimate_text(self.bound)} ({self.kind})"
        if self.known.fair:
            bound += f"; {self.known.fair.sentence}"
        each = "the best of each seed, " * (len({one.policy for one in self.scores}) > 1)
        best = f"{estimate_text(self.best)} by {each}{self.policies}"
        return f"best known score{seeds} {best}; {bound}"

    def plain(self) -> dict[str, Any]:
        """Return plain JSON values by name."""
        return {
            "floor": self.floor,
            "floor_policy": self.known.floor,
            "best": self.best,
            "best_policies": self.policies,
            "bound": self.bound,
            "kind": self.kind,
            "fair_bound": self.known.fair and structs.asdict(self.known.fair),
        }


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


#: Presets whose models are kept.
_MODELS = 64


def known_scores(model: Model[Any], preset: str) -> "KnownScores | None":
    """Return the known scores of a preset; None if it has none.

    Args:
        model: The preset's model.
        preset: Its name.

    Raises:
        UsageError: The data are damaged, or were made with other parameters.
    """
    cls = type(model)
    known = known_scores_of(cls, preset)
    if known is not None and not known.fits(model):
        raise UsageError(
            f"the known scores of {model_finder.model_name(cls)}/{preset} were made with other "
            "parameters; make them again"
        )
    return known


def known_note(rows: Sequence[Row], seeds: Iterable[int]) -> str:
    """Return the sentence on the best known scores, or on a fault of their data; may be empty.

    Args:
        rows: The rows of a table, or one of each of their cells.
        seeds: The seeds of all rows.
    """
    try:
        found = known_means(rows, seeds)
    except UsageError as fault:
        return str(fault)
    if not found:
        return ""
    cls, preset = model_finder.model_class(rows[0]["model"]), rows[0]["preset"]
    return "; ".join([found.sentence, *preset_warning(cls, preset)])


def preset_warning(cls: type[Model[Any]], preset: str) -> Iterator[str]:
    """Yield the sentence without which the scores of a preset are misread, if its class has one."""
    text = cls.preset_warnings.get(preset)
    if text:
        yield f"{preset}: {text}"


def known_means(rows: Sequence[Row], seeds: Iterable[int]) -> "KnownMeans | None":
    """Return the known scores of the preset that all rows have played.

    Returns None if rows have different models, other parameters than a preset or other roles than
    the known scores, or if a seed has no known scores.

    Args:
        rows: The rows of a table, or one of each of their cells.
        seeds: The seeds of all rows.

    Raises:
        UsageError: See `known_scores`.
    """
    model = _model_of(rows[0]) if rows else None
    known = known_scores(model, rows[0]["preset"]) if model else None
    scores = known.all_of(sorted(set(seeds))) if known else None
    if not model or not known or not scores or not _plays_preset(rows, model, known.roles):
        return None
    return KnownMeans(known, tuple(scores))


def _plays_preset(rows: Sequence[Row], model: Model[Any], roles: Sequence[tuple[str, ...]]) -> bool:
    """Return whether all rows have a preset's parameters, and policies for these roles."""
    first = rows[0]
    world = [first[name] for name in ("model", "preset", "params")]
    labels = set()
    for row in rows:
        if [row["model"], row["preset"], row["params"]] != world:
            return False
        labels.add(row["policy"])
    plain = to_plain(model)
    if any(name not in plain or plain[name] != value for name, value in first["params"].items()):
        return False
    return all(played_roles(read_label(label), model) in roles for label in labels)


def knowledge_of_groups(
    cells: Mapping[tuple[Any, ...], Row], by: Sequence[str]
) -> dict[tuple[Any, ...], Knowledge]:
    """Return what the policies of groups of rows know, where it is more than observations.

    Args:
        cells: The first cell of each group, by the values of its columns.
        by: The columns that define the groups; without the policy the result is empty.
    """
    if "policy" not in by:
        return {}
    at = list(by).index("policy")
    found = {key: _row_knows(cell, key[at]) for key, cell in cells.items()}
    return {key: level for key, level in found.items() if level != "observation"}


def knowledge_of_policies(rows: Iterable[Row]) -> dict[str, Knowledge]:
    """Return what the policies of rows know, by label, where it is more than observations."""
    found = knowledge_of_groups({(row["policy"],): row for row in rows}, ["policy"])
    return {label: level for (label,), level in found.items()}


def _row_knows(row: Row, label: str) -> Knowledge:
    """Return what the policies of a label know; `observation` of what cannot be resolved here."""
    model = _model_of(row)
    if model is not None:
        with contextlib.suppress(UsageError):  # the label of an instance, or of another version
            return lineup_knows(model, _at_hand(read_label(label), model))
    return "observation"


def played_roles(policies: Policies, model: Model[Any]) -> tuple[str, ...] | None:
    """Return the roles that policies play, sorted; None if a spec cannot be resolved here."""
    try:
        return tuple(sorted(assign(model, _at_hand(policies, model))))
    except UsageError:
        return None


def _at_hand(policies: Policies, model: Model[Any]) -> Policies:
    """Return policies, if all of them can be found without importing a user's module.

    Labels may come from a file, and reading a file imports no code.

    Raises:
        UsageError: A policy would need such an import.
    """
    for text in policies.values() if isinstance(policies, Mapping) else [policies]:
        if not isinstance(text, str) or not all(map(_is_loaded, _names(text, model))):
            raise UsageError(f"{text!r} was not played in this process")
    return policies


def _names(text: str, model: Model[Any]) -> Iterator[str]:
    """Yield the name of a spec's policy, then those of the policies that its arguments name."""
    spec = Spec.read(text)
    yield spec.name
    known = {**policy_finder.policies(), **policy_finder.policies(type(model))}
    if maker := known.get(spec.name):
        for inner in maker.inner_policies(spec.arguments):
            yield from _names(inner, model)


def read_label(label: str) -> Policies:
    """Return the policies of an entry's label, which joins roles by spaces."""
    try:
        return read_policies(label.split(" "))
    except UsageError:
        return label


def _model_of(row: Row) -> Model[Any] | None:
    """Return the model of the preset of a row; None if it is not available in this process."""
    name = row["model"]
    try:
        if not model_finder.is_at_hand(name):
            return None
        return _preset_model(model_finder.model_class(name), row["preset"])
    except UsageError:
        return None


@lru_cache(_MODELS)
def _preset_model(cls: type, preset: str) -> Model[Any]:
    model: Model[Any] = from_preset(cls, preset)
    return model


def _is_loaded(name: str) -> bool:
    """Return whether a name can be used without importing a user's module."""
    return ":" not in name or is_loaded(name.partition(":")[0])
