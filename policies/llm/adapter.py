"""The policy `llm`: a language model at a seat of any world."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

from attrs import asdict, define, field

from desim import Episode, Model, Role, Seat
from desim.core.policy_protocols import ShownMemory
from desim.errors import BadRecord
from desim.schema import from_plain
from desim.schema.arguments import build
from desim.schema.validators import require_not_negative
from policies.llm.chat.conversation import (
    Conversation,
    HasRequestFields,
    NoCallNeeded,
    ParsedReply,
    Question,
)
from policies.llm.chat.messages import corrected
from policies.llm.chat.options import ROUTED, LLMOptions
from policies.llm.chat.parse import BadReply
from policies.llm.method_parts.embedding import EmbeddingEndpoint, EndpointVectors, hashed
from policies.llm.method_parts.learning import Learning
from policies.llm.method_parts.memory_file import shown_memory
from policies.llm.method_parts.setting import NamesEpisodes, Reveals
from policies.llm.methods import METHODS
from policies.llm.methods.build import MethodOptions
from policies.llm.router.at_seat import RouterOptions, Routing
from policies.llm.wires.budget import CallLimits, Metered, Spent, check_prices
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.gate import gate_of
from policies.llm.wires.resending import Resending
from policies.llm.wires.suspension import suspended
from policies.llm.wires.wire import Complete, ModelReply
from policies.llm.world_finder import conversation_kind, conversation_module, world_texts

__all__ = ["Llm"]


@define(eq=False, repr=False)
class Llm:
    """A language model that answers through an OpenAI-compatible endpoint.

    Attributes:
        role: The schema of the role it plays, and its default action.
        conversation: The conversation of the role's world.
        complete: The call of the model: a method's, or the metered call itself.
        metered: Sends requests within the limits and writes them and their replies to the record.
        retries: How often the model is asked again after an invalid reply, in one decision.
        model: The model's name, for labels.
        learning: The method with its memory; None without a method.
        routing: The router and the methods behind it; None without a router.
        notes: What the last decision used, why it took the default action if it did, and which
            limit of the episode is reached, if one is.
    """

    reaches: ClassVar[tuple[str, ...]] = ("base_url", "key_env", "memory", "router")
    draws: ClassVar[bool] = True

    role: Role
    conversation: Conversation
    complete: Complete
    metered: Metered
    retries: int = 2
    model: str = ""
    learning: Learning | None = None
    routing: Routing | None = None
    notes: dict[str, Any] = field(factory=dict, init=False)
    _limit_reached: str = field(default="", init=False)
    _repairs: int = field(default=0, init=False)
    _bad_replies: int = field(default=0, init=False)
    _default_reason: str = field(default="", init=False)
    _reply_default: str = field(default="", init=False)
    _memory_recorded: bool = field(default=False, init=False)

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
        price_cached: float | None = None,
        reported_cost: bool = False,
        temperature: float | None = None,
        seed: int | None = None,
        reply_tokens: int | None = None,
        key_env: str = "OPENAI_API_KEY",
        method: str = "",
        rounds: int | None = None,
        repeat_context: bool = False,
        run_programs: bool | None = None,
        as_published: bool = False,
        memory: str = "",
        learning: str = "online",
        train: int = 0,
        embed: str = "",
        router: str = "",
        router_labels: bool = False,
        history: int | None = None,
        **world_options: Any,
    ) -> Self:
        """Return the policy for a seat.

        Args:
            seat: The model, the role and the seed.
            model: The language model's name at the endpoint.
            base_url: The endpoint, `http://HOST:PORT/v1`; the package's default where empty.
            mode: How it answers: tools, schema or json; the world's default where empty.
            retries: How often the model is asked again after an invalid reply.
            resends: How often a request is sent again that brought no reply (429, 5xx, a dropped
                connection).
            timeout: Seconds for a whole call: all its requests, the waits between them, and
                reading the reply.
            max_calls: Limit of requests sent for this seat in an episode, those without a reply
                included; then the default action is taken.
            max_tokens: Limit of tokens, read and written, for this seat in an episode; likewise.
            max_cost: Limit of money, by the prices, for this seat in an episode; likewise.
            price_in: Money for a million tokens read.
            price_out: Money for a million tokens written.
            price_cached: Money for a million tokens read from the server's cache; *price_in* where
                None.
            reported_cost: Whether every request asks the server for its cost (OpenRouter's
                `usage: {"include": true}`).
            temperature: Sent with every request; the server's default where None.
            seed: Sent with every request where given.
            reply_tokens: Limit of tokens in one reply, sent with every request where given.
            key_env: The environment variable that holds the key; a server without keys needs none.
            method: How calls become a reply: empty for one call, or a method's name.
            rounds: Rounds of a method; None for its published number.
            repeat_context: Whether a method that rewrites an answer shows the context again.
            run_programs: Whether programs that the model writes are run, in a sandbox, by a method
                that can; None for never, or as published with *as_published*.
            as_published: Whether a method keeps the defects of the published code.
            memory: The file of a method's memory; empty for nowhere.
            learning: When a method learns: eval_only, online or offline.
            train: Of learning=offline: the number of episodes to learn from, or of a world's
                training questions, of which 0 stands for all.
            embed: The model for a method's vectors at the endpoint; without, none is needed.
            router: Chooses one of all methods for each decision, in place of *method*: table_4, or
                the file of a policy.
            router_labels: Whether the model labels each decision for the router by a call more.
            history: Rounds kept in the conversation; the world's number where None.
            world_options: Options of this world alone; see `model_arguments`.

        Raises:
            UsageError: An argument is invalid, or the endpoint cannot be set up.
        """
        kind = conversation_kind(type(seat.model))
        of_world = {"mode": mode, "history": history, "method": ROUTED if router else method}
        options = build(kind.options, {**of_world, **world_options})
        require_not_negative(retries=retries)
        of_method = build(
            MethodOptions,
            {
                "method": method,
                "rounds": rounds,
                "repeat_context": repeat_context,
                "run_programs": run_programs,
                "as_published": as_published,
                "memory": memory,
                "learning": learning,
                "train": train,
                "embed": embed,
                "routed": bool(router),
            },
        )
        of_router = build(RouterOptions, {"router": router, "router_labels": router_labels})
        limits = CallLimits(
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost=max_cost,
            price_in=price_in,
            price_out=price_out,
            price_cached=price_cached,
            reported=reported_cost,
        )
        check_prices(limits, seat.budget)
        given = {
            "temperature": temperature,
            "seed": seed,
            "max_completion_tokens": reply_tokens,
            "usage": {"include": True} if reported_cost else None,
        }
        fields = {name: value for name, value in given.items() if value is not None}
        conversation = kind.begin(seat, options)
        if isinstance(conversation, HasRequestFields):
            fields = {**conversation.request_fields, **fields}
        endpoint = Endpoint.of(model, base_url, key_env, options=fields)
        metered = Metered(endpoint, limits, seat.budget)
        gate, at_once = gate_of(endpoint.server), seat.budget.calls_at_once
        resending = partial(Resending, gate=gate, at_once=at_once)
        call = resending(metered, endpoint.name, timeout, resends)
        vectors = hashed
        if embed:
            sender = metered.through(EmbeddingEndpoint.of(embed, base_url, key_env))
            vectors = EndpointVectors(resending(sender, endpoint.name, timeout, resends))
        learner = of_method.build(call, seat, conversation, vectors)
        routing = of_router.build(of_method, call, seat, conversation, vectors)
        complete = routing.routed if routing else learner.method if learner else call
        return cls(seat.spec, conversation, complete, metered, retries, model, learner, routing)

    @staticmethod
    def model_arguments(model: type) -> type[LLMOptions]:
        """Return the options of a model's world, which `seated` takes as `world_options`."""
        return conversation_kind(model).options

    @staticmethod
    def dependencies(model: Model[Any]) -> Iterable[Any]:
        """Yield the module of a model's conversation, and the texts of the model in prompts."""
        yield conversation_module(type(model))
        yield world_texts(model)

    @staticmethod
    def shown_memory(path: str) -> ShownMemory:
        """Return what a method keeps in a file."""
        return shown_memory(path, METHODS)

    def __repr__(self) -> str:
        return f"Llm(model={self.model!r})"

    @property
    def transcript(self) -> Callable[[Any], None]:
        """Writes a request or a reply to the record; set by the framework."""
        return self.metered.transcript

    @transcript.setter
    def transcript(self, transcript: Callable[[Any], None]) -> None:
        self.metered.transcript = transcript

    def resume(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the requests and replies of a cut record, so that no call is made twice.

        Raises:
            BadRecord: An entry is none that this policy writes.
        """
        recorded = list(entries)
        for entry in recorded:
            if not isinstance(entry, Mapping):
                raise BadRecord("a transcript entry of a language model is no object")
            if "memory" in entry:
                self.conversation.memory = from_plain(entry["memory"], list, "$.entry.memory")
                self._memory_recorded = not self._has_learned
            if "learned" in entry and self.learning:
                self.learning.restore(entry["learned"])
                self._memory_recorded = True
            if "router" in entry and self.routing:
                self.routing.restore(entry["router"])
        self.metered.restore(recorded)

    def decide(self, observation: Any) -> Any:
        """Return an action, after one or more calls of the model if the world needs one."""
        self._repairs = self._bad_replies = 0
        self._default_reason = ""
        self.metered.begin_decision()
        if self.routing:
            self.routing.begin_decision()
        self._record_memory()
        action = self._action(observation)
        self.notes = self._noted()
        return action

    async def decide_async(self, observation: Any) -> Any:
        """Return an action as `decide` does; other decisions go on while a call is under way."""
        return await suspended(self.decide, observation)

    def after(self, episode: Episode) -> None:
        """Learn from an episode; the next begins with fresh limits."""
        if self.learning:
            conversation = self.conversation
            revealed = conversation.revealed(episode) if isinstance(conversation, Reveals) else ""
            name = conversation.name_of(episode) if isinstance(conversation, NamesEpisodes) else ""
            self.learning.after(episode, revealed, name)
        if self.routing:
            self.routing.begin_episode()
        self.conversation.after(episode)
        self.metered.begin_episode()
        self._limit_reached, self._memory_recorded, self._reply_default = "", False, ""

    def _action(self, observation: Any) -> Any:
        try:
            if not self._limit_reached:
                action = self.conversation.action_without_call(observation)
                if action is None:
                    return self._models_action(observation)
                # It follows from the last reply, and so does whether it is the model's.
                self._default_reason = self._reply_default
                return action
        except NoCallNeeded as reason:
            self._default_reason = str(reason)
        except Spent as limit:
            self._limit_reached = str(limit)
        self._default_reason = self._default_reason or self._limit_reached
        return self.role.default_for(observation)

    def _models_action(self, observation: Any) -> Any:
        """Call the model until a reply is valid; after the last retry return the fallback."""
        if self.learning:
            self.learning.catch_up()
        question = self.conversation.question(observation)
        self._reply_default = ""
        if self.learning:
            self.learning.begin(question)
        messages = list(question.messages)
        for _ in range(self.retries + 1):
            reply = self.complete(messages, question.tools, question.schema)
            try:
                parsed = self._parsed(reply, observation)
            except BadReply as bad:
                self._bad_replies += 1
                last = bad
                messages += corrected(reply, bad)
            else:
                self._repairs += parsed.repairs
                self._default_reason = self._reply_default = parsed.default
                self._learn(question, reply)
                return parsed.action
        self._default_reason = self._reply_default = (
            f"{self._bad_replies} replies were no answer, the last because {last}"
        )
        self._learn(question, reply)
        return self.conversation.fallback(observation)

    def _learn(self, question: Question, reply: ModelReply) -> None:
        """Learn from a decision; a limit that is reached here does not take it back."""
        if self.learning:
            try:
                self.learning.decided(question, reply)
            except Spent as limit:
                self._limit_reached = str(limit)

    def _parsed(self, reply: ModelReply, observation: Any) -> ParsedReply:
        if reply.malformed:
            raise BadReply(reply.malformed)
        return self.conversation.read(reply, observation)

    def _record_memory(self) -> None:
        """Write what is carried into this episode to the record, before anything else."""
        if self.learning:
            self.learning.hold()
        if self.routing:
            self.routing.record(self.transcript)
        if self._memory_recorded:
            return
        if self.conversation.memory:
            self.transcript({"memory": self.conversation.memory})
        if self.learning and self._has_learned:
            self.transcript({"learned": self.learning.plain})
        self._memory_recorded = True

    @property
    def _has_learned(self) -> bool:
        """Whether a method carries a memory."""
        return self.learning is not None and self.learning.has_memory

    def _noted(self) -> dict[str, Any]:
        usage = asdict(self.metered.decision) | {
            "decisions": 1,
            "repairs": self._repairs,
            "bad_replies": self._bad_replies,
            "default_actions": int(bool(self._default_reason)),
        }
        reason = {"default_action": self._default_reason} if self._default_reason else {}
        limit = {"limit": self._limit_reached} if self._limit_reached else {}
        routed = self.routing.notes() if self.routing else {}
        return {"usage": usage} | routed | reason | limit
