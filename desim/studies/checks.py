"""The checks of a world: each returns what it has found, or raises `CheckFault`."""

import difflib
import inspect
import math
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import msgspec

from desim.composition.parts_model import PartsModel
from desim.core.ledger_protocols import inner_ledger
from desim.core.model import ItemsModel, kept_facts, model_of
from desim.core.policy import OutsidePolicy
from desim.core.result import read_series
from desim.core.run import Run
from desim.core.streams import unseeded_globals
from desim.engine.grid import grid
from desim.engine.run.playing import differing_text
from desim.episodes.lineup import Policies, resolve
from desim.episodes.replay import first_difference, move_on, open_decisions, repeated, same_result
from desim.episodes.resume import play_branch, resume
from desim.errors import DesimError, LimitReached, Stuck, WrongAction
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema import (
    TAG,
    codec,
    from_plain,
    json_schema,
    members,
    plain_observation,
    tag,
    tagged,
    to_plain,
)
from desim.schema.described import Schema
from desim.short_repr import short_repr
from desim.show.column import Column
from desim.show.labels import flat
from desim.studies.checked_episodes import (
    LIMITS,
    CheckedWorld,
    advice,
    extremes,
    failed,
    skipped,
)
from desim.studies.sweep import sweep

#: Seeds and futures that are compared, and redraws of the future in an episode.
_SEEDS, _FUTURES, _REDRAWS = 4, (1, 2, 3), 40

#: Decisions of each role, from its first one, at which every option is tried.
_TRIED = 2

#: The field of an observation that states why the role's last action was refused; else it is empty.
_REFUSAL = "refusal"

#: By type of JSON Schema, the keywords of its limits.
_LIMITS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("maxLength",),
    "array": ("maxItems",),
}


# -- classes ---------------------------------------------------------------------------------------


def parameters(world: CheckedWorld) -> str:
    """Frozen, and equal after pickling and after JSON; no name is nearly that of a member."""
    model: Any = world.model
    cls = type(model)
    if not attrs.has(cls):
        raise failed(f"{cls.__name__} is no frozen attrs class", cls)
    names = [one.name for one in attrs.fields(cls)]
    for name in names[:1]:
        try:
            setattr(model, name, getattr(model, name))
        except AttributeError:
            continue
        text = f"an episode can change {name!r} of a model that others share; decorate with @frozen"
        raise failed(text, cls)
    if pickle.loads(pickle.dumps(model)) != model:  # noqa: S301 (our own bytes)
        raise failed("a pickled model differs from the original", cls)
    if from_plain(to_plain(model), cls) != model:
        raise failed("a model that is read from JSON differs from the original", cls)
    _check_names(cls, "Model", PartsModel, ItemsModel)
    return f"{len(names)} parameters: frozen, and equal after pickling and JSON"


def _check_names(cls: type, base: str, *bases: type) -> None:
    """Find public names of a class that are nearly those of members which it lacks."""

    def statics(of: type) -> dict[str, Any]:
        return {n: inspect.getattr_static(of, n) for n in dir(of) if not n.startswith("_")}

    own = statics(cls)
    inherited = {name: one for each in bases for name, one in statics(each).items()}
    lacking = [name for name, one in own.items() if inherited.get(name) is one]
    for name in sorted(own.keys() - inherited.keys()):
        for near in difflib.get_close_matches(name, lacking, n=1, cutoff=0.85):
            text = f"{name!r} is no member of desim.{base}; did you mean {near!r}?"
            raise advice(text, cls)


def schema(world: CheckedWorld) -> str:
    """Every class and field of observations and actions has a description, for agents and forms."""
    classes: set[str] = set()
    for name, role in world.model.roles.items():
        own = {cls.__name__: cls for cls in (*members(role.observation), *members(role.action))}
        for whole in (json_schema(role.observation), codec(role.action).json_schema()):
            for title, found in whole["$defs"].items():
                classes.add(title)
                silent = _silent(title, found)
                if silent:
                    text = f"{silent} ({name!r}) has no description in the docstring, so that "
                    text += "language models and forms show its name alone"
                    raise advice(text, own.get(title))
    return f"{len(classes)} classes with a description of every field"


