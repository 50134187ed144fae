"""How many episodes does a learner save with advantages as rewards, and what do they cost?

    pip install 'desim[report]'
    python experiments/adapters/credit_beer_game.py FOLDER

A policy gradient learns the retailer's orders in 20 weeks of `beer_game/poisson`, whose other
stages play `order_up_to`: with the changes of the score as rewards, and with the advantages of its
decisions over redrawn futures (`credit`). All begin with random orders, and have the same seeds,
steps and batches. FOLDER receives the curves of all training runs (`curves.csv`), the episodes and
simulated weeks until a learner is as good as `order_up_to` (`episodes.csv`), and the picture
(`curve.svg`). The files of one run, about five minutes of one core, are in
`experiments/adapters/credit_beer_game`, the picture in `desim/docs/images`.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from desim import play
from desim.adapters.trl import environment
from desim.statistics import Interval, interval
from models.beer_game import BeerGame, Stage

Array = Any

WEEKS, OTHERS = 20, "order_up_to"
STAGES = ("wholesaler", "distributor", "factory")

#: Seeds of the training runs, seeds of episodes of each, and episodes between points of a curve.
TRAININGS, SEEDS, POINT = range(10), 10_000, 16

#: Seeds that no training episode has.
CURVE_SEEDS = range(2**32, 2**32 + 20)

#: Futures over which each decision is judged.
FUTURES = 8

#: The compared learners by name: the policy of their advantages ("" for changes of the score), the
#: episodes of a batch, and those of a training run.
ARMS = {
    "score, batches of 16": ("", 16, 512),
    "score, batches of 4": ("", 4, 512),
    "advantages, batches of 4": ("order_up_to", 4, 256),
}

#: A target is reached at the first of so many points in a row that have it.
POINTS = 3

#: Orders go from 0 to one less.
ORDERS = 13

STEP, DECAY = 0.1, (0.9, 0.99)


class Learner:
    """Orders drawn by a softmax of linear functions of what the retailer observes.

    Args:
        seed: Draws the orders.
    """

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self.weights = np.zeros((ORDERS, 6))
        self._mean, self._square = np.zeros((2, *self.weights.shape))
        self._updates = 0

    def shares(self, seen: Stage) -> tuple[Array, Array]:
        """Return the numbers of an observation, and the probability of each order."""
        numbers = [seen.inventory, seen.backlog, seen.supply_line, seen.incoming_order, seen.week]
        facts = np.array([1.0, *np.divide(numbers, [10, 10, 10, 4, WEEKS])])
        logits = self.weights @ facts
        powers = np.exp(logits - logits.max())
        return facts, powers / powers.sum()

    def drawn(self, seen: Stage) -> tuple[int, Array]:
        """Return an order, and the gradient of the logarithm of its probability."""
        facts, shares = self.shares(seen)
        order = int(self._chance.choice(ORDERS, p=shares))
        return order, np.outer(np.eye(ORDERS)[order] - shares, facts)

    def decide(self, seen: Stage) -> dict[str, Any]:
        """Return the most probable order."""
        return {"do": "order", "quantity": int(self.shares(seen)[1].argmax())}

    def learn(self, gradients: Array, merits: Array) -> None:
        """Take a step of Adam along the policy gradient.

        Args:
            gradients: By episode and week, those of the orders.
            merits: By episode and week, how good the orders were.
        """
        merits = merits - merits.mean(axis=0)
        slope = np.tensordot(merits / (merits.std() + 1e-9), gradients, 2) / merits.size
        self._updates += 1
        first, second = DECAY
        self._mean += (1 - first) * (slope - self._mean)
        self._square += (1 - second) * (slope**2 - self._square)
        mean = self._mean / (1 - first**self._updates)
        square = self._square / (1 - second**self._updates)
        self.weights += STEP * mean / (np.sqrt(square) + 1e-9)


def played(rollout: Any, learner: Learner, seed: int) -> tuple[Array, Array]:
    """Play an episode; return the gradient and the reward of each order."""
    rollout.reset(seed=seed)
    gradients = []
    while rollout.session.open:
        order, gradient = learner.drawn(rollout.session.open[0].observation)
        gradients.append(gradient)
        rollout.order(quantity=order)
    rollout.get_reward()
    return np.array(gradients), np.array(rollout.rewards)


def score(policy: Any) -> float:
    """Return the mean score of the curve's seeds."""
    game = BeerGame.preset("poisson", horizon=WEEKS)
    lineup = {"retailer": policy, **dict.fromkeys(STAGES, OTHERS)}
    return float(np.mean([play(game, lineup, seed).score for seed in CURVE_SEEDS]))


