"""GEPA: a prompt that evolves by what it scores.

Source: reference SPEC of FirmBench, section 5, and its vectors. After each window of questions the
prompt evolves on a sample of all questions seen, and is replaced only by a better one. In games and
dialogues some fixed variants of the prompt are tried for some episodes each, and the best is kept.
For a plan the prompt is a guideline and does not change.
"""

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import Factory, define, evolve, field, frozen
from attrs.validators import and_, ge, le, optional

from policies.llm.methods.evolution import Evolution, best_of, mean, prompts_in
from policies.llm.methods.items import Answered, Grade, Item, Past, Task
from policies.llm.methods.method import Method
from policies.llm.wires.wire import ModelReply

#: Temperature of the reflector.
_REFLECTOR = 0.2

#: Items of the Pareto set, and of the feedback set at most.
_PARETO, _FEEDBACK = 15, 30

#: Prompts that are written to begin with, where learning has a part of its own.
_INITIAL = 6

#: Styles that are tried in games, and beyond them in dialogues.
_STYLES = (
    "",
    " Prefer steady, moderate steps over strong reactions to the latest figure.",
    " Look several steps ahead and count what is already under way.",
    " Weigh what it costs to do too much against what it costs to do too little.",
    " Begin with a clear structure and follow it.",
    " Be brief: one point at a time, each with a figure.",
)

#: The number of styles that are tried, and of the episodes for each.
_TRIED: Mapping[Task, int] = {"game": 4, "plan": 1, "interview": len(_STYLES)}
_TRIALS: Mapping[Task, int] = {"game": 2, "plan": 0, "interview": 3}

#: Episodes of a style whose scores are kept.
_KEPT = 100

_FORMAT = 'Reply with one JSON object: {"list_candidate_prompts": [{"candidate_prompt": "..."}]}.'

_PROPOSE = (
    "Below are a prompt and queries with the score that a model reached on each with this prompt "
    "(1 is right, 0 wrong). Find out what the prompt fails to say and write one better prompt; it "
    f"must be useful for other queries of this kind too. {_FORMAT}"
)

_MERGE = f"Write one prompt that unites the strengths of the prompts below. {_FORMAT}"

_WRITE = (
    "Write different prompts, each a few sentences of instructions that help a model to answer "
    f"queries such as those below, in the spirit of the first prompt. {_FORMAT} Write {_INITIAL} "
    "of them."
)


@frozen(kw_only=True)
class Prompts:
    """The memory.

    Attributes:
        best: The prompt that is used; empty before there is a better one than the first.
        evolutions: How often prompts have evolved; the draws of the next depend on it.
        tried: Scores of each style, by episode.
    """

    best: str = ""
    evolutions: int = 0
    tried: tuple[tuple[float, ...], ...] = ()


