"""Playing ahead: what a simulator returns, and what the episode notices of it."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import define, field, frozen
from support.futures import Cup, Guess, Rolls, Seen, always_forks, zeros
from support.slow_guards import Guards, Step, Tokens

from desim import Episode, Policy, Run, World, branch, play, replay
from desim.composition import Composite
from desim.core.limits import Limits
from desim.core.roles import Thinking
from desim.episodes import ahead
from desim.episodes.ahead import Course, Simulator
from desim.episodes.lineup import resolve
from desim.episodes.resume import play_branch
from desim.errors import LimitReached, PolicyFailed, UsageError
from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame.preset("poisson", horizon=12, whole_units=True)
ORDERS = (Order(0), Order(4), Order(9))


@define
class Probe(Policy):
    """Plays a rule, and plays some actions ahead at one of its decisions.

    Attributes:
        rule: Decides.
        at: The number of the decision, from 0.
        actions: Are played ahead.
        policies: Play on in the rollouts.
        ticks: Of a rollout.
        futures: Of the rollouts, once they are played.
        scores: What the simulator returned.
    """

    looks_ahead = True

    rule: Callable[[Any], Any]
    at: int = 5
    actions: Sequence[Any] = ORDERS
    policies: Any = "typical"
    ticks: int | None = None
    futures: list[int] = field(factory=list)
    scores: list[list[float]] = field(factory=list)
    _simulator: Simulator | None = None
    _number: Iterator[int] = field(factory=itertools.count)

    def take_simulator(self, simulator: Simulator) -> None:
        """Keep the simulator."""
        self._simulator = simulator

    def decide(self, observation: Any) -> Any:
        """Return what the rule decides."""
        if next(self._number) == self.at:
            assert self._simulator is not None
            self.futures = self._simulator.futures(3)
            self.scores = self._simulator.scores(
                observation, self.actions, self.policies, futures=self.futures, ticks=self.ticks
            ).tolist()
        return self.rule(observation)


def four(_: Stage) -> Order:
    """Order four units."""
    return Order(4)


def probed(**options: Any) -> tuple[Probe, Episode]:
    """Play the game with a probe that orders four units a week."""
    probe = Probe(four, **options)
    return probe, play(GAME, probe, 4)


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Play all rollouts by repetition, as after few decisions, or in child processes."""
    if request.param == "repeated":
        yield request.param
        return
    found = always_forks(monkeypatch)
    yield request.param
    assert found
    assert None not in found


both_ways = pytest.mark.parametrize("way", ["repeated", "forked"], indirect=True)

# -- what a rollout is -----------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("rule", ["typical", "order_up_to", "moving_average"])
def test_scores_are_those_of_branches_played_by_hand(rule: str, way: str) -> None:
    """A branch with the same future; the rule has observed the past, whatever was answered."""
    probe, episode = probed(policies=rule)
    for action, row in zip(ORDERS, probe.scores, strict=True):
        for future, score in zip(probe.futures, row, strict=True):
            run = branch(episode, 5, future=future)
            policies = resolve(GAME, rule, 0).policies
            for step in episode.steps[:6]:
                policies["retailer"].decide(step.observation)
            run.answer(run.open[0], action)
            Course(policies).play(run)
            assert run.result().score == score


@both_ways
def test_a_horizon_cuts_after_whole_ticks(way: str) -> None:
    """The score is that of the weeks up to then, before their last order."""
    probe, episode = probed(ticks=3)
    for action, row in zip(ORDERS, probe.scores, strict=True):
        for future, score in zip(probe.futures, row, strict=True):
            run = branch(episode, 5, future=future)
            run.answer(run.open[0], action)
            for _ in range(2):
                (decision,) = run.advance()
                run.answer(
                    decision,
                    resolve(GAME, "typical", 0).policies["retailer"].decide(decision.observation),
                )
            run.advance()
            assert run.score() == score
    beyond, _ = probed(ticks=1_000)
    assert beyond.scores == probed()[0].scores


@both_ways
def test_all_actions_meet_the_same_futures(way: str) -> None:
    """Equal actions have equal scores; futures differ, from one another and from the episode's."""
    probe, episode = probed(actions=[Order(4), {"do": "order", "quantity": 4}], policies=four)
    first, second = probe.scores
    assert first == second
    assert len({*first, episode.score}) == 4
    assert len({*probe.futures}) == 3


