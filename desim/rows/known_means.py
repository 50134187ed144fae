"""Known scores of a preset, and what policies know, as tables of rows show them."""

import contextlib
import re
from collections import Counter
from collections.abc import Hashable, Mapping
from functools import lru_cache
from statistics import fmean
from typing import Any, TypeVar

from attrs import frozen
from msgspec import structs

from desim.catalog import model_finder
from desim.catalog.imports import is_loaded
from desim.catalog.known_scores import KnownScore, KnownScores, known_scores_of
from desim.catalog.policy_spec import read_policies
from desim.catalog.presets import from_preset
from desim.core.model import Model
from desim.core.roles import Knowledge, with_knowledge
from desim.engine.plan import Row
from desim.episodes.lineup import Policies, assign, lineup_knows
from desim.errors import UsageError
from desim.rows.columns import RowColumns
from desim.schema import to_plain
from desim.show.labels import estimate_text

#: Most policies that are named, of more the first and a count; and presets whose models are kept.
_NAMED, _MODELS = 2, 64

#: What may be the module of a user's policy in a label; addresses of hosts have colons as well.
_MODULE, _ADDRESS = re.compile(r'([^\s,="]+):'), re.compile(r'https?://[^\s,"]*')

K = TypeVar("K", bound=Hashable)


@frozen
class KnownMeans:
    """The known scores of several seeds of a preset: of one at least."""

    known: KnownScores
    scores: tuple[KnownScore, ...]

    @property
    def floor(self) -> float:
        """The mean of the scores that count 0."""
        return fmean([one.floor for one in self.scores])

    @property
    def best(self) -> float:
        """The mean of the best known scores."""
        return fmean([one.best for one in self.scores])

    @property
    def bound(self) -> float | None:
        """The mean of the bounds; None if a seed has no bound."""
        bounds = [one.bound for one in self.scores if one.bound is not None]
        return fmean(bounds) if len(bounds) == len(self.scores) else None

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


def known_scores(model: Model[Any], preset: str) -> KnownScores | None:
    """Return the known scores of a preset, of which the model is given; None if it has none.

    A `UsageError` says that they are damaged, or were made with other parameters.
    """
    known = known_scores_of(type(model), preset)
    if known is not None and not known.fits(model):
        raise UsageError(
            f"the known scores of {model_finder.model_name(type(model))}/{preset} were made with "
            "other parameters; make them again"
        )
    return known


def known_note(rows: RowColumns) -> str:
    """Return the sentence on the best known scores, or on a fault of their data; may be empty."""
    try:
        found = known_means(rows)
    except UsageError as fault:
        return str(fault)
    if not found:
        return ""
    model, preset = (rows.gathered.cells[0][key] for key in ("model", "preset"))
    warning = model_finder.model_class(model).preset_warnings.get(preset)
    return found.sentence + (f"; {preset}: {warning}" if warning else "")


def known_means(rows: RowColumns) -> KnownMeans | None:
    """Return the known scores of the preset that all rows have played; see `known_scores`.

    Returns None if rows have different models, other parameters than a preset or other roles than
    the known scores, or if a seed has no known scores.
    """
    cells = rows.gathered.cells
    model = _model_of(cells[0]) if cells else None
    known = known_scores(model, cells[0]["preset"]) if model else None
    if model is None or known is None:
        return None
    plain, world = to_plain(model), [cells[0]["model"], cells[0]["preset"]]
    for cell in cells:
        if [cell["model"], cell["preset"]] != world or plain | cell["params"] != plain:
            return None
        if played_roles(cell["policy"], model) not in known.roles:
            return None
    scores = known.all_of(sorted({*rows.column("seed")}))
    return KnownMeans(known, tuple(scores)) if scores else None


def knowledge(rows: Mapping[K, Row]) -> dict[K, Knowledge]:
    """Return what the policies of rows know, where it is more than observations.

    Nothing is known of what cannot be resolved here, such as the label of an instance.
    """
    found: dict[K, Knowledge] = {}
    for key, row in rows.items():
        with contextlib.suppress(UsageError):
            if model := _model_of(row):
                found[key] = lineup_knows(model, _at_hand(row["policy"]))
    return {key: level for key, level in found.items() if level != "observation"}


def played_roles(label: str, model: Model[Any]) -> tuple[str, ...] | None:
    """Return the roles that a label's policies play, sorted; None if a spec is not known here."""
    try:
        return tuple(sorted(assign(model, _at_hand(label))))
    except UsageError:
        return None


def _at_hand(label: str) -> Policies:
    """Return the policies of a label that may come from a file, reading which imports no code."""
    if not all(map(is_loaded, _MODULE.findall(_ADDRESS.sub("", label)))):
        raise UsageError(f"{label!r} was not played in this process")
    return read_label(label)


def read_label(label: str) -> Policies:
    """Return the policies of an entry's label, which joins roles by spaces."""
    try:
        return read_policies(label.split(" "))
    except UsageError:
        return label


def _model_of(row: Row) -> Model[Any] | None:
    """Return the model of the preset of a row; None if it is not available in this process."""
    with contextlib.suppress(UsageError):
        if model_finder.is_at_hand(row["model"]):
            return _preset_model(model_finder.model_class(row["model"]), row["preset"])
    return None


@lru_cache(_MODELS)
def _preset_model(cls: type, preset: str) -> Model[Any]:
    model: Model[Any] = from_preset(cls, preset)
    return model
