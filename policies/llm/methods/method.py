"""The base class of methods: a wrapped call, a setting, a memory, and steps at which it learns."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from attrs import Factory, define, evolve, field, frozen

from policies.llm.messages import request_of
from policies.llm.methods.items import Answered, Grade, Item, Past, Setting, Task
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import Complete, ModelReply, Phase, Request


@frozen
class NoMemory:
    """The memory of a method that has none."""


@define(eq=False, kw_only=True)
class Method:
    """A `complete` made of several calls; the methods derive from it and override `answer`.

    Fields that a derived class adds are arguments of the spec. The attributes below are set at a
    seat, or by hand: `method.complete = call`.

    A method with a memory names its class in `MEMORY`, a plain class that can be written as JSON,
    and overrides what it learns from: `step`, `learn_episode` or `learn`. They change the memory
    only after the calls that a change needs, so that a limit reached on the way leaves it whole.

    Attributes:
        complete: The wrapped call.
        setting: Facts of the world.
        rounds: How often the method repeats its main step; None for the published number.
        as_published: Whether the defects of the published code are kept.
        run_programs: Whether programs in replies are run, by a method that can (`RUNS_PROGRAMS`);
            None for as published, and then only with *as_published*.
        seed: The seed of the method's random draws, if it makes any.
        learns: Whether the memory may change.
        number: The number of the present question in its stream, from 1.
        memory: The memory.
    """

    MEMORY: ClassVar[type] = NoMemory
    #: Rounds if none are given.
    ROUNDS: ClassVar[int] = 1
    #: The temperature of answers, and those of single kinds of task; None for the server's.
    TEMPERATURE: ClassVar[float | None] = None
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {}
    #: Whether programs in replies may be run.
    RUNS_PROGRAMS: ClassVar[bool] = False
    #: Whether only questions with a known outcome are learned from.
    NEEDS_OUTCOMES: ClassVar[bool] = True
    #: Items that are answered with a memory that does not change in between.
    WINDOW: ClassVar[int] = 15

    complete: Complete = field(init=False)
    setting: Setting = field(factory=Setting, init=False)
    rounds: int | None = field(default=None, init=False)
    as_published: bool = field(default=False, init=False)
    run_programs: bool | None = field(default=None, init=False)
    seed: int = field(default=0, init=False)
    learns: bool = field(default=True, init=False)
    number: int = field(default=1, init=False)
    memory: Any = field(default=Factory(lambda self: self.MEMORY(), takes_self=True), init=False)
    _last: ModelReply | None = field(default=None, init=False)

    def __call__(self, request: Request) -> ModelReply:
        """Return the answer; if a limit is reached on the way, the last one that was paid for.

        Raises:
            Spent: A limit was reached before there was an answer.
        """
        self._last = None
        try:
            return self.answer(Item.of(request, self.task, self.number), request.temperature)
        except Spent:
            if self._last is None:
                raise
            return self._last

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer to an item; *temperature* replaces that of a first answer."""
        raise NotImplementedError

    def step(self, item: Item, reply: ModelReply) -> None:
        """Learn from a decision or a message just given, whose outcome is not known yet."""

    def learn_episode(self, past: Past) -> None:
        """Learn from an ended episode."""

    def begin_stream(self, items: Sequence[Item]) -> None:
        """Prepare for a stream of independent questions, all known in advance."""

    def learn(self, window: Sequence[Answered], grade: Grade) -> None:
        """Learn from questions that have been answered and scored."""

    def learn_apart(self, items: Sequence[Item], grade: Grade) -> None:
        """Learn from questions whose answers are not scored, window by window."""
        for start in range(0, len(items), self.WINDOW):
            part = items[start : start + self.WINDOW]
            self.learn([self.answered(item, grade) for item in part], grade)

    def answered(self, item: Item, grade: Grade) -> Answered:
        """Answer a question and score the answer."""
        reply = self.answer(item)
        return Answered(item, reply, grade(item, reply))

    def begin_episode(self) -> None:
        """Discard the state of an ended episode that is not memory."""

    @property
    def learns_always(self) -> bool:
        """Whether the memory changes in evaluations too, as some published code does."""
        return False

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Count all calls in the block as those of the memory, answers to learn from included."""
        complete = self.complete
        self.complete = lambda request: complete(evolve(request, phase="memory"))
        try:
            yield
        finally:
            self.complete = complete

    # -- calls -------------------------------------------------------------------------------------

    @property
    def times(self) -> int:
        """The number of rounds."""
        return self.ROUNDS if self.rounds is None else self.rounds

    @property
    def task(self) -> Task:
        """The kind of task."""
        return self.setting.task

    def own_temperature(self, given: float | None) -> float | None:
        """Return the temperature of an answer: the one given, else that of the kind of task."""
        own = self.TEMPERATURES.get(self.task, self.TEMPERATURE)
        return own if given is None else given

    def act(self, item: Item, temperature: float | None, advice: str = "") -> ModelReply:
        """Return an answer in the form that the world requires, tools included.

        Args:
            item: The item to answer.
            temperature: The temperature; None for the method's own, else the server's.
            advice: Put at the end of the instructions.
        """
        self._last = self.complete(item.request(advice, self.own_temperature(temperature)))
        return self._last

    def rewrite(
        self, item: Item, text: str, temperature: float | None, phase: Phase = "step"
    ) -> ModelReply:
        """Return an answer to a text that replaces the conversation."""
        request = request_of(item.instructions, text, temperature, phase)
        self._last = self.complete(evolve(request, tools=item.tools, schema=item.schema))
        return self._last

    def consult(
        self, role: str, text: str, temperature: float | None, phase: Phase = "judge"
    ) -> str:
        """Return the text of a call other than an answer: a critique, a lesson, a note.

        Args:
            role: The model's role and task in this call.
            text: The subject of the call.
            temperature: The temperature.
            phase: What the call is for: by default the judgement of an answer.
        """
        return self.complete(request_of(role, text, temperature, phase)).text