@both_ways
def test_the_past_of_a_branch_is_repeated_with_its_futures(tmp_path: Path, way: str) -> None:
    """A policy that begins in a branch plays ahead from the branch's own world."""
    file = tmp_path / "run.jsonl"
    play(GAME, "typical", 4, record=file)
    probe = Probe(four, at=2)
    episode = play_branch(file, 4, {"retailer": probe}, future=8)
    run = branch(episode, 6, future=probe.futures[0])
    run.answer(run.open[0], ORDERS[2])
    Course(resolve(GAME, "typical", 0).policies).play(run)
    assert probe.scores[2][0] == run.result().score


@both_ways
def test_an_answer_of_the_same_instant_is_not_known(way: str) -> None:
    """Whatever the other player has answered just now, the scores are the same."""

    def left(last: int) -> Callable[[Seen], Guess]:
        return lambda seen: Guess(last if len(seen.rolls) == 3 else 0)

    found = []
    for guess in (0, 7):
        right = Probe(zeros, at=2, actions=[Guess(0)], policies=zeros)
        play(Rolls(ahead=True), {"left": left(guess), "right": right}, 1)
        found.append((right.futures, right.scores))
    assert found[0] == found[1]


@both_ways
def test_a_part_is_played_ahead_with_the_whole_group(way: str) -> None:
    """The score is the group's, and every seat is played."""
    group = Composite({"north": GAME, "south": GAME})
    probe = Probe(four, at=3, actions=[Order(4)], policies=four)
    episode = play(group, {"north.retailer": probe, "south.retailer": four}, 1)
    at = [step.role for step in episode.steps].index("north.retailer") + 2 * 3
    run = branch(episode, at, future=probe.futures[0])
    Course(resolve(group, {"north": four, "south": four}, 1).policies).play(run)
    assert probe.scores[0][0] == run.result().score


# -- what the episode notices ----------------------------------------------------------------------


@both_ways
def test_an_episode_is_the_same_with_rollouts_and_without(tmp_path: Path, way: str) -> None:
    """Its ledgers, and its record once it is resumed and replayed."""
    file = tmp_path / "run.jsonl"
    plain = play(GAME, four, 4)
    ahead = play(GAME, Probe(four), 4, record=file)
    assert ahead.result == plain.result
    assert ahead.steps == plain.steps
    assert replay(file).result == plain.result


def test_rollouts_stop_when_the_time_of_the_episode_is_up() -> None:
    """Also inside a rollout that would last for ever."""
    probe = Probe(zeros, at=0, actions=[Guess(0)], policies=zeros)
    with pytest.raises(LimitReached, match="second"):
        play(Endless(), {"left": probe, "right": zeros}, limits=Limits(seconds=0.2))