def _silent(title: str, found: Schema) -> str:
    """Return what of a class has no description; empty if all has one."""
    silent = [
        name
        for name, kind in found["properties"].items()
        if name != TAG and "description" not in kind and "$ref" not in kind
    ]
    if silent:
        return f"{', '.join(silent)} of {title}"
    return "" if found.get("description") else f"the class {title}"


# -- episodes --------------------------------------------------------------------------------------


def plays(world: CheckedWorld) -> str:
    """Every episode ends with a result, roles are asked, and no process waits for ever."""
    model, begin = world.model, type(world.model).begin
    courses = [(seed, [*model.roles]) for seed in world.seeds]
    if any(role.optional for role in model.roles.values()):
        courses.append((world.seeds[0], [*model.default_roles]))
    faults = []
    for seed, roles in courses:
        try:
            world.record(seed, roles)
        except RAISED as fault:
            faults.append((seed, fault))
    if faults:
        seed, first = faults[0]
        raise failed(f"seed {seed}: {first}") from first
    episodes = [episode for episode, _ in world.episodes]
    if not any(one.steps for one in episodes):
        raise failed("no role is ever asked", begin)
    for one in episodes:
        if one.result and (sentence := one.result.dead_end):
            raise advice(f"seed {one.header.seed}: {sentence}", begin)
    decisions = sum(len(one.steps) for one in episodes)
    ends = ", ".join(dict.fromkeys(one.ended for one in episodes))
    return f"{len(episodes)} episodes, {decisions:,} decisions, ended: {ends}"


def repeats(world: CheckedWorld) -> str:
    """A record replays to the same observations, ledgers and result."""
    decisions, before = 0, unseeded_globals()
    for episode, file in world.episodes[:2]:
        recorded = Episode.read(file)
        try:
            run = repeated(world.model, recorded.header, recorded.steps)
            same_result(episode.result or run.result(), run.result())
        except DesimError as fault:
            world.repeats = False
            text = f"two episodes of seed {episode.header.seed} differ: {fault}"
            raise failed(f"{text}; draw from world.stream") from fault
        decisions += run.decisions
    if before != unseeded_globals():
        text = "the model draws from random or numpy.random, which others share; draw from"
        raise advice(f"{text} world.stream", type(world.model).begin)
    return f"{decisions:,} decisions on record replay to the same result"


