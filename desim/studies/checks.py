"""The checks of a world: each returns what it has found, or raises the fault or `Advice`."""

import contextlib
import difflib
import inspect
import math
import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec
from attrs import define, field

from desim.composition.parts_model import PartsModel
from desim.core.limits import Limits
from desim.core.model import ItemsModel, Model, kept_facts
from desim.core.reported import inner_ledger
from desim.core.result import read_series
from desim.core.roles import Role
from desim.core.streams import unseeded_globals
from desim.episodes.driver import play
from desim.episodes.replay import first_difference, move_on, repeated, same_result
from desim.episodes.resume import play_branch, resume
from desim.errors import DesimError, LimitReached, Stuck, WrongAction
from desim.faults import function_name
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema import TAG, codec, from_plain, json_schema, plain_observation, tagged, to_plain
from desim.schema.described import Schema, action_schemas
from desim.short_repr import short_repr
from desim.show.column import Column
from desim.show.labels import flat

#: Limits of the episodes, without a limit of time: the same world has the same findings.
_LIMITS = Limits(events=2_000_000, decisions=10_000)

#: The types of numbers in JSON Schema.
_NUMBERS = ("integer", "number")

#: Redraws in an episode, futures; and a number beyond all, for fields without limits.
_REDRAWS, _FUTURES, _FAR = 10, (None, 1, 2, 3), 10**18

#: By type of JSON Schema, the keyword of its upper limit.
_KEYWORDS = {"string": "maxLength", "array": "maxItems", **dict.fromkeys(_NUMBERS, "maximum")}


class Advice(DesimError):
    """The outcome of a check of a world that works and lacks something optional."""


@define(eq=False)
class CheckedWorld:
    """A model, at least two seeds, a folder for records, and the episodes that its checks share.

    Each episode is held as it was played, as it was read from its record, and with the record.
    """

    model: Model[Any]
    seeds: Sequence[int]
    folder: Path
    played: list[tuple[Episode, Episode, Path]] = field(factory=list, init=False)

    def play(self, seed: int, roles: Iterable[str]) -> None:
        """Record an episode in which some roles take options at random."""
        file = self.folder / f"{len(self.played)}.jsonl"
        policies = dict.fromkeys(roles, "random")
        episode = play(self.model, policies, seed, record=file, limits=_LIMITS)
        self.played.append((episode, Episode.read(file), file))


def parameters(world: CheckedWorld) -> str:
    """Frozen, and equal after pickling and after JSON; no name is nearly that of a member."""
    model: Any = world.model
    cls = type(model)
    if not attrs.has(cls):
        raise DesimError(f"{cls.__name__} is no frozen attrs class")
    names = [one.name for one in attrs.fields(cls)]
    for name in names[:1]:
        try:
            setattr(model, name, getattr(model, name))
        except AttributeError:
            continue
        text = f"an episode can change {name!r} of a model that others share; decorate with @frozen"
        raise DesimError(text)
    if pickle.loads(pickle.dumps(model)) != model:  # noqa: S301 (our own bytes)
        raise DesimError("a pickled model differs from the original")
    if from_plain(to_plain(model), cls) != model:
        raise DesimError("a model that is read from JSON differs from the original")
    known = {n: inspect.getattr_static(of, n) for of in (PartsModel, ItemsModel) for n in dir(of)}
    lacking = [name for name, one in known.items() if inspect.getattr_static(cls, name, 0) is one]
    for name in sorted({*dir(cls)} - known.keys()):
        for near in difflib.get_close_matches(name, lacking, n=1, cutoff=0.85):
            raise Advice(f"{name!r} is no member of desim.Model; did you mean {near!r}?")
    return f"{len(names)} parameters: frozen, and equal after pickling and JSON"


