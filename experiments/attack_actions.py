"""Which random and extreme actions break a world, its ledgers or its record?

Every role of every world and preset is answered with the values of `extremes`. An action may be
accepted, refused by the world in its next observation, or wrong (`WrongAction`); `Stuck` ends an
episode. Anything else is a fault, and so are an observation or an action that JSON cannot hold, a
broken ledger, and an exception in `options`, `default_action` or `tables`.

    python experiments/attack_actions.py --actions 100000
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import click
import msgspec
from attrs import define, field

from desim import Run, catalog
from desim.core.limits import Limits
from desim.core.model_protocols import Model
from desim.core.reported import HasTables
from desim.core.roles import Role
from desim.core.world import Decision
from desim.episodes.prefix import open_decisions
from desim.errors import LimitReached, Stuck, WrongAction
from desim.schema import codec, encode
from desim.short_repr import short_repr, shortened
from desim.show.console import console
from desim.show.table import Table
from desim.studies.boards.leaderboard import everything
from experiments.attacks import exit_with, models_checked
from experiments.extremes import Extremes
from ledgers.invariants import checked

#: Limits of an episode; the next one has the next seed.
_LIMITS = Limits(decisions=400, events=100_000)

#: Wrong answers to one decision, after which the default action is given.
_MAX_ANSWERS = 50

#: Characters of the longest permitted error text; a longer one is a fault.
_MAX_TEXT = 2_000

#: Possible outcomes of an answer, and those of an answer that is counted as an action.
_OUTCOMES = ("accepted", "wrong", "faults")
_ANSWERED = _OUTCOMES[:2]


@define
class Attack:
    """Answers the roles of one model and counts the outcomes of the answers.

    Attributes:
        model: The frozen parameters.
        seed: The seed of the answers and of the first episode.
        counts: By role and outcome: "accepted", "wrong" or "faults".
        faults: The faults, one text each, with the answer before it.
    """

    model: Model[Any]
    seed: int = 0
    counts: Counter[tuple[str, str]] = field(factory=Counter)
    faults: list[str] = field(factory=list)
    _chance: random.Random = field(init=False)
    _makers: Mapping[str, Extremes] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 (no secret depends on it)
        self._makers = {
            name: Extremes(codec(role.action), self._chance)
            for name, role in self.model.roles.items()
        }

    def run(self, actions: int) -> "Attack":
        """Give so many answers; every other episode is played by all roles of the model."""
        seed = self.seed
        while sum(self.counts[name, what] for name in self._makers for what in _ANSWERED) < actions:
            self._episode(Run(self.model, seed, [*self._makers] if seed % 2 else None, _LIMITS))
            seed += 1
        return self

    def _episode(self, run: Run[Any]) -> None:
        role, given = next(iter(self._makers)), None
        try:
            for decision in open_decisions(run):
                role = decision.role
                self._look(run, decision)
                given = self._answer(run, decision)
            run.result()
        except (Stuck, LimitReached):
            pass
        except Exception as fault:  # noqa: BLE001 (this script looks for any other exception)
            self._fault(role, given, fault)

    def _look(self, run: Run[Any], decision: Decision) -> None:
        """Read all that the framework reads at a decision; tables are slow, so not every time."""
        role, seen, model = run.roles[decision.role], decision.observation, run.model
        looks: list[Callable[[], Any]] = [lambda: encode(seen), lambda: role.default_for(seen)]
        if options := role.options:
            looks.append(lambda: [codec(role.action).take(o.action) for o in options(seen)])
            looks.append(lambda: [repr((o.value, o.note)) for o in options(seen)])
        if isinstance(model, HasTables) and self.counts[decision.role, "accepted"] % 7 == 0:
            looks.append(lambda: msgspec.json.encode(model.tables(run.state, decision.role)))
        for look in looks:
            try:
                look()
            except Exception as fault:  # noqa: BLE001 (this script looks for any exception)
                self._fault(decision.role, "(looking)", fault)

    def _answer(self, run: Run[Any], decision: Decision) -> Any:
        """Answer until an action is accepted, and return it."""
        name, role = decision.role, run.roles[decision.role]
        self._makers[name].know(decision.observation)
        for _ in range(_MAX_ANSWERS):
            given = self._given(role, decision)
            try:
                run.answer(decision, given)
            except Exception as wrong:  # noqa: BLE001 (this script looks for any exception)
                self.counts[name, "wrong"] += 1
                if not isinstance(wrong, WrongAction):
                    self._fault(name, given, wrong)
                elif len(str(wrong)) > _MAX_TEXT:
                    self._fault(name, given, ValueError(f"{len(str(wrong))} characters of text"))
                continue
            self.counts[name, "accepted"] += 1
            # The recorded action must be readable, and equal the action that was taken.
            again, _ = codec(role.action).take(json.loads(decision.wire))
            if repr(again) != repr(decision.action):
                self._fault(name, given, ValueError("is read back differently"))
            return given
        run.answer(decision, role.default_for(decision.observation))
        return None

    def _given(self, role: Role, decision: Decision) -> Any:
        """Return an answer, now and then a sensible one, so that an episode gets somewhere."""
        if self._chance.random() < 0.8:
            return self._makers[decision.role].action()
        if role.options is None:
            return role.default_for(decision.observation)
        return self._chance.choice(role.options(decision.observation)).action

    def _fault(self, role: str, given: Any, fault: Exception) -> None:
        self.counts[role, "faults"] += 1
        what = f"{type(fault).__name__}: {shortened(str(fault))}"
        self.faults.append(f"{role}: {what} after {short_repr(given)}")


def attacked(worlds: Sequence[str], actions: int, seed: int = 0) -> Iterator[tuple[str, Attack]]:
    """Attack some worlds, each named `model/preset`, with about so many actions in all.

    The invariants of the ledgers are verified after every posting.
    """
    share = -(-actions // len(worlds))
    with ExitStack() as stack:
        stack.enter_context(checked())
        stack.enter_context(models_checked())
        for number, world in enumerate(worlds):
            yield world, Attack(catalog.model(world), seed + 1_000 * number).run(share)


@click.command()
@click.argument("worlds", nargs=-1, metavar="[MODEL[/PRESET]]...")
@click.option("--actions", default=100_000, show_default=True, help="Answers in all.")
@click.option("--seed", default=0, show_default=True, help="Of the first world's first episode.")
def main(worlds: tuple[str, ...], actions: int, seed: int) -> None:
    """Print a table by role, and every fault."""
    begun = time.monotonic()
    faults: list[str] = []
    lines: list[tuple[str, str, list[int]]] = []
    for world, attack in attacked(everything(worlds), actions, seed):
        for role in attack.model.roles:
            counts = [attack.counts[role, what] for what in _OUTCOMES]
            lines.append((world, role, [sum(counts[:2]), *counts]))
        faults += [f"{world} {each}" for each in attack.faults]
    total = [sum(counts) for counts in zip(*(counts for *_, counts in lines), strict=True)]
    lines.append(("all", f"{time.monotonic() - begun:,.0f} s", total))
    heads = ("world", "role", "actions", *_OUTCOMES)
    console().print(Table(heads, ((*names, *counts) for *names, counts in lines), (0, 1)))
    exit_with(faults)


if __name__ == "__main__":
    main()
