"""Checks of episodes: they end, repeat, depend on the seed, and replay and resume from a record."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim.core.policy import OutsidePolicy, decide_arguments
from desim.engine.grid import grid
from desim.engine.run.playing import differing_text
from desim.episodes.lineup import Policies, resolve
from desim.episodes.replay import replay, same_result
from desim.episodes.resume import play_branch, resume
from desim.errors import DesimError, WrongAction
from desim.studies.checks.answers import FittingPolicy
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.class_checks import misspelled
from desim.studies.checks.course import played
from desim.studies.checks.outcomes import CheckAdvice, CheckFailed, NotChecked, fault_sentence
from desim.studies.checks.wording import counted
from desim.studies.sweep import sweep

#: Seeds that are compared, from 0.
_SEEDS = 4


def plays(world: CheckedWorld) -> str:
    """Every episode ends, and its roles are asked something."""
    courses = world.courses()
    for one in courses:
        if one.fault is not None:
            raise CheckFailed(f"seed {one.seed}: {fault_sentence(one.fault)}") from one.fault
    if not any(one.asked for one in courses):
        raise CheckFailed("no role is ever asked", type(world.model).begin)
    for one in courses:
        if one.result and (sentence := one.result.dead_end):
            raise CheckAdvice(f"seed {one.seed}: {sentence}", type(world.model).begin)
    ends = dict.fromkeys(one.run.world.ended for one in courses if one.run)
    decisions = counted(sum(len(one.asked) for one in courses), "decision")
    return f"{counted(len(courses), 'episode')}, {decisions}, ended: {', '.join(ends)}"


def random_play(world: CheckedWorld) -> str:
    """The policy `random` plays every role, for which a role has to offer options."""
    model = world.model
    for name, role in model.roles.items():
        if role.options is None:
            text = f"the role {name!r} has no options, so `random` and `greedy` cannot play it"
            declared: Any = inspect.getattr_static(model, "roles")
            at = declared if isinstance(declared, property) else type(model)
            raise CheckFailed(text, at)
    world.ended()
    policies = resolve(model, dict.fromkeys(model.roles, "random"), world.seeds[0]).policies
    course = played(
        model,
        world.seeds[0],
        [*model.roles],
        lambda _run, one: policies[one.role].decide(
            *decide_arguments(policies[one.role], one.observation, one.narrowed)
        ),
    )
    if isinstance(course.fault, WrongAction):
        raise NotChecked("an option of a role does not fit its schema; see `options`")
    if course.fault is not None:
        raise CheckFailed(f"`random` plays, and {fault_sentence(course.fault)}") from course.fault
    asked = {one.role for one in course.asked}
    return f"{len(asked)} of {counted(len(model.roles), 'role')} asked, and played to the end"


def repeats(world: CheckedWorld) -> str:
    """Two episodes of one seed and the same answers are equal in every observation and result."""
    courses = world.courses()[:2]
    for one in courses:
        again = world.played(one.seed, every_role=set(one.seats) == set(world.model.roles))
        difference, observe = one.difference(again)
        if difference:
            text = f"two episodes of seed {one.seed} differ: {difference}; draw from world.stream"
            raise CheckFailed(text, observe)
    world.ended()  # episodes that fail at once are equal, which says nothing
    return f"{counted(len(courses), 'episode')} played twice, equal in every decision and result"


def seeds(world: CheckedWorld) -> str:
    """Seeds give different episodes, unless the model declares that it is deterministic."""
    world.ended()
    courses = [world.course(seed) for seed in range(_SEEDS)]
    others = [one for one in courses if one.difference(courses[0])[0]]
    if world.model.deterministic:
        if others:
            text = f"the model is declared deterministic, and seed {others[0].seed} differs: "
            raise CheckFailed(text + courses[0].difference(others[0])[0], type(world.model))
        return f"the model is declared deterministic, and {_SEEDS} seeds have the same episode"
    if not others:
        text = f"seeds 0 to {_SEEDS - 1} have the same episode; draw from world.stream, or declare"
        raise CheckFailed(f"{text} `deterministic`", type(world.model).begin)
    return f"{len(others)} of the seeds 1 to {_SEEDS - 1} differ from seed 0"


def replays(world: CheckedWorld) -> str:
    """A record of the episode replays to the same observations, ledgers and result."""
    try:
        file = world.make_record()
        episode = replay(file, trust=True)
    except NotChecked:
        raise
    except DesimError as fault:
        raise CheckFailed(fault_sentence(fault)) from fault
    assert episode.result is not None
    return f"{counted(episode.result.decisions, 'decision')} from {file.stat().st_size:,} bytes"


def resumes(world: CheckedWorld) -> str:
    """A record that is cut in the middle is played on to the same lines."""
    file = world.record()
    course, _ = world.first()
    cut, at = _cut(file)
    try:
        resume(cut, world.scripts(course), trust=True)
    except DesimError as fault:
        raise CheckFailed(f"cut after {at} decisions: {fault_sentence(fault)}") from fault
    if _lines(cut) != _lines(file):
        raise CheckFailed(f"cut after {at} decisions, the episode ends otherwise")
    return f"cut after {counted(at, 'decision')}, then played on to the same record"


def branches(world: CheckedWorld) -> str:
    """A branch that goes on as on record ends the same; one in another future has a record."""
    file, (course, result), roles = world.record(), world.first(), world.model.roles
    at = len(course.asked) // 3
    branch = file.with_name("branch.jsonl")
    others = {role: FittingPolicy(roles[role]) for role in course.seats}
    try:
        same = play_branch(file, at, world.scripts(course, at), trust=True)
        play_branch(file, at, others, future=1, record=branch, trust=True)
        replay(branch, trust=True)
    except DesimError as fault:
        raise CheckFailed(f"after {at} decisions: {fault_sentence(fault)}") from fault
    same_result(result, same.result or result)
    return f"after decision {at} of {len(course.asked)}, as on record and in another future"


def policy(policies: Policies, world: CheckedWorld) -> str:
    """The given policies play the seeds, and the first one again with the same result."""
    if not grid(world.model, policies, world.seeds).cells[0].plays_again:
        raise NotChecked("it waits for a host, opens a file, learns, or plays one episode for all")
    rows = sweep(world.model, policies, world.seeds)
    if rows.failed:
        raise CheckFailed(f"seed {rows.failed[0]['seed']}: {rows.failed[0]['error']}")
    if rows.differing:
        raise CheckFailed(differing_text([rows[0]["policy"]]))
    for cls in map(type, resolve(world.model, policies, world.seeds[0]).policies.values()):
        for name, member in misspelled(cls, OutsidePolicy):
            raise CheckAdvice(
                f"{name!r} is no member of desim.Policy; did you mean {member!r}?", cls
            )
    return f"{rows[0]['policy']}: {counted(len(rows), 'episode')}; the first one repeats itself"


def _cut(file: Path) -> tuple[Path, int]:
    """Write the first half of a record's lines and half of the next one; return the decisions."""
    lines = file.read_bytes().splitlines(keepends=True)
    half = max(1, len(lines) // 2)
    cut = file.with_name("cut.jsonl")
    cut.write_bytes(b"".join(lines[:half]) + lines[half][: len(lines[half]) // 2])
    return cut, half - 1


def _lines(file: Path) -> Sequence[object]:
    """Return the lines of a record, without that of its resuming and the digest of all lines."""
    lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    lines[-1].pop("record_digest", None)
    return [line for line in lines if line["line"] != "resumed"]