def schema(world: CheckedWorld) -> str:
    """Classes and fields have descriptions, for agents and forms; those of actions limits."""
    classes, silent, free = set[str](), list[str](), list[str]()
    for role in world.model.roles.values():
        actions = codec(role.action).json_schema()["$defs"]
        for title, found in {**json_schema(role.observation)["$defs"], **actions}.items():
            classes.add(title)
            fields = {f"{title}.{n}": of for n, of in found["properties"].items() if n != TAG}
            silent += [
                name
                for name, of in {title: found, **fields}.items()
                if "$ref" not in of and not of.get("description")
            ]
            free += [n for n, of in fields.items() if title in actions and _has_no_limit(of)]
    texts = {"no description in the docstring, for language models and forms": silent}
    texts["no limit; a validator states one to agents and refuses what exceeds it"] = free
    if told := [f"{', '.join(dict.fromkeys(names))}: {t}" for t, names in texts.items() if names]:
        raise Advice("; ".join(told))
    return f"{len(classes)} classes with a description of every field"


def _has_no_limit(kind: Schema) -> bool:
    keyword = _KEYWORDS.get(kind.get("type", ""))
    # A pattern of dates and an enumeration are limits too.
    missing = keyword and not {keyword, "exclusiveMaximum", "pattern", "enum"} & kind.keys()
    return bool(missing) or any(map(_has_no_limit, kind.get("anyOf", ())))


def plays(world: CheckedWorld) -> str:
    """Every episode ends with a result, roles are asked, and no process waits for ever."""
    model = world.model
    for seed in world.seeds:
        world.play(seed, model.roles)
    if any(role.optional for role in model.roles.values()):
        world.play(world.seeds[0], model.default_roles)
    episodes = [episode for episode, _, _ in world.played]
    if not any(one.steps for one in episodes):
        raise DesimError("no role is ever asked")
    for one in episodes:
        if one.result and (sentence := one.result.dead_end):
            raise Advice(f"seed {one.header.seed}: {sentence}")
    decisions = sum(len(one.steps) for one in episodes)
    ends = ", ".join(dict.fromkeys(one.ended for one in episodes))
    return f"{len(episodes)} episodes, {decisions:,} decisions, ended: {ends}"


def seeds(world: CheckedWorld) -> str:
    """Seeds give different episodes, unless the model declares that it is deterministic."""
    model = world.model
    # Unlike `random`, `greedy` does the same where it observes the same.
    first, *others = (
        _course(play(model, dict.fromkeys(model.roles, "greedy"), seed, limits=_LIMITS))
        for seed in world.seeds
    )
    differing = sum(other != first for other in others)
    if model.deterministic and differing:
        raise DesimError("the model is declared deterministic, and seeds differ")
    if not model.deterministic and not differing:
        text = "all seeds have the same episode; draw from world.stream, or declare `deterministic`"
        raise DesimError(text)
    return f"{differing} of {len(others)} further seeds differ from the first"


def _course(episode: Episode) -> list[Any]:
    """Return the decisions of an episode, and its result, for comparisons."""
    steps = [(s.t, s.role, s.observed, tagged(s.action)) for s in episode.steps]
    return [*steps, to_plain(episode.result)]


def observations(world: CheckedWorld) -> str:
    """Each recorded observation fits its schema and equals the one handed out to the end."""
    count = 0
    for episode, recorded, _ in world.played:
        for step, past in zip(episode.steps, recorded.steps, strict=True):
            kind, where = world.model.roles[step.role].observation, f"{step.role!r} at t={step.t}"
            if plain_observation(step.observation, kind) != past.observation:
                raise DesimError(f"the observation of {where} changes after it was handed out")
            from_plain(past.observation, kind)  # raises if it does not fit
            count += 1
    return f"{count:,} observations: in the schema, and not changed later"