def trained(arm: str, training: int) -> Iterator[tuple[int, float]]:
    """Train one learner; yield the points of its curve."""
    credit, batch, episodes = ARMS[arm]
    options = {"credit": credit, "credit_futures": FUTURES} if credit else {}
    seat = {"seat": "retailer", "others": OTHERS, "rules": False, "params": {"horizon": WEEKS}}
    rollout = environment("beer_game/poisson", **seat, **options)()
    learner = Learner(training)
    yield 0, score(learner)
    for first in range(0, episodes, batch):
        seeds = range(SEEDS * training + first, SEEDS * training + first + batch)
        games = [played(rollout, learner, seed) for seed in seeds]
        gradients, rewards = (np.array(each) for each in zip(*games, strict=True))
        # A change of the score is due to all orders before it, an advantage to its own alone.
        merits = rewards if credit else rewards[:, ::-1].cumsum(axis=1)[:, ::-1]
        learner.learn(gradients, merits)
        if (first + batch) % POINT == 0:
            yield first + batch, score(learner)


def reached(curve: Sequence[tuple[int, float]], target: float) -> float:
    """Return after how many episodes a curve has reached a target; all if it has not."""
    for at, (episodes, _) in enumerate(curve):
        points = [each for _, each in curve[at : at + POINTS]]
        if len(points) == POINTS and min(points) >= target:
            return episodes
    return curve[-1][0]


def weeks(arm: str) -> int:
    """Return the simulated weeks of a training episode, at most, continuations included."""
    # Each decision is continued twice: with the learner's order, and with that of the policy.
    return WEEKS + 2 * FUTURES * (WEEKS * (WEEKS + 1) // 2) * bool(ARMS[arm][0])


def draw(curves: dict[str, list[Any]], target: float, path: Path) -> None:
    """Draw the mean curve of each arm, and its range over the training runs."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "desim"})
    figure = Figure((6.4, 4.0), layout="constrained")
    panel = figure.subplots()
    for place, (arm, lines) in enumerate(curves.items()):
        episodes = [each for each, _ in lines[0]]
        values = np.array([[value for _, value in line] for line in lines])
        panel.plot(episodes, values.mean(axis=0), color=f"C{place}", label=arm)
        low, high = values.min(axis=0), values.max(axis=0)
        panel.fill_between(episodes, low, high, color=f"C{place}", alpha=0.15)
    panel.axhline(target, color="black", linestyle="--", label="order_up_to")
    panel.set(
        xlabel="training episodes", ylabel="mean score of 20 seeds (money)", ylim=(-1000, -250)
    )
    panel.legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def write(path: Path, *rows: Sequence[Any]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def summary(arm: str, curves: dict[str, list[Any]], target: float) -> list[Any]:
    """Return a row of `episodes.csv`."""
    needed = {each: [reached(line, target) for line in lines] for each, lines in curves.items()}
    mine, first = needed[arm], next(iter(needed.values()))
    # The factor is a geometric mean over the training runs, each compared with that of its seed.
    factor = interval(np.log(np.divide(mine, first)).tolist())
    last = interval([line[-1][1] for line in curves[arm]])
    facts = [np.mean(mine), min(mine), max(mine)]
    facts += [None if each is None else np.exp(each) for each in bounds(factor)]
    return [arm, len(mine), *facts, *bounds(last), round(np.mean(mine) * weeks(arm))]


def bounds(found: Interval) -> tuple[float, float | None, float | None]:
    """Return the mean and the interval."""
    return found.mean, found.low, found.high


def main() -> None:
    """Train with each kind of rewards, and compare the episodes until the target."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    target = score(OTHERS)
    curves: dict[str, list[Any]] = {arm: [] for arm in ARMS}
    points: list[Any] = [("arm", "training", "episodes", "score")]
    heads = ["arm", "trainings", "episodes", "fewest", "most", "factor", "factor_low"]
    heads += ["factor_high", "last_score", "last_low", "last_high", "simulated_weeks"]
    for training in TRAININGS:
        for arm, lines in curves.items():
            lines.append(list(trained(arm, training)))
            points += [(arm, training, *point) for point in lines[-1]]
            print(f"{training} {arm:25} {reached(lines[-1], target):5.0f}", flush=True)
        write(folder / "curves.csv", *points)
        rows = [summary(arm, curves, target) for arm in ARMS]
        write(folder / "episodes.csv", heads, *rows)
    draw(curves, target, folder / "curve.svg")


if __name__ == "__main__":
    main()
