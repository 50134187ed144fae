"""When a method learns while a world is played, and how its memory is carried.

A decision is an item. A method learns from a single decision right after it. An ended episode is
kept with its score, and the method learns from it before the first decision of the next episode:
every call made for learning is then part of an episode's record and of its limits.

From independent questions whose outcomes the world shows, a method learns window by window instead;
training questions come before the first question of the first episode.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from desim import Episode
from desim.errors import BadRecord, SchemaError
from policies.llm.chat.options import LearningMode
from policies.llm.method_parts.items import (
    Answered,
    Grade,
    Item,
    Outcome,
    Past,
    decision_text,
    reply_text,
)
from policies.llm.method_parts.memory_file import (
    MemoryLock,
    Remembered,
    memory_lock,
    read_memory,
    write_memory,
)
from policies.llm.method_parts.method import Method, NoMemory
from policies.llm.wires.wire import ModelReply, Request

#: Characters of an episode's situation and answer that are kept until it is learned from.
_LONGEST = 20_000

#: Figures of an episode that are kept if the world names none.
_FIGURES = 60


@define(eq=False, kw_only=True)
class Learning:
    """A method at a seat: what it learns from, and where its memory is.

    Attributes:
        name: The method's name.
        method: The method.
        role: The role that it plays.
        mode: Whether it learns never, after every episode, or only after the first ones.
        train: In the mode offline: the number of episodes that it learns from; 0 if there are
            training questions.
        file: The file of its memory; empty if the memory is not stored.
        grade: Scores a reply to an independent question; None if the world does not.
        stream: The questions of an episode, if they are known.
        training: Questions from which it learns before the others.
        episodes: Episodes that have ended.
        pending: Ended episodes from which it has not learned yet.
    """

    name: str
    method: Method
    role: str
    mode: LearningMode = "online"
    train: int = 0
    file: str = ""
    grade: Grade | None = None
    stream: Sequence[Request] = ()
    training: Sequence[Request] = ()
    episodes: int = 0
    pending: list[Past] = field(factory=list)
    _window: list[Answered] = field(factory=list, init=False)
    _asked: int = field(default=0, init=False)
    _numbers: dict[str, list[int]] = field(factory=dict, init=False)
    _last: tuple[Item, ModelReply] | None = field(default=None, init=False)
    _lock: MemoryLock | None = field(default=None, init=False)
    _restored: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._read_file()
        self.method.number = int(self.grade is not None)

    @property
    def has_memory(self) -> bool:
        """Whether the method has a memory."""
        return type(self.method).MEMORY is not NoMemory

    @property
    def plain(self) -> dict[str, Any]:
        """The memory as plain values, for the record."""
        return self._remembered().plain()

    def hold(self) -> None:
        """Lock the file of the memory before the first decision, and read what is in it now.

        The constructor does not do this: a policy may be built in one process and play in another.

        Raises:
            UsageError: Another process learns into the file.
        """
        if self._lock is None and self._may_write:
            self._lock = memory_lock(self.file)
            if not self._restored:
                self._read_file()

    def restore(self, value: Any) -> None:
        """Take the memory with which a recorded episode began.

        Raises:
            BadRecord: The value is not a memory of this method.
        """
        try:
            self._take(Remembered.of(value, type(self.method), "$.entry.learned"))
        except SchemaError as fault:
            raise BadRecord(str(fault)) from None
        self._restored = True
        self._set_whether_it_learns()

    def begin(self, question: Request) -> None:
        """Number an independent question; before the first one of an episode, prepare for all."""
        if self.grade is None:
            return
        if not self._asked:
            self._begin_stream()
        self._asked += 1
        # A shuffled episode asks the questions in another order, and may ask the same one twice.
        numbers = self._numbers.get(self._question_text(question))
        self.method.number = numbers.pop(0) if numbers else self._asked

    def _begin_stream(self) -> None:
        """Learn from the training questions, once; then pass all questions to the method."""
        assert self.grade is not None
        empty = type(self.method).MEMORY()
        if self.training and self.has_memory and not self.episodes and self.method.memory == empty:
            self.method.learns = True
            try:
                items = self._items(self.training)
                with self.method.learning():
                    self.method.begin_stream(items)
                    self.method.learn_apart(items, self.grade)
            finally:
                self._set_whether_it_learns()
            self._save()
        self._numbers = {}
        for number, question in enumerate(self.stream, 1):
            self._numbers.setdefault(self._question_text(question), []).append(number)
        with self.method.learning():
            self.method.begin_stream(self._items(self.stream))

    def _items(self, questions: Sequence[Request]) -> list[Item]:
        return [self._item(question, number) for number, question in enumerate(questions, 1)]

    def _item(self, question: Request, number: int) -> Item:
        return Item.of(question, self.method.task, number)

    def _question_text(self, question: Request) -> str:
        return self._item(question, 0).situation

    def catch_up(self) -> None:
        """Learn from the episodes that have ended.

        Raises:
            Spent: A limit is reached; the episode at hand is learned from later.
        """
        if self.mode == "eval_only" and not self.method.learns_always:
            return
        while self.pending:
            # A pending episode is learned from even if learning has ended with that episode.
            self.method.learns = True
            try:
                with self.method.learning():
                    self.method.learn_episode(self.pending[0])
            finally:
                self._set_whether_it_learns()
            del self.pending[0]
            self._save()

    def decided(self, question: Request, reply: ModelReply) -> None:
        """Learn from a decision just made."""
        item = self._item(question, self.method.number)
        self._last = item, reply
        if self.method.learns:
            with self.method.learning():
                self.method.step(item, reply)
                self._learn_question(item, reply)
            self._save()

    def _learn_question(self, item: Item, reply: ModelReply) -> None:
        """Score a question, and learn from a window of them once it is full, or the last one."""
        if self.grade is None:
            return
        outcome = self.grade(item, reply)
        if outcome.correct is not None or not self.method.NEEDS_OUTCOMES:
            self._window.append(Answered(item, reply, outcome))
        # Evaluations that learn, as some published code does, learn from question after question.
        size = self.method.WINDOW if self.mode == "online" else 1
        if len(self._window) >= size or (self._window and self._asked == len(self.stream)):
            window, self._window = self._window, []
            self.method.learn(window, self.grade)

    def after(self, episode: Episode, revealed: str = "", name: str = "") -> None:
        """Keep an ended episode to learn from.

        Args:
            episode: The episode.
            revealed: What was hidden in it.
            name: What it was about; empty for the setting's name.
        """
        learned = self.method.learns
        if self._last is not None and learned:
            self.pending.append(self._past(*self._last, episode, revealed, name))
        self.episodes += 1
        self._last = None
        self._asked = 0
        self._window.clear()
        self.method.number = int(self.grade is not None)
        self.method.begin_episode()
        self._set_whether_it_learns()
        if learned:
            self._save()

    def _past(
        self, item: Item, reply: ModelReply, episode: Episode, revealed: str, name: str
    ) -> Past:
        setting = self.method.setting
        return Past(
            number=self.episodes,
            name=name or setting.name or self.role,
            situation=item.situation[-_LONGEST:],
            answer=reply_text(reply)[:_LONGEST],
            decision=decision_text(reply, setting.keys)[:_LONGEST],
            outcome=Outcome(
                score=episode.score,
                metrics=_figures(episode.metrics, setting.figures),
                revealed=revealed[:_LONGEST],
            ),
        )

    def _set_whether_it_learns(self) -> None:
        offline = self.mode == "offline" and self.episodes < self.train
        evaluated = self.mode == "eval_only" and self.method.learns_always
        self.method.learns = self.mode == "online" or offline or evaluated

    def _remembered(self) -> Remembered:
        return Remembered(
            episodes=self.episodes, state=self.method.memory, pending=tuple(self.pending)
        )

    def _take(self, memory: Remembered) -> None:
        self.episodes, self.pending = memory.episodes, list(memory.pending)
        self.method.memory = memory.state

    @property
    def _may_write(self) -> bool:
        learns = self.mode != "eval_only" or self.method.learns_always
        return bool(self.file) and self.has_memory and learns

    def _read_file(self) -> None:
        if self.file and (found := read_memory(self.file, self.name, self.role, type(self.method))):
            self._take(found)
        self._set_whether_it_learns()

    def _save(self) -> None:
        if self.file and self.has_memory:
            self._lock = self._lock or memory_lock(self.file)
            write_memory(self.file, self.name, self.role, self._remembered())


def _figures(metrics: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the figures that are learned from."""
    wanted = names or [name for name, value in metrics.items() if isinstance(value, int | float)]
    return {name: metrics.get(name) for name in wanted[:_FIGURES]}
