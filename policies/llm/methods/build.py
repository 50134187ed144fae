"""A method at a seat, from the arguments that a user gives."""

from collections.abc import Sequence

from attrs import evolve, field, frozen

from desim import Seat
from desim.errors import UsageError
from desim.schema.validators import not_negative
from policies.llm.chat.conversation import Conversation, Question
from policies.llm.chat.options import choice
from policies.llm.method_parts.embedding import Embed, hashed
from policies.llm.method_parts.items import Grades, KnowsQuestions
from policies.llm.method_parts.learning import Learning
from policies.llm.method_parts.method import Method, NoMemory
from policies.llm.method_parts.setting import HasSetting, Setting
from policies.llm.method_parts.stream import MODES, Mode
from policies.llm.methods import METHODS, method_class
from policies.llm.wires.wire import Complete

__all__ = ["MethodOptions"]


@frozen(kw_only=True)
class MethodOptions:
    """What a user may set about a method.

    Attributes:
        method: The method's name; empty for none, and then nothing else may be set.
        rounds: How often it repeats its main step; None for the published number.
        repeat_context: Whether a rewriting call contains the context again.
        run_programs: Whether programs in replies are run, in the sandbox; None for as published.
        as_published: Whether the defects of the published code are kept.
        memory: The file of its memory; empty for nowhere.
        learning: When it learns, one of `MODES`.
        train: Of learning=offline: the number of episodes that it learns from; where a world has
            training questions, the number of these, and 0 for all of them.
        embed: The server's model for vectors; empty for vectors without a server.
        routed: Whether a router chooses the methods, so that none is named.
    """

    method: str = field(default="", validator=choice("", *METHODS))
    rounds: int | None = field(default=None, validator=not_negative)
    repeat_context: bool = False
    run_programs: bool | None = None
    as_published: bool = False
    memory: str = ""
    learning: Mode = field(default="online", validator=choice(*MODES))
    train: int = field(default=0, validator=not_negative)
    embed: str = ""
    routed: bool = False

    def __attrs_post_init__(self) -> None:
        if self.routed:
            self._check_routed()
            return
        if self.run_programs and not (self.method and method_class(self.method).RUNS_PROGRAMS):
            runners = [name for name, each in METHODS.items() if each.RUNS_PROGRAMS]
            raise UsageError(
                f"run_programs=true was given, but only method={' or '.join(runners)} runs programs"
            )
        has_memory = self.method and method_class(self.method).MEMORY is not NoMemory
        for name in ("memory", "embed"):
            if getattr(self, name) and not has_memory:
                what = f"method {self.method!r} has no memory" if self.method else "no method"
                raise UsageError(f"{name}={getattr(self, name)} was given, but {what}")
        if self.train and self.learning != "offline":
            raise UsageError(f"train={self.train} was given; train needs learning=offline")

    def _check_routed(self) -> None:
        """Check that nothing is set that a router leaves no room for.

        Raises:
            UsageError: It is.
        """
        for name in ("method", "memory", "learning", "train"):
            if (value := getattr(self, name)) != getattr(type(self)(), name):
                raise UsageError(
                    f"{name}={value} was given beside a router, which chooses among all methods; "
                    "they learn nothing"
                )

    def build(
        self, call: Complete, seat: Seat, conversation: Conversation, embed: Embed = hashed
    ) -> Learning | None:
        """Return the method at a seat with its memory; None without a method.

        Args:
            call: The call beneath.
            seat: The model, the role and the seed.
            conversation: The conversation at the seat; its setting is the method's.
            embed: Turns texts into vectors.

        Raises:
            UsageError: The file of the memory is invalid, or there is nothing to learn from.
        """
        if not self.method:
            return None
        training = self._training(conversation)
        return Learning(
            name=self.method,
            method=self.method_at(self.method, call, seat, conversation, embed),
            role=seat.role,
            mode=self.learning,
            train=0 if training else self.train,
            file=self.memory,
            grade=conversation.grade if isinstance(conversation, Grades) else None,
            stream=conversation.stream() if isinstance(conversation, KnowsQuestions) else (),
            training=training,
        )

    def _training(self, conversation: Conversation) -> Sequence[Question]:
        """Return the questions that are learned from before the others; none but offline.

        Raises:
            UsageError: The mode is offline, and there are neither questions nor episodes for it.
        """
        if self.learning != "offline":
            return ()
        known = conversation.training() if isinstance(conversation, KnowsQuestions) else ()
        if not (known or self.train):
            raise UsageError("learning=offline needs train, the number of episodes to learn from")
        return known[: self.train or len(known)]

    def method_at(
        self,
        name: str,
        call: Complete,
        seat: Seat,
        conversation: Conversation,
        embed: Embed = hashed,
    ) -> Method:
        """Return a method at a seat, whatever `method` names, with an empty memory.

        Raises:
            UsageError: There is no such method.
        """
        given = conversation.setting if isinstance(conversation, HasSetting) else Setting()
        return method_class(name)(
            complete=call,
            setting=evolve(given, role=seat.role),
            rounds=self.rounds,
            as_published=self.as_published,
            repeat_context=self.repeat_context,
            run_programs=self.run_programs,
            embed=embed,
            seed=seat.seed,
            number=int(isinstance(conversation, Grades)),
        )