def results(world: CheckedWorld) -> str:
    """The score is within its bounds, metrics are those of `figures`, series fit their periods."""
    model, figures = world.model, world.model.figures
    low, high = figures.score_range or (-math.inf, None)
    names, scores, odd = {"score"}, list[float](), list[str]()
    for episode, _, _ in world.played:
        scores.append(episode.score)
        if not low <= episode.score <= (math.inf if high is None else high):
            text = f"seed {episode.header.seed} has the score {episode.score:g}, outside of the "
            raise DesimError(f"{text}declared {low:g} to {high}")
        _check_series(model, episode)
        names |= {*episode.metrics, *dict(flat(episode.metrics))}
        given = model.metrics(episode.state).items()
        odd += [f"{n!r} is {v}" for n, v in given if isinstance(v, float) and not math.isfinite(v)]
    # Names with dots are those of parts, which are checked with the part's own model.
    for name in (*figures.board, *figures.columns):
        if name not in names and "." not in name:
            kind = DesimError if name in figures.board else Advice
            raise kind(f"`figures` names {name!r}, which is no metric")
    if odd:
        raise Advice(f"the metric {', '.join(odd)} in an episode, which is then in no mean")
    return f"score {min(scores):,.6g} to {max(scores):,.6g}, {len(names) - 1} metrics"


def _check_series(model: Model[Any], episode: Episode) -> None:
    """Check that series have a value for each of their periods; others of one period as many."""
    found, ends = read_series(model, episode.state)
    counts: dict[str, int] = {}
    for name, values in found.items():
        period = model.figures.series.get(name, Column()).period
        count = len(ends[name]) if name in ends else counts.setdefault(period, len(values))
        if len(values) != count:
            text = f"the series {name!r} has {len(values)} values for {count} periods ({period})"
            raise DesimError(text)


def ledgers(world: CheckedWorld) -> str:
    """The balances of every ledger sum to zero, and its digest stays."""
    found = [ledger for episode, _, _ in world.played for ledger in episode.ledgers]
    for ledger in found:
        inner = inner_ledger(ledger)
        name = getattr(ledger, "name", "") or type(inner).__name__
        if ledger.digest() != ledger.digest():
            raise DesimError(f"the digest of {name} changes between two calls")
        if total := sum((getattr(inner, "held", None) or {}).values()):
            raise DesimError(f"the balances of {name} sum to {total}, not to zero")
    return f"{len(found)} ledgers: the balances of each sum to zero"


def repeats(world: CheckedWorld) -> str:
    """A record replays to the same observations, ledgers and result."""
    decisions, before = 0, unseeded_globals()
    for episode, recorded, _ in world.played[:2]:
        try:
            run = repeated(world.model, recorded.header, recorded.steps)
            same_result(episode.result or run.result(), run.result())
        except DesimError as fault:
            text = f"two episodes of seed {episode.header.seed} differ: {fault}"
            raise DesimError(f"{text}; draw from world.stream") from fault
        decisions += run.decisions
    if before != unseeded_globals():
        text = "the model draws from random or numpy.random, which others share; draw from"
        raise Advice(f"{text} world.stream")
    return f"{decisions:,} decisions on record replay to the same result"


def options(world: CheckedWorld) -> str:
    """Every role offers options that fit its schema, and none is refused."""
    offered = 0
    for episode, _, _ in world.played:
        before: dict[str, Step] = {}
        for step in episode.steps:
            refusal = getattr(step.observation, "refusal", "")
            if refusal and (taken := before.get(step.role)):
                text = f"{step.role!r} took the option {tagged(taken.action).decode()} at "
                raise DesimError(f"{text}t={taken.t}, which was refused: {short_repr(refusal)}")
            before[step.role] = step
            for action in _options(world, step):
                codec(world.model.roles[step.role].action).take(action)
                offered += 1
    return f"{offered:,} options: in the schema, and none refused"


def _options(world: CheckedWorld, step: Step) -> list[Any]:
    role = world.model.roles[step.role].of_tags(step.possible)
    return [option.action for option in role.options(step.observation)] if role.options else []