@define(eq=False, kw_only=True)
class Gepa(Method):
    """Answers with a prompt, and lets it evolve.

    Attributes:
        start: The prompt to begin with.
        budget: Items that may be scored in one evolution.
        batch: Items of a mini-batch, at least 1.
        exploit: Probability of drawing among the leaders, 0 to 1.
        draw_one: Probability, with several leaders, of drawing one instead of merging them, 0 to 1.
        trials: Episodes for which a style is tried; None for the published number.
        draws: The random draws; those of the seed where None.
        last: The last evolution.
    """

    MEMORY: ClassVar[type] = Prompts
    TEMPERATURE = 0.0
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {"game": 0.7}

    start: str = "Answer the query with care and check the result before you give it."
    budget: int = field(default=150, validator=ge(0))
    batch: int = field(default=2, validator=ge(1))
    exploit: float = field(default=0.95, validator=and_(ge(0), le(1)))
    draw_one: float = field(default=0.9, validator=and_(ge(0), le(1)))
    trials: int | None = field(default=None, validator=optional(ge(1)))
    draws: random.Random | None = field(default=None, init=False)
    last: Evolution[Item] | None = field(default=None, init=False)
    _seen: list[Item] = field(default=Factory(list), init=False)

    # -- answering ---------------------------------------------------------------------------------

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer, in one call."""
        if self.task == "questions":
            return self._answered(self.memory.best or self.start, item, temperature)
        return self.act(item, temperature, f"A guideline:\n{self.start}{_STYLES[self._style()]}")

    def _answered(self, prompt: str, item: Item, temperature: float | None = None) -> ModelReply:
        return self.rewrite(item, query(prompt, item), self.own_temperature(temperature))

    def _style(self) -> int:
        """Return the style to use: the first one not tried out yet, else the best."""
        tried, styles = self.memory.tried, _TRIED[self.task]
        trials = self.trials or _TRIALS[self.task]
        if not self.learns and not tried:
            return 0
        for style in range(styles):
            if style >= len(tried) or len(tried[style]) < trials:
                return style if self.learns else best_of([mean(s) for s in tried])
        return best_of([mean(scores[:trials]) for scores in tried[:styles]])

    # -- learning ----------------------------------------------------------------------------------

    def learn_episode(self, past: Past) -> None:
        """Count the score of a game or dialogue for the style that was used."""
        if self.task not in ("game", "interview"):
            return
        style, score = self._style(), past.outcome.score or 0.0
        tried = [*self.memory.tried, *[()] * (_TRIED[self.task] - len(self.memory.tried))]
        tried[style] = (*tried[style], score)[:_KEPT]
        self.memory = evolve(self.memory, tried=tuple(tried))

    def begin_stream(self, _: Sequence[Item]) -> None:
        self._seen = []

    def learn(self, window: Sequence[Answered], grade: Grade) -> None:
        """Evolve the prompt on a sample of all questions seen; keep it if it is better."""
        self._seen += [each.item for each in window]
        self._evolve([self.memory.best or self.start], grade)

    def learn_apart(self, items: Sequence[Item], grade: Grade) -> None:
        """Evolve from prompts that the model writes, on questions that are not scored later."""
        self._seen = list(items)
        self._evolve(self._initial(items), grade)

    def _evolve(self, prompts: Sequence[str], grade: Grade) -> None:
        draws = self.draws or random.Random(f"{self.seed}/{self.memory.evolutions}")  # noqa: S311
        pareto, feedback = _parts(self._seen, draws)
        self.last = Evolution(
            pareto=pareto,
            feedback=feedback,
            score=lambda prompt, items: self._scores(prompt, items, grade),
            propose=self._proposed,
            merge=self._merged,
            draws=draws,
            budget=self.budget,
            batch=self.batch,
            exploit=self.exploit,
            draw_one=self.draw_one,
        )
        best = self.last.run(prompts)
        better = len(prompts) > 1 or best.mean > self.last.candidates[0].mean
        self.memory = evolve(
            self.memory,
            best=best.prompt if better else self.memory.best,
            evolutions=self.memory.evolutions + 1,
        )

    def _scores(self, prompt: str, items: Sequence[Item], grade: Grade) -> list[float]:
        return [float(grade(item, self._answered(prompt, item)).correct is True) for item in items]

    def _proposed(self, prompt: str, items: Sequence[Item], scores: Sequence[float]) -> list[str]:
        parts = [f"# The prompt\n{prompt}"]
        for item, score in zip(items, scores, strict=True):
            parts.append(f"{_query_shown(item)}\nScore: {float(score)}")
        return prompts_in(self.consult(_PROPOSE, "\n\n".join(parts), _REFLECTOR))

    def _merged(self, prompts: Sequence[str]) -> list[str]:
        text = "\n\n".join(f"# A prompt\n{prompt}" for prompt in prompts)
        return prompts_in(self.consult(_MERGE, text, _REFLECTOR))

    def _initial(self, items: Sequence[Item]) -> list[str]:
        text = "\n\n".join(
            [f"# The first prompt\n{self.start}", *map(_query_shown, items[:_PARETO])]
        )
        return prompts_in(self.consult(_WRITE, text, _REFLECTOR))[:_INITIAL] or [self.start]


def query(prompt: str, item: Item) -> str:
    """Return what a prompt and a question are put together to."""
    return f"{prompt}\n\nQuery: {item.context}\n\n{item.question}\nAnswer:"


def _query_shown(item: Item) -> str:
    return f"# A query\n{query('', item).strip()}"


def _parts(seen: Sequence[Item], draws: random.Random) -> tuple[list[Item], list[Item]]:
    """Return the Pareto set and the feedback set of all items seen.

    The sets share items only where there are not enough for both.
    """
    pareto = _drawn(range(len(seen)), _PARETO, draws)
    others = [number for number in range(len(seen)) if number not in pareto]
    pool = others if len(others) >= min(_FEEDBACK, len(seen)) else range(len(seen))
    feedback = _drawn(pool, _FEEDBACK, draws)
    return [seen[number] for number in pareto], [seen[number] for number in feedback]


def _drawn(numbers: Sequence[int], most: int, draws: random.Random) -> list[int]:
    if len(numbers) <= most:
        return list(numbers)
    return [numbers[at] for at in draws.sample(range(len(numbers)), most)]
