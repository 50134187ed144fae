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
from desim.errors import BadRecord, SchemaError, UsageError
from desim.schema import from_plain, to_plain
from policies.llm.methods.items import (
    Answered,
    Grade,
    Item,
    Outcome,
    Past,
    decision_text,
    reply_text,
)
from policies.llm.methods.memory_file import MemoryLock, memory_lock, read_memories, write_memory
from policies.llm.methods.method import Method, NoMemory
from policies.llm.options import LearningMode
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

    # -- the memory --------------------------------------------------------------------------------

    @property
    def has_memory(self) -> bool:
        """Whether the method has a memory."""
        return type(self.method).MEMORY is not NoMemory

    @property
    def plain(self) -> dict[str, Any]:
        """The memory as plain values, for the record and the file."""
        state, pending = to_plain(self.method.memory), [to_plain(past) for past in self.pending]
        return {"episodes": self.episodes, "state": state, "pending": pending}

    def hold(self) -> None:
        """Lock the file of the memory before the first decision, and read what is in it now.

        The constructor does not do this: a policy may be built in one process and play in another.

        Raises:
            UsageError: Another process learns into the file.
        """
        learns = self.mode != "eval_only" or self.method.learns_always
        if self._lock is None and self.file and self.has_memory and learns:
            self._lock = memory_lock(self.file)
            if not self._restored:
                self._read_file()

    def restore(self, value: Any) -> None:
        """Take the memory with which a recorded episode began.

        Raises:
            BadRecord: The value is not a memory of this method.
        """
        try:
            self._take(value, "$.entry.learned")
        except SchemaError as fault:
            raise BadRecord(str(fault)) from None
        self._restored = True

    def _take(self, value: Any, where: str) -> None:
        """Take a memory of plain values; SchemaError where they are not one of the method."""
        plain = from_plain(value, dict[str, Any], where)
        episodes = from_plain(plain.get("episodes", 0), int, f"{where}.episodes")
        state = from_plain(plain.get("state", {}), type(self.method).MEMORY, f"{where}.state")
        pending = from_plain(plain.get("pending", []), list[Past], f"{where}.pending")
        self.episodes, self.method.memory, self.pending = episodes, state, pending
        self._set_whether_it_learns()

    def _read_file(self) -> None:
        memories = read_memories(self.file, self.name) if self.file else {}
        if self.role in memories:
            try:
                self._take(memories[self.role], f"roles.{self.role[:80]}")
            except SchemaError as fault:
                raise UsageError(
                    f"memory={self.file} was given, which is no valid memory: {fault}"
                ) from None
        self._set_whether_it_learns()

    def _save(self) -> None:
        if self.file and self.has_memory:
            self._lock = self._lock or memory_lock(self.file)
            write_memory(self.file, self.name, self.role, self.plain)

    def _set_whether_it_learns(self) -> None:
        offline = self.mode == "offline" and self.episodes < self.train
        evaluated = self.mode == "eval_only" and self.method.learns_always
        self.method.learns = self.mode == "online" or offline or evaluated

    # -- questions ---------------------------------------------------------------------------------

    def begin(self, question: Request) -> None:
        """Number an independent question; before the first one of an episode, prepare for all."""
        if self.grade is None:
            return
        if not self._asked:
            self._begin_stream(self.grade)
        self._asked += 1
        # A shuffled episode asks the questions in another order, and may ask the same one twice.
        numbers = self._numbers.get(self._question_text(question))
        self.method.number = numbers.pop(0) if numbers else self._asked

    def _begin_stream(self, grade: Grade) -> None:
        """Learn from the training questions, once; then pass all questions to the method."""
        empty = type(self.method).MEMORY()
        if self.training and self.has_memory and not self.episodes and self.method.memory == empty:
            self.method.learns = True
            try:
                items = self._items(self.training)
                with self.method.learning():
                    self.method.begin_stream(items)
                    self.method.learn_apart(items, grade)
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

    # -- learning ----------------------------------------------------------------------------------

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
        learned, setting = self.method.learns, self.method.setting
        if self._last is not None and learned:
            item, reply = self._last
            outcome = Outcome(
                score=episode.score,
                metrics=_figures(episode.metrics, setting.figures),
                revealed=revealed[:_LONGEST],
            )
            past = Past(
                number=self.episodes,
                name=name or setting.name or self.role,
                situation=item.situation[-_LONGEST:],
                answer=reply_text(reply)[:_LONGEST],
                decision=decision_text(reply, setting.keys)[:_LONGEST],
                outcome=outcome,
            )
            self.pending.append(past)
        self.episodes += 1
        self._last = None
        self._asked = 0
        self._window.clear()
        self.method.number = int(self.grade is not None)
        self.method.begin_episode()
        self._set_whether_it_learns()
        if learned:
            self._save()


def _figures(metrics: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the figures that are learned from."""
    wanted = names or [name for name, value in metrics.items() if isinstance(value, int | float)]
    return {name: metrics.get(name) for name in wanted[:_FIGURES]}
