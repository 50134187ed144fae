"""The policy `llm`: a language model at a seat of any world."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from attrs import asdict, define, field

from desim import Episode, Role, Seat
from desim.errors import UsageError, possible
from policies.llm import strategies, worlds
from policies.llm.budget import Limits, Metered, Spent
from policies.llm.endpoint import Endpoint
from policies.llm.parse import BadReply
from policies.llm.talk import MODES, Rests, Talk, Wishes, corrected
from policies.llm.wire import Complete

__all__ = ["Llm"]


@define(eq=False, repr=False)
class Llm:
    """A language model that answers through an OpenAI-compatible endpoint.

    Attributes:
        role: What the seat does.
        talk: How its world talks with a model.
        complete: The narrow call, a strategy's or the endpoint's own.
        metered: The call beneath it, which keeps to the limits and the record.
        retries: How often a reply that is no answer is asked for again.
        model: The model's name, for labels.
        notes: What the last decision took.
    """

    role: Role
    talk: Talk
    complete: Complete
    metered: Metered
    retries: int = 2
    model: str = ""
    notes: dict[str, Any] = field(factory=dict, init=False)
    _spent: str = field(default="", init=False)
    _repairs: int = field(default=0, init=False)
    _bad: int = field(default=0, init=False)
    _neutral: str = field(default="", init=False)
    _told: bool = field(default=False, init=False)

    @classmethod
    def seated(
        cls,
        seat: Seat,
        *,
        model: str,
        base_url: str = "",
        mode: str = "",
        retries: int = 2,
        resends: int = 3,
        timeout: float = 300.0,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price_in: float = 0.0,
        price_out: float = 0.0,
        temperature: float | None = None,
        seed: int | None = None,
        reply_tokens: int | None = None,
        key_env: str = "OPENAI_API_KEY",
        strategy: str = "",
        rounds: int = 2,
        repeat_context: bool = False,
        history: int | None = None,
        console: bool = False,
        stale_scratchpad: bool = True,
        tool_names: str = "paper",
        feedback: bool = True,
    ) -> Self:
        """Sit down.

        Args:
            seat: Where.
            model: The model's name at the endpoint.
            base_url: The endpoint, `http://HOST:PORT/v1`; the package's default where empty.
            mode: How it answers: tools, schema or json; the world's own way where empty.
            retries: How often a reply that is no answer is asked for again.
            resends: How often a request that got no reply (429, 5xx, a dropped connection) is sent
                again.
            timeout: Seconds to wait for a reply.
            max_calls: Replies an episode; from then on the neutral action is taken.
            max_tokens: Tokens an episode, read and written; likewise.
            max_cost: Money an episode, by the prices; likewise.
            price_in: Money for a million tokens read.
            price_out: Money for a million tokens written.
            temperature: Sent with every request; the server's own where not given.
            seed: Sent with every request.
            reply_tokens: Tokens of one reply at most, sent with every request.
            key_env: The environment variable that holds the key; servers that need none get none.
            strategy: How calls become a reply: empty for one call, or self_refine.
            rounds: Rounds of a strategy.
            repeat_context: Whether a strategy that rewrites an answer shows the situation again.
            history: Rounds kept in the conversation, where the world has one.
            console: Whether the world's console is the one tool, where it has one.
            stale_scratchpad: Whether notes are shown as published, which may be old.
            tool_names: Which names of tools are offered where there are two: paper or public.
            feedback: Whether the model is told how the episodes before went.

        Raises:
            UsageError: An argument does not fit, or the endpoint cannot be set up.
        """
        _check(mode, MODES, "mode")
        _check(tool_names, ("paper", "public"), "tool_names")
        _not_negative(retries=retries, resends=resends, rounds=rounds, history=history or 0)
        limits = Limits(
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost=max_cost,
            price_in=price_in,
            price_out=price_out,
        )
        sent = {"temperature": temperature, "seed": seed, "max_completion_tokens": reply_tokens}
        options = {name: value for name, value in sent.items() if value is not None}
        endpoint = Endpoint.of(
            model, base_url, key_env, timeout=timeout, resends=resends, options=options
        )
        wishes = Wishes(
            mode=mode,
            history=history,
            console=console,
            stale_scratchpad=stale_scratchpad,
            tool_names=tool_names,
            feedback=feedback,
        )
        metered = Metered(endpoint, limits)
        thinking = strategies.of(strategy, metered, rounds, repeat_context=repeat_context)
        return cls(seat.does, worlds.talk(seat, wishes), thinking, metered, retries, model)

    def __repr__(self) -> str:
        return f"Llm(model={self.model!r})"

    @property
    def journal(self) -> Callable[[Any], None]:
        """What puts a reply on record; the framework sets it."""
        return self.metered.journal

    @journal.setter
    def journal(self, journal: Callable[[Any], None]) -> None:
        self.metered.journal = journal

    def resume(self, said: Iterable[Mapping[str, Any]]) -> None:
        """Take back what was heard: no call of a record is made again."""
        heard = list(said)
        for one in heard:
            if "memory" in one:
                self.talk.memory = list(one["memory"])
                self._told = True
        self.metered.hear_again(heard)

    def decide(self, seen: Any) -> Any:
        """Answer, by asking the model where that is needed."""
        self._repairs = self._bad = 0
        self._neutral = ""
        self.metered.begin_decision()
        self._remember()
        action = self._decided(seen)
        self.notes = self._noted()
        return action

    def after(self, episode: Episode) -> None:
        """Learn from an episode and begin the next with fresh limits."""
        self.talk.after(episode)
        self.metered.begin_episode()
        self._spent, self._told = "", False

    def _decided(self, seen: Any) -> Any:
        try:
            if not self._spent:
                action = self.talk.due(seen)
                return self._asked(seen) if action is None else action
        except Rests as rests:
            self._neutral = str(rests)
        except Spent as spent:
            self._spent = str(spent)
        self._neutral = self._neutral or self._spent
        return self.role.rest(seen)

    def _asked(self, seen: Any) -> Any:
        """Ask until a reply is an answer; after some that are none, take what the world says."""
        question = self.talk.question(seen)
        messages = list(question.messages)
        for _ in range(self.retries + 1):
            reply = self.complete(messages, question.tools, question.schema)
            try:
                taken = self.talk.read(reply, seen)
            except BadReply as bad:
                self._bad += 1
                why = bad
                messages += corrected(reply, bad)
            else:
                self._repairs += taken.repairs
                return taken.action
        self._neutral = f"{self._bad} replies were no answer, the last because {why}"
        return self.talk.fall_back(seen)

    def _remember(self) -> None:
        """Put on record what is carried into this episode, before anything else."""
        if self.talk.memory and not self._told:
            self.journal({"memory": self.talk.memory})
        self._told = True

    def _noted(self) -> dict[str, Any]:
        usage = asdict(self.metered.decision) | {
            "repairs": self._repairs,
            "bad_replies": self._bad,
            "neutral": int(bool(self._neutral)),
        }
        return {"usage": usage} | ({"neutral": self._neutral} if self._neutral else {})


def _check(given: str, known: Iterable[str], name: str) -> None:
    if given and given not in known:
        raise UsageError(f"{name}={given} was given; {possible(given, known)}")


def _not_negative(**given: int) -> None:
    for name, value in given.items():
        if value < 0:
            raise UsageError(f"{name}={value} was given; it is at least 0")