def test_a_traced_episode_is_not_continued_in_a_child(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its trace would hold the events of rollouts."""
    children = always_forks(monkeypatch)
    traced = play(GAME, Probe(four), 4, trace=tmp_path / "run.json")
    assert traced.result == probed()[1].result
    assert len(children) == 9  # those of the second episode


def test_a_failed_child_raises_the_error_of_a_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its text and its cause."""
    children = always_forks(monkeypatch)
    with pytest.raises(PolicyFailed, match=r"rollout of 'retailer' at t=6 .*3; expected Order"):
        probed(actions=[3])
    assert children == [None]


# -- faults ----------------------------------------------------------------------------------------


@frozen
class Endless(Rolls):
    """A world that never ends once it is left to a future of its own."""

    hangs: bool = True

    def redraw(self, world: World, cup: Cup) -> None:
        """Begin to let time pass for ever, or fail."""
        if not self.hangs:
            raise RuntimeError("no future")
        world.process(_for_ever(world))

    def begin(self, world: World) -> Cup:
        """Roll, and never end."""
        cup = Cup([])
        world.process(self._rounds(world, cup))
        return cup

    def _rounds(self, world: World, cup: Cup) -> Any:
        for _ in range(2):
            cup.rolls.append(1)
            yield world.all_of([world.ask(role, lambda: Seen(())) for role in self.roles])
            yield world.timeout(1)


def _for_ever(world: World) -> Any:
    while True:
        yield world.timeout(1)


def test_a_fault_of_the_model_names_action_and_future() -> None:
    """The policy has failed and not the episode's model: no record says that it has."""
    probe = Probe(zeros, at=0, actions=[Guess(3)], policies=zeros)
    with pytest.raises(PolicyFailed, match=r"rollout of 'left' at t=0 .*Guess.*3.*no future"):
        play(Endless(hangs=False), {"left": probe, "right": zeros})


def test_a_run_that_asks_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of its decisions."""
    monkeypatch.setattr(ahead, "MAX_DECISIONS", 3)
    run = Run(GAME)
    with pytest.raises(PolicyFailed, match="still asks at t=4"):
        Course(resolve(GAME, four, 0).policies).play(run)


@frozen
class Fickle(Rolls):
    """A world that asks for other things when it is played again."""

    runs: list[int] = field(factory=list, eq=False)

    def begin(self, world: World) -> Cup:
        """Start with another roll each time."""
        self.runs.append(0)
        cup = Rolls.begin(self, world)
        cup.rolls.append(len(self.runs))
        return cup


def test_a_model_that_does_not_repeat_itself_is_found() -> None:
    """Its rollouts would not begin where the episode is."""
    probe = Probe(zeros, at=1, actions=[Guess(0)], policies=zeros)
    with pytest.raises(PolicyFailed, match="Fickle does not repeat itself"):
        play(Fickle(), {"left": probe, "right": zeros})


async def waits(_: Stage) -> Order:
    """Decide in a coroutine."""
    return Order(4)


@pytest.mark.parametrize(
    ("policies", "text"),
    [
        (
            "foresight",
            "'foresight' cannot play in rollouts: it knows hidden state",
        ),
        ("rollout", "'rollout' cannot play in rollouts: it looks ahead itself"),
        ("llm,model=m,base_url=http://localhost:1/v1", "it opens files or contacts a host"),
        (waits, "cannot play in rollouts: it is a coroutine"),
        ({"factory": "typical"}, "role 'retailer' needs a policy"),
        ("unknown", "there is no policy 'unknown' for beer_game"),
    ],
)
def test_policies_that_cannot_play_ahead_are_refused(policies: Any, text: str) -> None:
    """One sentence says why."""
    with pytest.raises((UsageError, PolicyFailed), match=text):
        probed(policies=policies)


@pytest.mark.parametrize("ticks", [0, -1, 1.5, True])
def test_ticks_are_a_whole_number(ticks: Any) -> None:
    """Of at least 1; None plays to the end."""
    with pytest.raises(UsageError, match="ticks were given"):
        probed(ticks=ticks)


def test_who_is_not_asked_cannot_play_ahead() -> None:
    """The simulator belongs to the present decision."""
    run = Run(GAME)
    with pytest.raises(UsageError, match="'retailer' has no open decision"):
        Simulator(run, "retailer", []).scores(None, ORDERS, "typical", futures=[1])


@both_ways
def test_an_instance_is_copied_for_each_rollout(way: str) -> None:
    """What it remembers of one rollout does not reach the next."""

    @define
    class Growing(Policy):
        orders: int = 0

        def decide(self, _: Stage) -> Order:
            self.orders += 1
            return Order(self.orders)

    given = Growing()
    probe, _ = probed(actions=[Order(4), Order(4)], policies=given)
    assert probe.scores[0] == probe.scores[1]
    assert given.orders == 0


@frozen
class Once(Policy):
    """Orders four, and keeps which weeks it was asked for."""

    memoryless = True
    weeks: ClassVar[list[int]] = []

    def decide(self, stage: Stage) -> Order:
        """Order four."""
        self.weeks.append(stage.week)
        return Order(4)


def test_the_past_is_not_shown_to_a_policy_without_memory() -> None:
    """Scores are those of the same rule where it observes it."""
    Once.weeks.clear()
    probe, _ = probed(policies=Once)
    assert min(Once.weeks) >= 6
    assert probe.scores == probed(policies=four)[0].scores


@define
class SlowProbe(Probe):
    """A probe whose decisions take two days each."""

    notes: dict[str, Any] = field(factory=lambda: {"usage": {"completion_tokens": 2000}})


@both_ways
@pytest.mark.usefixtures("way")
def test_a_rollout_keeps_the_days_that_decisions_took() -> None:
    """Those before it took two each; the one that is tried and the later ones take none."""
    model = Guards(Thinking(per_1000_tokens=1), days=12)
    policies = {"left": Tokens(0), "right": Tokens(0)}
    probe = SlowProbe(Tokens(0).decide, at=2, actions=[Step(5)], policies=policies)
    play(model, {"left": probe, "right": Tokens(0)})
    run, decided = Run(model, 0, ["left", "right"]), 0
    while decisions := run.advance():
        for decision in decisions:
            step = Tokens(0).decide(decision.observation)
            if decision.role == "left":
                step, delay = (Step(5) if decided == 2 else step), (2 if decided < 2 else 0)
                run.answer(decision, step, delay)
                decided += 1
            else:
                run.answer(decision, step)
    assert probe.scores == [[run.result().score] * 3]
