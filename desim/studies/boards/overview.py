"""Every world in one line: who a person plays there, and how far the best fair rule gets."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import asdict, field, frozen

from desim.catalog import model_finder
from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.roles import Knowledge
from desim.engine.plan import Row
from desim.show.labels import short_number_text, words_text
from desim.show.progress import ProgressOption
from desim.show.table import Printed, Table, Tabular
from desim.studies.boards.all_worlds import NormalisedScore, NormalisedWorld, normalised_boards
from desim.studies.boards.leaderboard import everything

#: The most that a rule of the overview knows: a person may look up the constants of a world.
_MOST: Knowledge = "rules"

#: The first seeds, whose episodes of all worlds take about 25 seconds of processor time.
SEEDS = range(5)

#: Characters of a bar, before the mark of its scale.
_WIDTH = 10

#: The marks of scales whose 1 is not a proved bound.
_KINDS = {"relaxation": "~", "best known": "*"}

_HEADS = ("world", "you play", f"0{'·' * (_WIDTH - 2)}1 ", "best rule", "score")
_MARKS = (
    "█ best rule that sees no hidden state   G greedy   0 floor   1 proved bound",
    "~ 1 is a bound that may be out of reach   * 1 is only the best known score",
)

#: The policy that draws its answers: where it is the best rule, no rule can play.
_CHANCE, _NO_RULE = "random", "needs a language model"

#: A share that differs from a whole number of cells by rounding alone.
_ROUNDING = 1e-9


@frozen
class WorldLine:
    """The default preset of one world.

    Attributes:
        model: Its name.
        preset: The preset.
        seat: The role that a person plays, and the length of an episode.
        kind: What a share of 1 is: a proved bound, a relaxation or the best known score.
        best: The best policy; None if all have failed.
        greedy: The policy `greedy`; None if it does not play there.
        by_chance: Whether the best policy draws its answers, and no other has failed.
    """

    model: str
    preset: str
    seat: str
    kind: str
    best: NormalisedScore | None
    greedy: NormalisedScore | None
    by_chance: bool = False

    def cells(self) -> list[Any]:
        """Return the cells of its line."""
        best = self.best
        bar = Printed(best and best.z, _bar(best, self.greedy) + _KINDS.get(self.kind, " "))
        if best and self.by_chance:
            return [self.model, self.seat, bar, Printed(best.policy, _NO_RULE), None]
        if best is None or best.mean is None:
            return [self.model, self.seat, bar, None, None]
        score = Printed(best.mean, short_number_text(best.mean))
        return [self.model, self.seat, bar, best.policy, score]

    def plain(self) -> dict[str, Any]:
        """Return plain JSON values by name."""
        return asdict(self)


@frozen(repr=False)
class Overview(Tabular):
    """All worlds, a line each.

    Attributes:
        worlds: In the order of the catalog.
        seeds: The number of seeds.
        presets: The number of presets of all worlds.
        notes: Sentences on failed policies, on scores above what is known, and on worlds without
            a line.
        rows: The episodes.
    """

    worlds: tuple[WorldLine, ...]
    seeds: int
    presets: int
    notes: tuple[str, ...]
    rows: Sequence[Row] = field(repr=False)

    def tables(self) -> tuple[Table, ...]:
        """Return the lines, and the commands with which a newcomer goes on."""
        count = f"{self.seeds:,} seeds" if self.seeds > 1 else "1 seed"
        worlds = len(self.worlds)
        each = f"{worlds} worlds, default presets" if worlds > 1 else "1 world, default preset"
        title = f"{each}: the best rule's mean over {count}"
        lines = (one.cells() for one in self.worlds)
        board = Table(_HEADS, lines, range(4), title, ("\n".join(_MARKS), *self.notes))
        return (board, Table((), self._next(), (0, 1)))

    def _next(self) -> Iterator[tuple[str, str]]:
        first = self.worlds[0]
        yield "Play one yourself", f"desim play {first.model}"
        yield "One world in full", f"desim baselines {first.model}  (all {self.presets}: --all)"
        yield "Write a rule", 'README, "Write a policy"'


def overview(
    seeds: Sequence[int],
    jobs: int,
    progress: ProgressOption = None,
    limits: Limits | None = None,
) -> Overview:
    """Play the baselines that know no hidden state on the default preset of every world.

    Args:
        seeds: Shared by all worlds.
        jobs: Worker processes.
        progress: As for `sweep`.
        limits: The limits of each episode; one that reaches a limit fails.

    Raises:
        UsageError: No world has a scale, or the seeds are empty or wrong.
    """
    names = everything()
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.partition("/")[0], name)
    found = normalised_boards([*first.values()], seeds, jobs, progress, limits, _MOST)
    lines = tuple(map(_world_line, found.worlds))
    return Overview(lines, len(seeds), len(names), tuple(found.notes()), found.rows)


def _world_line(world: NormalisedWorld) -> WorldLine:
    model, _, preset = world.name.partition("/")
    best = next((one for one in world.scores if one.score), None)
    seat = _seat_text(model_finder.model(world.name))
    by_chance = best is not None and best.policy == _CHANCE and all(x.score for x in world.scores)
    kind = world.scale.means.kind
    return WorldLine(model, preset, seat, kind, best, world.of("greedy"), by_chance)


def _seat_text(model: Model[Any]) -> str:
    """Return the first of the default roles, and the length of an episode."""
    role, length = words_text(model.default_roles[0]), model.time.length
    return f"{role}, {length}" if length else role


def _bar(best: NormalisedScore | None, greedy: NormalisedScore | None) -> str:
    """Return a bar from 0 to 1 up to the best score, with the mark of `greedy`."""
    filled = _whole_cells(best.z) if best and best.score else 0
    cells = ["█"] * filled + ["░"] * (_WIDTH - filled)
    if greedy and greedy.score:
        cells[min(_whole_cells(greedy.z), _WIDTH - 1)] = "G"
    return "".join(cells)


def _whole_cells(share: float) -> int:
    """Return how many cells of a bar a share fills, so that only one of 1 fills the bar."""
    return min(max(0, int(_WIDTH * share + _ROUNDING)), _WIDTH)
