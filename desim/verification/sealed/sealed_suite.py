"""The suite of sealed sessions: its worlds and how many episodes each has; its seeds are not used.

The episodes have a fixed order, that of the jobs of a suite: every world once, then again.
"""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from attrs import evolve, frozen

from desim.core.model_protocols import Model, default_roles
from desim.core.policy_protocols import decide_arguments
from desim.episodes.caller import CallerSession
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from desim.records.lines import Header
from desim.schema import plain_observation
from desim.suites.suite_file import Suite, parsed_suite
from desim.suites.suite_plan import Plan, PlannedWorld, plan_of_worlds
from desim.verification.sealed.derived import Secret
from desim.verification.signed.canonical import digest

#: The caller's name as a policy, in records.
LABEL = "client"

#: Seeds with which a world is tried for whether its episodes depend on them.
_TRIED = 4

#: Decisions of a tried episode, at most.
_MOST_TRIED = 200


@frozen
class SealedEpisode:
    """One episode of every session of a suite.

    Attributes:
        number: Its number, from 0.
        world: The name of the world.
        place: Its place among those of the world, from 0.
        model: The frozen parameters.
        others: The specs of the roles that the suite leaves to policies.
    """

    number: int
    world: str
    place: int
    model: Model[Any]
    others: dict[str, str]

    @property
    def seats(self) -> tuple[str, ...]:
        """The roles that the client plays."""
        return tuple(role for role in default_roles(self.model) if role not in self.others)

    def session(self, seed: int, **options: Any) -> CallerSession:
        """Return an episode with a seed, at its first open decision.

        Args:
            seed: The seed.
            options: Further arguments of `CallerSession`.
        """
        seats = dict.fromkeys(self.seats, LABEL)
        session = CallerSession(self.model, seed, seats=seats, others=self.others, **options)
        try:
            session.advance()
        except BaseException:
            session.close()
            raise
        return session


@frozen
class SealedSuite:
    """A suite that is played in sealed sessions.

    Attributes:
        content: The bytes of its file.
        suite: Its content.
        plan: Its worlds, with the seeds of the file, which count the episodes.
    """

    content: bytes
    suite: Suite
    plan: Plan

    @classmethod
    def read(
        cls,
        content: bytes,
        path: Path = Path("suite.toml"),
        *,
        check: Callable[[Suite], None] | None = None,
    ) -> Self:
        """Return the suite of a file's content; the file is not opened.

        Args:
            content: The bytes of the file.
            path: Its name, for errors.
            check: Checks what the suite names before anything is built.

        Raises:
            UsageError: It has faults, repeats seeds, or has episodes in a row.
        """
        faults: list[str] = []
        suite = parsed_suite(path, content, faults)
        if faults:
            raise UsageError(f"{path}: {faults[0]}")
        if check is not None:
            check(suite)
        plan = plan_of_worlds(path, suite, LABEL)
        for name, world in plan.worlds.items():
            if world.repeats > 1 or world.episodes > 1:
                raise UsageError(
                    f"worlds.{name} has {world.repeats} repeats and {world.episodes} episodes in a "
                    "row; a sealed session plays every seed once (1 and 1)"
                )
        if not plan.jobs:
            raise UsageError(f"{path} has no world; a sealed session needs one")
        return cls(content, suite, plan)

    @property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        return digest(self.content)

    @property
    def revisions(self) -> dict[str, str]:
        """The revision of each world in words."""
        return {
            name: Header.of(world.model, 0, {}).provenance.text
            for name, world in self.plan.worlds.items()
        }

    @property
    def episodes(self) -> list[SealedEpisode]:
        """All episodes in the order in which they are played."""
        worlds = self.plan.worlds
        return [
            SealedEpisode(
                number,
                job.world,
                worlds[job.world].seeds.index(job.seed),
                worlds[job.world].model,
                dict(worlds[job.world].table.policy),
            )
            for number, job in enumerate(self.plan.jobs)
        ]

    def seeds(self, secret: Secret, number: str) -> list[int]:
        """Return the seeds of a session, in the order of the episodes."""
        return [secret.seed(number, one.world, one.place) for one in self.episodes]

    def revealed(self, secret: Secret, number: str, entry: str) -> Plan:
        """Return the plan of an entry whose seeds are those of a session that has ended."""
        worlds = {
            name: evolve(
                self.suite.worlds[name],
                seeds=[secret.seed(number, name, place) for place in range(len(world.seeds))],
            )
            for name, world in self.plan.worlds.items()
        }
        return plan_of_worlds(self.plan.path, evolve(self.suite, worlds=worlds), entry)

    def check_hides(self) -> None:
        """Check that in every world the episode depends on the seed.

        Raises:
            UsageError: In one it does not, so that there is nothing to seal.
        """
        check_draws(self.plan.worlds)


def check_draws(worlds: Mapping[str, PlannedWorld]) -> None:
    """Check that in every world the episode depends on the seed.

    Raises:
        UsageError: In one it does not, so that an unknown seed hides nothing.
    """
    for name, world in worlds.items():
        one = SealedEpisode(0, name, 0, world.model, dict(world.table.policy))
        seeds = [secrets.randbits(128) for _ in range(_TRIED)]
        if not any(_differs(one, seeds, drawn=drawn) for drawn in (False, True)):
            raise UsageError(
                f"worlds.{name} gives the same episode for every seed, so that a secret seed hides "
                "nothing; choose a preset that draws"
            )


def answer_by_default(session: CallerSession) -> None:
    """Answer all open decisions by the default actions of their roles."""
    for decision in [*session.open]:
        role = session.run.role_of(decision)
        session.answer(decision, role.default_for(decision.observation))


def _differs(one: SealedEpisode, seeds: list[int], *, drawn: bool) -> bool:
    """Return whether an episode differs by its seed, with default or with drawn actions."""
    first = _course(one, seeds[0], drawn=drawn)
    return any(_course(one, seed, drawn=drawn) != first for seed in seeds[1:])


def _course(one: SealedEpisode, seed: int, *, drawn: bool) -> list[Any]:
    """Return what the seats observe in an episode, and the digest of its ledgers.

    Drawn actions do not depend on the seed, so that they differ where the observations do.
    """
    rule = resolve(one.model, dict.fromkeys(one.seats, "random"), 0).policies
    session = one.session(seed)
    seen: list[Any] = []
    try:
        while session.open and len(seen) < _MOST_TRIED:
            seen += [
                plain_observation(each.observation, one.model.roles[each.role].observation)
                for each in session.open
            ]
            for each in [*session.open] if drawn else ():
                told = decide_arguments(rule[each.role], each.observation, each.narrowed)
                session.answer(each, rule[each.role].decide(*told))
            answer_by_default(session)
            session.advance()
        result = session.episode.result if session.episode else None
        return [*seen, result.ledger_digest if result else ""]
    finally:
        session.close()