def resumes(world: CheckedWorld) -> str:
    """A record that is cut in the middle is played on to the same lines."""
    episode, file = world.first
    lines, cut = file.read_bytes().splitlines(keepends=True), world.folder / "cut.jsonl"
    half = max(1, len(lines) // 2)
    cut.write_bytes(b"".join(lines[:half]) + lines[half][: len(lines[half]) // 2])
    try:
        resume(cut, world.policies(episode.header.policies), trust=True)
    except DesimError as fault:
        raise failed(f"cut after {half - 1} decisions: {fault}") from fault
    if _lines(cut) != _lines(file):
        raise failed(f"cut after {half - 1} decisions, the episode ends otherwise")
    return f"cut after {half - 1:,} decisions, then played on to the same record"


def _lines(file: Path) -> list[Any]:
    """Return the lines of a record, without that of its resuming and the digest of all lines."""
    lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    lines[-1].pop("record_digest", None)
    return [line for line in lines if line["line"] != "resumed"]


def seeds(world: CheckedWorld) -> str:
    """Seeds give different episodes, unless the model declares that it is deterministic."""
    first, *others = (_course(world.episode(seed)) for seed in range(_SEEDS))
    differing = [seed for seed, other in enumerate(others, 1) if other != first]
    if world.model.deterministic:
        if differing:
            text = f"the model is declared deterministic, and seed {differing[0]} differs from 0"
            raise failed(text, type(world.model))
        return f"the model is declared deterministic, and {_SEEDS} seeds have the same episode"
    if not differing:
        text = f"seeds 0 to {_SEEDS - 1} have the same episode; draw from world.stream, or declare"
        raise failed(f"{text} `deterministic`", type(world.model).begin)
    return f"{len(differing)} of the seeds 1 to {_SEEDS - 1} differ from seed 0"


def _course(episode: Episode, since: int = 0) -> list[Any]:
    """Return the decisions of an episode from one on, and its result, for comparisons."""
    steps = [(s.t, s.role, s.observed, tagged(s.action)) for s in episode.steps[since:]]
    return [*steps, to_plain(episode.result)]


# -- decisions -------------------------------------------------------------------------------------


def observations(world: CheckedWorld) -> str:
    """Each recorded observation fits its schema and equals the one handed out to the end."""
    count = 0
    for episode, file in world.episodes:
        for step, recorded in zip(episode.steps, Episode.read(file).steps, strict=True):
            kind, where = world.model.roles[step.role].observation, f"{step.role!r} at t={step.t}"
            if plain_observation(step.observation, kind) != recorded.observation:
                text = f"the observation of {where} changes after it was handed out"
                raise failed(text)
            from_plain(recorded.observation, kind)  # raises if it does not fit
            count += 1
    return f"{count:,} observations: in the schema, and not changed later"


def options(world: CheckedWorld) -> str:
    """Every role offers options that fit its schema, none is refused, and the model plays on."""
    offered, tried, seen = 0, 0, Counter[str]()
    for episode, _ in world.episodes:
        offered += sum(len(_options(world, step)) for step in episode.steps)
        _check_refusals(world, episode)
    for name, role in world.model.roles.items():
        if role.options is None:
            text = f"the role {name!r} has no options, so `random` and `greedy` cannot play it"
            declared: Any = inspect.getattr_static(world.model, "roles")
            raise failed(text, declared)
    episode, file = world.first
    recorded = Episode.read(file)
    for number, step in enumerate(episode.steps):
        seen[step.role] += 1
        for action in _options(world, step) if seen[step.role] <= _TRIED else ():
            _try(world, recorded, number, action, "took the option")
            tried += 1
    return f"{offered:,} options: in the schema, and {tried} of them tried"


def _options(world: CheckedWorld, step: Step) -> list[Any]:
    """Return the actions of the options of a decision, each of which fits the schema."""
    where, role = f"the options of {step.role!r} at t={step.t}", world.asked(step)
    if role.options is None:
        return []
    try:
        found = [option.action for option in role.options(step.observation)]
    except RAISED as fault:
        raise failed(f"{where} cannot be made: {fault}") from fault
    if not found:
        raise failed(f"{where} are none; at least one is needed", role.options)
    for action in found:
        try:
            codec(role.action).take(action)
        except WrongAction as fault:
            text = f"{where}: the schema refuses {short_repr(action)}: {fault}"
            raise failed(text, role.options) from None
    return found


def _check_refusals(world: CheckedWorld, episode: Episode) -> None:
    """Check that no option was refused, where observations say so."""
    before: dict[str, Step] = {}
    for step in episode.steps:
        refusal, options = getattr(step.observation, _REFUSAL, ""), world.asked(step).options
        if refusal and step.role in before and options is not None:
            taken = before[step.role]
            text = f"{step.role!r} took the option {tagged(taken.action).decode()} at t={taken.t}, "
            raise failed(f"{text}which was refused: {short_repr(refusal)}", options)
        before[step.role] = step


def _try(world: CheckedWorld, recorded: Episode, number: int, action: Any, took: str) -> None:
    """Take an action in place of one of an episode; the model must go on to the next decision."""
    step = recorded.steps[number]
    run = repeated(world.model, recorded.header, recorded.steps[:number])
    try:
        for decision, other in zip(run.open, recorded.steps[number:], strict=False):
            run.answer(decision, action if other is step else other.action)
        move_on(run)
    except (Stuck, LimitReached):
        return
    except DesimError as fault:
        text = f"{step.role!r} {took} {short_repr(action)} at t={step.t}, and the model failed"
        raise failed(f"{text}: {fault}") from fault


def limits(world: CheckedWorld) -> str:
    """The model plays on after the smallest and the largest actions; the schema states limits."""
    recorded, tried = Episode.read(world.first[1]), 0
    for name, role in world.model.roles.items():
        asked = [(at, step) for at, step in enumerate(recorded.steps) if step.role == name]
        first = {kind: at for at, step in reversed(asked) for kind in world.asked(step).tags}
        for action in extremes(role):
            cls: Any = type(action)
            if (number := first.get(tag(cls))) is not None:
                _try(world, recorded, number, action, "took")
                tried += 1
        for cls in members(role.action):
            fields = codec(role.action).json_schema()["$defs"][cls.__name__]["properties"]
            if found := [field for field, kind in fields.items() if _has_no_limit(kind)]:
                text = f"{', '.join(found)} of {cls.__name__} ({name!r}) has no limit; a validator "
                text += "states one to agents and refuses what exceeds it"
                raise advice(text, cls)
    return f"{tried} extreme actions of {len(world.model.roles)} roles tried"


def _has_no_limit(kind: Schema) -> bool:
    # A pattern of dates and an enumeration are limits too.
    known = "pattern" in kind or "enum" in kind
    missing = not known and any(
        limit not in kind and f"exclusive{limit.capitalize()}" not in kind
        for limit in _LIMITS.get(kind.get("type", ""), ())
    )
    return missing or any(map(_has_no_limit, kind.get("anyOf", ())))


# -- futures ---------------------------------------------------------------------------------------


def redraws(world: CheckedWorld) -> str:
    """An open question shows nothing that a redraw of the future replaces."""
    episode, _ = world.first
    count, every = 0, max(1, len(episode.steps) // _REDRAWS)
    policies = world.policies(episode.header.policies)
    run = Run(world.model, episode.header.seed, [*policies], LIMITS)
    for number, decision in enumerate(open_decisions(run)):
        if number % every == 0:
            kind = run.roles[decision.role].observation
            before = plain_observation(decision.observation, kind)
            if plain_observation(decision.observe(), kind) != before:
                text = "an observation that is made twice differs, so it cannot be compared"
                raise skipped(text)
            run.redraw(number + 1)
            count += 1
            after = plain_observation(decision.observe(), kind)
            if after != before:
                text = f"what {decision.role!r} observes at t={run.world.now} changes when the "
                text += "future is redrawn, so it shows a later draw: "
                text += first_difference(before, after)
                raise failed(text, decision.observe)
        run.answer(
            decision, policies[decision.role].decide(decision.observation, decision.narrowed)
        )
    return f"{count} observations: the same after a redraw of the future"


def futures(world: CheckedWorld) -> str:
    """Futures have the past of the episode, and differ from it unless nothing is left to draw."""
    episode, file = world.first
    model, at = world.model, len(episode.steps) // 3
    courses = []
    for future in (None, *_FUTURES):
        policies = world.policies(episode.header.policies, episode.steps[:at])
        courses.append(_course(play_branch(file, at, policies, future=future, trust=True), at))
    differing = sum(course != courses[0] for course in courses[1:])
    where, kept = f"after decision {at} of {len(episode.steps)}", ", ".join(kept_facts(model))
    if differing:
        return f"{differing} of {len(_FUTURES)} differ {where}; kept: {kept or 'nothing'}"
    if model.deterministic:
        return "the model is declared deterministic, and futures are equal"
    if model.kept is not None:
        return f"nothing is left to draw {where}; kept: {kept or 'nothing'}"
    text = f"futures {where} do not differ: what was drawn ahead stays, and the model has no"
    raise advice(f"{text} `redraw` and `kept`", type(model).begin)


# -- results ---------------------------------------------------------------------------------------


def results(world: CheckedWorld) -> str:
    """The score is within its bounds, metrics are those of `figures`, series fit their periods."""
    model: Any = world.model
    low, high = model.figures.score_range or (-math.inf, None)
    names, scores, odd = {"score"}, list[float](), dict[str, float]()
    for episode, _ in world.episodes:
        scores.append(episode.score)
        if not low <= episode.score <= (math.inf if high is None else high):
            text = f"seed {episode.header.seed} has the score {episode.score:g}, outside of the "
            raise failed(f"{text}declared {low:g} to {high}", model.score)
        _check_series(model, episode)
        given = model.metrics(episode.state)
        odd |= {n: v for n, v in given.items() if isinstance(v, float) and not math.isfinite(v)}
        names |= {*episode.metrics, *dict(flat(episode.metrics))}
    # Names with dots are those of parts, which are checked with the part's own model.
    for name in model.figures.board:
        if name not in names and "." not in name:
            raise failed(f"`figures.board` names {name!r}, which is no metric", model.metrics)
    if odd:
        text = ", ".join(f"the metric {name!r} is {value}" for name, value in odd.items())
        raise advice(f"{text} in an episode, which is then in no mean", model.metrics)
    for name in model.figures.columns:
        if name not in names and "." not in name:
            raise advice(f"`figures.columns` names {name!r}, which is no metric", model.metrics)
    return f"score {min(scores):,.6g} to {max(scores):,.6g}, {len(names) - 1} metrics"


def _check_series(model: Any, episode: Episode) -> None:
    """Check that series have a value for each of their periods; others of one period as many."""
    found, ends = read_series(model, episode.state)
    first: dict[Any, str] = {}
    for name, values in found.items():
        period = model.figures.series.get(name, Column()).period
        other = first.setdefault((id(model_of(model, name)[0]), period), name)
        periods = len(ends.get(name, found[other]))
        if len(values) != periods:
            text = f"the series {name!r} has {len(values)} values for {periods} periods ({period})"
            raise failed(text, model.series)


def ledgers(world: CheckedWorld) -> str:
    """The balances of every ledger sum to zero, and its digest stays."""
    for episode, _ in world.episodes:
        for ledger in episode.ledgers:
            inner = inner_ledger(ledger)
            name = getattr(ledger, "name", "") or type(inner).__name__
            if ledger.digest() != ledger.digest():
                text = f"the digest of {name} changes between two calls"
                raise failed(text, type(inner))
            if total := sum((getattr(inner, "held", None) or {}).values()):
                text = f"the balances of {name} sum to {total}, not to zero"
                raise failed(text, type(inner))
    if not episode.ledgers:
        text = "the state has no `ledgers`, so that results have no digest"
        raise skipped(text)
    return f"{len(episode.ledgers)} ledgers: the balances of each sum to zero"


def policy(world: CheckedWorld, policies: Policies) -> str:
    """The given policies play the seeds, and the first one again with the same result."""
    if not grid(world.model, policies, world.seeds).cells[0].plays_again:
        text = "it waits for a host, opens a file, learns, or plays one episode for all"
        raise skipped(text)
    rows = sweep(world.model, policies, world.seeds)
    if rows.failed:
        text = f"seed {rows.failed[0]['seed']}: {rows.failed[0]['error']}"
        raise failed(text)
    if rows.differing:
        raise failed(differing_text([rows[0]["policy"]]))
    for cls in map(type, resolve(world.model, policies, world.seeds[0]).policies.values()):
        _check_names(cls, "Policy", OutsidePolicy)
    return f"{rows[0]['policy']}: {len(rows)} episodes; the first one repeats itself"
