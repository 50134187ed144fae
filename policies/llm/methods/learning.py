"""When a method learns while a world is played, and how its memory is carried.

A decision is an item. A method learns from a single decision right after it. An ended episode is
kept with its score, and the method learns from it before the first decision of the next episode:
every call made for learning is then part of an episode's record and of its limits.

From independent questions whose outcomes the world shows, a method learns window by window instead;
training questions come before the first question of the first episode.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from desim import Episode
from desim.errors import BadRecord, SchemaError, UsageError
from desim.schema import from_plain, to_plain
from policies.llm.conversation import Conversation
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
from policies.llm.options import LLMOptions
from policies.llm.wires.wire import ModelReply, Request

#: Characters of an episode's situation and answer that are kept until it is learned from.
_LONGEST = 20_000

#: Figures of an episode that are kept if the world names none.
_FIGURES = 60


@define(eq=False, kw_only=True)
class Learning:
    """A method at a seat: what it learns from, and where its memory is.

    Attributes:
        method: The method.
        options: The name of the method, when it learns, and the file of its memory.
        conversation: The conversation at the seat.
        role: The role that it plays.
        grade: Scores a reply to an independent question; None if the world does not.
        training: Questions from which it learns before the others.
        episodes: Episodes that have ended.
        pending: Ended episodes from which it has not learned yet.
    """

    method: Method
    options: LLMOptions
    conversation: Conversation
    role: str
    grade: Grade | None = field(init=False)
    training: Sequence[Request] = field(init=False)
    episodes: int = field(default=0, init=False)
    pending: list[Past] = field(factory=list, init=False)
    _stream: Sequence[Request] = field(init=False)
    _window: list[Answered] = field(factory=list, init=False)
    _asked: int = field(default=0, init=False)
    _numbers: dict[str, list[int]] = field(factory=dict, init=False)
    _last: tuple[Item, ModelReply] | None = field(default=None, init=False)
    _lock: MemoryLock | None = field(default=None, init=False)
    _restored: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Read the memory.

        Raises:
            UsageError: The file of the memory is invalid, or there is nothing to learn from.
        """
        self.grade, self._stream = self.conversation.grade, self.conversation.stream()
        self.training = self._chosen_training()
        self._set_whether_it_learns()
        self._read_file()

    def _chosen_training(self) -> Sequence[Request]:
        if self.options.learning != "offline":
            return ()
        known, train = self.conversation.training(), self.options.train
        if not (known or train):
            raise UsageError("learning=offline needs train, the number of episodes to learn from")
        return known[: train or len(known)]

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
        file = self.options.memory
        if self._lock is None and file and self.has_memory and self._learns_sometimes:
            self._lock = memory_lock(file)
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
        file = self.options.memory
        memories = read_memories(file, self.options.method) if file else {}
        if self.role in memories:
            try:
                self._take(memories[self.role], f"roles.{self.role[:80]}")
            except SchemaError as fault:
                raise UsageError(
                    f"memory={file} was given, which is no valid memory: {fault}"
                ) from None

    def _save(self) -> None:
        if (file := self.options.memory) and self.has_memory:
            self._lock = self._lock or memory_lock(file)
            write_memory(file, self.options.method, self.role, self.plain)

    @property
    def _learns_sometimes(self) -> bool:
        return self.options.learning != "eval_only" or self.method.learns_always

    def _set_whether_it_learns(self) -> None:
        learns = self._learns_sometimes
        if self.options.learning == "offline":
            learns = not self.training and self.episodes < self.options.train
        self.method.learns = learns

    @contextmanager
    def _extra_learning(self) -> Iterator[None]:
        """Let the method learn in the block, also if it does not in the episode at hand."""
        self.method.learns = True
        try:
            with self.method.learning():
                yield
        finally:
            self._set_whether_it_learns()

    # -- questions ---------------------------------------------------------------------------------

    def begin(self, question: Request) -> None:
        """Number an independent question; before the first one of an episode, prepare for all."""
        if self.grade is None:
            return
        if not self._asked:
            self._begin_stream(self.grade)
        self._asked += 1
        # A shuffled episode asks the questions in another order, and may ask the same one twice.
        numbers = self._numbers.get(self._item(question).situation)
        self.method.number = numbers.pop(0) if numbers else self._asked

    def _begin_stream(self, grade: Grade) -> None:
        """Learn from the training questions, once; then pass all questions to the method."""
        empty = type(self.method).MEMORY()
        if self.training and self.has_memory and not self.episodes and self.method.memory == empty:
            items = self._items(self.training)
            with self._extra_learning():
                self.method.begin_stream(items)
                self.method.learn_apart(items, grade)
            self._save()
        items = self._items(self._stream)
        self._numbers = {}
        for item in items:
            self._numbers.setdefault(item.situation, []).append(item.number)
        with self.method.learning():
            self.method.begin_stream(items)

    def _items(self, questions: Sequence[Request]) -> list[Item]:
        return [self._item(question, number) for number, question in enumerate(questions, 1)]

    def _item(self, question: Request, number: int = 1) -> Item:
        return Item.of(question, self.method.task, number)

    # -- learning ----------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Learn from the episodes that have ended.

        Raises:
            Spent: A limit is reached; the episode at hand is learned from later.
        """
        while self.pending and self._learns_sometimes:
            # A pending episode is learned from even if learning has ended with that episode.
            with self._extra_learning():
                self.method.learn_episode(self.pending[0])
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
        size = self.method.WINDOW if self.options.learning == "online" else 1
        if len(self._window) >= size or (self._window and self._asked == len(self._stream)):
            window, self._window = self._window, []
            self.method.learn(window, self.grade)

    def after(self, episode: Episode) -> None:
        """Keep an ended episode to learn from."""
        learned = self.method.learns
        if self._last is not None and learned:
            self.pending.append(self._past(episode, *self._last))
        self.episodes += 1
        self._last = None
        self._asked = 0
        self._window.clear()
        self.method.begin_episode()
        self._set_whether_it_learns()
        if learned:
            self._save()

    def _past(self, episode: Episode, item: Item, reply: ModelReply) -> Past:
        """Return an ended episode, with its last question and answer."""
        setting, revealed = self.method.setting, self.conversation.revealed(episode)
        outcome = Outcome(
            score=episode.score,
            metrics=_figures(episode.metrics, setting.figures),
            revealed=revealed[:_LONGEST],
        )
        return Past(
            number=self.episodes,
            name=self.conversation.name_of(episode) or self.role,
            situation=item.situation[-_LONGEST:],
            answer=reply_text(reply)[:_LONGEST],
            decision=decision_text(reply, setting.keys)[:_LONGEST],
            outcome=outcome,
        )


def _figures(metrics: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    wanted = names or [name for name, value in metrics.items() if isinstance(value, int | float)]
    return {name: metrics.get(name) for name in wanted[:_FIGURES]}