def actions(world: CheckedWorld) -> str:
    """The model plays on after all options of a decision, and the least and largest actions."""
    episode, recorded, _ = world.played[0]
    first = {(s.role, type(s.action)): n for n, s in reversed([*enumerate(episode.steps)])}
    tried = 0
    for number in first.values():
        step = episode.steps[number]
        role = world.model.roles[step.role]
        for action in (*_options(world, step), *_extremes(role, step.action)):
            run = repeated(world.model, recorded.header, recorded.steps[:number])
            tried += 1
            try:
                for decision, other in zip(run.open, episode.steps[number:], strict=False):
                    run.answer(decision, action if other is step else other.action)
                move_on(run)
            except (Stuck, LimitReached, WrongAction):
                continue
            except DesimError as fault:
                text = f"{step.role!r} took {short_repr(action)} at t={step.t}, and the model"
                raise DesimError(f"{text} failed: {fault}") from fault
    return f"{tried} options and extreme actions tried"


def _extremes(role: Role, action: Any) -> Iterator[Any]:
    """Yield an action with the smallest and one with the largest numbers that fit its schema."""
    given = msgspec.json.decode(tagged(action))
    fields = action_schemas(codec(role.action))[given[TAG]]["properties"]
    numbers = {k: of for k, of in fields.items() if of.get("type") in _NUMBERS}
    for end, sign in (("minimum", -1), ("maximum", 1)):
        strict = f"exclusive{end.capitalize()}"
        ends = {k: of.get(end, of.get(strict, sign * _FAR) - sign) for k, of in numbers.items()}
        with contextlib.suppress(WrongAction):  # a validator may refuse more than the schema states
            yield codec(role.action).read({**given, **ends})


def resumes(world: CheckedWorld) -> str:
    """A record that is cut in the middle is played on to the same record."""
    _, recorded, file = world.played[0]
    lines, cut = file.read_bytes().splitlines(keepends=True), world.folder / "cut.jsonl"
    half = max(1, len(lines) // 2)
    cut.write_bytes(b"".join(lines[:half]) + lines[half][: len(lines[half]) // 2])
    resume(cut, trust=True)
    if _course(Episode.read(cut)) != _course(recorded):
        raise DesimError(f"cut after {half - 1} decisions, the episode ends otherwise")
    return f"cut after {half - 1:,} decisions, then played on to the same record"


def futures(world: CheckedWorld) -> str:
    """A redraw changes no open question; futures differ if anything is left to draw."""
    model, (_, recorded, file) = world.model, world.played[0]
    steps, count = recorded.steps, 0
    for at in range(0, len(steps), max(1, len(steps) // _REDRAWS)):
        run = repeated(model, recorded.header, steps[:at])
        shown = [(one, run.roles[one.role].observation) for one in run.open]
        before = [plain_observation(one.observe(), kind) for one, kind in shown]
        if before != [plain_observation(one.observation, kind) for one, kind in shown]:
            raise Advice("an observation made twice differs, so futures cannot be compared")
        run.redraw(at + 1)
        for (one, kind), past in zip(shown, before, strict=True):
            count += 1
            if (now := plain_observation(one.observe(), kind)) != past:
                text = f"what {one.role!r} observes ({function_name(one.observe)}) at "
                text += f"t={run.world.now} changes when the future is redrawn, so it shows a later"
                raise DesimError(f"{text} draw: {first_difference(past, now)}")
    third, policies = len(steps) // 3, dict.fromkeys(recorded.header.policies, "greedy")
    first, *others = (
        _course(play_branch(file, third, policies, future=one, trust=True)) for one in _FUTURES
    )
    kept, differ = ", ".join(kept_facts(model)) or "nothing", any(one != first for one in others)
    if not (differ or model.deterministic or model.kept is not None):
        text = f"futures after decision {third} of {len(steps)} do not differ: what was drawn ahead"
        raise Advice(f"{text} stays, and the model has no `redraw` and `kept`")
    found = "differ" if differ else "do not: nothing is left to draw"
    found = "are one: the world is deterministic" if model.deterministic else found
    return f"{count} observations: the same after a redraw; futures {found}; kept: {kept}"


#: The checks in their order: those of episodes, and those of an episode that repeats itself.
CHECKS = (parameters, schema, plays, seeds, observations, results, ledgers, repeats)
FURTHER_CHECKS = (options, actions, resumes, futures)
