"""The result of an audit of one preset, as a table."""

from collections.abc import Sequence
from math import inf
from typing import Any

from attrs import evolve, field, frozen

from desim.short_repr import shortened
from desim.show.estimates import estimate_cells, interval_head, number_cell
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import interval
from desim.statistics.pairing import difference
from desim.studies.audit.exploits import Exploit

#: Characters of a plan in a table.
_WIDTH = 200


@frozen
class AuditLine:
    """A plan of an audit.

    Attributes:
        name: What it is, for people.
        role: The role that plays it.
        plan: Its text.
        training: Its mean on the training seeds.
    """

    name: str
    role: str
    plan: str
    training: float


@frozen(repr=False)
class Audited(Tabular):
    """The scores of the plans of one preset and of its honest rules.

    Attributes:
        name: Model and preset.
        honest: The honest rule with the highest mean on held-out seeds.
        honest_scores: Its scores on these seeds.
        lines: The plan that is compared, which is the best one on the training seeds (where every
            seed has the same episode, the best one that no search has found), then the best ones;
            none if all have failed.
        scores: The scores of the first one on held-out seeds; empty if an episode failed.
        seeds: The held-out seeds.
        training_seeds: How many seeds the search has played.
        fixed: Whether all seeds have the same episode.
        best_known: The mean of the best known scores on held-out seeds, and their policies; None
            where none are known.
        plans: How many plans were played.
        episodes: How many episodes the plans have played.
        failed: How many plans have failed, and the error of one of them.
        listed: The names of the exploits that the model's file lists for the preset.
        record: The record of an episode of the first plan; empty if it was not recorded.
    """

    name: str
    honest: str
    honest_scores: Sequence[float] = field(repr=False)
    lines: tuple[AuditLine, ...]
    scores: Sequence[float] = field(repr=False)
    seeds: tuple[int, ...] = field(repr=False)
    training_seeds: int
    fixed: bool
    best_known: tuple[float, str] | None
    plans: int
    episodes: int
    failed: tuple[int, str]
    listed: tuple[str, ...]
    record: str = ""

    @property
    def gain(self) -> Any:
        """The interval of the first plan's score less that of the honest rule, paired by seed."""
        if not self.scores:
            return None
        found = difference(self.scores, self.honest_scores).paired
        return evolve(found, low=found.mean, high=found.mean) if self.fixed else found

    @property
    def beaten(self) -> bool:
        """Whether the whole interval of the difference is above 0."""
        gain = self.gain
        return gain is not None and gain.low is not None and gain.low > 0

    @property
    def outranked(self) -> bool:
        """Whether the honest rule is beaten by a plan and the model's file lists none."""
        return self.beaten and not self.listed

    def exploit(self, name: str) -> Exploit:
        """Return the first plan as an exploit of some name."""
        first, gain = self.lines[0], self.gain
        run = range(min(self.seeds), max(self.seeds) + 1)
        is_run = self.seeds == tuple(run)
        seeds = f"{run.start}:{run.stop}" if is_run else ",".join(map(str, self.seeds))
        means = [interval(list(one)).mean for one in (self.scores, self.honest_scores)]
        return Exploit(
            name, first.role, first.plan, seeds, means[0], self.honest, means[1],
            gain.low, gain.high,
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        from desim.schema import to_plain

        gain = self.gain
        return {
            **to_plain(self),
            "gain": to_plain(gain) if gain else None,
            "beaten": self.beaten,
            "outranked": self.outranked,
        }

    def tables(self) -> tuple[Table]:
        """Return the table of the honest rule and the best plans."""
        heads = ["policy", "training", "held out", "difference", interval_head(0.95), "plan"]
        honest = number_cell(interval(list(self.honest_scores)).mean)
        lines: list[list[Any]] = [[f"honest: {self.honest}", None, honest, None, None, ""]]
        for at, one in enumerate(self.lines):
            tested = at == 0 and self.scores
            held_out = number_cell(interval(list(self.scores)).mean) if tested else None
            gain = estimate_cells(self.gain, sd=False) if tested else [None, None]
            lines.append(
                [
                    shortened(one.name, _WIDTH),
                    number_cell(one.training),
                    held_out,
                    *gain,
                    self._plan(one),
                ]
            )
        return (Table(heads, lines, (0, len(heads) - 1), self.name, notes=self._notes()),)

    def _plan(self, one: AuditLine) -> Printed:
        roles = {line.role for line in self.lines}
        plan = shortened(one.plan, _WIDTH)
        return Printed(one.plan, f"{one.role}: {plan}" if len(roles) > 1 else plan)

    def _notes(self) -> list[str]:
        count, error = self.failed
        seeds = (
            "every seed has the same episode, which a search may learn by heart: only the best "
            "plan that no search has found is compared"
        )
        if not self.fixed:
            seeds = (
                f"chosen on {self.training_seeds} training seeds, and the first one alone compared "
                f"on {len(self.seeds)} held-out seeds"
            )
        notes = [f"{self.plans:,} plans, {self.episodes:,} episodes; {seeds}"]
        if not self.plans:
            notes = ["no plan was played in this time, so the audit states nothing"]
        if count:
            notes.append(f"{count:,} plans failed, for instance: {error}")
        if self.best_known:
            known, by = self.best_known
            notes.append(f"best known score on these seeds {known:,.6g} by {by}{self._record()}")
        if self.beaten:
            listed = f"; listed: {', '.join(self.listed)}" if self.listed else ""
            notes.append(f"a plan outranks the best honest rule{listed}")
        if self.record:
            notes.append(f"recorded in {self.record}")
        return notes

    def _record(self) -> str:
        means = [interval(list(self.scores)).mean] if self.scores else []
        means += [one.training for one in self.lines if self.fixed]
        exceeded = self.best_known and max(means, default=-inf) > self.best_known[0]
        return ", which a plan exceeds" if exceeded else ""
