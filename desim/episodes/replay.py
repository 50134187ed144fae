"""A record is played again: its model, its decisions, and how steps and results are compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from attrs import evolve, field, frozen

from desim.core.events import Decision
from desim.core.model import Model
from desim.core.points import Points
from desim.core.result import Result
from desim.core.run import Run, check_futures
from desim.episodes.lineup import Policies, assign
from desim.errors import BadRecord, DesimError, UsageError, WrongAction
from desim.records.differences import COMPARED, DifferingPlace, differences
from desim.records.episode import Episode, Inside
from desim.records.lines import Header, Step, step_class
from desim.records.reach import model_reaches, policy_reaches, refuse
from desim.schema import tagged, to_plain
from desim.schema.signatures import takes
from desim.short_repr import short_repr, shortened

T = TypeVar("T")

_decode = msgspec.json.decode


@frozen(kw_only=True, slots=False)
class TrustOptions:
    """Permission to use what a record names.

    Attributes:
        trust: Use whatever the record names: modules, files, hosts, the environment.
    """

    trust: bool = False


def trusted_model(
    path: str | Path, header: Header, *, trust: bool = False, roles: Iterable[str] = ()
) -> Model[Any]:
    """Build the model of a record, which reaches nothing outside without *trust*.

    The policies of *roles* will be built from their labels on record; *path* is for errors.
    """
    if not trust:
        model, params = header.model, header.params
        labels = ((role, header.policies[role]) for role in roles)
        of_policies = (policy_reaches(role, label, model, params) for role, label in labels)
        refuse([*model_reaches(model, params), *chain.from_iterable(of_policies)], path)
    with naming(path):
        return header.build(trust=True)


@contextmanager
def naming(path: object = "", changed: Callable[[], str] = str) -> Iterator[None]:
    """Begin the text of a refused record with its path, and end it with what has *changed*."""
    try:
        yield
    except BadRecord as fault:
        raise BadRecord(f"{path}{path and ': '}{fault}{changed()}") from None


def trusted_players(
    path: str | Path, header: Header, policies: Policies, *, trust: bool
) -> tuple[Model[Any], dict[str, Any]]:
    """Return the model of a record, and by role the policies that are not built from its labels."""
    built: list[str] = []
    if policies is None or isinstance(policies, Mapping):
        built = [role for role in header.policies if role not in (policies or {})]
    model = trusted_model(path, header, trust=trust, roles=built)
    return model, given_policies(header, model, policies)


def given_policies(header: Header, model: Model[Any], policies: Policies) -> dict[str, Any]:
    """Return by role the policies that the caller gives; one alone is for the recorded roles."""
    if policies is None:
        return {}
    given = assign(model, policies, tuple(header.policies))
    if isinstance(policies, Mapping):
        return given
    # A role that the line-up leaves out would be built from its label on record, unchecked.
    for role in header.policies.keys() - given.keys():
        raise UsageError(f"{policies} names no policy for {role!r}; write {role}=SPEC too")
    return {role: one for role, one in given.items() if role in header.policies}


def open_decisions(run: Run[Any]) -> Iterator[Decision]:
    """Yield the decisions of a run; each is answered before the next one is requested."""
    opened = run.open or run.advance()
    while opened:
        yield from opened
        opened = run.advance()


def paired(run: Run[Any], past: Iterable[T]) -> Iterator[tuple[int, Decision, T]]:
    """Yield past decisions as `open_decisions` does, with numbers from 1 and those of the run."""
    decisions = open_decisions(run)
    for number, one in enumerate(past, 1):
        decision = next(decisions, None)
        if decision is None:
            raise BadRecord(f"decision {number}: the record goes on, but the episode has ended")
        yield number, decision, one


def repeating(
    run: Run[Any], header: Header, steps: Iterable[Step]
) -> Iterator[tuple[Decision, Step]]:
    """Yield each decision of a run with the same one on record, as which it has been answered."""
    with naming(changed=partial(header.changes, run.model)):
        for number, decision, step in paired(run, steps):
            made = step_class(decision.spec)
            seen, possible = decision.observation, decision.possible
            now = made(run.world.now, decision.role, seen, None, possible=possible)
            same_step(number, step, now, answered=False)
            try:
                run.answer(decision, step.action, step.delay)
            except WrongAction as wrong:
                raise BadRecord(f"decision {number}: {wrong}") from None
            yield decision, step


def move_on(run: Run[Any]) -> None:
    """Move the clock to the next open decisions, unless some are open."""
    if not run.open:
        run.advance()


def branch(
    episode: Episode,
    decisions: int | None = None,
    *,
    future: int | None = None,
    trust: bool = False,
) -> Run[Any]:
    """Repeat the first decisions of an episode and return the run, which can go on otherwise.

    Args:
        episode: As it was played, or as read from a record, which may be cut.
        decisions: The number of decisions to repeat; None repeats all.
        future: The seed with which everything is drawn that no role can have observed when the next
            decision is open; None plays on in the world of the episode. Two branches with futures
            of their own have the same observations up to and including the next decision.
        trust: Whether a module may be imported and files may be opened that the header names. The
            model of an episode that was played here needs none of that.

    Returns:
        A run whose `open` decisions wait for an answer; a run without any has ended.

    Raises:
        BadRecord: A decision differs from the recorded one; the text names the first.
        UsageError: The episode has fewer decisions, the future is not a seed, or building its model
            would import a module or open a file.
    """
    if decisions is not None and not 0 <= decisions <= len(episode.steps):
        raise UsageError(f"{decisions} decisions were given; the episode has {len(episode.steps)}")
    at = len(episode.steps) if decisions is None else decisions
    header = with_futures(episode.header, at, future)
    return repeated(header.build(trust=trust), header, islice(episode.steps, at))


def with_futures(header: Header, decisions: int, future: int | None) -> Header:
    """Return the header of a branch after some decisions, with its future checked."""
    futures = header.futures_of_branch(decisions, future)
    check_futures(futures)
    return msgspec.structs.replace(header, futures=futures)


def run_of(header: Header, model: Model[Any], **options: Any) -> Run[Any]:
    """Return the run of an episode on record, before its first decision."""
    return Run(model, header.seed, [*header.policies], futures=header.futures, **options)


def repeated(model: Model[Any], header: Header, steps: Iterable[Step], **options: Any) -> Run[Any]:
    """Return a run that has repeated decisions on record."""
    run = run_of(header, model, **options)
    for _ in repeating(run, header, steps):
        pass
    move_on(run)
    return run


def repeated_whole(model: Model[Any], episode: Episode, **options: Any) -> Run[Any]:
    """Return a run in which all decisions of an episode were repeated, to the same ledgers."""
    run = repeated(model, episode.header, episode.steps, **options)
    if episode.result and (run.open or run.result().ledger_digest != episode.ledger_digest):
        raise BadRecord(
            "the record does not replay to the same ledgers; desim replay names the difference"
            f"{episode.header.changes(model)}"
        )
    return run


@frozen(kw_only=True, slots=False)
class ReplayOptions(TrustOptions):
    """The arguments of `replay`.

    Attributes:
        path: A whole record.
        series: Whether to record the points of `world.point` and of monitors; see `play`.
    """

    path: str | Path = field(kw_only=False)
    series: bool = False


@takes(ReplayOptions)
def replay(options: ReplayOptions) -> Episode:
    """Repeat the actions of a record on its model and seed, and compare every step and the result.

    Returns:
        The episode, which is the same as the recorded one, with the state at its end. Its steps
        stay in the file. Metrics that the record does not have are not compared.

    Raises:
        BadRecord: The record cannot be read, or a decision or the result differs; the text names
            the first difference.
        UsageError: The record would import a module or open a file.
    """
    path, series = options.path, options.series
    episode = Episode.read(path, keep_steps=False)
    model = trusted_model(path, episode.header, trust=options.trust)
    points = Points() if series else None
    try:
        run = repeated(model, episode.header, episode.steps, points=points)
        with naming(changed=partial(episode.header.changes, model)):
            if run.open:
                raise BadRecord(
                    f"the record ends after {len(episode.steps)} decisions, but "
                    f"{run.open[0].role!r} is asked at t={run.world.now}"
                )
            assert episode.result is not None
            same_result(episode.result, run.result())
        inside = Inside.of(run, points, keep_state=True, series=series)
    except DesimError as fault:
        raise BadRecord(f"{path}: {fault}") from None
    return evolve(episode, inside=inside)


def same_step(number: int, recorded: Step, now: Step, *, answered: bool = True) -> None:
    """Raise `BadRecord` if a decision differs from the recorded one; its action if *answered*."""
    before, after = _compared(recorded, answered=answered), _compared(now, answered=answered)
    for name, then, since in zip(COMPARED, before, after, strict=True):
        # The same JSON is the same value; only other JSON needs a comparison of plain values.
        if then != since and isinstance(then, bytes):
            then, since = _decode(then), _decode(since)  # noqa: PLW2901
        if then != since:
            where = f"decision {number} (t={recorded.t}, {short_repr(recorded.role)})"
            raise BadRecord(f"{where} differs: {first_difference(then, since, f'$.{name}')}")


def _compared(step: Step, *, answered: bool) -> tuple[Any, ...]:
    action = tagged(step.action) if answered else b""
    return step.t, step.role, step.possible, step.observed, action


def first_difference(recorded: Any, now: Any, path: str = "$") -> str:
    """Return the path of the first place where two plain values differ, and both in short."""
    return _was(next(differences(recorded, now, path), DifferingPlace(path, recorded, now)))


def _was(place: DifferingPlace) -> str:
    return f"{shortened(place.path)} was {short_repr(place.a, 80)}, now {short_repr(place.b, 80)}"


def same_result(recorded: Result, now: Result) -> None:
    """Raise `BadRecord` if a result differs from the recorded one, except what policies have used.

    What the record does not have, such as a metric, is not compared: a world may report more since.
    """
    after = to_plain(evolve(now, usage=recorded.usage, last_tick=recorded.last_tick))
    for place in differences(to_plain(recorded), after, "$"):
        if place.a is not None:
            raise BadRecord(f"the result differs: {_was(place)}")
